"""Projected online gradient descent: the comparison without privacy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpol.core.randomness import Floats
from dpol.studies.convex.losses import LinearLosses, into_ball


@dataclass(frozen=True)
class OnlineGradientDescent:
    """x_1 = 0, x_{t+1} = projection of x_t - D/(L sqrt(t)) times the gradient of l_t at x_t.

    Regret <= 3/2 D L sqrt(T). Source: Zinkevich, "Online Convex Programming and Generalized
    Infinitesimal Gradient Ascent" (2003), Theorem 1, with this step size. Deterministic, not
    private.

    Args:
        diameter: D of the ball around 0.

    >>> losses = LinearLosses(np.tile([1.0, 0.0], (4, 1)), lipschitz=1.0)
    >>> losses.total(OnlineGradientDescent(diameter=2.0).points(losses)).round(6).tolist()
    [-3.0]
    """

    diameter: float

    def points(self, losses: LinearLosses) -> Iterator[Floats]:
        """(1, d) the point of each round."""
        x = np.zeros((1, losses.dimension))
        for t, gradient in enumerate(losses.gradients, start=1):
            yield x
            step = self.diameter / (losses.lipschitz * math.sqrt(t))
            x = into_ball(x - step * gradient, self.diameter)
