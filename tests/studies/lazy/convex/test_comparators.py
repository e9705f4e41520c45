"""Online gradient descent and DP-FTRL."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpol.core.randomness import Floats, ReplicateGenerators, replicate_generators
from dpol.studies.lazy.convex.comparators import (
    best_regulariser,
    gradient_descent,
    node_scale,
    private_ftrl,
)
from dpol.studies.lazy.convex.losses import LinearLosses
from replicates import many

EVERY = pytest.mark.parametrize("problem", range(3))


def vectors(rounds: int, d: int, drift: float = 0.5) -> Floats:
    rows = np.random.default_rng(0).standard_normal((rounds, d)) + drift
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def losses_of(problem: int, rounds: int, d: int) -> LinearLosses:
    """A drift, one whose sign alternates, and a weak one of twice the size."""
    if problem == 2:
        return LinearLosses(2 * vectors(rounds, d, drift=0.05), 2.0)
    signs = np.where(np.arange(rounds) % 2, 1, -1)[:, None]
    return LinearLosses(vectors(rounds, d) * (signs if problem else 1), 1.0)


def played(
    losses: LinearLosses, mu: float, weight: float, generators: ReplicateGenerators, D: float = 2.0
) -> Floats:
    """(R, T, d) all points of DP-FTRL."""
    return np.stack(list(private_ftrl(losses, mu, D, weight, generators)), axis=1)


def total(losses: LinearLosses, mu: float, generators: ReplicateGenerators) -> Floats:
    """(R,) losses of DP-FTRL at its best regulariser on a ball of diameter 2."""
    weight = best_regulariser(losses, mu, 2.0)
    return losses.total(private_ftrl(losses, mu, 2.0, weight, generators))


@EVERY
@pytest.mark.parametrize("rounds", [1, 10, 1_000])
def test_gradient_descent_meets_its_bound(problem: int, rounds: int) -> None:
    losses = losses_of(problem, rounds, 4)
    for diameter in (0.1, 2.0, 30.0):
        (found,) = losses.total(gradient_descent(losses, diameter))
        bound = 1.5 * diameter * losses.lipschitz * math.sqrt(rounds)
        assert -1e-6 - bound < found - losses.least_total(diameter) <= bound


def test_gradient_descent_by_hand() -> None:
    """D = 2, L = 1: to the boundary, then back by 2/sqrt(2) to 1 - sqrt(2)."""
    losses = LinearLosses(np.array([[-1.0], [1.0], [0.5]]), 1.0)
    found = np.concatenate(list(gradient_descent(losses, 2.0)))
    np.testing.assert_allclose(found[:, 0], [0.0, 1.0, 1 - math.sqrt(2)])


@EVERY
def test_without_noise_it_is_follow_the_regularised_leader(problem: int) -> None:
    losses = losses_of(problem, 60, 3)
    before = np.cumsum(losses.gradients, axis=0) - losses.gradients
    wanted = -before / 14.0
    wanted /= np.maximum(np.linalg.norm(wanted, axis=1, keepdims=True), 1.0)
    for replicate in played(losses, math.inf, 7.0, many(2)):
        np.testing.assert_allclose(replicate, wanted, atol=1e-12)


@pytest.mark.parametrize(("rounds", "levels"), [(1, 0), (2, 1), (148, 8), (1025, 11)])
def test_scale_of_the_noise(rounds: int, levels: int) -> None:
    losses = LinearLosses(2 * vectors(rounds, 2), 2.0)
    assert node_scale(losses, 0.5) == pytest.approx(4.0 * math.sqrt(levels) / 0.5)


def test_noise_reaches_the_points() -> None:
    """x_4 comes from 3 rounds: two nodes, sd sigma sqrt(2)/(2 lambda), and is not clipped."""
    losses = LinearLosses(0.5 * vectors(4, 2), 1.0)
    last = played(losses, 1.0, 0.5, many(20_000), D=1e6)[:, 3]
    sigma = 2 * math.sqrt(2)
    centre = -losses.gradients[:3].sum(axis=0)
    assert (np.abs(last.mean(axis=0) - centre) < 5.5 * sigma * math.sqrt(2 / 20_000)).all()
    assert (np.abs(last.var(axis=0) / (2 * sigma**2) - 1) < 5.5 * math.sqrt(2 / 20_000)).all()


def test_points_stay_in_the_ball() -> None:
    losses = losses_of(2, 40, 3)
    for weight in (best_regulariser(losses, 0.1, 2.0), 0.01):
        norms = np.linalg.norm(played(losses, 0.1, weight, many(10)), axis=2)
        assert norms.max() <= 1 + 1e-12
    np.testing.assert_allclose(norms[:, 1:], 1.0)  # clipped


@EVERY
@pytest.mark.parametrize("mu", [0.5, 5.0, math.inf])
def test_private_ftrl_meets_its_bound_which_the_regulariser_minimises(
    problem: int, mu: float
) -> None:
    """lambda D^2/4 + T (L^2 + 2 L sigma sqrt(d K/2))/(4 lambda), K = 9 levels."""
    losses, D = losses_of(problem, 500, 4), 2.0
    L, sigma = losses.lipschitz, 2 * losses.lipschitz * 3 / mu
    variation = 500 * (L**2 + 2 * L * sigma * math.sqrt(4 * 9 / 2))

    def bound(weight: float) -> float:
        return weight * D**2 / 4 + variation / (4 * weight)

    weight = best_regulariser(losses, mu, D)
    assert (total(losses, mu, many(10)) - losses.least_total(D)).mean() <= bound(weight)
    assert bound(weight) == pytest.approx(weight * D**2 / 2)
    assert bound(weight) < min(bound(0.9 * weight), bound(1.1 * weight))


def test_more_privacy_costs_more() -> None:
    losses = losses_of(0, 500, 4)
    means = [total(losses, mu, many(10)).mean() for mu in (0.3, 3, 30)]
    assert means[0] > means[1] > means[2]


@EVERY
def test_a_replicate_depends_on_its_own_generator_only(problem: int) -> None:
    def run(replicates: list[int]) -> Floats:
        generators = replicate_generators(3, ("test",), replicates, "tree")
        return total(losses_of(problem, 30, 3), 1.0, generators)

    together = run([0, 1, 2])
    assert len(np.unique(together)) == 3
    np.testing.assert_array_equal(together, np.concatenate([run([it]) for it in range(3)]))
