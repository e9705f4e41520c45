"""Play the largest discounted mean of the noisy gains, lowered by a margin for their noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpol.core.arguments import check_number
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.interface import Actions, LocalAlgorithm, LocalSetup, Observation, ReadsNoise

DiscountedSums = tuple[Floats, Floats]
"""Discounted sums of the noisy gains (R, n), and of the noise's variances (n,)."""


@dataclass(frozen=True)
class DiscountedMean(LocalAlgorithm[DiscountedSums]):
    """The largest discounted mean of the noisy gains, less a margin; expert 0 in round 1.

    A round counts `decay` times as much as the next one. Of gains g_s whose noise has the standard
    deviation η_s, the mean is Σ decay^(t−s) g_s / Σ decay^(t−s), and its standard error is
    √(Σ decay^(2(t−s)) η_s²) / Σ decay^(t−s). The largest of many noisy means is often that of the
    noisiest expert, so `caution` standard errors are subtracted from each. Noise of one size on all
    experts takes the same off every mean, and leaves the plain mean. With a decay of 0 only the
    last round counts, and any noise is read.

    We chose the defaults once for all privacy levels: of decays 0, .1, .2, .3, .4, .5, .6, .7, .8,
    .9 and .95 and cautions 0, .5, 1, 1.5, 2, 2.5 and 3 the pair with the largest mean share of the
    possible gain over the first 20 weeks of New Mexico, Pennsylvania and California
    (config/beyond.yaml) and μ = 1, .5, .25 and .1, in 60 runs with `capacity` noise of seed 1. Of
    equal pairs, the smaller caution and then the smaller decay counts.

    Args:
        decay: λ, weight of a round beside the next one, in [0, 1].
        caution: standard errors of the noise to subtract from the mean.

    Raises:
        ValueError: a parameter is out of its range.
    """

    decay: float = 0.6
    caution: float = 2.0

    origin = "standard"

    def __post_init__(self) -> None:
        check_number("decay", self.decay, "[0, 1]")
        check_number("caution", self.caution, "[0, 100]")

    @property
    def reads_noise(self) -> ReadsNoise:
        return "independent" if self.decay else "chains"

    def init(self, setup: LocalSetup) -> DiscountedSums:
        shape = setup.n_replicates, setup.n_experts
        return np.zeros(shape), np.zeros(setup.n_experts)

    def step(
        self,
        state: DiscountedSums,
        observation: Observation | None,
        generators: ReplicateGenerators,
    ) -> tuple[DiscountedSums, Actions]:
        gains, variance = state
        if observation is None:
            return state, np.zeros(len(gains), dtype=np.int32)
        gains = self.decay * gains + observation.gains
        variance = self.decay**2 * variance + observation.noise_scale**2
        # The means are these sums over one number for all, so the same expert has the largest.
        scores = gains - self.caution * np.sqrt(variance)
        return (gains, variance), scores.argmax(axis=1).astype(np.int32)
