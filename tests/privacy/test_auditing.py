"""Audits by runs and by the covariance of noise: coverage, power, and by hand."""

import math

import numpy as np
import pytest
from scipy import special, stats

from dpol.core.intervals import clopper_pearson_upper
from dpol.privacy.auditing import (
    audit_covariance,
    audit_runs,
    selection_half,
    with_fitted_direction,
)

# Largest probability that a sound audit fails a statistical test here.
ERROR = 1e-6


def audit(first, second, **changed):
    return audit_runs(first, second, **{"parameter": "mu", "claimed": 1.0, **changed})


def most_allowed(trials, probability):
    """Return the number that a count of such events exceeds with probability `ERROR`."""
    return stats.binom.isf(ERROR, trials, probability)


# ---- audits by runs ------------------------------------------------------------------------------


@pytest.mark.parametrize(("mu", "runs"), [(0.0, 2000), (1.0, 200)])
def test_the_bound_exceeds_the_truth_in_at_most_five_percent(mu, runs):
    """In 400 audits of N(0, 1) and N(mu, 1); the split of the error makes it far less than 5%."""
    noise = np.random.default_rng(0).standard_normal((400, 2, runs))
    bounds = np.array([audit(first, mu + second).lower_bound for first, second in noise])
    assert (bounds > mu).sum() <= most_allowed(400, 0.05)


def test_runs_that_chose_the_statistic_do_not_count_for_it():
    """60 outputs of pure noise: at most 5% of 100 audits may show a mu above 0.

    If every run is used for both, nearly all of them do.
    """
    rng = np.random.default_rng(1)
    bounds = np.zeros((100, 2))
    for row in bounds:
        outputs = rng.standard_normal((2, 400, 60))
        reused = [np.tile(selection_half(sample), (2, 1)) for sample in outputs]
        row[:] = [audit(*with_fitted_direction(*two)).lower_bound for two in (outputs, reused)]
    assert (bounds[:, 0] > 0).sum() <= most_allowed(100, 0.05)
    assert (bounds[:, 1] > 0).sum() > 80


def test_epsilon_bound_by_hand():
    """Outputs are 0 or 1: 10 and 30 of 100 counted runs are 1, for every threshold."""
    first = np.tile(np.repeat([1.0, 0.0], [10, 90]), 2)
    second = np.tile(np.repeat([1.0, 0.0], [30, 70]), 2)
    rate = clopper_pearson_upper([10, 70], 100, 0.025)
    result = audit(first, second, parameter="epsilon", delta=0.02)
    assert result.lower_bound == pytest.approx(math.log((1 - 0.02 - rate[1]) / rate[0]), rel=1e-12)
    result = audit(first, second)
    expected = special.ndtri(1 - rate[0]) - special.ndtri(rate[1])
    assert result.lower_bound == pytest.approx(expected, rel=1e-9)
    assert (result.parameter, result.claimed) == ("mu", 1.0)
    assert (result.runs, result.confidence, result.method) == (200, 0.95, "event")


def test_the_fitted_direction_is_nearly_the_likelihood_ratio():
    rng = np.random.default_rng(5)
    mixing, shift = rng.standard_normal((6, 6)), rng.standard_normal(6)
    first, second = rng.standard_normal((2, 20_000, 6)) @ mixing
    mu = 1.5
    shift *= mu / np.linalg.norm(np.linalg.solve(mixing.T, shift))
    result = audit(*with_fitted_direction(first, second + shift), claimed=mu)
    assert 0.9 * mu < result.lower_bound <= mu
    assert result.verdict == "consistent"


def test_the_fitted_direction_finds_noise_that_cancels():
    """Two outputs share one draw of noise: each is 0.1-GDP, their difference hides nothing."""
    rng = np.random.default_rng(6)
    first = np.repeat(10 * rng.standard_normal((400, 1)), 2, axis=1)
    second = np.repeat(10 * rng.standard_normal((400, 1)), 2, axis=1) + np.array([0, 1])
    assert audit(*with_fitted_direction(first, second), claimed=0.2).verdict == "violated"
    assert audit(first, second, claimed=0.2).verdict == "consistent"


# ---- results -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"first": np.zeros(3)}, "at least 4 runs"),
        ({"first": np.zeros((9, 2))}, "2 statistics of one input, 1"),
        ({"first": np.full(9, math.nan)}, "must be finite"),
        ({"parameter": "rho"}, "mu or epsilon, got 'rho'"),
    ],
)
def test_arguments_out_of_range_are_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        audit(**{"first": np.zeros(9), "second": np.ones(9), **changed})


# ---- covariance ----------------------------------------------------------------------------------


def test_one_coordinate_by_hand():
    """Centred outputs are -1 and 1: sum of squares 4, 2 degrees of freedom, one change of 3."""
    outputs = np.array([[[-1.0], [1.0]], [[9.0], [11.0]]])
    result = audit_covariance(outputs, np.array([[3.0]]), claimed=1.0, confidence=0.9)
    # The 10% quantile of chi-squared with 2 degrees of freedom is -2 log 0.9.
    assert result.lower_bound == pytest.approx(math.sqrt(9 / 4 * -2 * math.log(0.9)), rel=1e-6)
    assert (result.runs, result.method, result.parameter) == (2, "covariance", "mu")


def bounds(changes, repetitions, runs=300, mixing=None):
    rng = np.random.default_rng(1)
    mixing = np.eye(changes.shape[1]) if mixing is None else mixing
    noise = (rng.standard_normal((2, runs, len(mixing))) @ mixing.T for _ in range(repetitions))
    return np.array([audit_covariance(x, changes, claimed=1.0).lower_bound for x in noise])


def test_the_bound_exceeds_the_truth_in_five_percent_for_one_change():
    """The rate is exact for any covariance: neither more nor fewer."""
    rng = np.random.default_rng(0)
    mixing, change = rng.standard_normal((4, 4)), rng.standard_normal((1, 4))
    truth = np.linalg.norm(np.linalg.solve(mixing, change[0]))
    exceeded = (bounds(change, 2000, mixing=mixing) > truth).sum()
    assert stats.binom.ppf(ERROR, 2000, 0.05) <= exceeded <= most_allowed(2000, 0.05)


def test_the_changes_share_the_error():
    exceeded = (bounds(np.eye(20), 1000) > 1).sum()
    assert exceeded <= most_allowed(1000, 0.05)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda noise: 0.9 * noise,
        lambda noise: noise * (np.arange(6) != 4),
        lambda noise: np.repeat(noise[..., :1], 6, axis=-1),
        lambda noise: noise @ (np.eye(6) - 0.4 * (np.eye(6, k=1) + np.eye(6, k=-1))),
        lambda noise: np.zeros_like(noise),
    ],
)
def test_noise_that_is_too_small_missing_or_shared_is_flagged(spoil):
    """With 1,500 runs on each input, the relative error of a standard deviation is 1.3%."""
    changes = np.concatenate([np.eye(6), np.array([[1, -1, 0, 0, 0, 0]]) / math.sqrt(2)])
    for seed in range(5):
        noise = np.random.default_rng(seed).standard_normal((2, 1500, 6))
        assert audit_covariance(noise, changes, claimed=1.02).verdict == "consistent"
        assert audit_covariance(spoil(noise), changes, claimed=1.02).verdict == "violated"


def test_too_few_outputs_are_refused():
    with pytest.raises(ValueError, match="2 runs are too few for 3 coordinates"):
        audit_covariance(np.zeros((2, 2, 3)), np.eye(3), claimed=1.0)


@pytest.mark.parametrize("change", [1e-100, 1e-9, 1.0])
def test_a_coordinate_without_noise_gives_away_any_change(change):
    noise = np.random.default_rng(4).standard_normal((2, 100, 2)) * [1.0, 0.0]
    assert audit_covariance(noise, np.array([[0.0, change]]), claimed=10.0).lower_bound > 1e4


@pytest.mark.parametrize("large", [1.0, 1e10, 1e12, 1e100])
def test_a_coordinate_of_any_scale_hides_no_other(large):
    """The mean moves by 100 in the other coordinate, of deviation 1."""
    noise = np.random.default_rng(3).standard_normal((2, 5000, 2)) * [math.sqrt(large), 1.0]
    changes = np.array([[0.0, 100.0]])
    audit = audit_covariance(noise, changes, claimed=10.0)
    assert audit.lower_bound == pytest.approx(99, abs=3)
    first, second = noise[0], noise[1] + [0.0, 3.0]
    bound = audit_runs(
        *with_fitted_direction(first, second), parameter="mu", claimed=1.0
    ).lower_bound
    assert bound == pytest.approx(2.6, abs=0.3)
