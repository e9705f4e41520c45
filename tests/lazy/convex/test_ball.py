"""The ball compared with a conic solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from dpol.lazy.convex.ball import Ball


@pytest.mark.parametrize("d", [1, 2, 7])
def test_projections_and_best_points_agree_with_a_conic_solver(d: int) -> None:
    ball, x = Ball(d, 3.0), cp.Variable(d)
    rng = np.random.default_rng(d)
    for scale in (0.3, 3.0, 30.0):
        point = scale * rng.standard_normal(d)
        nearest, best = (
            cp.Problem(cp.Minimize(goal), [cp.norm(x) <= 1.5])
            for goal in (cp.sum_squares(x - point), point @ x)
        )
        nearest.solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(ball.project(point[None])[0], x.value, atol=1e-4)
        best.solve(solver=cp.CLARABEL)
        assert point @ ball.best(point) == pytest.approx(best.value, rel=1e-6)
    np.testing.assert_allclose(ball.best(np.zeros(d)), ball.centre)
