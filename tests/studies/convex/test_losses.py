"""Linear losses on the ball and their best fixed points."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpol.core.randomness import Floats
from dpol.studies.convex.ball import into_ball
from dpol.studies.convex.losses import LinearLosses, drifting_losses


def test_into_ball() -> None:
    points = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]])
    np.testing.assert_allclose(into_ball(points, 2.0), [[0.6, 0.8], [0.3, 0.4], [0.0, 0.0]])


def test_values_and_batches_by_hand() -> None:
    losses = LinearLosses([[1.0, 2.0], [0.0, -1.0], [2.0, 0.0]], 3.0)
    assert (losses.n_rounds, losses.dimension) == (3, 2)
    points = np.array([[1.0, 1.0], [2.0, 0.5]])
    np.testing.assert_allclose(losses.value(0, points), [3.0, 3.0])
    np.testing.assert_allclose(losses.value(1, points), [-1.0, -0.5])
    np.testing.assert_allclose(losses.total([points, points, 0 * points]), [2.0, 2.5])
    batches = [batch.tolist() for batch in losses.batches(2)]
    assert batches == [[[1.0, 2.0], [0.0, -1.0]], [[2.0, 0.0]]]


def test_best_fixed_point_by_hand() -> None:
    losses = LinearLosses([[3.0, 0.0], [0.0, 4.0]], 4.0)
    np.testing.assert_allclose(losses.best_fixed_point(2.0), [-0.6, -0.8])
    assert losses.least_total(2.0) == pytest.approx(-5.0)
    np.testing.assert_array_equal(LinearLosses([[1.0], [-1.0]], 1.0).best_fixed_point(2.0), [0.0])


@pytest.mark.parametrize("dimension", [1, 3, 20])
@pytest.mark.parametrize("diameter", [0.5, 50.0])
def test_the_best_point_is_that_of_a_conic_solver(diameter: float, dimension: int) -> None:
    import cvxpy as cp

    losses = drifting_losses(60, dimension, 1.5, seed=dimension)
    x = cp.Variable(dimension)
    total = cp.sum(losses.gradients @ x)
    problem = cp.Problem(cp.Minimize(total), [cp.norm(x) <= diameter / 2])
    problem.solve(solver=cp.CLARABEL)
    best = losses.best_fixed_point(diameter)
    assert np.linalg.norm(best) <= diameter / 2 * (1 + 1e-12)
    value = float(losses.total([best[None]] * 60)[0])
    assert value == pytest.approx(losses.least_total(diameter), rel=1e-12)
    assert value == pytest.approx(problem.value, rel=1e-5)


@pytest.mark.parametrize("lipschitz", [1.0, 0.3])
def test_drifting_losses_have_the_size_asked_for_and_depend_on_the_seed(lipschitz: float) -> None:
    gradients = drifting_losses(500, 3, lipschitz, 4).gradients
    assert gradients.shape == (500, 3)
    assert 0.97 * lipschitz < np.linalg.norm(gradients, axis=1).max() <= lipschitz
    for seed in (4, 5):
        again = drifting_losses(500, 3, lipschitz, seed).gradients
        assert np.array_equal(again, gradients) == (seed == 4)


@pytest.mark.parametrize("seed", range(3))
def test_the_drift_is_three_tenths(seed: int) -> None:
    """The mean of T unit vectors times 0.7 has norm 0.7 / sqrt(T) in the mean square."""
    drift = np.linalg.norm(drifting_losses(10_000, 3, 2.0, seed).gradients.mean(axis=0))
    assert drift == pytest.approx(2.0 * 0.3, abs=6 * 2.0 * 0.7 / 100)


GOOD = np.array([[0.5, 0.0], [3.0, 4.0], [math.nan, 0.0]])


@pytest.mark.parametrize(
    ("gradients", "lipschitz", "message"),
    [
        (GOOD, 1.0, r"round 2: gradient with norm 5\.0 exceeds L = 1\.0 \(2 of 3"),
        (GOOD, 5.0, "round 3: gradient with norm nan exceeds L = 5"),
        (np.ones(2), 5.0, r"shape \(T, d\) with T, d >= 1, got \(2,\)"),
        (np.ones((0, 2)), 5.0, r"got \(0, 2\)"),
        (np.ones((2, 2)), 0.0, "lipschitz must be a positive number, got 0"),
    ],
)
def test_errors_name_the_round(gradients: Floats, lipschitz: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LinearLosses(gradients, lipschitz)


def test_losses_are_read_only_copies() -> None:
    rows = np.ones((2, 2))
    losses = LinearLosses(rows, 2.0)
    rows[:] = 9
    assert losses.gradients.max() == 1
    with pytest.raises(ValueError, match="read-only"):
        losses.gradients[0, 0] = 9
