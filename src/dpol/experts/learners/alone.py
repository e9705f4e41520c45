"""A learner played on its own: a row of the tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpol.core.randomness import ReplicateGenerators
from dpol.experts.learners import LearnerBank
from dpol.experts.play import Actions, LocalSetup, Observation, Origin
from dpol.privacy.guarantee import Model


@dataclass(frozen=True)
class LearnerAlone:
    """Play what a learner says: no selection, no randomness, post-processing of noisy gains.

    Args:
        bank: a bank of learners.
        place: which of them is played; without it the bank must have exactly one.
    """

    bank: LearnerBank
    place: int | None = None

    model: ClassVar[Model] = "local"
    origin: ClassVar[Origin] = "ours"

    def __post_init__(self) -> None:
        if self.place is None and len(self.bank.labels) != 1:
            raise ValueError(f"one learner alone is needed, got {', '.join(self.bank.labels)}")

    def init(self, setup: LocalSetup) -> Any:
        return self.bank.init(setup)

    def step(
        self, state: Any, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[Any, Actions]:
        state, actions = self.bank.step(state, observation)
        return state, actions[:, self.place or 0]
