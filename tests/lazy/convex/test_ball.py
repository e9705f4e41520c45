"""The ball against a conic solver; draws against quadrature, noncentral chi-squared, 40 digits."""

from __future__ import annotations

import math

import cvxpy as cp
import mpmath
import numpy as np
import pytest
from scipy import integrate, special, stats

from dpol.core.randomness import Floats, replicate_generators
from dpol.lazy.convex.ball import (
    Ball,
    Marginal,
    depth_proposals,
    log_lower_gamma,
    sample_truncated_gaussian,
)
from grids import each_and_corners
from replicates import many

ERROR = 1e-6


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


def draws(d: int, centre: float, sigma: float, n: int = 40_000, seed: int = 0) -> Floats:
    """Return draws with mean `centre` along a direction that is not an axis; diameter 2."""
    return sample_truncated_gaussian(centre * direction(d), sigma, 2.0, many(n, seed))


def direction(d: int) -> Floats:
    vector = np.cos(np.arange(d))
    return vector / np.linalg.norm(vector)


def quadrature_cdf(centre: float, sigma: float, d: int, points: Floats) -> Floats:
    """Return the CDF of the coordinate along the mean, by Simpson's rule on a fine grid."""
    u = np.linspace(-1, 1, 200_001)
    log_f = -((u - centre) ** 2) / (2 * sigma**2)
    if d > 1:
        with np.errstate(divide="ignore"):
            log_f = log_f + np.log(special.chdtr(d - 1, (1 - u * u) / sigma**2))
    mass = integrate.cumulative_simpson(np.exp(log_f - log_f.max()), x=u, initial=0)
    return np.interp(points, u, mass / mass[-1])


def p_value(uniform: Floats) -> float:
    return float(stats.kstest(uniform, "uniform").pvalue)


CASES = [
    (1, 0.3, 0.5),
    (1, 0.0, 50.0),
    (1, 4.0, 1.0),
    (1, 0.2, 0.01),
    (2, 0.0, 1.0),
    (2, 0.9, 0.3),
    (2, 3.0, 0.7),
    (2, 0.5, 40.0),
    (3, 1.2, 0.2),
    (10, 0.5, 0.1),
    (10, 0.9, 0.4),
    (10, 2.0, 0.5),
    (50, 0.3, 0.13),
    (50, 0.8, 0.2),
    (50, 1.5, 1.0),
]


@pytest.mark.parametrize(("d", "centre", "sigma"), CASES)
def test_distributions_along_the_mean_of_the_norm_and_across(
    d: int, centre: float, sigma: float
) -> None:
    """|x|^2/sigma^2 is truncated noncentral chi-squared; all directions across are alike."""
    x = draws(d, centre, sigma)
    along, squares = x @ direction(d), (x * x).sum(axis=1)
    assert squares.max() <= 1 + 1e-12
    assert p_value(quadrature_cdf(centre, sigma, d, along)) > ERROR
    # scipy's noncentral chi-squared has no digits far in the tail, where the last case lies.
    if (d, centre, sigma) != CASES[-1]:
        law = stats.ncx2(d, centre**2 / sigma**2) if centre else stats.chi2(d)
        assert p_value(law.cdf(squares / sigma**2) / law.cdf(1 / sigma**2)) > ERROR
    if d > 1:  # Across: mean 0, and an equal share of the square.
        other = np.eye(d)[0] - direction(d)[0] * direction(d)
        part = x @ (other / np.linalg.norm(other))
        assert abs(part.mean()) < 5.5 * part.std() / len(x) ** 0.5
        spread = (part**2 - (squares - along**2) / (d - 1)) / sigma**2
        assert abs(spread.mean()) < 5.5 * spread.std() / len(x) ** 0.5 + 1e-12


@pytest.mark.parametrize(
    ("d", "centre", "sigma"), [(2, 30.0, 0.1), (10, 1e6, 1.0), (1000, 5.0, 0.01)]
)
def test_mean_far_outside(d: int, centre: float, sigma: float) -> None:
    """The depth below the boundary agrees with 30-digit quadrature of the density."""
    x = draws(d, centre, sigma, n=4_000)
    depth = 1 - x @ direction(d)
    scale = depth.mean()

    def density(s: mpmath.mpf, a: float = (d - 1) / 2) -> mpmath.mpf:
        z = s * (2 - s) / (2 * mpmath.mpf(sigma) ** 2)
        tilt = (1 - mpmath.mpf(centre)) * s / mpmath.mpf(sigma) ** 2 - s * s / (2 * sigma**2)
        log_p = mpmath.log(mpmath.hyp1f1(1, a + 1, z)) - z + a * mpmath.log(z) if a else 0
        return mpmath.exp(tilt + log_p - shift)

    with mpmath.workdps(30):
        shift = mpmath.mpf(0)
        shift = mpmath.log(density(mpmath.mpf(scale)))
        edges = [mpmath.mpf(scale) * e for e in (1e-9, 0.2, 0.5, 0.8, 0.9, 1, 1.1, 1.25, 2, 5, 40)]
        edges = [e for e in edges if e < 2]
        mass = mpmath.quad(density, edges)
        mean = float(mpmath.quad(lambda s: s * density(s), edges) / mass)
    assert abs(depth.mean() - mean) < 5.5 * depth.std() / len(x) ** 0.5 + 1e-15


@pytest.mark.parametrize(
    ("d", "radius"),
    each_and_corners((2, 3, 10, 50, 1000), (1e-8, 1e-3, 0.1, 1.0, 3.0, 10.0, 100.0, 1e6)),
)
def test_the_hull_covers_and_is_tight(d: int, radius: float) -> None:
    """It is above the density wherever it is used, and accepts more than half."""
    outside = [0.0, 0.5 * radius, radius, radius + 1, radius + 30, 10 * radius, 1e4 * radius]
    for centre in outside:
        if math.hypot(centre, math.sqrt(d)) <= radius:
            continue
        propose = depth_proposals(Marginal(radius, centre, (d - 1) / 2))
        acceptance = np.exp(propose(np.random.default_rng(0).random(2_000))[1])
        assert acceptance.max() <= 1 + 1e-9
        assert acceptance.mean() > 0.5


@pytest.mark.parametrize("shape", [0.5, 1.0, 4.5, 24.5, 499.5])
def test_log_lower_gamma_and_the_density(shape: float) -> None:
    ratios = np.array([1e-12, 1e-3, 0.1, 0.5, 0.9, 1.0, 1.1, 2.0])
    logs = log_lower_gamma(shape, shape * ratios)
    with mpmath.workdps(40):
        a = mpmath.mpf(shape)
        for value, z in zip(logs, shape * ratios, strict=True):
            z = mpmath.mpf(float(z))
            series = mpmath.log(mpmath.hyp1f1(1, a + 1, z) / mpmath.gamma(a + 1))
            assert abs(value - (series + a * mpmath.log(z) - z)) < 1e-11


@pytest.mark.parametrize(("centre", "sigma"), [(0.2, 0.1), (0.5, 3.0), (4.0, 0.2)])
@pytest.mark.parametrize("d", [1, 2, 7])
def test_a_replicate_depends_on_its_own_generator_only(d: int, centre: float, sigma: float) -> None:
    def run(replicates: list[int]) -> Floats:
        generators = replicate_generators(3, ("test",), replicates, "points")
        return sample_truncated_gaussian(centre * direction(d), sigma, 2.0, generators)

    together = run([0, 1, 2, 3, 4])
    np.testing.assert_array_equal(together, np.concatenate([run([r]) for r in range(5)]))
    assert len(np.unique(together[:, 0])) == 5
    pairs = np.array([run([2 * i, 2 * i + 1])[:, 0] for i in range(400)])
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 5 / 400**0.5
