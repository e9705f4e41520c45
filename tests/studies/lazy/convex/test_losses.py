"""Convex losses and their best fixed points."""

from __future__ import annotations

import numpy as np
import pytest

from dpol.core.randomness import Floats
from dpol.studies.lazy.convex.bodies import BODIES, Ball, Body, BodyName
from dpol.studies.lazy.convex.losses import (
    LINKS,
    LinearLosses,
    LinkedLosses,
    LossName,
    drifting_losses,
    linked_losses,
    total_loss,
)


def test_values_batches_and_least_totals_by_hand() -> None:
    losses = LinearLosses(np.array([[1.0, 2.0], [0.0, -1.0], [2.0, 0.0]]), 3.0)
    points = np.array([[1.0, 1.0], [2.0, 0.5]])
    np.testing.assert_allclose(losses.value(1, points), [-1.0, -0.5])
    np.testing.assert_allclose(total_loss(losses, [points, points, 0 * points]), [2.0, 2.5])
    batches = [batch.tolist() for batch in losses.batches(2)]
    assert batches == [[[1.0, 2.0], [0.0, -1.0]], [[2.0, 0.0]]]
    assert LinearLosses(np.diag([3.0, 4.0]), 4.0).least_total(Ball(2, 2.0)) == pytest.approx(-5.0)
    assert LinearLosses(np.array([[1.0], [-1.0]]), 1.0).least_total(Ball(1, 2.0)) == 0.0


@pytest.mark.parametrize("dimension", [1, 3, 20])
@pytest.mark.parametrize("diameter", [0.5, 50.0])
def test_the_best_point_is_that_of_a_conic_solver(diameter: float, dimension: int) -> None:
    import cvxpy as cp

    losses = drifting_losses(60, dimension, 1.5, seed=dimension)
    x = cp.Variable(dimension)
    total = cp.sum(losses.gradients @ x)
    problem = cp.Problem(cp.Minimize(total), [cp.norm(x) <= diameter / 2])
    problem.solve(solver=cp.CLARABEL)
    assert losses.least_total(Ball(dimension, diameter)) == pytest.approx(problem.value, rel=1e-5)


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
