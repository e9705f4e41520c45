"""The next choice of a rule, from numbers that were released, in the loop of the experiments.

No raw number is read, so the choice is as private as the released numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpol.core.arguments import check_number, check_whole
from dpol.core.errors import DataError
from dpol.core.randomness import replicate_generators
from dpol.core.words import shortened
from dpol.experts.games import Entry, members_of
from dpol.experts.interface import Member
from dpol.experts.play import rounds
from dpol.noise import NoisyGains
from dpol.noise.released import Released, read_released
from dpol.privacy.guarantee import NO_PRIVACY

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A place for the next period, and what the choice rests on.

    Args:
        rule: label of the rule.
        period: first day of the period that it is for.
        place: the place to choose.
        periods: number of periods since the first released number; 0: it rests on nothing.
        ranking: scores of the places, the largest first, None where the rule cannot judge a place;
            empty for a rule without scores.
        reports: age in periods of each place's last number, and its period; None without one.
        law: law of the noise, as told.
        mu: mu of a person who in one period changes two counts by 1, if noise and capacities are as
            told; None where that does not say.
    """

    rule: str
    period: str
    place: str
    periods: int
    ranking: Mapping[str, float | None]
    reports: Mapping[str, tuple[int, str] | None]
    law: str
    mu: float | None

    @property
    def silent(self) -> tuple[str, ...]:
        """Places without a number in the period before."""
        return tuple(it for it, last in self.reports.items() if last is None or last[0] > 1)


def choose(
    rule: Entry,
    frame: pd.DataFrame,
    *,
    period: str | None = None,
    name: str | None = None,
    learner: str | None = None,
    gain_range: float | None = None,
    n_rounds: int | None = None,
    file: str = "the table",
) -> Choice:
    """Return a local rule's choice for the next period, from released numbers.

    The rule plays all periods before it, with one replicate and without initial noise.

    Args:
        rule: a name, `package.module:Class`, a block of a config, or an algorithm.
        frame: released numbers, in the columns of `dpol.noise.released`.
        period: first day of the period to choose for; by default the one after the last number.
        name: for rules that draw: a name that the owner gave before the first release. Rule, name
            and period seed the draws.
        learner: label of the learner, for a bank of several.
        gain_range: largest possible gain, 1 by default; for counts without capacities, which have
            no default, the largest possible count.
        n_rounds: number of periods of the whole game, for rules that must know it.
        file: name of the table in messages, which name a row by its index.

    Raises:
        DataError: the table breaks a rule, or lacks a number that the rule cannot skip.
        ValueError: the rule is unknown, is not local, or needs what is not given.

    >>> import pandas as pd
    >>> days = ["2024-05-20", "2024-05-20", "2024-05-27", "2024-05-27"]
    >>> shares = {"place": [*"abab"], "period": days, "share": [0.1, 0.3, 0.2, 0.3]}
    >>> made = choose("window-mean", pd.DataFrame({**shares, "deviation": 0.05}))
    >>> made.place, made.period, made.periods
    ('b', '2024-06-03', 2)
    """
    member = _member(rule, learner)
    seen = read_released(frame, period=period, file=file)
    if gain_range is None and seen.counts and seen.capacity is None:
        raise ValueError("counts without capacities have no known range; give it (--range)")
    noisy = game_of(member, seen, gain_range, n_rounds, file)
    key = member.family, name or ""
    draws, unused = (
        [replicate_generators(0, (*key, day), [0], "choice") for day in seen.days] for _ in "12"
    )
    *_, (state, actions) = rounds(member.algorithm, noisy, draws)
    drawn, new = ([it.generators[0].bit_generator.state for it in own] for own in (draws, unused))
    if not name and drawn != new:
        raise ValueError(
            f"{member.label} draws random numbers; give the name that you chose before the first"
            " release (--name)"
        )
    scores = member.algorithm.scores(state) if len(seen.gains) else None
    ranking: dict[str, float | None] = {}
    reports: dict[str, tuple[int, str] | None] = {}
    if scores is not None:
        for i in np.argsort(-scores[0], kind="stable"):
            score = float(scores[0, i])
            ranking[seen.places[i]] = score if np.isfinite(score) else None
    for place, own in zip(seen.places, ~np.isnan(seen.gains.T), strict=True):
        last = int(np.argmax(own[::-1])) if own.any() else None
        reports[place] = None if last is None else (last + 1, seen.days[-2 - last])
    return Choice(
        rule=member.label,
        period=seen.days[-1],
        place=seen.places[actions[0]],
        periods=len(seen.gains),
        ranking=ranking,
        reports=reports,
        law=seen.noise.law.name,
        mu=seen.mu,
    )


def _member(rule: Entry, learner: str | None) -> Member:
    """Return the one local algorithm that is meant."""
    members = {it.label: it for it in members_of(rule)}
    if learner is None and len(members) == 1:
        learner = next(iter(members))
    if learner not in members:
        wrong = f"has no learner {learner}" if learner else "is several learners"
        raise ValueError(f"{rule} {wrong}; give one (--learner) of {', '.join(members)}")
    if members[learner].algorithm.model != "local":
        raise ValueError(
            f"{learner} needs raw numbers, and a curator whom all trust with them; from released"
            " numbers only a local rule can choose"
        )
    return members[learner]


def game_of(
    member: Member,
    seen: Released,
    gain_range: float | None = None,
    n_rounds: int | None = None,
    file: str = "the table",
) -> NoisyGains:
    """Return released numbers as a game with one replicate and no initial noise.

    Raises:
        DataError: a number is missing that the rule cannot skip.
        ValueError: the range is not above 0, or the rule must know the number of rounds, which is
            not given or too small.
    """
    (periods, n), known = seen.gains.shape, ~np.isnan(seen.gains)
    if not (known.all() or member.algorithm.skips_gaps):
        t, i = np.argwhere(~known)[0]
        raise DataError(
            f"{file}: {shortened(seen.places[i])} has no number for {seen.days[t]}, and"
            f" {member.label} cannot skip it; window-mean, cautious-mean and random-effects can"
        )
    if n_rounds is None and member.algorithm.needs_rounds:
        raise ValueError(f"{member.label} must know how many periods the game has; give --rounds")
    size = check_whole("rounds", n_rounds or periods + 1, periods + 1)
    made_up, later = ((0, size - periods), (0, 0)), np.minimum(np.arange(size), periods)
    scale, fresh = seen.scale[later], None
    if seen.memory:  # the noise of a place goes on where it reports
        before = np.concatenate([np.zeros((1, n), int), known.cumsum(axis=0)])[later]
        fresh = scale / seen.memory.deviations(size, n)[before, np.arange(n)]
    return NoisyGains(
        initial=np.zeros((1, n)),
        gains=np.pad(np.nan_to_num(seen.gains), made_up)[None],
        noise_scale=scale,
        gain_range=check_number("range", 1.0 if gain_range is None else gain_range, "(0, inf)"),
        guarantee=NO_PRIVACY,
        memory=seen.memory,
        fresh_scale=fresh,
        capacity=None if seen.capacity is None else seen.capacity[later],
        mechanism=seen.noise.mechanism,
        reported=None if known.all() else np.pad(known.astype(float), made_up),
    )
