"""A learner played alone, and a check of banks that are played together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpol.core.arguments import check_kind, check_whole
from dpol.core.randomness import ReplicateGenerators
from dpol.experts.interface import (
    Actions,
    LearnerBank,
    LocalAlgorithm,
    LocalSetup,
    Observation,
    ReadsNoise,
)
from dpol.privacy.guarantee import Origin


@dataclass(frozen=True)
class LearnerAlone(LocalAlgorithm[Any]):
    """Play the actions of one learner: no selection, no randomness, post-processing of noisy gains.

    Args:
        bank: bank of learners, all of them played.
        place: index of the learner that acts; `LearnerBank.single` returns a smaller bank.

    Raises:
        ValueError: the bank has no such learner.
    """

    bank: LearnerBank[Any]
    place: int = 0

    def __post_init__(self) -> None:
        check_kind("bank", self.bank, LearnerBank, "such as dpol.RidgeBank()")
        check_whole("place", self.place, 0, len(self.bank.labels) - 1)

    @property
    def origin(self) -> Origin:
        return self.bank.origin

    @property
    def reads_noise(self) -> ReadsNoise:
        return self.bank.reads_noise

    @property
    def label(self) -> str:
        """Label of the learner."""
        return self.bank.labels[self.place]

    def init(self, setup: LocalSetup) -> Any:
        return self.bank.init(setup)

    def step(
        self, state: Any, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[Any, Actions]:
        state, actions = self.bank.step(state, observation)
        return state, actions[:, self.place]


def each_alone(bank: LearnerBank[Any]) -> list[LearnerAlone]:
    """Return the learners of a bank as algorithms, each in a bank of its own if it can have one."""
    return [LearnerAlone(*bank.single(place)) for place in range(len(bank.labels))]


def check_banks(banks: Sequence[LearnerBank[Any]]) -> None:
    """Refuse learners that are no banks.

    Raises:
        TypeError: an element is not a bank.
        ValueError: there is no bank.
    """
    if not banks:
        raise ValueError("learners must not be empty")
    check_kind("learners", banks, Sequence, "such as (dpol.RidgeBank(), dpol.LeaderBank())")
    for bank in banks:
        check_kind("a learner", bank, LearnerBank, "such as dpol.RidgeBank()")
