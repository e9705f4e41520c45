"""Conformance checks of noises.

The streams are drawn; `dpol.checks.releases` compares what is declared with what is released.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice, pairwise

import numpy as np

from dpol.checks import CheckError
from dpol.checks.algorithms import SEED
from dpol.checks.releases import (
    law_says_what_it_is,
    record_covers_what_is_declared,
    releases_are_as_declared,
    settings_of,
)
from dpol.data.stream import GainStream
from dpol.data.synthetic import largest_changes
from dpol.noise import Noise

_LEVELS = 0.25, 0.5, 2.0


def _streams(noise: Noise) -> Iterator[GainStream]:
    """Yield streams of all kinds."""
    return (it.stream for it in islice(settings_of(noise, SEED), 8))


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


def scale_is_public(noise: Noise, seed: int) -> None:
    """Check that the scale, which is public, does not depend on the gains.

    It is the same with a person at either place, and where all gains are empty or full.
    """
    for setting in settings_of(noise, seed):
        stream = setting.stream
        some, top = stream.gains, stream.gain_range
        room = dataclasses.replace(stream, gains=np.clip(some, 0, top - largest_changes(stream)))
        others = (dataclasses.replace(stream, gains=np.full_like(some, it)) for it in (0.0, top))
        streams = *dataclasses.replace(setting, stream=room).streams(), *others
        scale = np.asarray(noise.scale(stream, setting.mu))
        if any((scale != noise.scale(each, setting.mu)).any() for each in streams):
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


def releases_keep_what_is_said(noise: Noise, seed: int = 1) -> str:
    """Check that releases are as declared, and that the record covers what is declared.

    A sound noise is refused with probability 1e-6. `dpol.checks.releases` says how it compares.
    """
    law_says_what_it_is(noise)
    record_covers_what_is_declared(noise, seed)
    if not (refused := releases_are_as_declared(noise, seed)):
        raise CheckError("a tenth of its noise would pass too, so nothing is checked; leave it out")
    return f"holds; would refute {refused:g} of the noise"


CHECKS: Mapping[str, Callable[[Noise], str | None]] = {
    "the scale is positive": scale_is_positive,
    "a smaller mu means more noise": less_mu_is_more_noise,
}
"""Checks of noises, by printed title."""


def checks_of(noise: Noise, seed: int) -> Iterator[tuple[str, Callable[[Noise], str | None]]]:
    """Yield the checks for a noise; the seed is that of its games."""
    yield from CHECKS.items()
    yield "the scale does not depend on gains", partial(scale_is_public, seed=seed)
    compared = partial(releases_keep_what_is_said, seed=seed)
    yield "releases are as declared, and the record covers them", compared
