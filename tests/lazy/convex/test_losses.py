from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from dpol.lazy.convex.ball import Ball
from dpol.lazy.convex.losses import LinearLosses, LogisticLosses, drifting_losses, total_loss


def test_values_batches_and_least_totals_by_hand() -> None:
    losses = LinearLosses(np.array([[1.0, 2.0], [0.0, -1.0], [2.0, 0.0]]), 3.0)
    points = np.array([[1.0, 1.0], [2.0, 0.5]])
    np.testing.assert_allclose(losses.value(1, points), [-1.0, -0.5])
    np.testing.assert_allclose(total_loss(losses, [points, points, 0 * points]), [2.0, 2.5])
    batches = [batch.tolist() for batch in losses.batches(2)]
    assert batches == [[[1.0, 2.0], [0.0, -1.0]], [[2.0, 0.0]]]
    assert LinearLosses(np.diag([3.0, 4.0]), 4.0).least_total(Ball(2, 2.0)) == pytest.approx(-5.0)
    assert LinearLosses(np.array([[1.0], [-1.0]]), 1.0).least_total(Ball(1, 2.0)) == 0.0


@pytest.mark.parametrize("lipschitz", [1.0, 0.3])
def test_drifting_losses_have_the_size_asked_for_and_depend_on_the_seed(lipschitz: float) -> None:
    gradients = drifting_losses(500, 3, lipschitz, 4).vectors
    assert gradients.shape == (500, 3)
    assert 0.97 * lipschitz < np.linalg.norm(gradients, axis=1).max() <= lipschitz
    for seed in (4, 5):
        again = drifting_losses(500, 3, lipschitz, seed).vectors
        assert np.array_equal(again, gradients) == (seed == 4)


@pytest.mark.parametrize("seed", range(3))
def test_the_drift_is_three_tenths(seed: int) -> None:
    """The root mean square norm of the mean of T unit vectors times 0.7 is 0.7 / sqrt(T)."""
    drift = np.linalg.norm(drifting_losses(10_000, 3, 2.0, seed).vectors.mean(axis=0))
    assert drift == pytest.approx(2.0 * 0.3, abs=6 * 2.0 * 0.7 / 100)


# ---- logistic losses -----------------------------------------------------------------------------


def example(T: int = 80, dimension: int = 3) -> LogisticLosses:
    return LogisticLosses(drifting_losses(T, dimension, 1.5, seed=2).vectors, 1.5)


def test_a_logistic_loss_is_its_formula_convex_and_lipschitz() -> None:
    losses = example()
    x, y = np.random.default_rng(0).standard_normal((2, 200, 3))
    for t in (0, 7):
        value, gradient = losses.value(t, x), losses.gradient(t, x)
        np.testing.assert_allclose(value, np.log(1 + np.exp(x @ losses.vectors[t])), rtol=1e-12)
        # The tangent at x is nowhere above the loss.
        assert (losses.value(t, y) >= value + ((y - x) * gradient).sum(axis=1) - 1e-12).all()
        assert np.linalg.norm(gradient, axis=1).max() <= 1.5


def test_sums_slopes_and_batches_agree_with_the_rounds() -> None:
    losses = example(T=7)
    points = np.random.default_rng(1).standard_normal((5, 3))
    expected = total_loss(losses, [points] * 7)
    np.testing.assert_allclose(losses.sum_at(points), expected)
    slopes = sum(losses.gradient(t, points[:1])[0] for t in range(7))
    np.testing.assert_allclose(losses.slope_at(points[0]), slopes)
    batches = list(losses.batches(3))
    assert [batch.n_rounds for batch in batches] == [3, 3, 1]
    np.testing.assert_allclose(sum(batch.sum_at(points) for batch in batches), expected)
    again = batches[0].followed_by(batches[1]).followed_by(batches[2])
    np.testing.assert_array_equal(again.vectors, losses.vectors)


@pytest.mark.parametrize("d", [1, 2, 6])
@pytest.mark.parametrize("D", [0.5, 2.0, 20.0])
def test_the_least_total_agrees_with_a_conic_solver(d: int, D: float) -> None:
    """With the best point inside the ball, and at its surface."""
    losses, ball, x = example(dimension=d), Ball(d, D), cp.Variable(d)
    total = cp.sum(cp.logistic(losses.vectors @ x))
    problem = cp.Problem(cp.Minimize(total), [cp.norm(x) <= D / 2])
    problem.solve(solver=cp.CLARABEL)
    least, tolerance = losses.least_total(ball), 1e-3 * 1.5 * D * np.sqrt(80)
    assert problem.value - 1e-4 <= least <= problem.value + tolerance
    # The certificate is needed: the centre is farther away.
    assert losses.sum_at(ball.centre[None])[0] > problem.value + 10 * tolerance


def test_a_search_without_a_bound_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpol.lazy.convex.losses.SLOWEST", 1)
    with pytest.raises(ArithmeticError, match="no bound within"):
        example().least_total(Ball(3, 2.0))
