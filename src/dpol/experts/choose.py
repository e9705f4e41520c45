"""The next choice of a rule, from numbers that were released, in the loop of the experiments.

No raw number is read, so the choice is as private as the released numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpol.core.errors import DataError
from dpol.core.extras import needs_pipeline
from dpol.core.randomness import replicate_generators
from dpol.core.words import shortened
from dpol.experts.games import Entry, members_of
from dpol.experts.interface import Member, can_read
from dpol.experts.play import rounds

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A place for the next period, and what the choice rests on.

    Args:
        rule: label of the rule.
        period: first day of the period that it is for.
        place: the place to choose.
        periods: number of periods with a released number; 0: it rests on nothing.
        ranking: scores of the places, the largest first, None where the rule cannot judge a place;
            empty for a rule without scores.
        reports: age in periods of each place's last number, and its period; None without one.
        law: law of the noise, as told.
        change: the most by which one person changes a count, as told.
        mu: mu of a person who in one period changes two counts by that, if noise and capacities are
            as told; None where that does not say.
    """

    rule: str
    period: str
    place: str
    periods: int
    ranking: Mapping[str, float | None]
    reports: Mapping[str, tuple[int, str] | None]
    law: str
    change: float
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

    The rule plays all periods before it, with one replicate. The initial noise of an experiment is
    not released: here it is drawn from the name, or 0 without one.

    Args:
        rule: a name, `package.module:Class`, a block of a config, or an algorithm.
        frame: released numbers, in the columns of `dpol.noise.released`.
        period: first day of the period to choose for; by default the one after the last number.
        name: for rules that draw: a name that the owner gave before the first release. Rule, name
            and period seed the draws, name and place the initial noise.
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
    with needs_pipeline():
        from dpol.noise.released import read_released

    member = _member(rule, learner)
    label, algorithm = member.label, member.algorithm
    if n_rounds is None and algorithm.needs_rounds:
        raise ValueError(f"{label} must know how many periods the game has; give --rounds")
    seen = read_released(frame, period=period, gain_range=gain_range, n_rounds=n_rounds, file=file)
    noisy, places, days, periods = seen.noisy, seen.places, seen.days, len(seen.days) - 1
    if not can_read(algorithm.reads_noise, noisy.memory_kind):
        raise ValueError(
            f"{label} takes noise as independent between periods, but that of {file} is correlated;"
            " choose with random-effects"
        )
    everyone = np.ones((periods, len(places)))
    known = everyone if noisy.reported is None else noisy.reported[:periods]
    for t, i in () if algorithm.skips_gaps else np.argwhere(known == 0)[:1]:
        raise DataError(
            f"{file}: {shortened(places[i])} has no number for {days[t]}, and {label} cannot skip"
            " it; window-mean, cautious-mean and random-effects can"
        )
    draws = [replicate_generators(0, (member.family, name or "", it), [0], "choice") for it in days]
    unused = [it.generators[0].bit_generator.state for it in draws]
    if name:  # for each place by itself, so that a new place redraws no other
        first = [replicate_generators(0, (name, it), [0], "initial") for it in places]
        drawn = np.concatenate([it.standard_normal(1) for it in first], axis=1)
        noisy = replace(noisy, initial=noisy.noise_scale[:1] * drawn)
    ((state, actions),) = deque(rounds(algorithm, noisy, draws), maxlen=1)
    if not name and [it.generators[0].bit_generator.state for it in draws] != unused:
        raise ValueError(
            f"{label} draws random numbers; give the name that you chose before the first release"
            " (--name)"
        )
    ranking: dict[str, float | None] = {}
    if periods and (scores := algorithm.scores(state)) is not None:
        for i in np.argsort(-scores[0], kind="stable"):
            ranking[places[i]] = float(scores[0, i]) if np.isfinite(scores[0, i]) else None
    last = [np.flatnonzero(own)[-1:].tolist() for own in known.T]
    return Choice(
        rule=label,
        period=days[-1],
        place=places[actions[0]],
        periods=int(known.any(axis=1).sum()),
        ranking=ranking,
        reports={
            place: (periods - t[0], days[t[0]]) if t else None
            for place, t in zip(places, last, strict=True)
        },
        law=seen.law,
        change=seen.change,
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
