"""Bodies compared with a conic solver, and draws compared with known distributions."""

from __future__ import annotations

import math

import cvxpy as cp
import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

from dpol.core.randomness import Floats
from dpol.lazy.convex.bodies import BODIES, Body, BodyName, Simplex
from dpol.lazy.convex.truncated_normal import (
    truncated_normal_mean,
    truncated_normal_quantiles,
)
from replicates import many

ERROR = 1e-6
EVERY = pytest.mark.parametrize("name", BODIES)


def constraints(name: str, x: cp.Variable, D: float) -> list[cp.Constraint]:
    """Return each body by its definition."""
    d = x.shape[0]
    if name == "ball":
        return [cp.norm(x) <= D / 2]
    if name == "box":
        return [cp.norm(x, "inf") <= D / (2 * math.sqrt(d))]
    return [x >= 0, cp.sum(x) == D / math.sqrt(2)]


def p_value(uniform: Floats) -> float:
    return float(stats.kstest(uniform, "uniform").pvalue)


# ---- geometry ------------------------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize("d", [2, 7])
def test_projections_best_points_and_centres_agree_with_a_conic_solver(
    name: BodyName, d: int
) -> None:
    body: Body = BODIES[name](d, 3.0)
    x = cp.Variable(d)
    rng = np.random.default_rng(d)
    for scale in (0.3, 3.0, 30.0):
        point = scale * rng.standard_normal(d)
        nearest, best = (
            cp.Problem(cp.Minimize(goal), constraints(name, x, 3.0))
            for goal in (cp.sum_squares(x - point), point @ x)
        )
        nearest.solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(body.project(point[None])[0], x.value, atol=1e-4)
        best.solve(solver=cp.CLARABEL)
        assert point @ body.best(point) == pytest.approx(best.value, rel=1e-6)
    np.testing.assert_allclose(body.project(np.zeros((1, d)))[0], body.centre)


@EVERY
@pytest.mark.parametrize("d", [2, 7])
def test_diameter_and_radius_are_reached_and_not_exceeded(name: BodyName, d: int) -> None:
    body: Body = BODIES[name](d, 3.0)
    ends = np.array([body.best(g) for g in np.random.default_rng(0).standard_normal((300, d))])
    ends = np.concatenate([ends, -ends]) if name != "simplex" else ends
    distances = np.linalg.norm(ends[:, None] - ends, axis=2)
    assert distances.max() == pytest.approx(3.0, rel=1e-9)
    assert np.linalg.norm(ends - body.centre, axis=1).max() == pytest.approx(body.radius)


def test_a_simplex_of_one_point_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 dimensions"):
        Simplex(1, 2.0)


# ---- one coordinate ------------------------------------------------------------------------------


@pytest.mark.parametrize("mean", [0.0, -0.4, 3.0, -50.0, 1e4])
@pytest.mark.parametrize("sigma", [0.01, 0.7, 1e3])
def test_quantiles_and_means_of_a_truncated_normal_have_ten_digits(
    mean: float, sigma: float
) -> None:
    """The reference has 40 digits; errors are relative to the distance to the nearest end."""
    shares = np.array([1e-9, 0.1, 0.5, 0.99])
    quantiles = truncated_normal_quantiles(shares, np.full(4, mean), sigma, -1.0, 2.0)
    centre = float(truncated_normal_mean(np.array([mean]), sigma, -1.0, 2.0)[0])
    with mpmath.workdps(40):

        def above(x: float) -> mpmath.mpf:
            return mpmath.erfc((mpmath.mpf(x) - mean) / (sigma * mpmath.sqrt(2)))

        def below(x: float) -> mpmath.mpf:
            return mpmath.erfc((mean - mpmath.mpf(x)) / (sigma * mpmath.sqrt(2)))

        tail = above if mean < 0.5 else below
        mass = tail(2.0) - tail(-1.0)
        for share, x in zip(shares, quantiles, strict=True):
            # Change of the mass below x if only ten digits of x are right.
            step = 1e-10 * min(x + 1.0, 2.0 - x) + 1e-14
            low, high = (float((tail(x + k * step) - tail(-1.0)) / mass) for k in (-1, 1))
            assert low - 1e-10 <= share <= high + 1e-10
        ends = [mpmath.exp(-(((e - mean) / mpmath.mpf(sigma)) ** 2) / 2) for e in (-1.0, 2.0)]
        factor = sigma * mpmath.sqrt(2 / mpmath.pi) * (1 if tail is above else -1)
        exact = mean - factor * (ends[0] - ends[1]) / mass
    exact = float(exact)
    assert centre == pytest.approx(exact, abs=2e-3 * min(exact + 1, 2 - exact))


# ---- draws ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "sigma"), [(1, 0.4), (2, 1.0), (10, 0.1), (10, 40.0)])
@pytest.mark.parametrize("scale", [0.0, 0.5, 20.0])
def test_coordinates_in_a_box_are_truncated_normals(d: int, sigma: float, scale: float) -> None:
    mean = scale * np.cos(np.arange(d))
    x = BODIES["box"](d, 2.0).sample(mean, sigma, many(20_000))
    half = 1 / math.sqrt(d)
    assert np.abs(x).max() <= half
    for column, m in zip(x.T, mean, strict=True):
        law = stats.truncnorm((-half - m) / sigma, (half - m) / sigma, loc=m, scale=sigma)
        assert p_value(law.cdf(column)) > ERROR
    if d > 1:
        assert abs(stats.spearmanr(x[:, 0], x[:, 1])[0]) < 5.5 / math.sqrt(20_000)


def marginal(mean: Floats, sigma: float, s: float) -> tuple[Floats, Floats]:
    """Return a grid of x_1 and its distribution function in three dimensions, by quadrature."""
    grid = np.linspace(0, s, 1_001)
    first, share = grid[:, None], np.linspace(0, 1, 1_001)[None]
    second = (s - first) * share
    rest = [first, second, s - first - second]
    squares = sum((x - m) ** 2 for x, m in zip(rest, mean, strict=True))
    log_f = -squares / (2 * sigma**2)
    density = integrate.simpson(np.exp(log_f - log_f.max()), x=share[0], axis=1) * (s - grid)
    mass = integrate.cumulative_simpson(density, x=grid, initial=0)
    return grid, mass / mass[-1]


@pytest.mark.parametrize(
    ("mean", "sigma"),
    [
        ([0.5, 0.2, 0.3], 0.1),
        ([2.0, 0.0, -1.0], 0.8),
        ([0.0, 0.0, 0.0], 20.0),
        ([0, 1.6, 1.5], 0.4),
    ],
)
def test_three_corners_against_quadrature(mean: list[float], sigma: float) -> None:
    """A projected Gaussian is not a truncated one, and fails."""
    s, m = 1.5, np.array(mean, dtype=float)
    body = Simplex(3, s * math.sqrt(2))
    x = body.sample(m, sigma, many(40_000))
    projected = body.project(m + sigma * np.random.default_rng(0).standard_normal((40_000, 3)))
    refused = []
    for place in range(3):
        grid, law = marginal(np.roll(m, -place), sigma, s)
        assert p_value(np.interp(x[:, place], grid, law)) > ERROR
        refused.append(p_value(np.interp(projected[:, place], grid, law)) < ERROR)
    assert any(refused) or sigma == 0.1  # they agree if nothing is cut off


@pytest.mark.parametrize("d", [2, 10, 40])
def test_limits_of_a_simplex(d: int) -> None:
    """Wide: uniform. Narrow: normal on the plane. Far outside: exponential at a corner."""
    body, n = Simplex(d, math.sqrt(2)), 8_000
    wide = body.sample(np.linspace(0, 1, d), 1e4, many(n))
    for column in wide.T[:3]:
        assert p_value(stats.beta(1, d - 1).cdf(column)) > ERROR
    narrow = body.sample(np.full(d, 7.0), 1e-4, many(n))  # a common shift changes nothing
    law = stats.norm(1 / d, 1e-4 * math.sqrt(1 - 1 / d))
    assert p_value(law.cdf(narrow[:, 0])) > ERROR
    assert p_value(law.cdf(narrow[:, -1])) > ERROR
    mean = np.zeros(d)
    mean[1] = 1e4
    corner = body.sample(mean, 3.0, many(n))
    assert p_value(stats.expon(scale=9e-4).cdf(corner[:, 0])) > ERROR
