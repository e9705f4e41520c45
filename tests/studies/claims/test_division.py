"""Bounds on what noise costs a division of help: by hand, in closed form and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from dpol.divide import proportional
from dpol.studies.claims import division

STANDARD_ERRORS = 5
"""A mean of a sample lies further off with probability 6e-7."""
SHARES = st.floats(0.0, 1.0).map(lambda share: round(share, 3))


def near(sample: np.ndarray, expected: float, rounding: float = 0.0) -> bool:
    error = sample.std(ddof=1) / math.sqrt(sample.size)
    return bool(abs(sample.mean() - expected) < STANDARD_ERRORS * error + rounding)


def test_one_side_by_hand() -> None:
    noise = np.array([[3.0, -1.0, 0.5], [1.0, -4.0, 2.0], [-1.0, -2.0, 0.0], [0.0, 0.0, 0.0]])
    assert division.one_side(noise).tolist() == [3.5, 4.0, 3.0, 0.0]


def test_extra_unmet_need_by_hand() -> None:
    """Needs of (3, 1) are seen as (3, 3): of four units one goes to the wrong hospital."""
    need, noise = np.array([3.0, 1.0]), np.array([0.0, 2.0])
    exact, last = proportional(need, 4), proportional(need + noise, 4)
    assert division.unmet(need, last) - division.unmet(need, exact) == 1.0
    assert division.one_side(noise) == 2.0  # K = S


@given(
    counts=arrays(float, 4, elements=SHARES),
    noise=arrays(float, 4, elements=st.floats(-3.0, 3.0)),
    following=arrays(float, 4, elements=st.floats(0.0, 10.0)),
    own=SHARES,
    units=st.floats(0.1, 10.0),
)
def test_no_draw_adds_more_than_its_bound(counts, noise, following, own, units) -> None:
    need, noisy = np.maximum(counts - own, 0), np.maximum(counts + noise - own, 0)
    if not need.any():
        return
    exact, last = proportional(need, units), proportional(noisy, units)
    worst = np.where(exact > last, exact, 0.0)
    for after in (following, worst, units / need.sum() * need):
        extra = division.unmet(after, last) - division.unmet(after, exact)
        assert extra <= units / need.sum() * division.one_side(noise) + 1e-9


def test_noise_that_adds_up_to_nothing_reaches_the_bound_of_a_draw() -> None:
    need = np.array([8.0, 5.0, 7.0])
    noise = np.array([2.0, -3.0, 1.0])
    extra = division.unmet(need, proportional(need + noise, 20))
    assert extra == pytest.approx(3.0) == division.one_side(noise)


@pytest.mark.parametrize(("n", "mu"), [(2, 1.0), (30, 0.25)])
def test_the_bound_in_the_mean_is_the_mean_of_the_bound(n: int, mu: float) -> None:
    noise = division.noise_deviation(mu) * np.random.default_rng(1).standard_normal((40_000, n))
    sample = division.one_side(noise)
    assert near(sample, division.most_extra(n, mu))
    assert not near(sample, 1.03 * division.most_extra(n, mu))


def test_local_noise_hides_the_move_of_one_person() -> None:
    """Two counts move by 1, in units of their noise by mu together."""
    assert math.sqrt(2) / division.noise_deviation(0.3) == pytest.approx(0.3)


@given(
    high=arrays(float, 6, elements=st.integers(0, 9).map(float)),
    low=arrays(float, 6, elements=st.integers(0, 9).map(float)),
    given_to=arrays(float, 6, elements=st.floats(-2.0, 8.0)),
)
def test_a_count_is_missed_by_the_error_of_a_test_or_more(high, low, given_to) -> None:
    """Counts of 1 and 4, equally likely; six releases with any laws, and any number for each."""
    if not (high.any() and low.any()):
        return
    p, q = high / high.sum(), low / low.sum()
    error = np.minimum(p, q).sum() / 2
    missed = (p @ np.abs(given_to - 4) + q @ np.abs(given_to - 1)) / 2
    assert missed >= 3 * error - 1e-12
    best = np.where(p > q, 4.0, 1.0)
    assert (p @ (4 - best) + q @ (best - 1)) / 2 == pytest.approx(3 * error)


@pytest.mark.parametrize("mu", [0.03, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0])
def test_the_lower_bound_has_the_best_whole_distance(mu: float) -> None:
    bound, apart = division.least_unmet(6, mu)
    all_of = [3 * d * stats.norm.sf(d * mu / 2) for d in range(1, 500)]
    assert bound == pytest.approx(max(all_of)) == pytest.approx(all_of[apart - 1])
    assert bound <= 0.17 * 6 / mu  # over all real d


@pytest.mark.parametrize(("apart", "mu"), [(2, 1.0), (6, 0.25), (1, 0.1), (9, 1.0)])
def test_the_best_test_of_local_noise_errs_as_group_privacy_allows(apart: int, mu: float) -> None:
    expected = stats.norm.sf(apart * mu / 2)
    assert division.error_of_best_test(apart, mu) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(
    ("mean", "apart", "mu", "lower", "in_proportion", "upper"),
    [
        (30, 2, 1.0, 15.9, 56, 62.1),
        (30, 6, 0.25, 68.0, 224, 248),
        (60, 15, 0.1, 170, 561, 621),
    ],
)
def test_hard_pairs_of_a_hundred_hospitals(
    monkeypatch, mean, apart, mu, lower, in_proportion, upper
) -> None:
    """Numbers of another program, with three digits; the one in proportion is itself a mean."""
    monkeypatch.setattr(division, "_RUNS", 4000)
    rng = np.random.default_rng(2)
    likelier, last = division.hard_pairs(rng, 100, mu, mean=mean, apart=apart)
    bound, best = division.least_unmet(100, mu)
    assert best == apart
    assert bound == pytest.approx(lower, rel=0.003)
    assert division.most_extra(100, mu) == pytest.approx(upper, rel=0.001)
    assert near(likelier, bound)
    assert not near(likelier, 1.04 * bound)
    assert near(last, in_proportion, rounding=0.005 * in_proportion)
    assert not near(last, 1.03 * in_proportion, rounding=0.005 * in_proportion)
