"""Learners: experts that learn from the noisy gains themselves.

A bank is a set of learners that share work. Like an algorithm it is a frozen
dataclass with `init` and `step`, but it returns the actions of all its learners,
(R, m), and draws no random numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import RidgeBank
from dpol.experts.play import Actions, LocalSetup, Observation


class LearnerBank(Protocol):
    """Parameters plus the functions of a set of learners."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the m learners, in the order of the columns of the actions."""

    def init(self, setup: LocalSetup) -> Any:
        """The state before round 1."""

    def step(self, state: Any, observation: Observation | None) -> tuple[Any, Actions]:
        """The state and the (R, m) actions of the next round."""


LEARNERS: dict[str, Callable[..., LearnerBank]] = {"ridge": RidgeBank, "rw-ftpl": LeaderBank}
"""Learner banks by the name that a config gives them."""

__all__ = ["LEARNERS", "LeaderBank", "LearnerBank", "RidgeBank"]
