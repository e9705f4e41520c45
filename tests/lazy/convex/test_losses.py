from __future__ import annotations

import numpy as np
import pytest

from dpol.lazy.convex.bodies import BODIES, Ball, Body, BodyName
from dpol.lazy.convex.losses import (
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


# ---- losses that are not linear ------------------------------------------------------------------

LINKED = pytest.mark.parametrize("name", LINKS)
EVERY_BODY = pytest.mark.parametrize("body_name", BODIES)


def example(name: LossName, body: Body, T: int = 80, lipschitz: float = 1.5) -> LinkedLosses:
    return linked_losses(name, drifting_losses(T, body.dimension, lipschitz, seed=2), body, 2)


@LINKED
def test_a_loss_is_its_formula_convex_and_lipschitz(name: LossName) -> None:
    losses = example(name, Ball(3, 2.0))
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 200, 3))
    for t in (0, 7):
        products = x @ losses.vectors[t]
        formula = {
            "absolute": np.abs(products - losses.targets[t]),
            "logistic": np.log(1 + np.exp(products)),
        }
        value = losses.value(t, x)
        np.testing.assert_allclose(value, formula[name], rtol=1e-12)
        # A subgradient: the tangent at x is nowhere above the loss.
        gradient = losses.gradient(t, x)
        assert (losses.value(t, y) >= value + ((y - x) * gradient).sum(axis=1) - 1e-12).all()
        assert np.linalg.norm(gradient, axis=1).max() <= 1.5
    assert np.linalg.norm(losses.vectors, axis=1).max() <= 1.5


@LINKED
def test_sums_slopes_and_batches_agree_with_the_rounds(name: LossName) -> None:
    losses = example(name, Ball(3, 2.0), T=7)
    points = np.random.default_rng(1).standard_normal((5, 3))
    expected = total_loss(losses, [points] * 7)
    np.testing.assert_allclose(losses.sum_at(points), expected)
    slopes = sum(losses.gradient(t, points[:1])[0] for t in range(7))
    np.testing.assert_allclose(losses.slope_at(points[0]), slopes)
    batches = list(losses.batches(3))
    assert [batch.n_rounds for batch in batches] == [3, 3, 1]
    np.testing.assert_allclose(sum(batch.sum_at(points) for batch in batches), expected)
    joined = batches[0].followed_by(batches[1]).followed_by(batches[2])
    np.testing.assert_array_equal(joined.vectors, losses.vectors)
    np.testing.assert_array_equal(joined.targets, losses.targets)


@LINKED
@pytest.mark.parametrize("width", [1.0, 0.01])
def test_the_smooth_function_is_below_by_half_a_width_at_most(name: LossName, width: float) -> None:
    link, r = LINKS[name], np.linspace(-3, 3, 6_001)
    value, slope = link.smooth(r, width)
    assert (value <= link.value(r) + 1e-12).all()
    assert (value >= link.value(r) - width / 2 - 1e-12).all()
    np.testing.assert_allclose(np.gradient(value, r)[1:-1], slope[1:-1], atol=1e-3 / width)
    assert np.abs(np.diff(slope) / np.diff(r)).max() <= link.steepness(width) * (1 + 1e-6)


@LINKED
@EVERY_BODY
def test_the_least_total_agrees_with_a_conic_solver(name: LossName, body_name: BodyName) -> None:
    import cvxpy as cp

    D, d = 2.5, 4
    body: Body = BODIES[body_name](d, D)
    losses = example(name, body)
    x = cp.Variable(d)
    residuals = losses.vectors @ x - losses.targets
    f = {"absolute": cp.abs, "logistic": cp.logistic}[name]
    inside = {
        "ball": [cp.norm(x) <= D / 2],
        "box": [cp.norm(x, "inf") <= D / (2 * np.sqrt(d))],
        "simplex": [x >= 0, cp.sum(x) == D / np.sqrt(2)],
    }
    problem = cp.Problem(cp.Minimize(cp.sum(f(residuals))), inside[body_name])
    problem.solve(solver=cp.CLARABEL)
    least, tolerance = losses.least_total(body), 1e-3 * 1.5 * D * np.sqrt(80)
    assert problem.value - 1e-4 <= least <= problem.value + tolerance
    # The certificate is needed: the centre is farther away.
    assert losses.sum_at(body.centre[None])[0] > problem.value + 10 * tolerance


def test_a_search_without_a_bound_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpol.lazy.convex.losses.SLOWEST", 2)
    with pytest.raises(ArithmeticError, match="no bound within"):
        example("absolute", Ball(3, 2.0)).least_total(Ball(3, 2.0))
