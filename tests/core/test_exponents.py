"""Fitted exponents are exact for exact powers, and their intervals cover."""

import numpy as np
import pytest

from dpol.core.exponents import fit_exponent

SIZES = np.array([100.0, 1000.0, 10000.0])


@pytest.mark.parametrize("slope", [-0.5, 0.0, 1 / 3])
def test_an_exact_power_is_found(slope):
    fit = fit_exponent(SIZES, 7 * SIZES**slope, 0 * SIZES, replicates=5, confidence=0.9)
    assert fit.slope == pytest.approx(slope, abs=1e-12)
    assert fit.half_width == 0
    assert fit.curvature == pytest.approx(0, abs=1e-12)


def covered(shrink):
    """Return how many of 2,000 experiments have the true exponent 0.4 in their 90% interval."""
    rng, runs, hits = np.random.default_rng(5), 20, 0
    for _ in range(2000):
        samples = rng.normal(3 * SIZES**0.4, 0.2 * SIZES**0.4, (runs, 3))
        errors = shrink * samples.std(axis=0, ddof=1) / np.sqrt(runs)
        fit = fit_exponent(SIZES, samples.mean(axis=0), errors, replicates=runs, confidence=0.9)
        hits += fit.interval[0] <= 0.4 <= fit.interval[1]
    return hits


def test_intervals_hold_the_true_exponent_as_often_as_they_say():
    # Four standard deviations of a binomial: error probability below 1e-4. Student's quantile for
    # the runs of one mean is conservative, by at most 2 points.
    assert 0.9 - 0.027 <= covered(1.0) / 2000 <= 0.92 + 0.027
    assert covered(0.8) / 2000 < 0.9 - 0.027


def test_curvature_is_the_distance_from_the_line():
    fit = fit_exponent([1, 10, 100], [1, 20, 100], [0, 0, 0], replicates=2, confidence=0.9)
    assert fit.curvature == pytest.approx(2 / 3 * np.log(2))


@pytest.mark.parametrize(
    ("sizes", "means"), [([1], [1]), ([2, 2], [1, 1]), ([1, 2], [1, -1]), ([0, 2], [1, 1])]
)
def test_what_has_no_logarithm_or_no_slope_is_refused(sizes, means):
    with pytest.raises(ValueError, match="two or more sizes"):
        fit_exponent(sizes, means, [0] * len(sizes), replicates=2, confidence=0.9)
