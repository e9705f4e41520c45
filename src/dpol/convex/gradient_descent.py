"""Projected online gradient descent: the comparison without privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpol.convex.losses import Losses
from dpol.convex.truncated_gaussian import into_ball
from dpol.core.randomness import Floats


@dataclass(frozen=True, eq=False)
class Run:
    """What a comparator returns.

    Args:
        total_losses: (R,) summed losses of the points played.
        points: (R, T, d) the points, if they were asked for.
    """

    total_losses: Floats
    points: Floats | None


@dataclass(frozen=True)
class OnlineGradientDescent:
    """x_1 = 0, x_{t+1} = projection of x_t - D/(L sqrt(t)) times the gradient of l_t at x_t.

    Regret <= 3/2 D L sqrt(T). Source: Zinkevich, "Online Convex Programming and Generalized
    Infinitesimal Gradient Ascent" (2003), Theorem 1, with this step size. Deterministic, not
    private.

    Args:
        diameter: D of the ball around 0.

    Raises:
        ValueError: the diameter is not above 0.

    >>> from dpol.convex.losses import LinearLosses
    >>> losses = LinearLosses(np.tile([1.0, 0.0], (4, 1)), lipschitz=1.0)
    >>> OnlineGradientDescent(diameter=2.0).play(losses).total_losses.round(6).tolist()
    [-3.0]
    """

    diameter: float

    def __post_init__(self) -> None:
        if not 0 < self.diameter < math.inf:
            raise ValueError(f"diameter must be a positive number, got {self.diameter}")

    def regret_bound(self, losses: Losses) -> float:
        return 1.5 * self.diameter * losses.lipschitz * math.sqrt(losses.n_rounds)

    def play(self, losses: Losses, keep_points: bool = False) -> Run:
        """One run over all losses: R = 1."""
        x = np.zeros((1, losses.dimension))
        total = np.zeros(1)
        points = np.empty((1, losses.n_rounds, losses.dimension)) if keep_points else None
        for t in range(losses.n_rounds):
            if points is not None:
                points[:, t] = x
            total += losses.value(slice(t, t + 1), x)
            step = self.diameter / (losses.lipschitz * math.sqrt(t + 1))
            x = into_ball(x - step * losses.gradient(t, x), self.diameter)
        return Run(total, points)
