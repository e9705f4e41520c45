"""The bounds on the probability that the leader of a random walk changes."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import special

from dpol.experts.switching import BOUNDS

ERROR = 1e-6


def of_gap(name):
    """Return the bound as a function of gap, steps B, n and noise scale eta, which broadcast."""
    return lambda gap, steps, n, eta: BOUNDS[name].tail(
        np.asarray(gap / (eta * np.sqrt(2 * steps))), n
    )


FUNCTIONS = {name: of_gap(name) for name in BOUNDS}
# gap, n, steps, eta.
SETTINGS = [
    (40.0, 20, 100, 1.0),
    (14.0, 2, 50, 1.0),
    (8.0, 2, 10, 1.0),
    (1.0, 2, 1, 1.0),
    (3.0, 2, 1, 1.0),
    (3.0, 3, 4, 0.5),
    (12.0, 5, 7, 2.5),
    (0.5, 10, 1, 0.1),
    (90.0, 50, 30, 5.0),
    (0.4, 4, 20, 0.02),
]
NAMES = pytest.mark.parametrize("name", FUNCTIONS)


def overtaken(behind, steps, eta, walks, seed, drift=0.0):
    """Return the number of walks whose leader is overtaken; others catch up by `drift` a step."""
    behind = np.asarray(behind, dtype=float)
    rng = np.random.default_rng(seed)
    others = np.zeros((walks, len(behind)))
    leader = np.zeros((walks, 1))
    hit = np.zeros(walks, dtype=bool)
    for _ in range(steps):
        leader += eta * rng.standard_normal(leader.shape)
        others += eta * rng.standard_normal(others.shape) + drift
        hit |= (others - leader > behind).any(axis=1)
    return int(hit.sum())


def at_least(hits, walks, error):
    """Return the lower Clopper-Pearson limit; it is too high with probability `error`."""
    return special.betaincinv(hits, walks - hits + 1, error) if hits else 0.0


@pytest.mark.parametrize(("gap", "n", "steps", "eta"), SETTINGS)
@pytest.mark.parametrize("drift", [0.0, 1.0])
def test_both_bounds_lie_above_the_truth(gap, n, steps, eta, drift):
    """A drift shrinks the gap as fast as gains allow, and the gap starts that much larger.

    By Clopper-Pearson limits, a valid bound is rejected somewhere on the grid with
    probability below 1e-6.
    """
    start = gap + drift * steps
    hits = overtaken([start] * (n - 1), steps, eta, 4_000, seed=2, drift=drift)
    limit = at_least(hits, 4_000, ERROR / (4 * len(SETTINGS)))
    assert all(bound(gap, steps, n, eta) >= limit for bound in FUNCTIONS.values())


def test_the_comparison_with_the_truth_rejects_a_bound_without_the_factor_two_or_the_drift():
    """One-sided tails and bounds at the gap before the drift are refuted with 4,000 walks."""
    hits = overtaken([14.0], 50, 1.0, 4_000, seed=3)
    assert FUNCTIONS["reflection"](14.0, 50, 2, 1.0) / 2 < at_least(hits, 4_000, ERROR)
    hits = overtaken([18.0] * 4, 10, 1.0, 4_000, seed=4, drift=1.0)
    assert FUNCTIONS["reflection"](18.0, 10, 5, 1.0) < at_least(hits, 4_000, ERROR)
    assert FUNCTIONS["borell-tis"](18.0, 10, 5, 1.0) < at_least(hits, 4_000, ERROR)


def exact_tail(name, z, n):
    with mpmath.workdps(30):
        z = mpmath.mpf(float(z))
        if name == "reflection":
            return min(2 * (n - 1) * mpmath.ncdf(-z), mpmath.mpf(1))
        b = z - mpmath.sqrt(mpmath.log(2 * n - 2))
        if b <= 0:
            return mpmath.mpf(1)
        inside = mpmath.ncdf(b) - mpmath.ncdf(-b)
        root_two, root_pi = mpmath.sqrt(2), mpmath.sqrt(mpmath.pi)
        bound = 2 * mpmath.ncdf(-root_two * b) + 2 * root_pi * mpmath.npdf(b) * inside
        return min(bound, mpmath.mpf(1))


@NAMES
@pytest.mark.parametrize("n", [2, 3, 10, 1_000])
def test_tails_are_right_to_ten_digits_down_to_1e_280(name, n):
    z = np.concatenate([[1e-9, 1e-3, 0.1, 0.5, 0.85, 1.0], np.arange(1.5, 41.0, 0.75)])
    exact = [exact_tail(name, at, n) for at in z]
    kept = [(at, value) for at, value in zip(z, exact, strict=True) if value > 1e-280]
    assert kept[-1][1] < 1e-250
    for at, value in kept:
        tail = float(BOUNDS[name].tail(np.array(at), n))
        assert abs(tail / value - 1) < 1e-10, at


@NAMES
@pytest.mark.parametrize("n", [2, 7, 500])
def test_thresholds_are_inverses_and_never_on_the_unsafe_side(name, n):
    p = np.concatenate([10.0 ** np.linspace(-16, -1, 40_001), np.linspace(0.1, 1, 40_001)[:-1]])
    bound = BOUNDS[name]
    z = bound.threshold(p, n)
    assert (bound.tail(z, n) <= p * (1 + 1e-13)).all()
    assert ((z == 0) | (bound.tail(z - 1e-6, n) > p)).all()
    assert np.diff(z).max() < 1e-12


def test_a_probability_beyond_the_table_is_refused():
    with pytest.raises(ValueError, match="cannot be inverted"):
        BOUNDS["borell-tis"].threshold(np.array([0.5, 1e-300]), 2)
