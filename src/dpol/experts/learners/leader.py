"""RW-FTPL as a learner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpol.core.randomness import Floats
from dpol.experts.interface import Actions, LearnerBank, LocalSetup, Observation


@dataclass(frozen=True)
class LeaderBank(LearnerBank[Floats]):
    """One learner: the leader of z_0 plus the noisy gains so far (see `RandomWalkFTPL`)."""

    labels = ("rw-ftpl",)
    reads_noise = "chains"

    def init(self, setup: LocalSetup) -> Floats:
        return setup.initial

    def step(self, state: Floats, observation: Observation | None) -> tuple[Floats, Actions]:
        cumulative = state if observation is None else state + observation.gains
        return cumulative, cumulative.argmax(axis=1).astype(np.int32)[:, None]
