"""Losses on the ball, their derivatives and their best fixed points."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize

from dpol.studies.convex.losses import LinearLosses, LogisticLosses, Losses
from dpol.randomness import Floats


def vectors(rounds: int, d: int, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((rounds, d)) + 0.5
    return rows / np.linalg.norm(rows, axis=1, keepdims=True) * rng.random((rounds, 1))


def labels(rounds: int, seed: int = 1) -> Floats:
    return np.random.default_rng(seed).choice([-1.0, 1.0], rounds)


def families(rounds: int, d: int) -> list[Losses]:
    return [
        LinearLosses(vectors(rounds, d), 1.0),
        LogisticLosses(vectors(rounds, d), labels(rounds), 1.0),
    ]


@pytest.mark.parametrize("family", [0, 1])
def test_value_is_the_sum_and_gradient_the_derivative(family: int) -> None:
    losses = families(6, 3)[family]
    assert (losses.n_rounds, losses.dimension) == (6, 3)
    points = np.random.default_rng(2).standard_normal((4, 3))
    each = [losses.value(slice(t, t + 1), points) for t in range(6)]
    np.testing.assert_allclose(losses.value(slice(1, 5), points), sum(each[1:5]))
    for t in range(6):
        found = losses.gradient(t, points)
        assert found.shape == (4, 3)
        assert (np.linalg.norm(found, axis=1) <= losses.lipschitz).all()
        for axis in range(3):
            step = 1e-6 * np.eye(3)[axis]
            rise = losses.value(slice(t, t + 1), points + step)
            rise = rise - losses.value(slice(t, t + 1), points - step)
            np.testing.assert_allclose(found[:, axis], rise / 2e-6, atol=1e-8)


def test_values_by_hand() -> None:
    linear = LinearLosses([[1.0, 2.0], [0.0, -1.0]], 3.0)
    np.testing.assert_allclose(
        linear.value(slice(None), np.array([[1.0, 1.0], [2.0, 0.5]])), [2, 2.5]
    )
    logistic = LogisticLosses([[1.0], [1.0]], [1, -1], 1.0)
    wanted = math.log1p(math.exp(-2)) + math.log1p(math.exp(2))
    np.testing.assert_allclose(logistic.value(slice(None), np.array([[2.0]])), [wanted])
    np.testing.assert_allclose(logistic.gradient(0, np.array([[2.0]])), [[-1 / (1 + math.exp(2))]])


def test_logistic_losses_do_not_overflow() -> None:
    losses = LogisticLosses([[1000.0]], [1.0], 1000.0)
    np.testing.assert_allclose(losses.value(slice(None), np.array([[-5.0], [5.0]])), [5000.0, 0.0])
    np.testing.assert_allclose(losses.gradient(0, np.array([[-5.0], [5.0]])), [[-1000.0], [0.0]])


def test_best_fixed_point_of_linear_losses() -> None:
    losses = LinearLosses([[3.0, 0.0], [0.0, 4.0]], 4.0)
    np.testing.assert_allclose(losses.best_fixed_point(2.0), [-0.6, -0.8])
    np.testing.assert_array_equal(LinearLosses([[1.0], [-1.0]], 1.0).best_fixed_point(2.0), [0.0])


@pytest.mark.parametrize("diameter", [0.01, 1.0, 4.0, 100.0])
@pytest.mark.parametrize(("rounds", "d"), [(1, 1), (5, 3), (200, 3), (300, 20), (4, 30)])
def test_best_fixed_point_of_logistic_losses(rounds: int, d: int, diameter: float) -> None:
    """Minimum 1e-6 exact: no better point is found by another solver or at random."""
    losses = LogisticLosses(vectors(rounds, d), labels(rounds), 1.0)
    best = losses.best_fixed_point(diameter)
    assert np.linalg.norm(best) <= diameter / 2 * (1 + 1e-12)
    least = losses.value(slice(None), best[None])[0]

    def total(x: Floats) -> float:
        return float(losses.value(slice(None), x[None])[0])

    other = optimize.minimize(
        total,
        np.zeros(d),
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda x: diameter**2 / 4 - x @ x},
        options={"maxiter": 500, "ftol": 1e-12},
    ).x
    other *= min(1.0, diameter / 2 / max(float(np.linalg.norm(other)), 1e-300))
    assert least <= total(other) + 1e-6
    near = best + 1e-2 * diameter * np.random.default_rng(0).standard_normal((50, d)) / d**0.5
    near *= np.minimum(1.0, diameter / 2 / np.linalg.norm(near, axis=1))[:, None]
    assert least <= losses.value(slice(None), near).min() + 1e-6


def test_best_fixed_point_in_one_dimension() -> None:
    """3 labels of 1 and 1 of -1: interior minimum at log 3."""
    losses = LogisticLosses(np.ones((4, 1)), [1, 1, 1, -1], 1.0)
    np.testing.assert_allclose(losses.best_fixed_point(10.0), [math.log(3)], atol=1e-4)
    np.testing.assert_allclose(losses.best_fixed_point(1.0), [0.5])


def test_regularised_minimiser_has_no_gradient() -> None:
    losses = LogisticLosses(vectors(50, 4), labels(50), 1.0)
    x = losses.minimise(slice(0, 30), 10.0, regulariser=2.0)
    gradient = sum(losses.gradient(t, x[None])[0] for t in range(30)) + 4.0 * x
    np.testing.assert_allclose(gradient, 0, atol=1e-6)
    np.testing.assert_array_equal(losses.minimise(slice(0, 0), 10.0, regulariser=2.0), np.zeros(4))


def test_a_point_does_not_depend_on_the_others() -> None:
    """To the last bit: results must not depend on the block of replicates."""
    points = np.random.default_rng(0).standard_normal((7, 10))
    for losses in families(33, 10):
        value = losses.value(slice(2, 31), points)
        gradient = losses.gradient(3, points)
        for row in range(7):
            one = points[[row]]
            np.testing.assert_array_equal(losses.value(slice(2, 31), one), value[[row]])
            np.testing.assert_array_equal(losses.gradient(3, one), gradient[[row]])


def test_errors_name_the_round() -> None:
    good = np.array([[0.5, 0.0], [3.0, 4.0], [math.nan, 0.0]])
    with pytest.raises(
        ValueError, match=r"round 2: gradient with norm 5\.0 exceeds L = 1\.0 \(2 of 3"
    ):
        LinearLosses(good, 1.0)
    with pytest.raises(ValueError, match="round 3: feature with norm nan exceeds L = 5"):
        LogisticLosses(good, np.ones(3), 5.0)
    with pytest.raises(ValueError, match="round 2: label 0.0 is not -1 or 1"):
        LogisticLosses(
            good[:2],
            [
                1,
                0,
            ],
            5.0,
        )
    with pytest.raises(ValueError, match=r"2 rounds .* labels of shape \(2,\), got \(3,\)"):
        LogisticLosses(good[:2], np.ones(3), 5.0)
    with pytest.raises(ValueError, match=r"shape \(T, d\) with T, d >= 1, got \(2,\)"):
        LinearLosses(np.ones(2), 5.0)
    with pytest.raises(ValueError, match=r"got \(0, 2\)"):
        LinearLosses(np.ones((0, 2)), 5.0)
    with pytest.raises(ValueError, match="lipschitz must be a positive number, got 0"):
        LinearLosses(np.ones((2, 2)), 0.0)
    with pytest.raises(ValueError, match="diameter must be a positive number, got -1"):
        LogisticLosses(good[:1], [1], 5.0).best_fixed_point(-1.0)


def test_losses_are_read_only_copies() -> None:
    rows = np.ones((2, 2))
    losses = LinearLosses(rows, 2.0)
    rows[:] = 9
    assert losses.gradients.max() == 1
    with pytest.raises(ValueError, match="read-only"):
        losses.gradients[0, 0] = 9
