"""What noise on counts costs a division of help at most and at least: docs/dividing-help.md.

K units go to n hospitals in proportion to their needs of this week, S in all. They serve the needs
of the next week; own staff serves the same number of patients in both. Checked are the bounds by
hand, in closed form and by simulation.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.random import Generator
from scipy import integrate, stats
from scipy.special import ndtr

from dpol.core.randomness import Floats
from dpol_weekly.divide import proportional

RUNS = 1000
STANDARD_ERRORS = 5
"""A mean of a sample lies further off with probability 6e-7."""
SHARES = st.floats(0.0, 1.0).map(lambda share: round(share, 3))


def near(sample: np.ndarray, expected: float, rounding: float = 0.0) -> bool:
    error = sample.std(ddof=1) / math.sqrt(sample.size)
    return bool(abs(sample.mean() - expected) < STANDARD_ERRORS * error + rounding)


def noise_deviation(mu: float) -> float:
    """Return the standard deviation of local noise on counts: one person moves two counts by 1."""
    return math.sqrt(2) / mu


def unmet(needs: Floats, division: Floats) -> Floats:
    """Return the number (...,) of patients who are not served."""
    return np.asarray(np.maximum(needs - division, 0.0).sum(axis=-1))


# ---- upper bounds ----------------------------------------------------------------------------


def one_side(noise: Floats) -> Floats:
    """Return the larger (...,) of the sums of positive and of negative noise (..., n).

    K / S times this bounds the extra unmet need, which is at most the help that goes elsewhere. If
    the noisy needs add up to S or more, no hospital gains more than K / S times its own noise;
    otherwise none loses more.
    """
    return np.asarray(np.abs(noise).sum(axis=-1) + np.abs(noise.sum(axis=-1))) / 2


def most_extra(n: int, mu: float) -> float:
    """Return the mean of `one_side` for n hospitals under local noise: the bound at K = S."""
    return (n + math.sqrt(n)) / (math.sqrt(math.pi) * mu)


def test_one_side_by_hand() -> None:
    noise = np.array([[3.0, -1.0, 0.5], [1.0, -4.0, 2.0], [-1.0, -2.0, 0.0], [0.0, 0.0, 0.0]])
    assert one_side(noise).tolist() == [3.5, 4.0, 3.0, 0.0]


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
        extra = unmet(after, last) - unmet(after, exact)
        assert extra <= units / need.sum() * one_side(noise) + 1e-9


def test_noise_that_adds_up_to_nothing_reaches_the_bound_of_a_draw() -> None:
    need = np.array([8.0, 5.0, 7.0])
    noise = np.array([2.0, -3.0, 1.0])
    extra = unmet(need, proportional(need + noise, 20))
    assert extra == pytest.approx(3.0) == one_side(noise)


@pytest.mark.parametrize(("n", "mu"), [(2, 1.0), (30, 0.25)])
def test_the_bound_in_the_mean_is_the_mean_of_the_bound(n: int, mu: float) -> None:
    noise = noise_deviation(mu) * np.random.default_rng(1).standard_normal((40_000, n))
    sample = one_side(noise)
    assert near(sample, most_extra(n, mu))
    assert not near(sample, 1.03 * most_extra(n, mu))


@pytest.mark.parametrize("draw", [Generator.standard_normal, Generator.standard_cauchy])
@pytest.mark.parametrize("own_staff", [0.0, 0.5])
@pytest.mark.parametrize("mu", [0.25, 1.0])
@pytest.mark.parametrize("n", [2, 20, 400])
def test_extra_unmet_need_of_simulated_weeks(n, mu, own_staff, draw) -> None:
    """The next week is the same, another one, or the worst, which knows the noise.

    The bound on each draw is for every noise, the one on the mean for normal noise.
    """
    rng = np.random.default_rng([n, int(4 * mu), int(2 * own_staff)])
    week, other = rng.exponential(30.0, (2, n))
    noise = noise_deviation(mu) * draw(rng, (RUNS, n))
    own = own_staff * week.mean()  # below the largest count, so that S > 0
    need, noisy, another = (np.maximum(c - own, 0.0) for c in (week, week + noise, other))
    for per_need in (0.5, 1.0, 2.0):  # K / S
        exact, last = (proportional(w, per_need * need.sum()) for w in (need, noisy))
        for after in (need, another, np.where(exact > last, exact, 0.0)):
            extra = (unmet(after, last) - unmet(after, exact)) / per_need
            assert (extra <= one_side(noise) * (1 + 1e-9)).all()
            if draw is Generator.standard_normal:
                error = extra.std(ddof=1) / math.sqrt(RUNS)
                assert extra.mean() <= most_extra(n, mu) + STANDARD_ERRORS * error


# ---- lower bound -----------------------------------------------------------------------------


def least_unmet(n: int, mu: float, largest: float = math.inf) -> float:
    """Bound the mean unmet need after any μ-GDP release from below; K = S, next week the same.

    The counts are n / 2 pairs (m + t, M - t), with t uniform on 0, 1, ..., `largest`. To turn t
    into t + d moves d persons, so the two errors of a test between them add up to 2 Φ(-d μ / 2) or
    more (group privacy). The test that takes the nearer one to what a division gives errs only if
    the division misses t by d / 2 or more; a share 1 - d / (largest + 1) of all t has a t + d. Half
    the sum over d bounds the mean miss (Ziv and Zakai, 1969), at each count of a pair. Half of what
    a division misses is unmet need.
    """
    apart = np.arange(1, 2 + math.ceil(80 / mu))  # Φ(-40) is 0 in floating point
    paired = np.maximum(1 - apart / (largest + 1), 0.0)
    return float(n / 2 * (paired * ndtr(-apart * mu / 2)).sum())


def likelihoods(seen: Floats, mu: float, largest: int) -> Floats:
    """Return the density (..., L + 1) of `seen` for t = 0, ..., L under local noise on a pair.

    `seen` is t with the noise of half the difference of two counts.
    """
    deviation = noise_deviation(mu) / math.sqrt(2)
    z = (seen[..., None] - np.arange(largest + 1)) / deviation
    return np.asarray(np.exp(-(z**2) / 2) / (math.sqrt(2 * math.pi) * deviation))


def posterior_median(density: Floats) -> Floats:
    """Return the median (...,) of t, uniform a priori: the reading with the least mean miss."""
    sums = density.cumsum(axis=-1)
    return np.asarray((sums >= sums[..., -1:] / 2).argmax(axis=-1), dtype=float)


def least_miss(mu: float, largest: int) -> float:
    """Integrate the mean miss of t by the best reading of local noise."""
    seen, step = np.linspace(-9.0 / mu, largest + 9.0 / mu, 8_001, retstep=True)
    density = likelihoods(seen, mu, largest)
    missed = np.abs(posterior_median(density)[:, None] - np.arange(largest + 1))
    return float((density * missed).sum() * step / (largest + 1))


def hard_pairs(rng: Generator, n: int, mu: float, *, least: float, largest: int) -> Floats:
    """Simulate unmet need (2, R) after local noise on the pairs of `least_unmet`, m = `least`.

    First each pair gets what the best reading gives it, then help follows noisy counts.
    """

    def counts(turned: Floats) -> Floats:
        return least + np.concatenate([turned, largest - turned], axis=-1)

    true = counts(rng.integers(0, largest, (RUNS, n // 2), endpoint=True).astype(float))
    noisy = true + noise_deviation(mu) * rng.standard_normal(true.shape)
    seen = (noisy[:, : n // 2] - noisy[:, n // 2 :] + largest) / 2
    # One run at a time, to save memory.
    read = [posterior_median(likelihoods(row, mu, largest)) for row in seen]
    units = true[0].sum()
    return unmet(
        true, np.stack([counts(np.array(read)), proportional(np.maximum(noisy, 0), units)])
    )


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
    assert least_miss(mu, largest) == pytest.approx(best, rel=1e-5)
    if largest == 1:
        assert best == pytest.approx(stats.norm.sf(mu / 2), rel=1e-6)
    terms = [(1 - d / (largest + 1)) * stats.norm.sf(d * mu / 2) for d in range(1, largest + 1)]
    assert least_unmet(2, mu, largest) == pytest.approx(sum(terms), rel=1e-9)
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
    bound, best = least_unmet(100, mu, largest), 50 * least_miss(mu, largest)
    got = bound, least_unmet(100, mu), best, most_extra(100, mu)
    assert got == pytest.approx((lower, limit, read, upper), rel=0.003)
    by_reading, last = hard_pairs(np.random.default_rng(2), 100, mu, least=least, largest=largest)
    assert near(by_reading, best)
    assert not near(by_reading, 1.03 * best)
    assert near(last, in_proportion, rounding=0.005 * in_proportion)
    assert not near(last, 1.03 * in_proportion, rounding=0.005 * in_proportion)
    # A wrong bound, twice as large or for half the distances, is above what is reached.
    assert bound < by_reading.mean()
    for wrong in (
        least_unmet(200, mu, largest),
        least_unmet(100, mu / 2, largest),
    ):
        assert wrong > by_reading.mean() + STANDARD_ERRORS * by_reading.std() / math.sqrt(
            by_reading.size
        )


def test_the_bounds_are_apart_by_the_root_of_2_at_least_and_by_2_at_most() -> None:
    """Of the sum over d, one step of the integral is missing, the more the larger μ is."""
    mus = np.geomspace(1e-3, 1.0, 50).tolist()
    factors = [most_extra(1, mu) / 2 / least_unmet(1, mu) for mu in mus]
    assert (np.diff(factors) > 0).all()
    assert factors[0] == pytest.approx(math.sqrt(2), rel=1e-3)
    assert factors[-1] == pytest.approx(1.9986, abs=1e-4)
    at = [most_extra(1, mu) / 2 / least_unmet(1, mu) for mu in (0.25, 0.1)]
    assert at == pytest.approx([1.53, 1.46], abs=0.005)
