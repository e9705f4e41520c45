"""DP-FTRL: follow the regularised leader of gradient sums released by the tree mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpol.convex.gradient_descent import Run
from dpol.convex.losses import Losses
from dpol.convex.truncated_gaussian import into_ball
from dpol.core.randomness import ReplicateGenerators
from dpol.privacy.tree_noise import TreeNoise, tree_levels


@dataclass(frozen=True)
class PrivateFTRL:
    """x_1 = 0, x_{t+1} = projection of -(noisy sum of gradients 1..t)/(2 lambda).

    Gradients are taken at the points played. With K = floor(log2(T-1)) + 1 levels, replacing
    one loss changes at most K nodes, each by at most 2L in norm, so node noise
    N(0, sigma^2 I), sigma = 2 L sqrt(K)/mu, is mu-GDP in the central model (also for gradients
    that depend on what was released before). Source: Kairouz et al., "Practical and Private
    (Deep) Learning Without Sampling or Shuffling" (2021).

    Expected regret <= lambda D^2/4 + T (L^2 + 2 L sigma sqrt(d K/2))/(4 lambda): follow the
    regularised leader on the same gradients without noise, plus `L |noise|/(2 lambda)` a round,
    the noise being on K/2 nodes on average at most. The default lambda minimises this:
    lambda = sqrt(T (L^2 + 2 L sigma sqrt(d K/2)))/D, which makes the bound lambda D^2/2.

    Args:
        mu: privacy parameter, inf for none; privacy.gaussian_dp relates it to (eps, delta).
        diameter: D of the ball around 0.
        regulariser: lambda; None for the default.

    Raises:
        ValueError: a parameter is not above 0.
    """

    mu: float
    diameter: float
    regulariser: float | None = None

    def __post_init__(self) -> None:
        if not self.mu > 0:
            raise ValueError(f"mu must be positive, got {self.mu}")
        if not 0 < self.diameter < math.inf:
            raise ValueError(f"diameter must be a positive number, got {self.diameter}")
        if self.regulariser is not None and not 0 < self.regulariser < math.inf:
            raise ValueError(f"regulariser must be a positive number, got {self.regulariser}")

    def node_scale(self, losses: Losses) -> float:
        """sigma."""
        return 2 * losses.lipschitz * math.sqrt(tree_levels(losses.n_rounds)) / self.mu

    def lambda_for(self, losses: Losses) -> float:
        """The regulariser given, or the default for these losses."""
        if self.regulariser is not None:
            return self.regulariser
        return math.sqrt(self._variation(losses)) / self.diameter

    def regret_bound(self, losses: Losses) -> float:
        """On the expected regret."""
        weight = self.lambda_for(losses)
        return weight * self.diameter**2 / 4 + self._variation(losses) / (4 * weight)

    def play(
        self, losses: Losses, generators: ReplicateGenerators, keep_points: bool = False
    ) -> Run:
        """R runs over all losses, each with its own noise."""
        shape = (generators.n_replicates, losses.dimension)
        weight, total = self.lambda_for(losses), np.zeros(shape[0])
        scale, noise = self.node_scale(losses), TreeNoise()
        prefix, x = np.zeros(shape), np.zeros(shape)
        points = np.empty((shape[0], losses.n_rounds, shape[1])) if keep_points else None
        for t in range(losses.n_rounds):
            if t:
                prefix = prefix + losses.gradient(t - 1, x)
                noise = noise.next(scale * generators.standard_normal(shape[1]))
                x = into_ball(-(prefix + noise.total()) / (2 * weight), self.diameter)
            if points is not None:
                points[:, t] = x
            total += losses.value(slice(t, t + 1), x)
        return Run(total, points)

    def _variation(self, losses: Losses) -> float:
        """T (L^2 + 2 L sigma sqrt(d K/2))."""
        bound = losses.lipschitz
        norm = math.sqrt(losses.dimension * tree_levels(losses.n_rounds) / 2)
        return losses.n_rounds * (bound**2 + 2 * bound * self.node_scale(losses) * norm)
