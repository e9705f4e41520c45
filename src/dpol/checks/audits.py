"""The audit of the actions of an algorithm: its settings, and its verdict.

Games with a person at either of two experts prove a lower bound on the privacy parameter; above the
claim of the record, it refutes the record. Few games of every setting rank the settings, and many
fresh games of the best ones count, with those of short games. docs/explanation/privacy.md says what
an audit cannot see.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpol.checks import CheckError
from dpol.core.randomness import Floats, seed_sequence
from dpol.core.words import at_least
from dpol.data.stream import MAX_CARRY, GainStream
from dpol.noise import CAPACITY, ISOTROPIC
from dpol.studies.ledger.audits.actions import AuditedGames, Play, Setting, played

ERROR = 1e-6
"""Largest probability that a statistical check refuses a sound algorithm or noise."""
# Games of a setting on each stream that rank it, and that count; settings of each level that count.
_FEW, _MANY, _KEPT = 400, 10_000, 2
_ROUNDING = 1 + 1e-9
# Actions of the games of a short setting on each stream, the share of a claim below which a proof
# tells nothing, and the smallest delta that games show.
_ACTIONS, _LITTLE, _SEEN = 600_000, 0.1, 1e-3


def audit(play: Play, settings: Sequence[Setting], short: Sequence[Setting], *, seed: int) -> str:
    """Audit records, and return the verdict; a sound record is refuted with probability `ERROR`.

    The error is divided equally among the settings whose games count. The verdict is `cannot tell`
    if the games prove less than a tenth of every claim.

    Args:
        play: plays the games.
        settings: the settings, of which the worst count.
        short: settings of few rounds that all count.
        seed: root seed.

    Raises:
        CheckError: the games refute a record, or its mu is above that of the setting.
    """
    counted = [(each, _MANY) for each in _worst(play, settings, seed)]
    counted += [(each, _ACTIONS // each.stream.gains.size) for each in short]

    confidence = 1 - ERROR / len(counted)
    found = [played(play, *each, seed).audit()(confidence) for each in counted]
    ratios = [row["lower_bound"] / max(row["claimed"], 1e-9) for row in found]
    worst = found[max(range(len(found)), key=ratios.__getitem__)]
    proved = f"{worst['parameter']} >= {at_least(worst['lower_bound'])}"
    if worst["verdict"] == "violated":
        raise CheckError(
            f"{worst['inputs']}, its actions prove {proved}, but its record claims"
            f" {worst['claimed']:.3g}; noise is missing or too small"
        )
    delta = worst["delta"]
    unseen = f"; nothing shows its delta of {delta:g}" if 0 < delta < _SEEN else ""
    proved = f"proves {proved} of {worst['claimed']:.3g}"
    if max(ratios) < _LITTLE:
        return f"cannot tell, because its actions show too little ({proved}{unseen})"
    return f"holds, {proved}{unseen}"


def _worst(play: Play, settings: Sequence[Setting], seed: int) -> list[Setting]:
    """Return the settings that seem to exceed their claims most, some with small claims."""
    ranked = [played(play, each, _FEW, seed) for each in settings]
    for each in ranked:
        if not each.delta and each.record.mu > each.setting.mu * _ROUNDING:
            raise CheckError(
                f"{each.setting}, the record claims mu = {each.record.mu:.3g} but"
                f" {each.setting.mu:.3g} was requested; add noise"
            )
    ranked.sort(key=AuditedGames.score)
    large = [each.setting for each in ranked if each.claim >= 1]
    return [*large[-_KEPT:], *[each.setting for each in ranked if each.claim < 1][-_KEPT:]]


# ---- settings: streams, levels, and a person who is at one of two experts ------------------------

LEVELS = 0.5, 2.0
"""Noise that is too small shows best at the large level, noise that is used again or has ends at
the small one."""
# Other people are at two experts, in each round that later actions see. The third expert has
# nobody, so that the actions tell these two apart; but in one round as many as whoever has the
# person: a tie.
_PLACES, _PEOPLE, _TIED, _STAY = 20, (10, 7, 15, 19, 12, 4, 0), 5, (2, 3, 4)
# Longest stay, further rounds of a carried count, rounds of the person, whether the person moves
# between the two experts, and the noise.
_LONG = (
    (1, 0, (2,), False, CAPACITY.name),
    (1, 0, (30,), False, CAPACITY.name),
    (3, 0, (28, 29, 30), False, ISOTROPIC.name),
    (4, 0, (27, 28, 29, 30), False, CAPACITY.name),
    (1, 0, tuple(range(23, 31)), False, ISOTROPIC.name),
    (2, 2, (27, 28, 29, 30), False, CAPACITY.name),
    (4, 0, (27, 28, 29, 30), True, ISOTROPIC.name),
)
_ROUNDS, _EXPERTS, _GAINS = 32, 5, 3.0
# Level, longest stay, rounds of the person, rounds, lead in deviations of fresh noise; the first
# ones have a person in one round.
_SHORT = (
    (0.19, 1, 1, 2, 0.0),
    (0.95, 1, 1, 2, 0.0),
    (0.4, 1, 1, 2, 2.1),
    (0.95, 1, 1, 2, 2.0),
    (2.4, 1, 1, 2, 2.3),
    (1.5, 1, 1, 9, 0.0),
    (0.03, 1, 8, 9, 0.0),
    (0.6, 1, 4, 5, 0.0),
    (0.6, 1, 8, 9, 0.0),
)
_ALONE, _SHORT_PLACES = 6, 100
# How many longer stays are drawn; the shortest, and one above the longest.
_STAYS, _SHORTEST, _ABOVE = 7, 2, 13


def stream_of(gains: Floats, beds: float | Floats) -> GainStream:
    """Make a stream from gains (T, n) and capacities that broadcast to them."""
    rounds, n = gains.shape
    return GainStream(
        label="checks",
        gains=gains,
        capacity=np.broadcast_to(beds, gains.shape),
        entities=tuple(f"expert-{i}" for i in range(n)),
        periods=np.datetime64("2020-01-05") + 7 * np.arange(rounds),
    )


def long_settings(*, stays: bool) -> Iterator[Setting]:
    """Yield settings of few games: of 8 rounds, tiny ones, and of 32 rounds.

    Games of 8 rounds have 3 experts, a tie and an empty round. In the tiny ones a person is a whole
    gain, which even a lazy algorithm must not ignore. Games of 32 rounds have 5 experts, gains up
    to 3, and capacities that fall from round to round or given sensitivities.

    Args:
        stays: whether people may be counted in several rounds.
    """
    pairs, levels = itertools.combinations(range(3), 2), itertools.cycle(LEVELS)
    places = [((t,), pair) for pair in pairs for t in range(len(_PEOPLE))]
    for rounds, pair in [*places, *[(_STAY, (0, 2))] * stays]:
        people = np.zeros((len(_PEOPLE) + 1, 3))
        people[_TIED] = _PEOPLE[_TIED] + 1
        people[:-1, pair] = np.transpose([_PEOPLE, _PEOPLE])
        stream = replace(stream_of(people / _PLACES, _PLACES), stay=len(rounds))
        mu = next(levels) if len(rounds) == 1 else max(LEVELS)
        yield Setting(stream=stream, mu=mu, noise=ISOTROPIC.name, rounds=rounds, experts=pair)
    tiny = stream_of(np.zeros((2, 3)), 1.0)
    for mu in (0.1, *LEVELS):
        yield Setting(stream=tiny, mu=mu, noise=ISOTROPIC.name, rounds=(0,), experts=(0, 1))
    ends = 0, _EXPERTS - 1
    gains = np.where(np.isin(range(_EXPERTS), ends), _GAINS / 2, 0.0) * np.ones((_ROUNDS, 1))
    beds = np.linspace(40.0, 8.0, _ROUNDS)[:, None] * np.ones(_EXPERTS)
    for stay, carry, at, moves, noise in _LONG:
        facts: dict[str, Any] = {"stay": stay, "provenance": {MAX_CARRY: carry}}
        stream = replace(stream_of(0 * gains, beds), gains=gains, gain_range=_GAINS, **facts)
        of: dict[str, Any] = {"rounds": at, "experts": ends, "moves": moves}
        for mu in LEVELS if stays or len(at) == 1 else ():
            level = mu / math.sqrt(max(len(at) / stay, 1))
            yield Setting(stream=stream, mu=level, noise=noise, **of)
            if len(at) == 1:
                given = replace(stream, capacity=None, given_sensitivity=_GAINS / 4 / beds[:, 0])
                yield Setting(stream=given, mu=level, noise=ISOTROPIC.name, **of)


def _drawn_stays(seed: int) -> Iterator[tuple[float, int, int, int, float]]:
    """Yield rows of `_SHORT` of a person in all rounds of a stay, one in each part of a log scale.

    All seeds have stays of 2 and 3 weeks. One of 4 is drawn with probability 0.83, of 6 with 0.58,
    and of 12 with 0.3.
    """
    rng = np.random.default_rng(seed_sequence(seed, ("stays",)))
    for share in (np.arange(_STAYS) + rng.random()) / _STAYS:
        stay = int(_SHORTEST * (_ABOVE / _SHORTEST) ** share)
        yield float(rng.uniform(1.5, 3.0)), stay, stay, stay + 1, 0.0


def short_settings(seed: int, *, stays: bool) -> Iterator[Setting]:
    """Yield settings of two experts and few rounds, of which many games are played.

    The two experts are level, or one leads by some deviations of fresh noise: then tails decide. In
    the last setting a third expert is between the two, wherever the person is.
    """
    rows = (*_SHORT, *_drawn_stays(seed)) if stays else _SHORT[:_ALONE]
    for mu, stay, counted, rounds, lead in rows:
        gains = np.full((rounds, 2), 0.5)
        gains[:, 0] += lead * 2 / mu / _SHORT_PLACES
        stream = replace(stream_of(gains, float(_SHORT_PLACES)), stay=stay)
        at = tuple(range(counted))
        yield Setting(stream=stream, mu=mu, noise=ISOTROPIC.name, rounds=at, experts=(0, 1))
    gains = np.full((2, 3), 0.5)
    gains[0, 2] += 0.5 / _SHORT_PLACES
    stream = stream_of(gains, float(_SHORT_PLACES))
    yield Setting(stream=stream, mu=1.0, noise=ISOTROPIC.name, rounds=(0,), experts=(0, 1))
