"""The budget divided among learners: each has noise of its own, which RW-Meta lets them share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.interface import Actions, LearnerBank, LocalAlgorithm, LocalSetup, Observation
from dpol.experts.learners.alone import LearnerAlone, check_banks, each_alone
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import RidgeBank

SplitState = tuple[tuple[Any, ...], Actions, Floats]
"""States of the m learners, their (R, m) actions, and their (R, m) gains in the choice."""


@dataclass(frozen=True)
class SplitBudget(LocalAlgorithm[SplitState]):
    """Give m learners and the choice among them noise of their own, each at mu / sqrt(m + 1).

    The choice follows the leader of the learners' gains in the last of the m + 1 noisy vectors,
    whose noise no learner saw; no noise needs to be decorrelated. The vectors are made from the one
    noisy vector of the round: Gaussian noise w_1, ..., w_m+1, minus its mean, is added to it. Then
    each has m + 1 times the variance, they are independent, and their mean is the vector, so
    that together they reveal nothing else, and its guarantee holds for the actions. Source: the
    "naive alternative" of "Prediction with Expert Advice under Local Differential Privacy", section
    3.2, of which the paper says only that it divides the budget.

    Args:
        learners: banks of learners; by default the paper's thirteen learners.

    Raises:
        ValueError: there is no bank.
    """

    learners: tuple[LearnerBank[Any], ...] = (RidgeBank(), LeaderBank())

    origin = "paper"

    def __post_init__(self) -> None:
        check_banks(self.learners)

    @property
    def alone(self) -> list[LearnerAlone]:
        """The learners, each of which sees a noisy vector of its own."""
        return [alone for bank in self.learners for alone in each_alone(bank)]

    def init(self, setup: LocalSetup) -> SplitState:
        alone, wider = self.alone, math.sqrt(len(self.alone) + 1)
        own = replace(setup, initial=wider * setup.initial, noise_scale=wider * setup.noise_scale)
        zeros = np.zeros((setup.n_replicates, len(alone)))
        return tuple(one.init(own) for one in alone), zeros.astype(np.int32), zeros

    def step(
        self, state: SplitState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[SplitState, Actions]:
        alone, (learners, actions, gains) = self.alone, state
        seen: Sequence[Observation | None] = [None] * len(alone)
        if observation is not None:
            seen = split(observation, len(alone) + 1, generators)
            gains = gains + np.take_along_axis(seen[-1].gains, actions, axis=1)
        stepped = [
            one.step(own, part, generators)
            for one, own, part in zip(alone, learners, seen, strict=False)
        ]
        learners, chosen = zip(*stepped, strict=True)
        actions = np.stack(chosen, axis=1)
        played = actions[np.arange(len(gains)), gains.argmax(axis=1)]
        return (learners, actions, gains), played


def split(
    observation: Observation, count: int, generators: ReplicateGenerators
) -> list[Observation]:
    """Return `count` observations with independent noise of `count` times the variance."""
    scale = math.sqrt(count) * observation.noise_scale
    normals = list(generators.standard_normal(count, len(scale)).swapaxes(0, 1))
    mean = sum(normals) / count
    return [
        replace(observation, gains=observation.gains + scale * (each - mean), noise_scale=scale)
        for each in normals
    ]
