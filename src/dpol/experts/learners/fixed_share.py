"""Fixed share over experts: exponential weights that follow the best sequence of experts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpol.core.arguments import check_number
from dpol.core.randomness import Floats
from dpol.experts.interface import Actions, LearnerBank, LocalSetup, Observation
from dpol.experts.learners.typical_level import TypicalLevel, before_round_1

FixedShareState = tuple[Floats, TypicalLevel]
"""Log weights (R, n), and the typical level, the unit of the gains."""


@dataclass(frozen=True)
class FixedShareBank(LearnerBank[FixedShareState]):
    """Weights that grow with the noisy gains, of which every expert then gets an equal share.

    After a round, w becomes w exp(rate g / G), normalised, and then (1 - share) w + share / n, for
    noisy gains g and their typical level G (`TypicalLevel`). The expert with the largest weight is
    played, expert 0 in round 1. Source: Herbster and Warmuth, "Tracking the best expert" (1998):
    they draw from w, and give their share, (n - 1) / n of the share here, to the other experts.

    We chose the defaults on the simulated worlds, on simulated hospitals, and on the first 20 weeks
    of New Mexico, Pennsylvania and California, as one of two pairs of 9 rates from 0.01 to 100 and
    9 shares from 0.001 to 0.7. The other pair, with a rate of 0.01, follows the leader of sums that
    shrink by the share each round, as `discounted-mean` does.

    Args:
        rate: rate of learning, in units of the typical level.
        share: part of the weights that all experts share.

    Raises:
        ValueError: a parameter is out of its range.
    """

    rate: float = 30.0
    share: float = 0.5

    labels = ("fixed-share",)
    origin = "standard"

    def __post_init__(self) -> None:
        check_number("rate", self.rate, "(0, 1e6]")
        check_number("share", self.share, "(0, 1]")

    def init(self, setup: LocalSetup) -> FixedShareState:
        return np.zeros((setup.n_replicates, setup.n_experts)), before_round_1(setup)

    def step(
        self, state: FixedShareState, observation: Observation | None
    ) -> tuple[FixedShareState, Actions]:
        logs, typical = state
        if observation is not None:
            typical = typical.after(observation)
            logs = logs + self.rate * typical.relative(observation).gains
            weights = np.exp(logs - logs.max(axis=1, keepdims=True))
            weights *= (1 - self.share) / weights.sum(axis=1, keepdims=True)
            logs = np.log(weights + self.share / weights.shape[1])
        return (logs, typical), logs.argmax(axis=1).astype(np.int32)[:, None]
