"""The bounds on the probability that the leader of a random walk changes."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from dpol.experts.batches import BOUNDS

NAMES = pytest.mark.parametrize("name", BOUNDS)


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
    p = np.concatenate([10.0 ** np.linspace(-290, -1, 40_001), np.linspace(0.1, 1, 40_001)[:-1]])
    bound = BOUNDS[name]
    z = bound.threshold(p, n)
    rounding = 1e-13 * np.maximum(1.0, -np.log10(p) / 16)  # as exponents grow
    assert (bound.tail(z, n) <= p * (1 + rounding)).all()
    assert ((z == 0) | (bound.tail(z - 1e-6, n) > p)).all()
    assert np.diff(z).max() < 1e-12


@pytest.mark.parametrize("n", [2, 3, 10, 100, 10**4, 10**6, 10**7])
def test_our_bound_is_below_the_papers_where_that_is_below_one_half(n):
    z = np.linspace(0.05, 36.0, 4000)
    paper = BOUNDS["borell-tis"].tail(z, n)
    useful = (paper < 0.5) & (paper > 1e-290)
    assert (BOUNDS["reflection"].tail(z, n) <= paper)[useful].all()
