"""Comparators of L2P: online gradient descent without privacy, and DP-FTRL."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from dpol.core.arguments import check_mu
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.lazy.convex.ball import Ball
from dpol.lazy.convex.losses import ConvexLosses
from dpol.privacy.matrix_mechanism import prefix_sums_largest, prefix_sums_times
from dpol.privacy.tree_noise import next_nodes, tree_levels


def gradient_descent(losses: ConvexLosses, ball: Ball) -> Iterator[Floats]:
    """Yield the (1, d) points of projected online gradient descent, round by round; not private.

    x_1 is the centre, and x_{t+1} is the projection of x_t - D/(L sqrt(t)) times the gradient of
    l_t at x_t. Deterministic, with regret <= 3/2 D L sqrt(T). Source: Zinkevich, "Online Convex
    Programming and Generalized Infinitesimal Gradient Ascent" (2003), Theorem 1, for this step.

    >>> from dpol.lazy.convex.ball import Ball
    >>> from dpol.lazy.convex.losses import LinearLosses, total_loss
    >>> losses = LinearLosses(np.tile([1.0, 0.0], (4, 1)), lipschitz=1.0)
    >>> total_loss(losses, gradient_descent(losses, Ball(2, 2.0))).round(6).tolist()
    [-3.0]
    """
    x = ball.centre[None]
    for t in range(losses.n_rounds):
        yield x
        step = ball.diameter / (losses.lipschitz * math.sqrt(t + 1))
        x = ball.project(x - step * losses.gradient(t, x))


@dataclass(frozen=True, kw_only=True)
class SumNoise:
    """Noise for the release of sums of gradients.

    Args:
        mechanism: name of the mechanism in privacy records.
        draw: takes T, d, the standard deviation of a draw and generators; yields (R, d) noise on
            the sums of the first 1, ..., T - 1 rounds in turn.
        columns: squared norm of the change from a gradient of norm 1, by T; if it is 1, draws of
            standard deviation 1 are 1-GDP.
        rows: largest mean square of a noise coordinate by T, for draws of standard deviation 1.
    """

    mechanism: str
    draw: Callable[[int, int, float, ReplicateGenerators], Iterator[Floats]]
    columns: Callable[[int], float]
    rows: Callable[[int], float]

    def scale(self, losses: ConvexLosses, mu: float) -> float:
        """Return the standard deviation of a draw; a replaced loss moves its gradient by <= 2L."""
        return 2 * losses.lipschitz * math.sqrt(self.columns(losses.n_rounds)) / check_mu(mu)


def _tree(
    n_rounds: int, dimension: int, scale: float, generators: ReplicateGenerators
) -> Iterator[Floats]:
    nodes: dict[int, Floats] = {}
    for _ in range(n_rounds - 1):
        nodes = next_nodes(nodes, scale * generators.standard_normal(dimension))
        yield np.asarray(sum(nodes.values()))


def _factorised(
    n_rounds: int, dimension: int, scale: float, generators: ReplicateGenerators
) -> Iterator[Floats]:
    if n_rounds > 1:
        draws = scale * generators.standard_normal(n_rounds - 1, dimension)
        yield from prefix_sums_times(draws.swapaxes(0, 1))


NOISES: Mapping[str, SumNoise] = {
    "dp-ftrl": SumNoise(
        mechanism="Gaussian noise on tree-aggregated sums of gradients",
        draw=_tree,
        # A gradient enters at most K = floor(log2(T - 1)) + 1 nodes; a sum has K/2 on average.
        columns=tree_levels,
        rows=lambda n_rounds: tree_levels(n_rounds) / 2,
    ),
    "mf-dp-ftrl": SumNoise(
        mechanism="Gaussian noise on factorised sums of gradients (normalised square root)",
        draw=_factorised,
        columns=lambda _: 1.0,
        rows=lambda n_rounds: prefix_sums_largest(max(n_rounds - 1, 1)) ** 2,
    ),
}
"""Noise of each kind of DP-FTRL, by name."""


def private_ftrl(
    losses: ConvexLosses,
    ball: Ball,
    noise: SumNoise,
    *,
    mu: float,
    regulariser: float,
    generators: ReplicateGenerators,
) -> Iterator[Floats]:
    """Yield the (R, d) points of DP-FTRL, round by round: mu-GDP in the central model.

    x_1 is the centre, and x_{t+1} is the projection of -(noisy sum of gradients 1..t)/(2 lambda),
    with gradients at the points played. Replacing one loss moves one gradient by at most 2L in
    norm. Later gradients depend on earlier releases, but Gaussian noise on a linear map of the
    gradients still guarantees the same mu: Denisov, McMahan, Rush, Smith and Thakurta,
    "Improved Differential Privacy for SGD via Optimal Linear Operators on Adaptive Streams"
    (2022), Theorem 2.1. Source: Kairouz et al., "Practical and Private (Deep) Learning Without
    Sampling or Shuffling" (2021).

    Args:
        losses: losses to play against.
        ball: ball of the points.
        noise: noise on the sums of gradients.
        mu: privacy parameter, inf for none; `privacy.gaussian_dp` converts it to (eps, delta).
        regulariser: lambda; see `best_regulariser`.
        generators: one for each run.
    """
    T, d, scale = losses.n_rounds, losses.dimension, noise.scale(losses, mu)
    prefix, x = np.zeros(d), np.tile(ball.centre, (generators.n_replicates, 1))
    yield x
    for t, drawn in enumerate(noise.draw(T, d, scale, generators)):
        prefix = prefix + losses.gradient(t, x)
        x = ball.project(-(prefix + drawn) / (2 * regulariser))
        yield x


def best_regulariser(losses: ConvexLosses, ball: Ball, noise: SumNoise, mu: float) -> float:
    """Return the lambda of DP-FTRL that minimises a bound on expected regret.

    The bound is lambda D^2 / 4 + T (L^2 + 2 L s)/(4 lambda), where s bounds the mean norm of the
    noise: the regret of follow-the-regularised-leader on the same gradients without noise, plus
    `L |noise|/(2 lambda)` a round.
    """
    L, T = losses.lipschitz, losses.n_rounds
    norm = math.sqrt(losses.dimension * noise.rows(T))
    return math.sqrt(T * (L**2 + 2 * L * noise.scale(losses, mu) * norm)) / ball.diameter
