"""The settings in which audits play: streams, levels, and a person who is at one of two experts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dpol.core.randomness import Floats
from dpol.data.stream import MAX_CARRY, GainStream
from dpol.noise import CAPACITY, ISOTROPIC
from dpol.studies.ledger.audits.actions import Setting

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
    (1.7, 5, 5, 6, 0.0),
    (2.0, 12, 12, 13, 0.0),
    (0.03, 1, 8, 9, 0.0),
    (0.6, 1, 4, 5, 0.0),
    (0.6, 1, 8, 9, 0.0),
)
_ALONE, _SHORT_PLACES = 6, 100


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


def settings(*, stays: bool) -> Iterator[Setting]:
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


def short_settings(*, stays: bool) -> Iterator[Setting]:
    """Yield settings of two experts and few rounds, of which many games are played.

    The two experts are level, or one leads by some deviations of fresh noise: then tails decide. In
    the last setting a third expert is between the two, wherever the person is.
    """
    for mu, stay, counted, rounds, lead in _SHORT if stays else _SHORT[:_ALONE]:
        gains = np.full((rounds, 2), 0.5)
        gains[:, 0] += lead * 2 / mu / _SHORT_PLACES
        stream = replace(stream_of(gains, float(_SHORT_PLACES)), stay=stay)
        at = tuple(range(counted))
        yield Setting(stream=stream, mu=mu, noise=ISOTROPIC.name, rounds=at, experts=(0, 1))
    gains = np.full((2, 3), 0.5)
    gains[0, 2] += 0.5 / _SHORT_PLACES
    stream = stream_of(gains, float(_SHORT_PLACES))
    yield Setting(stream=stream, mu=1.0, noise=ISOTROPIC.name, rounds=(0,), experts=(0, 1))
