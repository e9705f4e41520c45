"""Chances to be the largest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from dpol_weekly.coordinator.chances import chances_of


@pytest.mark.parametrize("n", [2, 6, 40, 100])
def test_chances_are_those_of_draws(n):
    """100,000 draws: an error of 5 standard deviations is one in a million, with 100 chances.

    Deviations that differ by 5% are noticed by the same draws.
    """
    rng = np.random.default_rng([n, 1])
    mean, deviation = rng.normal(0.3, 0.05, n), rng.uniform(0.005, 0.08, n)
    chances = chances_of(mean, deviation)
    assert chances.sum() == pytest.approx(1, abs=1e-6)
    draws = np.zeros(n)
    for _ in range(20):
        shares = mean + deviation * rng.standard_normal((5_000, n))
        draws += np.bincount(shares.argmax(axis=1), minlength=n)
    error = np.sqrt(np.maximum(chances * (1 - chances), 1e-5) / 100_000)
    assert (np.abs(chances - draws / 100_000) < 5.5 * error).all()
    if 6 <= n < 100:
        other = chances_of(mean, np.append(1.2 * deviation[0], deviation[1:]))
        wide = chances_of(mean, deviation[::-1])
        assert max(np.abs(it - draws / 100_000).max() for it in (other, wide)) > 0.01


@pytest.mark.parametrize("ratio", [1, 1 / 50, 1 / 500, 1 / 1000, 1e-6])
@pytest.mark.parametrize("apart", [-2.0, -0.5, 0.0, 1.0])
def test_very_unequal_deviations_lose_no_chance(apart, ratio):
    """Of two, in closed form; a deviation of two steps instead of a smaller one changes 1e-4."""
    mean, deviation = np.array([0.0, apart]), np.array([1.0, ratio])
    known = norm.cdf(-apart / np.hypot(1.0, ratio))
    chances = chances_of(mean, deviation)
    assert chances.sum() == pytest.approx(1, abs=1e-6)
    assert chances == pytest.approx([known, 1 - known], abs=1e-4)


def test_many_of_very_unequal_deviations_lose_no_chance():
    rng = np.random.default_rng(1)
    for _ in range(20):
        mean, deviation = rng.normal(0, 1, 40), np.exp(rng.uniform(-14, 0, 40))
        assert chances_of(mean, deviation).sum() == pytest.approx(1, abs=1e-6)


def test_thousands_are_no_burden():
    rng = np.random.default_rng(1)
    chances = chances_of(rng.normal(0.3, 0.05, 5_000), rng.uniform(0.005, 0.08, 5_000))
    assert chances.sum() == pytest.approx(1, abs=1e-6)
