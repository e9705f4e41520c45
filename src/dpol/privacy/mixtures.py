"""Mixtures of Gaussian guarantees: the privacy of one round's noise in a batch of random size.

Source: "Prediction with Expert Advice under Local Differential Privacy", Lemma 2 and Corollary 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dpol.core.arguments import check_number, real_array
from dpol.core.randomness import Floats
from dpol.privacy.gaussian_dp import delta_of_epsilon, epsilon_of_delta, smallest_epsilon

BatchSizes = NDArray[np.int64]
"""Array of batch sizes, in rounds."""


@dataclass(frozen=True)
class BatchMixture:
    """Distribution of the size of the containing batch, and its guarantee.

    Args:
        mu: Gaussian-DP parameter of one round's noise, positive and finite.
        sizes: (k,) batch sizes, increasing.
        weights: (k,) probabilities of the sizes, summing to 1.

    Raises:
        ValueError: mu is out of range, sizes do not increase, or weights are no probabilities.

    >>> mixture = BatchMixture(mu=1.0, sizes=np.array([1, 4]), weights=np.array([0.5, 0.5]))
    >>> mixture.mean(), mixture.mus.tolist(), round(mixture.epsilon(0.01), 2)
    (2.5, [1.0, 0.5], 2.02)
    """

    mu: float
    sizes: BatchSizes
    weights: Floats

    def __post_init__(self) -> None:
        check_number("mu", self.mu, "(0, 1e100]")
        if not (self.sizes[0] >= 1 and (np.diff(self.sizes) > 0).all()):
            raise ValueError(f"sizes must be at least 1 and increase, got {self.sizes}")
        if not ((self.weights >= 0).all() and math.isclose(self.weights.sum(), 1)):
            raise ValueError(f"weights must be probabilities that sum to 1, got {self.weights}")

    @property
    def mus(self) -> Floats:
        """Gaussian-DP parameter mu / sqrt(b) of each batch size, (k,)."""
        return np.asarray(self.mu / np.sqrt(self.sizes))

    def mean(self) -> float:
        """Return the mean batch size."""
        return float(self.weights @ self.sizes)

    def trade_off_at(self, threshold: ArrayLike) -> tuple[Floats, Floats]:
        """Return both error rates of the test at log likelihood ratios of any shape.

        As the threshold runs over the real numbers, the pairs of false positive and false negative
        rates trace the trade-off function (Lemma 2).
        """
        c = np.clip(real_array("threshold", threshold), -1e100, 1e100)[..., None]
        false_positive = scipy.special.ndtr(-(c / self.mus + self.mus / 2)) @ self.weights
        false_negative = scipy.special.ndtr(c / self.mus - self.mus / 2) @ self.weights
        return np.asarray(false_positive), np.asarray(false_negative)

    def delta(self, epsilon: ArrayLike) -> Floats:
        """Return delta(eps): the sum over b of w_b times the delta(eps) of mu / sqrt(b)-GDP."""
        each = delta_of_epsilon(real_array("epsilon", epsilon)[..., None], self.mus)
        return np.asarray(each @ self.weights)

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon at `delta`; never above the epsilon of mu-GDP."""
        upper = epsilon_of_delta(delta, self.mu)
        return smallest_epsilon(lambda epsilon: float(self.delta(epsilon)), delta, upper)
