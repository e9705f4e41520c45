"""DP-FTRL: follow the regularised leader of gradient sums released by the tree mechanism."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.privacy.tree_noise import TreeNoise, tree_levels
from dpol.studies.convex.losses import LinearLosses, into_ball


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
    """

    mu: float
    diameter: float
    regulariser: float | None = None

    def node_scale(self, losses: LinearLosses) -> float:
        """sigma."""
        return 2 * losses.lipschitz * math.sqrt(tree_levels(losses.n_rounds)) / self.mu

    def lambda_for(self, losses: LinearLosses) -> float:
        """The regulariser given, or the default for these losses."""
        if self.regulariser is not None:
            return self.regulariser
        bound = losses.lipschitz
        norm = math.sqrt(losses.dimension * tree_levels(losses.n_rounds) / 2)
        variation = losses.n_rounds * (bound**2 + 2 * bound * self.node_scale(losses) * norm)
        return math.sqrt(variation) / self.diameter

    def points(self, losses: LinearLosses, generators: ReplicateGenerators) -> Iterator[Floats]:
        """(R, d) the points of each round; every run has its own noise."""
        shape = (generators.n_replicates, losses.dimension)
        weight, scale, noise = self.lambda_for(losses), self.node_scale(losses), TreeNoise()
        prefix, x = np.zeros(shape), np.zeros(shape)
        yield x
        for gradient in losses.gradients[:-1]:
            prefix = prefix + gradient
            noise = noise.next(scale * generators.standard_normal(losses.dimension))
            x = into_ball(-(prefix + noise.total()) / (2 * weight), self.diameter)
            yield x
