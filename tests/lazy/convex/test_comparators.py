from __future__ import annotations

import math

import numpy as np
import pytest

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.lazy.convex.ball import Ball
from dpol.lazy.convex.comparators import NOISES, best_regulariser, private_ftrl
from dpol.lazy.convex.losses import LinearLosses, LogisticLosses, total_loss
from dpol.privacy.matrix_mechanism import decayed_sums
from dpol.privacy.tree_noise import tree_nodes
from grids import each_and_corners
from replicates import many

NAMES = pytest.mark.parametrize("name", NOISES)
BALL = Ball(4, 2.0)


def vectors(rounds: int, d: int, drift: float = 0.5) -> Floats:
    rows = np.random.default_rng(0).standard_normal((rounds, d)) + drift
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def losses_of(problem: int, rounds: int, d: int) -> LinearLosses:
    """Return losses with a drift, with alternating signs, and weak losses twice as large."""
    if problem == 2:
        return LinearLosses(2 * vectors(rounds, d, drift=0.05), 2.0)
    signs = np.where(np.arange(rounds) % 2, 1, -1)[:, None]
    return LinearLosses(vectors(rounds, d) * (signs if problem else 1), 1.0)


def played(
    losses: LinearLosses,
    mu: float,
    weight: float,
    generators: ReplicateGenerators,
    D: float = 2.0,
    name: str = "dp-ftrl",
) -> Floats:
    """Return the (R, T, d) points of DP-FTRL on a ball."""
    ball, noise = Ball(losses.dimension, D), NOISES[name]
    points = private_ftrl(losses, ball, noise, mu=mu, regulariser=weight, generators=generators)
    return np.stack(list(points), axis=1)


@pytest.mark.parametrize("problem", range(3))
@NAMES
def test_without_noise_it_is_follow_the_regularised_leader(problem: int, name: str) -> None:
    losses = losses_of(problem, 60, 3)
    before = np.cumsum(losses.vectors, axis=0) - losses.vectors
    wanted = -before / 14.0
    wanted /= np.maximum(np.linalg.norm(wanted, axis=1, keepdims=True), 1.0)
    for replicate in played(losses, math.inf, 7.0, many(2), name=name):
        np.testing.assert_allclose(replicate, wanted, atol=1e-12)


@NAMES
def test_a_changed_loss_moves_the_noisy_sums_by_mu_at_most(name: str) -> None:
    """The distance of the sums is measured with the covariance of 20,000 draws of the noise.

    The entries of the covariance are within 5.5 standard errors of the known matrix. A gradient
    that moves by 2L in one round then moves the sums by at most mu, and in some round by nearly mu.
    At half the scale it moves them twice as much, which fails.
    """
    T, mu, R = 9, 0.7, 20_000
    losses = LinearLosses(vectors(T, 1), 1.0)
    scale = NOISES[name].scale(losses, mu)
    drawn = np.stack(list(NOISES[name].draw(T, 1, scale, many(R))), axis=1)[:, :, 0]
    sums = np.tril(np.ones((T - 1, T - 1)))
    if name == "dp-ftrl":
        right = tree_nodes(T)[:, :-1]
        noise = scale * sums @ np.linalg.pinv(right)
    else:
        right, noise = decayed_sums(T - 1).right, scale * decayed_sums(T - 1).left
    expected = noise @ noise.T
    spread = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / R)
    assert (np.abs(drawn.T @ drawn / R - expected) < 5.5 * spread).all()
    moved = 2 * losses.lipschitz * sums  # column t: what round t does to every sum
    distances = np.sqrt((moved * np.linalg.solve(expected, moved)).sum(axis=0))
    assert distances.max() <= mu * (1 + 1e-9)
    assert 2 * distances.max() > 1.5 * mu


def test_noise_reaches_the_points() -> None:
    """x_4 comes from 3 rounds: two nodes, sd sigma sqrt(2)/(2 lambda), not clipped."""
    losses = LinearLosses(0.5 * vectors(4, 2), 1.0)
    last = played(losses, 1.0, 0.5, many(20_000), D=1e6)[:, 3]
    sigma = 2 * math.sqrt(2)
    centre = -losses.vectors[:3].sum(axis=0)
    assert (np.abs(last.mean(axis=0) - centre) < 5.5 * sigma * math.sqrt(2 / 20_000)).all()
    assert (np.abs(last.var(axis=0) / (2 * sigma**2) - 1) < 5.5 * math.sqrt(2 / 20_000)).all()


def test_gradients_are_taken_at_the_points_played() -> None:
    """In one dimension the slope of log(1 + e^x) is 1/2 at 0, and 1/(1 + e) at -1."""
    noise, losses = NOISES["mf-dp-ftrl"], LogisticLosses(np.ones((3, 1)), 1.0)
    points = private_ftrl(
        losses, Ball(1, 8.0), noise, mu=math.inf, regulariser=0.25, generators=many(1)
    )
    x = np.concatenate(list(points))[:, 0]
    np.testing.assert_allclose(x, [0, -1, -2 * (0.5 + 1 / (1 + math.e))])


@pytest.mark.parametrize(
    ("problem", "name", "mu"), each_and_corners(range(3), [*NOISES], (0.5, 5.0, math.inf))
)
def test_private_ftrl_meets_its_bound_which_the_regulariser_minimises(
    problem: int, mu: float, name: str
) -> None:
    """The bound is lambda D^2/4 + T (L^2 + 2 L sigma sqrt(d v))/(4 lambda).

    The tree has K = 9 levels: sigma = 2L sqrt(9)/mu, v = 9/2. Factorised sums have sigma = 2L/mu,
    and v is at least the mean squared norm of the rows.
    """
    losses, D = losses_of(problem, 500, 4), 2.0
    L, factorised = losses.lipschitz, name == "mf-dp-ftrl"
    sigma = 2 * L * (1 if factorised else 3) / mu
    variance = NOISES[name].rows(500) if factorised else 9 / 2
    assert not factorised or (decayed_sums(499).row_norms ** 2).mean() <= variance < 10
    variation = 500 * (L**2 + 2 * L * sigma * math.sqrt(4 * variance))

    def bound(weight: float) -> float:
        return weight * D**2 / 4 + variation / (4 * weight)

    weight = best_regulariser(losses, BALL, NOISES[name], mu)
    total = total_loss(losses, played(losses, mu, weight, many(10), name=name).swapaxes(0, 1))
    assert (total - losses.least_total(BALL)).mean() <= bound(weight)
    assert bound(weight) == pytest.approx(weight * D**2 / 2)
    assert bound(weight) < min(bound(0.9 * weight), bound(1.1 * weight))
