"""Multiplicative weights (Hedge) on raw gains: the non-private yardstick."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.experts.interface import Actions, CuratorSetup, NonPrivateAlgorithm, Observation

WeightsState = tuple[Floats, float]
"""Cumulative gains, (R, n), and the learning rate."""


@dataclass(frozen=True)
class MultiplicativeWeights(NonPrivateAlgorithm[WeightsState]):
    """Draw expert i with probability proportional to exp(e * cumulative gain of i).

    The learning rate e = sqrt(8 log(n) / T) / r, where r is the gain range, gives an expected
    regret of at most r sqrt(T log(n) / 2) (Cesa-Bianchi and Lugosi, "Prediction, Learning, and
    Games", theorem 2.2).
    """

    origin = "standard"

    def init(self, setup: CuratorSetup) -> WeightsState:
        rate = math.sqrt(8 * math.log(setup.n_experts) / setup.n_rounds) / setup.gain_range
        return np.zeros((setup.n_replicates, setup.n_experts)), rate

    def step(
        self, state: WeightsState, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[WeightsState, Actions]:
        cumulative, rate = state
        if observation is not None:
            cumulative = cumulative + observation.gains
        scaled = rate * cumulative
        weights = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        distribution = np.cumsum(weights, axis=1)
        threshold = generators.uniform() * distribution[:, -1]
        actions = (distribution[:, :-1] <= threshold[:, None]).sum(axis=1)
        return (cumulative, rate), actions.astype(np.int32)
