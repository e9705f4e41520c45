"""The best fixed point against a solver of another library."""

from __future__ import annotations

import numpy as np
import pytest

from dpol.evaluation.convex import make_losses


@pytest.mark.parametrize("dimension", [1, 3, 20])
@pytest.mark.parametrize("diameter", [0.5, 2.0, 50.0])
@pytest.mark.parametrize("family", ["linear", "logistic"])
def test_the_best_point_is_that_of_a_conic_solver(
    family: str, diameter: float, dimension: int
) -> None:
    import cvxpy as cp

    losses = make_losses(family, 60, dimension, 1.5, seed=dimension)
    x = cp.Variable(dimension)
    if family == "linear":
        total = cp.sum(losses.gradients @ x)
    else:
        total = cp.sum(cp.logistic(-cp.multiply(losses.labels, losses.features @ x)))
    problem = cp.Problem(cp.Minimize(total), [cp.norm(x) <= diameter / 2])
    problem.solve(solver=cp.CLARABEL)
    best = losses.best_fixed_point(diameter)
    assert np.linalg.norm(best) <= diameter / 2 * (1 + 1e-12)
    value = float(losses.value(slice(0, 60), best[None])[0])
    assert value <= problem.value + 1e-6
    assert value >= problem.value - 1e-5 * max(1.0, abs(problem.value))
