"""Conformance checks of noises.

dpol draws every noise from a law of its own and computes what it guarantees from the scale. So only
the scale is checked: on streams of many kinds, at many levels, without a draw.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from dpol.checks import CheckError
from dpol.checks.audits import stream_of
from dpol.core.randomness import Floats, seed_sequence
from dpol.data.stream import GainStream
from dpol.noise import Noise
from dpol.noise.noisy_gains import record_of
from dpol.privacy.settings import LEAST_MU, MOST_MU

Asked = tuple[GainStream, float]
"""A stream without gains, and a level."""
_SETTINGS = 320
_USUAL = (
    *(LEAST_MU, 0.01, 0.02, 0.05, 0.1, 0.125, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9),
    *(1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 20.0, 50.0, 100.0, MOST_MU),
)
"""Levels that people ask for; others are drawn."""
_DRAWN = 14
_ROUNDS, _EXPERTS, _CAPACITIES = (1, 120), (2, 30), (1.0, 1000.0)
_SENSITIVITIES, _RANGES = (1.0, 1.0, 2.0, 20.0), (0.5, 1.0, 3.0)
# Every level has a stay of 1, and one that it shares with neighbouring levels; large levels have
# short ones. A scale of another law may be searched for at each level and stay, which takes a
# second for a long stay at a large level.
_STAYS, _LARGE, _SHORT = (1, 2, 2, 3, 4, 8, 26, 52), 10.0, 3
_SHOWN = 3
"""Settings that a counterexample names."""
_ROUNDING = 1 + 1e-9


def settings_of(noise: Noise, seed: int) -> Iterator[Asked]:
    """Yield the settings; every fourth has given sensitivities, if the noise can use them."""
    rng = np.random.default_rng(seed_sequence(seed, ("levels",)))
    levels = sorted([*_USUAL, *log_uniform(rng, (LEAST_MU, MOST_MU), _DRAWN).tolist()])
    stays = np.random.default_rng(seed_sequence(seed, ("stays",))).permutation(_STAYS)
    for number in range(_SETTINGS):
        rng = np.random.default_rng(seed_sequence(seed, ("noise", number)))
        turn, level = divmod(number, len(levels))
        stay = int(stays[level * len(stays) // len(levels)]) if turn % 2 else 1
        stay = stay if levels[level] < _LARGE else min(stay, _SHORT)
        rounds, n = (round(float(log_uniform(rng, span))) for span in (_ROUNDS, _EXPERTS))
        rounds = max(rounds, stay)
        beds = log_uniform(rng, _CAPACITIES, rounds, n)
        beds = np.round(beds) if rng.random() < 0.5 else beds
        kinds = np.full_like(beds, beds[0, 0]), beds[:1], beds, np.sort(beds, axis=0)[::-1]
        stream = replace(
            stream_of(np.zeros((rounds, n)), kinds[int(rng.integers(len(kinds)))]),
            gain_range=float(rng.choice(_RANGES)),
            count_sensitivity=float(rng.choice(_SENSITIVITIES)),
            stay=stay,
        )
        if number % 8 > 5 and not noise.needs_capacities:
            given = stream.gain_range * rng.uniform(0.05, 0.4, rounds)
            stream = replace(stream, capacity=None, given_sensitivity=given, stay=1)
        yield stream, levels[level]


def log_uniform(rng: np.random.Generator, span: tuple[float, float], *shape: int) -> Floats:
    return np.asarray(np.exp(rng.uniform(math.log(span[0]), math.log(span[1]), shape)))


def in_words(stream: GainStream, mu: float) -> str:
    """Return a setting in words."""
    if stream.capacity is None:
        people = "given sensitivities"
    else:
        low, high = stream.capacity.min(), stream.capacity.max()
        people = f"capacities of {low:.3g} to {high:.3g}, stay {stream.stay}"
    return f"mu {mu:.4g} ({stream.n_rounds} rounds, {stream.n_experts} experts, {people})"


def _scale(noise: Noise, stream: GainStream, mu: float) -> Floats:
    return np.asarray(noise.scale(stream, mu))


def scale_is_positive(noise: Noise, seed: int) -> None:
    """Check that the scale is (T, n) and above 0, and what the noise says of it."""
    for stream, mu in settings_of(noise, seed):
        scale = _scale(noise, stream, mu)
        if scale.shape != stream.gains.shape or not (np.isfinite(scale) & (scale > 0)).all():
            raise CheckError(
                f"at {in_words(stream, mu)} its scale has the shape {scale.shape} and begins with"
                f" {scale.flat[0]:g}; it must be above 0, with the shape {stream.gains.shape}"
            )
        if noise.constant and np.ptp(scale) > 0:
            raise CheckError(
                f"its scale varies at {in_words(stream, mu)}; set constant=False or make it"
                " constant"
            )
        if noise.none_at_infinity == _scale(noise, stream, math.inf).any():
            other = not noise.none_at_infinity
            raise CheckError(f"its scale at mu = inf is another; set none_at_infinity={other}")


def scale_is_public(noise: Noise, seed: int) -> None:
    """Check that the scale, which is public, depends on neither gains nor chance.

    Gains are empty, full, or drawn, with empty and full ones among them.
    """
    for number, (stream, mu) in enumerate(settings_of(noise, seed)):
        rng = np.random.default_rng(seed_sequence(seed, ("gains", number)))
        shares = rng.random(stream.gains.shape)
        mixed = np.select([shares < 0.2, shares < 0.3], [0.0, 1.0], rng.random(shares.shape))
        scale = _scale(noise, stream, mu)
        if (scale != _scale(noise, stream, mu)).any():
            raise CheckError("its scale is another when it is asked again; dpol alone draws noise")
        for gains in (shares, mixed, np.ones_like(shares)):
            full = replace(stream, gains=gains * stream.gain_range)
            if (scale != _scale(noise, full, mu)).any():
                raise CheckError(
                    f"its scale depends on the gains at {in_words(stream, mu)}; compute it from"
                    " public facts alone, such as capacities"
                )


def scale_keeps_the_level(noise: Noise, seed: int) -> None:
    """Check that dpol computes at most mu from the scale."""
    wrong = []
    for stream, mu in settings_of(noise, seed):
        found = record_of(stream, noise.name, mu).mu
        if found > mu * _ROUNDING:
            wrong.append((found / mu, f"{in_words(stream, mu)} dpol computes {found:.4g}"))
    if wrong:
        shown = "; at ".join(words for _, words in sorted(wrong, reverse=True)[:_SHOWN])
        raise CheckError(
            f"its scale is too small for its level in {len(wrong)} of {_SETTINGS} settings: at"
            f" {shown}; make it larger there"
        )


CHECKS: Mapping[str, Callable[[Noise, int], None]] = {
    "the scale is positive": scale_is_positive,
    "the scale does not depend on gains": scale_is_public,
    f"the scale keeps its level in {_SETTINGS} drawn settings": scale_keeps_the_level,
}
"""Checks of every noise, by printed title."""
