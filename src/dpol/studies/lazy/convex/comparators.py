"""Comparators of L2P: online gradient descent without privacy, and DP-FTRL."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.privacy.tree_noise import TreeNoise, tree_levels
from dpol.studies.lazy.convex.losses import LinearLosses, into_ball


def gradient_descent(losses: LinearLosses, diameter: float) -> Iterator[Floats]:
    """(1, d) points of projected online gradient descent, round by round; not private.

    x_1 = 0, x_{t+1} = projection of x_t - D/(L sqrt(t)) times the gradient of l_t at x_t, on the
    ball of diameter D around 0. Regret <= 3/2 D L sqrt(T). Source: Zinkevich, "Online Convex
    Programming and Generalized Infinitesimal Gradient Ascent" (2003), Theorem 1, with this step
    size. Deterministic.

    >>> losses = LinearLosses(np.tile([1.0, 0.0], (4, 1)), lipschitz=1.0)
    >>> losses.total(gradient_descent(losses, 2.0)).round(6).tolist()
    [-3.0]
    """
    x = np.zeros((1, losses.dimension))
    for t, gradient in enumerate(losses.gradients, start=1):
        yield x
        step = diameter / (losses.lipschitz * math.sqrt(t))
        x = into_ball(x - step * gradient, diameter)


def private_ftrl(
    losses: LinearLosses,
    mu: float,
    diameter: float,
    regulariser: float,
    generators: ReplicateGenerators,
) -> Iterator[Floats]:
    """(R, d) points of DP-FTRL, round by round: mu-GDP in the central model.

    x_1 = 0, x_{t+1} = projection of -(noisy sum of gradients 1..t)/(2 lambda), gradients taken at
    the points played. With K = floor(log2(T-1)) + 1 levels, replacing one loss changes at most K
    nodes of the tree, each by at most 2L in norm, so node noise N(0, sigma^2 I) with
    sigma = `node_scale` is enough, also for gradients that depend on what was released before.
    Source: Kairouz et al., "Practical and Private (Deep) Learning Without Sampling or Shuffling"
    (2021).

    Args:
        losses: what is played against.
        mu: privacy parameter, inf for none; privacy.gaussian_dp relates it to (eps, delta).
        diameter: D of the ball around 0.
        regulariser: lambda; see `best_regulariser`.
        generators: one for each run.
    """
    scale, noise = node_scale(losses, mu), TreeNoise()
    prefix, x = np.zeros(losses.dimension), np.zeros((generators.n_replicates, losses.dimension))
    yield x
    for gradient in losses.gradients[:-1]:
        prefix = prefix + gradient
        noise = noise.next(scale * generators.standard_normal(losses.dimension))
        x = into_ball(-(prefix + noise.total()) / (2 * regulariser), diameter)
        yield x


def node_scale(losses: LinearLosses, mu: float) -> float:
    """sigma = 2 L sqrt(K)/mu, the standard deviation of the noise of one node of DP-FTRL."""
    return 2 * losses.lipschitz * math.sqrt(tree_levels(losses.n_rounds)) / mu


def best_regulariser(losses: LinearLosses, mu: float, diameter: float) -> float:
    """The lambda of DP-FTRL with the least bound on its expected regret.

    The bound is lambda D^2/4 + T (L^2 + 2 L sigma sqrt(d K/2))/(4 lambda): follow the regularised
    leader on the same gradients without noise, plus `L |noise|/(2 lambda)` a round, the noise
    being on K/2 nodes on average at most. lambda = sqrt(T (L^2 + 2 L sigma sqrt(d K/2)))/D makes
    it lambda D^2/2.
    """
    L, T = losses.lipschitz, losses.n_rounds
    norm = math.sqrt(losses.dimension * tree_levels(T) / 2)
    return math.sqrt(T * (L**2 + 2 * L * node_scale(losses, mu) * norm)) / diameter
