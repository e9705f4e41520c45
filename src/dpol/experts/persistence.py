"""The expert that had the largest noisy gain in the round before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpol.core.randomness import ReplicateGenerators
from dpol.experts.interface import Actions, LocalAlgorithm, LocalSetup, Observation, ReadsNoise
from dpol.privacy.guarantee import Origin


@dataclass(frozen=True)
class Persistence(LocalAlgorithm[int]):
    """The expert with the largest noisy gain of the last round; expert 0 in round 1.

    A floor: who learns should beat who remembers one number. State: the number of replicates.
    """

    origin: ClassVar[Origin] = "standard"
    reads_noise: ClassVar[ReadsNoise] = "any"

    def init(self, setup: LocalSetup) -> int:
        return setup.n_replicates

    def step(
        self, state: int, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[int, Actions]:
        if observation is None:
            return state, np.zeros(state, dtype=np.int32)
        return state, observation.gains.argmax(axis=1).astype(np.int32)
