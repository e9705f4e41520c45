"""Follow the leader on raw gains: no privacy, no randomness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.interface import Actions, CuratorSetup, NonPrivateAlgorithm, Observation


@dataclass(frozen=True)
class FollowTheLeader(NonPrivateAlgorithm[Floats]):
    """Play the argmax of the cumulative raw gains; expert 0 in round 1.

    The state is the (R, n) cumulative gains.
    """

    origin = "standard"

    def init(self, setup: CuratorSetup) -> Floats:
        return np.zeros((setup.n_replicates, setup.n_experts))

    def step(
        self, state: Floats, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[Floats, Actions]:
        cumulative = state if observation is None else state + observation.gains
        return cumulative, cumulative.argmax(axis=1).astype(np.int32)
