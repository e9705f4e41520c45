"""Play the expert that had the largest noisy gain in the last round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.interface import (
    Actions,
    Forecast,
    LocalAlgorithm,
    LocalSetup,
    Observation,
    ReadsNoise,
)
from dpol.privacy.guarantee import Origin


@dataclass(frozen=True)
class Persistence(LocalAlgorithm[Floats]):
    """The expert with the largest noisy gain of the last round; expert 0 in round 1.

    A floor that every learning algorithm should beat. The state is the (R, n) last noisy gains.
    """

    origin: ClassVar[Origin] = "standard"
    reads_noise: ClassVar[ReadsNoise] = "any"

    def init(self, setup: LocalSetup) -> Floats:
        return np.zeros((setup.n_replicates, setup.n_experts))

    def step(
        self, state: Floats, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[Floats, Actions]:
        last = state if observation is None else observation.gains
        return last, last.argmax(axis=1).astype(np.int32)

    def forecast(self, state: Floats) -> Forecast:
        return Forecast(state)
