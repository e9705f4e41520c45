"""Banks of learners joined to one, and a learner played alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpol.core.randomness import ReplicateGenerators
from dpol.experts.interface import Actions, LearnerBank, LocalAlgorithm, LocalSetup, Observation
from dpol.privacy.guarantee import Origin


@dataclass(frozen=True)
class JoinedBank(LearnerBank[tuple[Any, ...]]):
    """The learners of several banks, in their order; the state holds one of each bank.

    Args:
        banks: at least one.

    Raises:
        ValueError: there is no bank.
    """

    banks: tuple[LearnerBank[Any], ...]

    def __post_init__(self) -> None:
        if not self.banks:
            raise ValueError("learners must not be empty")

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(label for bank in self.banks for label in bank.labels)

    def init(self, setup: LocalSetup) -> tuple[Any, ...]:
        return tuple(bank.init(setup) for bank in self.banks)

    def step(
        self, state: tuple[Any, ...], observation: Observation | None
    ) -> tuple[tuple[Any, ...], Actions]:
        stepped = [bank.step(own, observation) for bank, own in zip(self.banks, state, strict=True)]
        states, actions = zip(*stepped, strict=True)
        return states, np.concatenate(actions, axis=1)


@dataclass(frozen=True)
class LearnerAlone(LocalAlgorithm[Any]):
    """Play what a learner says: no selection, no randomness, post-processing of noisy gains.

    Args:
        bank: a bank of one learner; `LearnerBank.single` makes one.

    Raises:
        ValueError: the bank has several learners.
    """

    bank: LearnerBank[Any]

    def __post_init__(self) -> None:
        if len(self.bank.labels) != 1:
            raise ValueError(f"one learner alone is needed, got {', '.join(self.bank.labels)}")

    @property
    def origin(self) -> Origin:
        return self.bank.origin

    @property
    def label(self) -> str:
        """The label of the learner."""
        return self.bank.labels[0]

    def init(self, setup: LocalSetup) -> Any:
        return self.bank.init(setup)

    def step(
        self, state: Any, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[Any, Actions]:
        state, actions = self.bank.step(state, observation)
        return state, actions[:, 0]


def each_alone(bank: LearnerBank[Any]) -> tuple[LearnerAlone, ...]:
    """Every learner of a bank as an algorithm of its own."""
    if len(bank.labels) == 1:
        return (LearnerAlone(bank),)
    return tuple(LearnerAlone(bank.single(place)) for place in range(len(bank.labels)))
