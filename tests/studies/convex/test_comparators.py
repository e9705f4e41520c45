"""Online gradient descent and DP-FTRL."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpol.core.randomness import Floats, ReplicateGenerators, replicate_generators
from dpol.studies.convex.follow_the_leader import PrivateFTRL
from dpol.studies.convex.gradient_descent import OnlineGradientDescent
from dpol.studies.convex.losses import LinearLosses
from replicates import many


def vectors(rounds: int, d: int, seed: int = 0, drift: float = 0.5) -> Floats:
    rows = np.random.default_rng(seed).standard_normal((rounds, d)) + drift
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def problems(rounds: int, d: int) -> list[LinearLosses]:
    alternating = vectors(rounds, d) * np.where(np.arange(rounds) % 2, 1, -1)[:, None]
    return [
        LinearLosses(vectors(rounds, d), 1.0),
        LinearLosses(alternating, 1.0),
        LinearLosses(2 * vectors(rounds, d, drift=0.05), 2.0),
    ]


def points(algorithm: PrivateFTRL, losses: LinearLosses, generators: ReplicateGenerators) -> Floats:
    """(R, T, d) all points."""
    return np.stack(list(algorithm.points(losses, generators)), axis=1)


@pytest.mark.parametrize("problem", range(3))
@pytest.mark.parametrize("rounds", [1, 10, 1_000])
def test_gradient_descent_meets_its_bound(problem: int, rounds: int) -> None:
    losses = problems(rounds, 4)[problem]
    for diameter in (0.1, 2.0, 30.0):
        total = losses.total(OnlineGradientDescent(diameter).points(losses))
        assert total.shape == (1,)
        bound = 1.5 * diameter * losses.lipschitz * math.sqrt(rounds)
        assert -1e-6 - bound < total[0] - losses.least_total(diameter) <= bound


def test_gradient_descent_by_hand() -> None:
    """D = 2, L = 1: to the boundary, then back by 2/sqrt(2) to 1 - sqrt(2)."""
    losses = LinearLosses(np.array([[-1.0], [1.0], [0.5]]), 1.0)
    found = np.concatenate(list(OnlineGradientDescent(2.0).points(losses)))
    np.testing.assert_allclose(found[:, 0], [0.0, 1.0, 1 - math.sqrt(2)])


@pytest.mark.parametrize("problem", range(3))
def test_without_noise_it_is_follow_the_regularised_leader(problem: int) -> None:
    losses = problems(60, 3)[problem]
    before = np.cumsum(losses.gradients, axis=0) - losses.gradients
    wanted = -before / 14.0
    wanted /= np.maximum(np.linalg.norm(wanted, axis=1, keepdims=True), 1.0)
    for replicate in points(PrivateFTRL(math.inf, 2.0, regulariser=7.0), losses, many(2)):
        np.testing.assert_allclose(replicate, wanted, atol=1e-12)


@pytest.mark.parametrize(("rounds", "levels"), [(1, 0), (2, 1), (148, 8), (1025, 11)])
def test_scale_of_the_noise(rounds: int, levels: int) -> None:
    losses = LinearLosses(2 * vectors(rounds, 2), 2.0)
    found = PrivateFTRL(0.5, 1.0).node_scale(losses)
    assert found == pytest.approx(4.0 * math.sqrt(levels) / 0.5)


def test_noise_reaches_the_points() -> None:
    """x_4 comes from 3 rounds: two nodes, sd sigma sqrt(2)/(2 lambda), and is not clipped."""
    losses = LinearLosses(0.5 * vectors(4, 2), 1.0)
    last = points(PrivateFTRL(1.0, 1e6, regulariser=0.5), losses, many(20_000))[:, 3]
    sigma = 2 * math.sqrt(2)
    centre = -losses.gradients[:3].sum(axis=0)
    assert (np.abs(last.mean(axis=0) - centre) < 5.5 * sigma * math.sqrt(2 / 20_000)).all()
    assert (np.abs(last.var(axis=0) / (2 * sigma**2) - 1) < 5.5 * math.sqrt(2 / 20_000)).all()


def test_points_stay_in_the_ball() -> None:
    losses = problems(40, 3)[2]
    found = points(PrivateFTRL(0.1, 2.0), losses, many(10))
    assert np.linalg.norm(found, axis=2).max() <= 1 + 1e-12
    clipped = points(PrivateFTRL(0.1, 2.0, regulariser=0.01), losses, many(10))
    np.testing.assert_allclose(np.linalg.norm(clipped[:, 1:], axis=2), 1.0)


@pytest.mark.parametrize("problem", range(3))
@pytest.mark.parametrize("mu", [0.5, 5.0, math.inf])
def test_private_ftrl_meets_its_bound_which_the_default_minimises(problem: int, mu: float) -> None:
    """lambda D^2/4 + T (L^2 + 2 L sigma sqrt(d K/2))/(4 lambda), K = 9 levels."""
    losses = problems(500, 4)[problem]
    algorithm, L, D = PrivateFTRL(mu, 2.0), losses.lipschitz, 2.0
    sigma = 2 * L * 3 / mu
    variation = 500 * (L**2 + 2 * L * sigma * math.sqrt(4 * 9 / 2))

    def bound(weight: float) -> float:
        return weight * D**2 / 4 + variation / (4 * weight)

    total = losses.total(algorithm.points(losses, many(10)))
    weight = algorithm.lambda_for(losses)
    assert (total - losses.least_total(D)).mean() <= bound(weight)
    assert bound(weight) == pytest.approx(weight * D**2 / 2)
    assert bound(weight) < min(bound(0.9 * weight), bound(1.1 * weight))


def test_more_privacy_costs_more() -> None:
    losses = problems(500, 4)[0]
    totals = [losses.total(PrivateFTRL(mu, 2.0).points(losses, many(10))) for mu in (0.3, 3, 30)]
    means = [total.mean() for total in totals]
    assert means[0] > means[1] > means[2]


def test_a_replicate_depends_on_its_own_generator_only() -> None:
    for losses in problems(30, 3):

        def run(replicates: list[int], losses: LinearLosses = losses) -> Floats:
            generators = replicate_generators(3, ("test",), replicates, "tree")
            return losses.total(PrivateFTRL(1.0, 2.0).points(losses, generators))

        together = run([0, 1, 2])
        assert len(np.unique(together)) == 3
        for replicate in range(3):
            np.testing.assert_array_equal(together[[replicate]], run([replicate]))
