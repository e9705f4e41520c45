"""The settings in which audits play: some are fixed, the others drawn.

A setting is a stream, a level, and a person who is at one of two experts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpol.core.randomness import Floats, seed_sequence
from dpol.data.stream import MAX_CARRY, GainStream
from dpol.data.synthetic import largest_changes
from dpol.privacy.stays import STAYS
from dpol.studies.ledger.audits.inputs import Setting

DRAWN = 32
"""Number of settings drawn."""
_ROUNDS, _EXPERTS, _CAPACITIES, _MUS = (8, 40), (2, 6), (5.0, 50.0), (0.3, 4.0)
_LONGEST_STAY, _MUS_OF_STAYS, _RANGES = 5, (1.0, 2.0), (0.5, 1.0, 3.0)
# The fixed settings have other people at two experts, in each round that later actions see. The
# third expert has nobody, so that the actions tell these two apart; but in one round as many as
# whoever has the person: a tie. Noise that is too small shows best at a large level, noise that is
# used again or has ends at a small one.
_FIXED_MUS, _PLACES, _PEOPLE, _TIED, _STAY = (0.5, 2.0), 20, (10, 7, 15, 19, 12, 4, 0), 5, (2, 3, 4)
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


def fixed_settings(noise: str, *, stays: bool) -> Iterator[Setting]:
    """Yield settings of 8 rounds and 3 experts with a tie and an empty round, and a tiny one.

    In the tiny one a person is a whole gain, which even a lazy algorithm must not ignore.
    """
    pairs, levels = itertools.combinations(range(3), 2), itertools.cycle(_FIXED_MUS)
    places = [((t,), pair) for pair in pairs for t in range(len(_PEOPLE))]
    for rounds, pair in [*places, *[(_STAY, (0, 2))] * stays]:
        people = np.zeros((len(_PEOPLE) + 1, 3))
        people[_TIED] = _PEOPLE[_TIED] + 1
        people[:-1, pair] = np.transpose([_PEOPLE, _PEOPLE])
        stream = replace(stream_of(people / _PLACES, _PLACES), stay=len(rounds))
        mu = next(levels) if len(rounds) == 1 else max(_FIXED_MUS)
        yield Setting(stream=stream, mu=mu, noise=noise, rounds=rounds, experts=pair)
    tiny = stream_of(np.zeros((2, 3)), 1.0)
    yield Setting(stream=tiny, mu=0.1, noise=noise, rounds=(0,), experts=(0, 1))


def short_settings(noise: str, *, stays: bool) -> Iterator[Setting]:
    """Yield settings of two experts and few rounds, of which many games are played.

    The two experts are level, or one leads by some deviations of fresh noise: then tails decide. In
    the last setting a third expert is between the two, wherever the person is.
    """
    for mu, stay, counted, rounds, lead in _SHORT if stays else _SHORT[:_ALONE]:
        gains = np.full((rounds, 2), 0.5)
        gains[:, 0] += lead * 2 / mu / _SHORT_PLACES
        stream = replace(stream_of(gains, float(_SHORT_PLACES)), stay=stay)
        at = tuple(range(counted))
        yield Setting(stream=stream, mu=mu, noise=noise, rounds=at, experts=(0, 1))
    gains = np.full((2, 3), 0.5)
    gains[0, 2] += 0.5 / _SHORT_PLACES
    stream = stream_of(gains, float(_SHORT_PLACES))
    yield Setting(stream=stream, mu=1.0, noise=noise, rounds=(0,), experts=(0, 1))


def drawn_settings(
    seed: int, noises: Sequence[str], *, stays: bool, given: str, last: int
) -> Iterator[Setting]:
    """Yield settings drawn from a seed, of four kinds in turn.

    A person stays; is counted in several rounds, in a row or not; or is in one round, of gains with
    given sensitivities or with unequal capacities, which may fall from round to round.

    Args:
        seed: root seed.
        noises: names of the noises.
        stays: whether people may be counted in several rounds.
        given: name of the noise where sensitivities are given; empty if they never are.
        last: 1 if a person of the last round does not show, else 0.
    """
    for number in range(DRAWN):
        rng = np.random.default_rng(seed_sequence(seed, ("setting", number)))
        turn, kind = divmod(number, 4)
        stay, carry, counted = 1, 0, 1
        if stays and kind == 0:
            stay = counted = 1 + turn % _LONGEST_STAY
        elif stays and kind == 1:
            stay, carry = int(rng.integers(1, 4)), int(rng.integers(3))
            counted = (*STAYS[1:], stay + carry)[turn % len(STAYS)]
        alone = stay == counted == 1
        rounds, top = round(float(log_uniform(rng, _ROUNDS))), float(rng.choice(_RANGES))
        n, noise = int(rng.integers(*_EXPERTS, endpoint=True)), str(rng.choice([*noises]))
        beds = log_uniform(rng, _CAPACITIES, rounds, n)
        kinds = np.full(n, beds[0, 0]), beds[0], beds, np.sort(beds, axis=0)[::-1]
        beds = kinds[int(rng.integers(1, 4)) if alone else 0]
        facts: dict[str, Any] = {"stay": stay, "provenance": {MAX_CARRY: carry}}
        facts["count_sensitivity"] = rng.choice([1.0, 1.0, 2.0])
        if given and kind == 2:
            noise, sensitivity = given, top * rng.uniform(0.05, 0.4, rounds)
            facts = {"capacity": None, "given_sensitivity": sensitivity}
        stream = stream_of(np.zeros((rounds, n)), beds)
        stream = replace(stream, label=f"checks {number}", gain_range=top, **facts)
        at = np.sort(rng.permutation(rounds - last)[:counted])
        if counted == stay:
            latest = rounds - last - counted
            at = np.arange(counted) + rng.choice([0, latest, int(rng.integers(latest + 1))])
        changes = largest_changes(stream)
        pair = rng.permutation(n)[:2] if rng.random() < 0.5 else np.argsort(-changes[at[0]])[:2]
        again = np.maximum.accumulate(np.arange(rounds) * (rng.random(rounds) < 0.6))
        even = (rng.random(rounds) * (rng.random(rounds) < 0.85))[again, None]
        others = rng.choice([0.0, 0.5, 1.0], (rounds, 1), p=[0.7, 0.15, 0.15])
        gains = even * (top - changes.max()) * np.where(np.isin(np.arange(n), pair), 1.0, others)
        level = float(log_uniform(rng, _MUS if alone else _MUS_OF_STAYS))
        yield Setting(
            stream=replace(stream, gains=gains),
            mu=level / math.sqrt(max(counted / stay, 1)),
            noise=noise,
            rounds=tuple(at.tolist()),
            experts=(int(pair[0]), int(pair[1])),
            moves=bool(rng.random() < 0.25),
        )


def log_uniform(rng: np.random.Generator, span: tuple[float, float], *shape: int) -> Floats:
    return np.asarray(np.exp(rng.uniform(math.log(span[0]), math.log(span[1]), shape)))


def in_words(noises: Sequence[str], *, stays: bool) -> str:
    """Say which people and settings are played with these noises."""
    spans = (_ROUNDS, _EXPERTS, _CAPACITIES, _MUS)
    rounds, experts, capacities, mus = (f"{low:g} to {high:g}" for low, high in spans)
    return (
        f"of a person in 8 rounds with ties, nor in {DRAWN} drawn settings ({rounds} rounds,"
        f" {experts} experts, capacities of {capacities} or given sensitivities, gains"
        f" up to {min(_RANGES):g} to {max(_RANGES):g}, mu {mus}"
        f"{f', stays of 1 to {_LONGEST_STAY}' * stays}, {' or '.join(noises)} noise)"
    )
