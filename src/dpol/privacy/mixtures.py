"""Mixtures of Gaussian guarantees: what a random batch size makes of the noise of one round.

Source: "Prediction with Expert Advice under Local Differential Privacy", Lemma 2 and Corollary 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dpol.core.randomness import Floats
from dpol.privacy.gaussian_dp import delta_of_epsilon, epsilon_of_delta, smallest_epsilon

BatchSizes = NDArray[np.int64]
"""An array of numbers of rounds."""


@dataclass(frozen=True)
class BatchMixture:
    """A distribution of containing batch sizes and the guarantee it gives.

    Args:
        mu: Gaussian-DP parameter of one round's noise, positive and finite.
        sizes: (k,) batch sizes, increasing.
        weights: (k,) their probabilities, summing to 1.

    Raises:
        ValueError: a number is out of range, or sizes do not increase.

    >>> mixture = BatchMixture(mu=1.0, sizes=np.array([1, 4]), weights=np.array([0.5, 0.5]))
    >>> mixture.mean(), mixture.mus.tolist(), round(mixture.epsilon(0.01), 2)
    (2.5, [1.0, 0.5], 2.02)
    """

    mu: float
    sizes: BatchSizes
    weights: Floats

    def __post_init__(self) -> None:
        if not 0 < self.mu < math.inf:
            raise ValueError(f"mu must be positive and finite, got {self.mu}")
        if (self.weights < 0).any() or abs(self.weights.sum() - 1) > 1e-9:
            raise ValueError("weights must be probabilities that sum to 1")
        if (self.sizes < 1).any() or (np.diff(self.sizes) <= 0).any():
            raise ValueError("sizes must be at least 1 and increasing")

    @property
    def mus(self) -> Floats:
        """(k,) Gaussian-DP parameter mu / sqrt(b) of each batch size."""
        return np.asarray(self.mu / np.sqrt(self.sizes))

    def as_dict(self) -> dict[str, Any]:
        """Plain values, sizes of weight 0 left out."""
        held = self.weights > 0
        return {
            "mu": self.mu,
            "sizes": self.sizes[held].tolist(),
            "weights": self.weights[held].tolist(),
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> BatchMixture:
        """The inverse of `as_dict`."""
        return cls(values["mu"], np.array(values["sizes"]), np.array(values["weights"]))

    def mean(self) -> float:
        """Mean batch size."""
        return float(self.weights @ self.sizes)

    def trade_off_at(self, threshold: ArrayLike) -> tuple[Floats, Floats]:
        """False positive and false negative rate of the test at a log likelihood ratio, any shape.

        As the threshold runs over the real numbers the pairs trace the trade-off function
        (Lemma 2).
        """
        c = np.asarray(threshold, dtype=float)[..., None]
        false_positive = scipy.special.ndtr(-(c / self.mus + self.mus / 2)) @ self.weights
        false_negative = scipy.special.ndtr(c / self.mus - self.mus / 2) @ self.weights
        return np.asarray(false_positive), np.asarray(false_negative)

    def delta(self, epsilon: ArrayLike) -> Floats:
        """delta(eps) = sum over b of w_b times the delta(eps) of mu / sqrt(b)-GDP."""
        each = delta_of_epsilon(np.asarray(epsilon, dtype=float)[..., None], self.mus)
        return np.asarray(each @ self.weights)

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon at `delta`; never above that of mu-GDP."""
        upper = epsilon_of_delta(delta, self.mu)
        return smallest_epsilon(lambda epsilon: float(self.delta(epsilon)), delta, upper)
