from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from dpol.privacy.audit_laws import audit_covariance, audit_fit

# A sound audit fails a statistical test here with at most this probability.
ERROR = 1e-6


def most_allowed(trials, probability):
    """What a count of events of at most this probability exceeds with probability `ERROR`."""
    return stats.binom.isf(ERROR, trials, probability)


# ---- covariance ----------------------------------------------------------------------------------


def test_one_coordinate_by_hand():
    """Outputs -1 and 1 on both inputs: squares 4, 2 degrees of freedom, one change of 3."""
    outputs = np.array([[[-1.0], [1.0]], [[9.0], [11.0]]])
    found = audit_covariance(outputs, np.array([[3.0]]), claimed=1.0, confidence=0.9)
    # The 10% quantile of chi-squared with 2 degrees of freedom is -2 log 0.9.
    assert found.lower_bound == pytest.approx(math.sqrt(9 / 4 * -2 * math.log(0.9)), rel=1e-6)
    assert (found.runs, found.method, found.parameter) == (2, "covariance", "mu")


def bounds(changes, repetitions, runs=300, mixing=None):
    rng = np.random.default_rng(1)
    mixing = np.eye(changes.shape[1]) if mixing is None else mixing
    noise = (rng.standard_normal((2, runs, len(mixing))) @ mixing.T for _ in range(repetitions))
    return np.array([audit_covariance(it, changes, claimed=1.0).lower_bound for it in noise])


def test_the_bound_exceeds_the_truth_in_five_percent_for_one_change():
    """Exactly, whatever the covariance is, and neither more nor fewer."""
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
    """1,500 runs on each input: the relative error of a standard deviation is 1.3%."""
    changes = np.concatenate([np.eye(6), np.array([[1, -1, 0, 0, 0, 0]]) / math.sqrt(2)])
    for seed in range(5):
        noise = np.random.default_rng(seed).standard_normal((2, 1500, 6))
        assert audit_covariance(noise, changes, claimed=1.02).verdict == "consistent"
        assert audit_covariance(spoil(noise), changes, claimed=1.02).verdict == "violated"


def test_what_differs_between_the_inputs_only_is_no_noise():
    noise = np.random.default_rng(2).standard_normal((2, 500, 3))
    apart = noise + np.array([[[0.0]], [[100.0]]])
    one, other = (audit_covariance(it, np.eye(3), claimed=1.0) for it in (noise, apart))
    assert one.lower_bound == pytest.approx(other.lower_bound, rel=1e-9)


@pytest.mark.parametrize(
    ("outputs", "confidence", "message"),
    [
        (np.zeros((2, 9, 2)), 0.95, "changes"),
        (np.zeros((2, 2, 3)), 0.95, "2 runs are too few for 3 coordinates"),
        (np.full((2, 9, 3), math.nan), 0.95, "not finite"),
        (np.zeros((2, 9, 3)), 1.0, "confidence must lie"),
    ],
)
def test_outputs_that_cannot_be_audited_are_refused(outputs, confidence, message):
    with pytest.raises(ValueError, match=message):
        audit_covariance(outputs, np.eye(3), claimed=1.0, confidence=confidence)


# ---- fit -----------------------------------------------------------------------------------------


def test_fit_by_hand():
    """Outcome 1 is too frequent on the first half; it is 8 of 10 on the second, 0.5 by the law."""
    outcomes = np.array([1] * 6 + [0] * 4 + [0] * 2 + [1] * 8)
    found = audit_fit(outcomes, np.array([0.5, 0.5]), confidence=0.9)
    least = stats.beta.ppf(0.1, 8, 3)
    assert found.lower_bound == pytest.approx(least - 0.5)
    assert (found.claimed, found.parameter, found.method) == (0.0, "distance", "fit")


def test_the_law_itself_is_violated_in_at_most_five_percent():
    rng = np.random.default_rng(3)
    law = rng.dirichlet(np.ones(50))
    found = [audit_fit(rng.choice(50, 400, p=law), law).verdict for _ in range(1000)]
    assert found.count("violated") <= most_allowed(1000, 0.05)


def test_the_bound_stays_below_the_distance_and_comes_near():
    """Two laws 0.1 apart; 20,000 runs."""
    law = np.full(10, 0.1)
    other = law + np.tile([0.02, -0.02], 5)
    rng = np.random.default_rng(4)
    found = [audit_fit(rng.choice(10, 20_000, p=other), law).lower_bound for _ in range(200)]
    assert sum(it > 0.1 for it in found) <= most_allowed(200, 0.05)
    assert min(found) > 0.07


@pytest.mark.parametrize(
    ("outcomes", "law", "confidence", "message"),
    [
        ([0, 1, 0, 1], [0.5, 0.4], 0.95, "probabilities"),
        ([0, 1, 0, 1], [1.5, -0.5], 0.95, "probabilities"),
        ([0, 1, 0, 1], [0.5, math.nan], 0.95, "probabilities"),
        ([0, 1, 0, 2], [0.5, 0.5], 0.95, "4 outcomes of 0..1"),
        ([0, 1, 0], [0.5, 0.5], 0.95, "4 outcomes"),
        ([0, 1, 0, 1], [0.5, 0.5], 0.0, "confidence must lie"),
    ],
)
def test_laws_and_outcomes_that_do_not_fit_are_refused(outcomes, law, confidence, message):
    with pytest.raises(ValueError, match=message):
        audit_fit(np.array(outcomes), np.array(law), confidence=confidence)
