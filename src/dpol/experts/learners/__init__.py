"""Learners: experts that learn from the noisy gains themselves.

A bank is a set of learners that share work. Like an algorithm it is a frozen
dataclass with `init` and `step`, but it returns the actions of all its learners,
(R, m), and draws no random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dpol.experts.learners.empirical_bayes import EmpiricalBayesBank, Pooling
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import RidgeBank
from dpol.experts.learners.state_space import KalmanBank, StateSpaceModel, as_models
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


def _kalman(models: Sequence[Any] = KalmanBank().models) -> LearnerBank:
    """`KalmanBank`, whose models may be blocks of a config."""
    return KalmanBank(as_models(models))


def _empirical_bayes(
    models: Sequence[Any] = EmpiricalBayesBank().models,
    pooling: Pooling = "expert",
    forgetting: float = 0.95,
) -> LearnerBank:
    """`EmpiricalBayesBank`, whose models may be blocks of a config."""
    return EmpiricalBayesBank(as_models(models), pooling, forgetting)


LEARNERS: dict[str, Callable[..., LearnerBank]] = {
    "ridge": RidgeBank,
    "rw-ftpl": LeaderBank,
    "kalman": _kalman,
    "empirical-bayes": _empirical_bayes,
}
"""Learner banks by the name that a config gives them."""

__all__ = [
    "LEARNERS",
    "EmpiricalBayesBank",
    "KalmanBank",
    "LeaderBank",
    "LearnerBank",
    "RidgeBank",
    "StateSpaceModel",
]
