"""Multiplicative weights as a measure for L2P: private prediction from expert advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpol.core.arguments import check_number, check_whole
from dpol.core.randomness import Floats, ReplicateGenerators


@dataclass(frozen=True)
class WeightsMeasure:
    """Multiplicative weights: nu_s(x) is proportional to exp(-eta times the losses of x so far).

    x is one of d experts. A batch is the (d,) sum of its losses; points are (R,) expert indices.
    Source: "Private Online Learning via Lazy Algorithms", section 3.1, Lemma 3.9 (delta_0 = 0).

    Args:
        n_experts: d, the number of experts.
        eta: learning rate.

    Raises:
        ValueError: a number is out of range.
    """

    n_experts: int
    eta: float

    def __post_init__(self) -> None:
        check_whole("n_experts", self.n_experts)
        check_number("eta", self.eta, "(0, 1e6]")

    def initial(self) -> Floats:
        """Return the (d,) cumulative losses before round 1, all 0."""
        return np.zeros(self.n_experts)

    def absorb(self, state: Floats, batch: Floats) -> Floats:
        return state + batch

    def sample(self, state: Floats, generators: ReplicateGenerators) -> NDArray[np.int32]:
        distribution = self._weights(state).cumsum(axis=-1)
        passed = distribution <= (generators.uniform() * distribution[..., -1])[:, None]
        return np.asarray(np.minimum(passed.sum(axis=-1), self.n_experts - 1), dtype=np.int32)

    def log_ratio(self, batch: Any, points: NDArray[np.int32]) -> Floats:
        return -self.eta * self.loss(batch, points)

    def loss(self, batch: Any, points: NDArray[np.int32]) -> Floats:
        return np.asarray(batch[points])

    def probabilities(self, state: Floats) -> Floats:
        """Return the (d,) probabilities of the experts, the normalised measure."""
        weights = self._weights(state)
        return np.asarray(weights / weights.sum())

    def _weights(self, state: Floats) -> Floats:
        return np.asarray(np.exp(-self.eta * (state - state.min(axis=-1, keepdims=True))))


class PairedWeights(WeightsMeasure):
    """Multiplicative weights of replicates with losses of their own, `PairedLosses`.

    A state has the total losses of each replicate, (R, d), or (d,) before round 1; a batch is a
    `Stretch`.

    Raises:
        ValueError: a number is out of range.
    """

    def absorb(self, state: Any, batch: Any) -> Any:
        return batch.after

    def loss(self, batch: Any, points: NDArray[np.int32]) -> Floats:
        return np.asarray(batch.of(points))
