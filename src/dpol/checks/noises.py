"""Conformance checks of noises.

The streams are small: 12 rounds of 4 experts with random gains.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise

import numpy as np

from dpol.checks import CheckError
from dpol.checks.algorithms import EXPERTS, ROUNDS
from dpol.checks.audits import MILLIONTH, Play, audit
from dpol.checks.settings import Setting, drawn_settings, fixed_settings, in_words, stream_of
from dpol.core.errors import DataError
from dpol.core.randomness import Floats, replicate_generators
from dpol.data.stream import GainStream
from dpol.noise import Noise, privatize
from dpol.noise.event_streams import Mechanism, Release
from dpol.noise.noisy_gains import released
from dpol.privacy.guarantee import Guarantee

_LEVELS = 0.25, 0.5, 2.0
_ROUNDING = 1 + 1e-9
_GAMES = 60, 300, 1500


def _streams(noise: Noise) -> Iterator[GainStream]:
    """Yield a stream of people, and one with given sensitivities if the noise can play it."""
    rng = np.random.default_rng(0)
    shape = ROUNDS, EXPERTS
    beds = rng.integers(5, 50, size=shape).astype(float)
    stream = stream_of(rng.random(shape), beds)
    yield stream
    if not noise.needs_capacities:
        given = rng.uniform(0.1, 0.5, ROUNDS)
        yield dataclasses.replace(stream, capacity=None, given_sensitivity=given)


def scale_is_positive(noise: Noise) -> None:
    """Check that the scale is (T, n), above 0, and the same everywhere if `constant` is set."""
    for stream in _streams(noise):
        for mu in _LEVELS:
            scale = np.asarray(noise.scale(stream, mu))
            if scale.shape != stream.gains.shape or not (np.isfinite(scale) & (scale > 0)).all():
                raise CheckError(
                    f"at mu = {mu:g} its scale has the shape {scale.shape} and begins with"
                    f" {scale.flat[0]:g}; it must be above 0, with the shape {stream.gains.shape}"
                )
            if noise.constant and np.ptp(scale) > 0:
                raise CheckError(
                    f"its scale varies at mu = {mu:g}; set constant=False or make it constant"
                )


def scale_is_public(noise: Noise) -> None:
    """Check that the scale, which is public, does not depend on the gains."""
    for stream in _streams(noise):
        moved = dataclasses.replace(stream, gains=stream.gains[::-1] ** 2)
        if (np.asarray(noise.scale(stream, 0.5)) != noise.scale(moved, 0.5)).any():
            raise CheckError("its scale depends on the gains; it is public, so it must not")


def less_mu_is_more_noise(noise: Noise) -> None:
    """Check that a smaller mu never gives less noise, and that `none_at_infinity` is right."""
    for stream in _streams(noise):
        scales = [np.asarray(noise.scale(stream, mu)) for mu in (*_LEVELS, math.inf)]
        for one, other in pairwise(scales):
            if (one < other).any():
                raise CheckError("a smaller mu gives a smaller scale; it must not")
        if noise.none_at_infinity == scales[-1].any():
            raise CheckError(
                "it has noise at mu = inf; set none_at_infinity=False"
                if noise.none_at_infinity
                else "it has no noise at mu = inf; set none_at_infinity=True"
            )


def record_keeps_the_level(noise: Noise) -> None:
    """Check that noisy gains are protected at the level asked for or better, as recorded."""
    for stream in _streams(noise):
        for mu in _LEVELS:
            try:
                record = privatize(stream, noise.name, mu, seed=1, replicates=1).guarantee
            except DataError as error:
                raise CheckError(f"it cannot add noise to a stream: {error}") from None
            if not 0 < record.mu <= mu * _ROUNDING:
                raise CheckError(
                    f"its noise gives mu = {record.mu:.3g} but {mu:g} was requested; enlarge its"
                    " scale"
                )


def _quietly(
    mechanism: Mechanism, x: Floats, capacity: Floats, draws: Floats, epsilon: float, stay: int
) -> Release:
    return mechanism.release(x, capacity, MILLIONTH * draws, epsilon, stay)


def _audited(noise: Noise) -> Play:
    """Return the audited releases of a noise."""

    def releases(
        setting: Setting, stream: GainStream, count: int, seed: int, quiet: bool
    ) -> tuple[Floats, Guarantee]:
        made = privatize(stream, noise.name, setting.mu, seed=seed, replicates=count)
        gains = made.gains
        if quiet and noise.mechanism:
            less = dataclasses.replace(noise.mechanism, release=partial(_quietly, noise.mechanism))
            generators = replicate_generators(seed, ("quiet",), range(count), noise.name)
            gains = released(stream, less, setting.mu, generators)[1].transpose(1, 0, 2)
        elif quiet:
            gains = stream.gains + MILLIONTH * (gains - stream.gains)
        if gains.shape != (count, *stream.gains.shape) or not np.isfinite(gains).all():
            raise CheckError("its releases are not all finite, or not of the shape (T, R, n)")
        return gains, made.guarantee

    return releases


def releases_do_not_refute_the_record(noise: Noise, seed: int = 1) -> str:
    """Check that the releases of a noise prove no more about a person than its record.

    A sound noise is refused with probability 1e-6. `dpol.checks.audits` says what an audit cannot
    see.
    """
    given = "" if noise.needs_capacities else noise.name
    few = [*fixed_settings(noise.name, stays=True)][::-3]
    drawn = drawn_settings(seed, [noise.name], stays=True, given=given, last=0)
    return audit(
        _audited(noise),
        [*few, *drawn],
        few,
        seed=seed,
        games=_GAMES,
        outputs="its releases",
        refuse_unseen=noise.origin == "other",
    )


CHECKS: Mapping[str, Callable[[Noise], str | None]] = {
    "the scale is positive": scale_is_positive,
    "the scale does not depend on gains": scale_is_public,
    "a smaller mu means more noise": less_mu_is_more_noise,
    "the record keeps the level": record_keeps_the_level,
}
"""Checks of noises, by printed title."""


def checks_of(noise: Noise, seed: int) -> Iterator[tuple[str, Callable[[Noise], str | None]]]:
    """Yield the checks for a noise; the seed is that of its audit."""
    yield from CHECKS.items()
    words = in_words([noise.name], stays=True, given=not noise.needs_capacities)
    audited = partial(releases_do_not_refute_the_record, seed=seed)
    yield f"releases do not refute the record {words}", audited
