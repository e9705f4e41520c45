"""The typical level of the gains: the unit in which filters measure gains.

A filter needs to know which differences between experts are large. Shares of beds lie near 0.1,
admissions per inhabitant near 0.00001; the noisy gains themselves say which. The estimate is a
function of noisy gains and of public numbers, hence post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpol.core.randomness import Floats
from dpol.experts.interface import LocalSetup, Observation

BEFORE = 0.1
"""Typical level assumed before any data, as a share of the gain range; no later round uses it."""


@dataclass(frozen=True, kw_only=True)
class TypicalLevel:
    """Mean over rounds of the level that all experts share, at least its standard error.

    The level of a round is the mean of the noisy gains, weighted by 1 / (noise variance + squared
    typical level), as if experts differed by as much as the level is high. In the first round the
    median noise stands for the typical level.

    Args:
        unit: (R, 1) typical level.
        total: (R, 1) sum of the rounds' levels.
        variance: (R, 1) variance of the noise in `total`, for independent noise.
        rounds: number of rounds so far.
    """

    unit: Floats
    total: Floats
    variance: Floats
    rounds: int = 0

    def after(self, seen: Observation) -> TypicalLevel:
        """Return the typical level after a round."""
        between = self.unit if self.rounds else np.full_like(self.unit, np.median(seen.noise_scale))
        weights = 1 / (seen.noise_scale**2 + _or_one(between) ** 2)
        weights /= weights.sum(axis=1, keepdims=True)
        total = self.total + (weights * seen.gains).sum(axis=1, keepdims=True)
        variance = self.variance + ((weights * seen.noise_scale) ** 2).sum(axis=1, keepdims=True)
        rounds = self.rounds + 1
        unit = _or_one(np.maximum(total, np.sqrt(variance)) / rounds)
        return TypicalLevel(unit=unit, total=total, variance=variance, rounds=rounds)

    def relative(self, seen: Observation) -> Observation:
        """Return an observation in units of the typical level; its noise scales are (R, n)."""
        return replace(
            seen,
            gains=seen.gains / self.unit,
            noise_scale=seen.noise_scale / self.unit,
            fresh_scale=seen.fresh / self.unit,
        )


def before_round_1(setup: LocalSetup) -> TypicalLevel:
    """Return the typical level that is assumed before any data."""
    shape = setup.n_replicates, 1
    unit, zeros = np.full(shape, BEFORE * setup.gain_range), np.zeros(shape)
    return TypicalLevel(unit=unit, total=zeros, variance=zeros)


def _or_one(level: Floats) -> Floats:
    """Return a level, or 1 where it is 0: gains that are all 0 have no unit."""
    return np.where(level > 0, level, 1.0)
