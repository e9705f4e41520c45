"""Regularised multiplicative weights on a ball, as a measure for L2P.

nu_s(x) is proportional to `exp(-beta (losses of x so far + lambda |x|^2))` for `|x| <= D/2`.
Source: "Private Online Learning via Lazy Algorithms", section 3.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.studies.lazy.convex.truncated_gaussian import sample_truncated_gaussian


@dataclass(frozen=True, kw_only=True)
class RegularisedWeights:
    """The measure for linear losses <a_t, x>, drawn from without approximation.

    The state is the (d,) sum of the gradients so far, a batch the (d,) sum of its own; points
    are (R, d). For summed gradients A, nu is N(-A/(2 lambda), I/(2 beta lambda)) truncated to
    the ball.

    Args:
        dimension: d of the space.
        diameter: D of the ball around 0.
        beta: inverse temperature.
        regulariser: lambda.
    """

    dimension: int
    diameter: float
    beta: float
    regulariser: float

    def initial(self) -> Floats:
        return np.zeros(self.dimension)

    def absorb(self, state: Floats, batch: Floats) -> Floats:
        return state + batch

    def sample(self, state: Floats, generators: ReplicateGenerators) -> Floats:
        return sample_truncated_gaussian(
            -state / (2 * self.regulariser), self.sigma, self.diameter, generators
        )

    def log_ratio(self, batch: Floats, points: Floats) -> Floats:
        return -self.beta * self.loss(batch, points)

    def loss(self, batch: Floats, points: Floats) -> Floats:
        return np.asarray((points * batch).sum(axis=1))

    @property
    def sigma(self) -> float:
        """Standard deviation of a coordinate before truncation."""
        return 1 / math.sqrt(2 * self.beta * self.regulariser)
