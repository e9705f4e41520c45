"""Fixed share over experts: exponential weights that follow the best sequence of experts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dpol.core.arguments import check_number
from dpol.core.randomness import Floats
from dpol.experts.interface import Actions, LearnerBank, LocalSetup, Observation
from dpol.experts.learners.typical_level import TypicalLevel, before_round_1

SETTINGS: Mapping[str, tuple[float, float]] = {"gentle": (0.01, 0.2), "steep": (30.0, 0.5)}
"""Rate and share of the two settings, frozen before they played any other data. We chose
them on the simulated worlds, on simulated hospitals, and on the first 20 weeks of New Mexico,
Pennsylvania and California: of 9 rates from 0.01 to 100 and 9 shares from 0.001 to 0.7 the pair of
a rate below 1 and one from 1 up that keeps most of the possible gain where the better one counts.
Two rates below 1 would have been the best pair (60.9%); we added the rule of one steep setting
after a look at that. A small rate follows the leader of sums that shrink by the share each
round."""


@dataclass(frozen=True, kw_only=True)
class FixedShareState:
    """Log weights (K, R, n) of K settings, and the typical level, the unit of the gains."""

    logs: Floats
    typical: TypicalLevel


@dataclass(frozen=True)
class FixedShareBank(LearnerBank[FixedShareState]):
    """Weights that grow with the noisy gains, of which every expert then gets an equal share.

    After a round, w becomes w exp(rate g / G), normalised, and then (1 - share) w + share / n, for
    noisy gains g and their typical level G (`TypicalLevel`). The expert with the largest weight is
    played, expert 0 in round 1. Source: Herbster and Warmuth, "Tracking the best expert" (1998):
    they draw from w, and give their share, (n - 1) / n of ours, to the other experts.

    Args:
        settings: rate and share of each learner, by name.

    Raises:
        ValueError: there is no setting, or a rate or a share is out of range.
    """

    settings: Mapping[str, tuple[float, float]] = field(default_factory=lambda: dict(SETTINGS))

    origin = "standard"

    def __post_init__(self) -> None:
        if not isinstance(self.settings, Mapping) or not self.settings:
            raise ValueError(f"settings must be named, like {SETTINGS}, got {self.settings!r}")
        for name, pair in self.settings.items():
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise ValueError(f"settings.{name} must be a rate and a share, got {pair!r}")
            check_number(f"the rate of settings.{name}", pair[0], "(0, 1e6]")
            check_number(f"the share of settings.{name}", pair[1], "(0, 1]")

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"fixed-share-{name}" for name in self.settings)

    def single(self, place: int) -> tuple[FixedShareBank, int]:
        """Fixed share with one setting."""
        return FixedShareBank(dict([list(self.settings.items())[place]])), 0

    def init(self, setup: LocalSetup) -> FixedShareState:
        shape = len(self.settings), setup.n_replicates, setup.n_experts
        return FixedShareState(logs=np.zeros(shape), typical=before_round_1(setup))

    def step(
        self, state: FixedShareState, observation: Observation | None
    ) -> tuple[FixedShareState, Actions]:
        if observation is not None:
            typical = state.typical.after(observation)
            rates, shares = np.array(list(self.settings.values())).T[:, :, None, None]
            logs = state.logs + rates * typical.relative(observation).gains
            weights = np.exp(logs - logs.max(axis=2, keepdims=True))
            weights *= (1 - shares) / weights.sum(axis=2, keepdims=True)
            logs = np.log(weights + shares / weights.shape[2])
            state = FixedShareState(logs=logs, typical=typical)
        return state, state.logs.argmax(axis=2).T.astype(np.int32, order="C")
