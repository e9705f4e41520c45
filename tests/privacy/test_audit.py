from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from dpol.core.intervals import clopper_pearson_upper
from dpol.privacy.audit import (
    AuditResult,
    audit_loss,
    audit_runs,
    runs_needed,
    selection_half,
    with_fitted_direction,
)

# A sound audit fails a statistical test here with at most this probability.
ERROR = 1e-6


def gaussian_bounds(mu, runs, repetitions, seed=0, **settings):
    """Lower bounds of audits of N(0, 1) against N(mu, 1)."""
    rng = np.random.default_rng(seed)
    settings = {"parameter": "mu", "claimed": 1.0, **settings}
    found = (
        audit_runs(rng.standard_normal(runs), mu + rng.standard_normal(runs), **settings)
        for _ in range(repetitions)
    )
    return np.array([it.lower_bound for it in found])


def most_allowed(trials, probability):
    """What a count of events of at most this probability exceeds with probability `ERROR`."""
    return stats.binom.isf(ERROR, trials, probability)


# ---- Clopper-Pearson -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "n", "error"),
    [(0, 1, 0.25), (9, 10, 0.05), (3, 50, 0.025), (40, 50, 1e-5), (700, 5000, 0.025)],
)
def test_clopper_pearson_solves_the_binomial_tail(k, n, error):
    with mpmath.workdps(30):
        p = mpmath.mpf(float(clopper_pearson_upper(k, n, error)))
        tail = sum(mpmath.binomial(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))
        assert float(tail) == pytest.approx(error, rel=1e-9)
    assert clopper_pearson_upper(n, n, error) == 1.0


@pytest.mark.parametrize("n", [5, 40, 300])
def test_clopper_pearson_covers_every_probability(n):
    """Exactly: the chance that the bound lies below p, by summation; and it is not idle."""
    counts = np.arange(n + 1)
    upper = clopper_pearson_upper(counts, n, 0.025)
    missed = [
        stats.binom.pmf(counts, n, p)[upper < p].sum() for p in np.linspace(0.001, 0.999, 500)
    ]
    assert max(missed) <= 0.025 + 1e-12
    assert max(missed) > 0.02


# ---- audits by runs ------------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [200, 2000])
@pytest.mark.parametrize("mu", [0.0, 1.0])
def test_the_bound_exceeds_the_truth_in_at_most_five_percent(mu, runs):
    """1,000 audits of the exact mechanism; the split of the error makes it far less than 5%."""
    found = gaussian_bounds(mu, runs, 1000)
    assert (found > mu).sum() <= most_allowed(1000, 0.05)


def test_runs_that_chose_the_statistic_do_not_count_for_it():
    """60 outputs of pure noise: 300 audits must find a mu above 0 in at most 5%.

    If every run is used for both, they find it nearly always.
    """
    rng = np.random.default_rng(1)
    honest = reused = 0
    for _ in range(300):
        outputs = rng.standard_normal((2, 400, 60))
        twice = [np.tile(selection_half(it), (2, 1)) for it in outputs]
        found = [
            audit_runs(*with_fitted_direction(*it), parameter="mu", claimed=0.0).lower_bound
            for it in (outputs, twice)
        ]
        honest += found[0] > 0
        reused += found[1] > 0
    assert honest <= most_allowed(300, 0.05)
    assert reused > 250


def test_a_bound_of_low_confidence_is_larger():
    low, high = (gaussian_bounds(1.0, 1000, 200, confidence=c) for c in (0.5, 0.999))
    assert (low > high + 0.05).all()
    assert 0 < (low > 1).mean() <= 0.5


@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0])
def test_the_bound_reaches_four_fifths_of_the_claim(mu):
    """With `runs_needed` in at least 97% of 200 audits (99% if the event were the best one).

    A quarter of these runs is not enough.
    """
    runs = runs_needed(mu)
    reached = (gaussian_bounds(mu, runs, 200) >= 0.8 * mu).sum()
    assert reached >= stats.binom.ppf(1e-4, 200, 0.97)
    assert (gaussian_bounds(mu, runs // 4, 200) >= 0.8 * mu).mean() < 0.8


def test_more_privacy_needs_more_runs():
    found = [runs_needed(mu) for mu in (0.5, 1.0, 2.0)]
    assert found == sorted(found, reverse=True)
    assert found[0] == pytest.approx(4 * found[1], rel=0.15)


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_laplace_noise_is_audited_at_its_epsilon(delta):
    """The bound is at least 80% of what the best event could show; half of the noise is flagged."""
    rng = np.random.default_rng(2)
    settings = {"parameter": "epsilon", "claimed": 1.0, "delta": delta}
    for shift, verdict in ((1.0, "consistent"), (2.0, "violated")):
        runs = rng.laplace(size=(2, 20_000)) + np.array([[0], [shift]])
        found = audit_runs(*runs, **settings)
        assert found.verdict == verdict
        assert found.lower_bound > 0.8 * (shift - 4 * delta)


def test_epsilon_bound_by_hand():
    """Outputs of two values: 30 and 10 of 100 counted runs are 1, whatever threshold is chosen."""
    first = np.tile(np.repeat([1.0, 0.0], [10, 90]), 2)
    second = np.tile(np.repeat([1.0, 0.0], [30, 70]), 2)
    rate = clopper_pearson_upper([10, 70], 100, 0.025)
    found = audit_runs(first, second, parameter="epsilon", claimed=1.0, delta=0.02)
    assert found.lower_bound == pytest.approx(math.log((1 - 0.02 - rate[1]) / rate[0]), rel=1e-12)
    found = audit_runs(first, second, parameter="mu", claimed=1.0)
    expected = special.ndtri(1 - rate[0]) - special.ndtri(rate[1])
    assert found.lower_bound == pytest.approx(expected, rel=1e-9)
    assert found == AuditResult("mu", 1.0, found.lower_bound, 0.95, 200, "event")


@pytest.mark.parametrize("parameter", ["mu", "epsilon"])
def test_the_order_of_the_inputs_and_the_sign_of_the_statistic_do_not_matter(parameter):
    rng = np.random.default_rng(3)
    first, second = rng.standard_normal(500), 1 + 1.5 * rng.standard_normal(500)
    found = [
        audit_runs(one, other, parameter=parameter, claimed=1.0).lower_bound
        for one, other in ((first, second), (second, first), (-first, -second))
    ]
    assert found[0] > 0.3
    assert found == pytest.approx([found[0]] * 3)


def test_the_better_statistic_is_chosen():
    rng = np.random.default_rng(4)
    useful = rng.standard_normal((2, 4000)) + np.array([[0], [1]])
    useless = rng.standard_normal((2, 4000))
    both = [np.column_stack(it) for it in zip(useless, useful, strict=True)]
    alone = audit_runs(*useful, parameter="mu", claimed=1.0)
    assert audit_runs(*both, parameter="mu", claimed=1.0) == alone


def test_the_fitted_direction_is_nearly_the_likelihood_ratio():
    rng = np.random.default_rng(5)
    mixing, shift = rng.standard_normal((6, 6)), rng.standard_normal(6)
    first, second = rng.standard_normal((2, 20_000, 6)) @ mixing
    mu = 1.5
    shift *= mu / np.linalg.norm(np.linalg.solve(mixing.T, shift))
    found = audit_runs(*with_fitted_direction(first, second + shift), parameter="mu", claimed=mu)
    assert 0.9 * mu < found.lower_bound <= mu
    assert found.verdict == "consistent"


def test_the_fitted_direction_finds_noise_that_cancels():
    """Two outputs with one draw of noise: each is 0.1-GDP, their difference hides nothing."""
    rng = np.random.default_rng(6)
    first = np.repeat(10 * rng.standard_normal((400, 1)), 2, axis=1)
    second = np.repeat(10 * rng.standard_normal((400, 1)), 2, axis=1) + np.array([0, 1])
    settings = {"parameter": "mu", "claimed": 0.2}
    assert audit_runs(*with_fitted_direction(first, second), **settings).verdict == "violated"
    assert audit_runs(first, second, **settings).verdict == "consistent"


# ---- results -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "claimed", "verdict"),
    [
        (0.0, 1.0, "consistent"),
        (1.0 + 1e-12, 1.0, "consistent"),
        (1.0001, 1.0, "violated"),
        (math.inf, 1.0, "violated"),
        (math.inf, math.inf, "consistent"),
    ],
)
def test_an_exact_loss_is_compared_with_its_claim(loss, claimed, verdict):
    found = audit_loss(loss, parameter="epsilon", claimed=claimed, delta=1e-6)
    assert (found.verdict, found.method, found.confidence, found.runs) == (verdict, "exact", 1.0, 0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"first": np.zeros(3)}, "at least 4 runs"),
        ({"first": np.zeros((9, 2))}, "2 statistics of one input, 1"),
        ({"first": np.zeros((9, 0))}, "at least 4 runs"),
        ({"first": np.full(9, math.nan)}, "not a number"),
        ({"confidence": 1.0}, "confidence must lie in .0, 1."),
        ({"delta": 1.0}, "delta must lie in .0, 1., got 1.0"),
        ({"parameter": "rho"}, "mu or epsilon, got 'rho'"),
    ],
)
def test_arguments_out_of_range_are_refused(changed, message):
    arguments = {"first": np.zeros(9), "second": np.ones(9), "parameter": "mu", "claimed": 1.0}
    with pytest.raises(ValueError, match=message):
        audit_runs(**{**arguments, **changed})
    for wrong in ({"mu": 0.0}, {"share": 1.0}, {"power": 0.0}):
        with pytest.raises(ValueError, match="mu must be above 0"):
            runs_needed(**{"mu": 1.0, **wrong})
