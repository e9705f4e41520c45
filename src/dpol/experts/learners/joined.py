"""Banks of learners joined to one, and a learner played alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpol.core.arguments import check_kind
from dpol.core.randomness import ReplicateGenerators
from dpol.experts.interface import (
    Actions,
    Forecast,
    LearnerBank,
    LocalAlgorithm,
    LocalSetup,
    Observation,
    ReadsNoise,
)
from dpol.privacy.guarantee import Origin


@dataclass(frozen=True)
class JoinedBank(LearnerBank[tuple[Any, ...]]):
    """The learners of several banks, in their order; the state holds one of each bank.

    Args:
        banks: at least one.

    Raises:
        TypeError: one is not a bank.
        ValueError: there is no bank.
    """

    banks: tuple[LearnerBank[Any], ...]

    def __post_init__(self) -> None:
        if not self.banks:
            raise ValueError("learners must not be empty")
        check_kind(
            "learners", self.banks, Sequence, "such as (dpol.RidgeBank(), dpol.LeaderBank())"
        )
        for bank in self.banks:
            check_kind("a learner", bank, LearnerBank, "such as dpol.RidgeBank()")

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
        bank: a bank of learners, all of which are played.
        place: which of them acts; `LearnerBank.single` names a smaller bank.

    Raises:
        ValueError: the bank has no such learner.
    """

    bank: LearnerBank[Any]
    place: int = 0

    def __post_init__(self) -> None:
        check_kind("bank", self.bank, LearnerBank, "such as dpol.RidgeBank()")
        if not 0 <= self.place < (count := len(self.bank.labels)):
            raise ValueError(f"place must be from 0 to {count - 1}, got {self.place}")

    @property
    def origin(self) -> Origin:
        return self.bank.origin

    @property
    def reads_noise(self) -> ReadsNoise:
        return self.bank.reads_noise

    @property
    def label(self) -> str:
        """The label of the learner."""
        return self.bank.labels[self.place]

    def init(self, setup: LocalSetup) -> Any:
        return self.bank.init(setup)

    def step(
        self, state: Any, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[Any, Actions]:
        state, actions = self.bank.step(state, observation)
        return state, actions[:, self.place]

    def forecast(self, state: Any) -> Forecast | None:
        return self.bank.forecast(state, self.place)


def each_alone(bank: LearnerBank[Any]) -> tuple[LearnerAlone, ...]:
    """Every learner of a bank as an algorithm of its own."""
    return tuple(LearnerAlone(*bank.single(place)) for place in range(len(bank.labels)))
