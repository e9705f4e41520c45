"""Hit-and-run against independent draws and quadrature, and its diagnostics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from dpol.convex.hit_and_run import (
    Chains,
    along,
    autocorrelation_time,
    hit_and_run,
    mixing,
    split_r_hat,
    uniform_in_ball,
)
from dpol.convex.truncated_gaussian import sample_truncated_gaussian
from dpol.core.randomness import Floats, replicate_generators
from replicates import many

ERROR = 1e-6


def gaussian(mean: Floats, sigma: float):
    return along(lambda x: ((x - mean) ** 2).sum(axis=1) / (2 * sigma**2))


@pytest.mark.parametrize(
    ("mean", "sigma"), [([0.4, 0.0], 0.3), ([2.0, 1.0, 0.0], 0.5), ([0.3] * 6, 0.4)]
)
def test_moments_of_the_truncated_gaussian(mean: list[float], sigma: float) -> None:
    """Linear losses: the same first and second moments as the independent sampler."""
    m = np.array(mean)
    n = 1_000
    chains = hit_and_run(gaussian(m, sigma), np.zeros((n, len(m))), 2.0, 60, many(n))
    assert np.linalg.norm(chains.points, axis=1).max() <= 1 + 1e-12
    exact = sample_truncated_gaussian(m, sigma, 2.0, many(50_000, 1))
    for power in (1, 2):
        found, wanted = chains.points**power, exact**power
        error = wanted.std(axis=0) * (1 / n + 1 / 50_000) ** 0.5
        assert (np.abs(found.mean(axis=0) - wanted.mean(axis=0)) < 5.5 * error).all()
    norms = [np.linalg.norm(x, axis=1) for x in (chains.points, exact)]
    assert stats.ks_2samp(*norms).pvalue > ERROR
    np.testing.assert_allclose(
        chains.potentials[:, -1], ((chains.points - m) ** 2).sum(axis=1) / (2 * sigma**2), rtol=1e-9
    )


def test_a_wrong_potential_is_noticed() -> None:
    n, m = 1_000, np.array([0.4, 0.0])
    points = hit_and_run(gaussian(m, 0.36), np.zeros((n, 2)), 2.0, 60, many(n)).points
    exact = sample_truncated_gaussian(m, 0.3, 2.0, many(50_000, 1))
    norms = [np.linalg.norm(x - m, axis=1) for x in (points, exact)]
    assert stats.ks_2samp(*norms).pvalue < ERROR


@pytest.mark.parametrize("beta", [0.1, 3.0, 300.0])
def test_logistic_loss_in_one_dimension(beta: float) -> None:
    def potential(x: Floats) -> Floats:
        return beta * (np.log1p(np.exp(-2 * x)) + 0.3 * np.log1p(np.exp(5 * x)) + x * x)

    n = 4_000
    start = np.zeros((n, 1))
    chains = hit_and_run(along(lambda x: potential(x[:, 0])), start, 4.0, 25, many(n))
    grid = np.linspace(-2, 2, 100_001)
    density = np.exp(potential(grid).min() - potential(grid))
    mass = integrate.cumulative_simpson(density, x=grid, initial=0)
    uniform = np.interp(chains.points[:, 0], grid, mass / mass[-1])
    assert stats.kstest(uniform, "uniform").pvalue > ERROR


def test_uniform_in_ball() -> None:
    x = uniform_in_ball(3, 2.0, many(20_000))
    assert stats.kstest(np.linalg.norm(x, axis=1) ** 3, "uniform").pvalue > ERROR
    assert stats.kstest((x[:, 0] / np.linalg.norm(x, axis=1) + 1) / 2, "uniform").pvalue > ERROR
    short = hit_and_run(along(lambda x: 0 * x[:, 0]), x, 2.0, 3, many(20_000, 1)).points
    assert stats.kstest(np.linalg.norm(short, axis=1) ** 3, "uniform").pvalue > ERROR


def test_diagnostics_tell_long_chains_from_short_ones() -> None:
    m = np.full(10, 0.2)
    start = uniform_in_ball(10, 2.0, many(8))
    short = mixing(hit_and_run(gaussian(m, 0.05), start, 2.0, 20, many(8, 1)))
    assert not short.mixed
    assert short.r_hat > 1.5
    long = mixing(hit_and_run(gaussian(m, 0.05), start, 2.0, 3_000, many(8, 1)))
    assert long.mixed
    assert long.r_hat < 1.02
    assert long.steps == 1_500
    tiny = mixing(Chains(start, np.ones((8, 5))))
    assert not tiny.mixed


def test_r_hat_and_autocorrelation_time_of_known_series() -> None:
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((6, 20_000))
    assert split_r_hat(noise) == pytest.approx(1, abs=1e-3)
    assert autocorrelation_time(noise) == pytest.approx(1, abs=0.1)
    # Autoregression with coefficient 0.8: time (1 + 0.8)/(1 - 0.8) = 9.
    series = np.zeros_like(noise)
    for t in range(1, noise.shape[1]):
        series[:, t] = 0.8 * series[:, t - 1] + noise[:, t]
    assert autocorrelation_time(series) == pytest.approx(9, rel=0.1)
    # Chains about different levels, and a trend: between-chain variance 1, within 1.
    levels = noise[:, :1_000] + np.repeat([-1.0, 1.0], 3)[:, None]
    assert split_r_hat(levels) == pytest.approx((1 + 12 / 11) ** 0.5, rel=0.02)
    assert split_r_hat(noise[:, :1_000] + np.linspace(0, 5, 1_000)) > 1.3
    assert split_r_hat(np.ones((2, 8))) == 1.0
    assert split_r_hat(np.array([[0.0] * 8, [1.0] * 8])) == np.inf


def test_a_replicate_depends_on_its_own_generator_only() -> None:
    m = np.array([0.3, 0.1, 0.0])

    def run(replicates: list[int]) -> Floats:
        generators = replicate_generators(3, ("test",), replicates, "points")
        start = np.zeros((len(replicates), 3))
        return hit_and_run(gaussian(m, 0.2), start, 2.0, 10, generators).points

    together = run([0, 1, 2, 3])
    for replicate in range(4):
        np.testing.assert_array_equal(together[[replicate]], run([replicate]))
    assert len(np.unique(together[:, 0])) == 4


def test_the_start_is_not_changed_and_nonsense_refused() -> None:
    start = np.zeros((2, 2))
    hit_and_run(gaussian(np.zeros(2), 1.0), start, 2.0, 3, many(2))
    np.testing.assert_array_equal(start, 0)
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        hit_and_run(gaussian(np.zeros(2), 1.0), start, 2.0, 0, many(2))
    with pytest.raises(ValueError, match="potential must be finite"):
        hit_and_run(along(lambda x: x[:, 0] * np.nan), start, 2.0, 1, many(2))
