"""Bounds on what noise costs a division of help: by hand, in closed form and by simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import integrate, stats

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


def bound_of_tests(laws: np.ndarray) -> float:
    """Bound the mean miss of t by the errors of the best tests between any two of its laws."""
    count, total = len(laws), 0.0
    for one, other in itertools.combinations(laws, 2):
        total += np.minimum(one, other).sum()
    return total / (2 * count)


@given(
    given_laws=arrays(float, (4, 6), elements=st.integers(0, 9).map(float)),
    read=arrays(float, 6, elements=st.floats(-2.0, 5.0)),
)
def test_no_reading_misses_by_less_than_all_tests_together(given_laws, read) -> None:
    """t is uniform on 0 to 3; six releases with any laws, and any number for each."""
    if not given_laws.any(axis=1).all():
        return
    laws = given_laws / given_laws.sum(axis=1, keepdims=True)
    missed = (laws * np.abs(read - np.arange(4.0)[:, None])).sum() / 4
    assert missed >= bound_of_tests(laws) - 1e-12


def test_tests_together_are_not_bounded_by_twice_as_much() -> None:
    """If nothing is released, the median of 0 to 3 misses by 1: more than 3/4, less than 3/2."""
    bound = bound_of_tests(np.ones((4, 1)))
    assert bound == 0.75
    assert bound < np.abs(1.5 - np.arange(4)).mean() == 1.0 < 2 * bound


def best_miss(mu: float, largest: int) -> float:
    """Integrate the least mean miss of t, over all whole readings, without the module."""
    t = np.arange(largest + 1)
    miss = np.abs(t[:, None] - t)

    def least(seen: float) -> float:
        return float((miss @ stats.norm.pdf(seen, t, 1 / mu)).min()) / len(t)

    ends = np.arange(-1.0, largest + 1.5, 0.5)
    ends = np.array([-10 / mu - 1, *ends, largest + 10 / mu + 1])
    return sum(
        integrate.quad(least, low, high, epsabs=1e-10)[0] for low, high in itertools.pairwise(ends)
    )


@pytest.mark.parametrize("mu", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("largest", [1, 2, 5, 20])
def test_two_counts_with_local_noise_obey_the_bound(mu: float, largest: int) -> None:
    """The exact least unmet need of two counts; for L = 1 it is that of a test."""
    best = best_miss(mu, largest)
    assert division.least_miss(mu, largest) == pytest.approx(best, rel=1e-5)
    if largest == 1:
        assert best == pytest.approx(stats.norm.sf(mu / 2), rel=1e-6)
    terms = [(1 - d / (largest + 1)) * stats.norm.sf(d * mu / 2) for d in range(1, largest + 1)]
    assert division.least_unmet(2, mu, largest) == pytest.approx(sum(terms), rel=1e-9)
    assert sum(terms) <= best


@pytest.mark.parametrize(
    ("least", "largest", "mu", "lower", "limit", "read", "in_proportion", "upper"),
    [
        (30, 60, 1.0, 27.4, 28.2, 37.4, 56, 62.1),
        (30, 200, 0.25, 143, 147, 156, 224, 248),
        (60, 400, 0.1, 374, 387, 388, 561, 621),
    ],
)
def test_hard_pairs_of_a_hundred_hospitals(
    least, largest, mu, lower, limit, read, in_proportion, upper
) -> None:
    """Numbers of another program, with three digits; the one in proportion is itself a mean."""
    bound, best = division.least_unmet(100, mu, largest), 50 * division.least_miss(mu, largest)
    got = bound, division.least_unmet(100, mu), best, division.most_extra(100, mu)
    assert got == pytest.approx((lower, limit, read, upper), rel=0.003)
    by_reading, last = division.hard_pairs(
        np.random.default_rng(2), 100, mu, least=least, largest=largest
    )
    assert near(by_reading, best)
    assert not near(by_reading, 1.03 * best)
    assert near(last, in_proportion, rounding=0.005 * in_proportion)
    assert not near(last, 1.03 * in_proportion, rounding=0.005 * in_proportion)
    # A wrong bound, twice as large or for half the distances, is above what is reached.
    assert bound < by_reading.mean()
    for wrong in (
        division.least_unmet(200, mu, largest),
        division.least_unmet(100, mu / 2, largest),
    ):
        assert wrong > by_reading.mean() + STANDARD_ERRORS * by_reading.std() / math.sqrt(
            by_reading.size
        )


def test_the_bounds_are_apart_by_the_root_of_2_at_least_and_by_2_at_most() -> None:
    """Of the sum over d, one step of the integral is missing, the more the larger μ is."""
    mus = np.geomspace(1e-3, 1.0, 50).tolist()
    factors = [division.most_extra(1, mu) / 2 / division.least_unmet(1, mu) for mu in mus]
    assert (np.diff(factors) > 0).all()
    assert factors[0] == pytest.approx(math.sqrt(2), rel=1e-3)
    assert factors[-1] == pytest.approx(1.9986, abs=1e-4)
