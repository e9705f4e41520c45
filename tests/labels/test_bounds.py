from __future__ import annotations

import math

import pytest

from dpol.labels.bounds import (
    exp3_bound,
    lower_bound,
    rounds_of_selection,
    wma_bound,
)
from dpol.labels.clients import scale_factor


def bound_by_hand(K, T, b_over_s, samples):
    """Return sqrt(2 K' T log K) / c + 3 s + e^-gamma (T s + 3 s); gamma = log T, s = log(KT+T)."""
    s = math.log(K + 1) + math.log(T)
    c = 1 / (s + 2 * b_over_s * s * (math.log(T) + math.log(K) + math.log(T)))
    return math.sqrt(2 * samples * T * math.log(K)) / c + 3 * s + (T * s + 3 * s) / T


@pytest.mark.parametrize(("K", "T", "epsilon"), [(2, 100, 1.0), (16, 10**6, 0.25), (5, 2, 4.0)])
def test_bounds_by_hand(K, T, epsilon):
    assert exp3_bound(K, T, epsilon) == pytest.approx(bound_by_hand(K, T, 1 / epsilon, K))
    published = (2 * math.sqrt(2 * K * math.log(1e6)) + math.sqrt(K * epsilon)) / epsilon
    published_bound = wma_bound(K, T, epsilon, 1e-6, "published")
    assert published_bound == pytest.approx(bound_by_hand(K, T, published, 1))
    exact = bound_by_hand(K, T, scale_factor(K, epsilon, 1e-6, "exact"), 1)
    assert wma_bound(K, T, epsilon, 1e-6, "exact") == pytest.approx(exact)
    assert exact < published_bound


@pytest.mark.parametrize(("K", "epsilon", "alpha"), [(4, 4.0, 0.5), (2, 0.5, 0.3), (64, 1.0, 0.05)])
def test_the_rounds_of_selection_are_the_least_and_of_their_order(K, epsilon, alpha):
    """The bound on the KL risk is at most 2 T alpha^2 (Pinsker); its largest term is the order."""

    def within(T):
        return bound_by_hand(K, T, 1 / epsilon, K) <= 2 * T * alpha**2

    T = rounds_of_selection(K, epsilon, alpha)
    assert within(T)
    assert not within(T - 1)
    order = K * math.log(K) * math.log((K + 1) * T) ** 4 / (epsilon**2 * alpha**4)
    assert 0.5 < T / order < 12.5 * max(1, epsilon) ** 2


def test_a_lower_bound_needs_enough_rounds():
    """K / (9 eps-part): here 1 / (9 * 1 * 0.5) = 0.22 for a pair; eps = 0.01 needs 1,100."""
    growth = math.expm1(0.01)
    first = math.ceil(1 / (9 * growth**2 * math.exp(0.01)))
    assert first > 1000
    assert lower_bound(1, first, 0.01) == pytest.approx(first / 132, rel=1e-3)
    with pytest.raises(ValueError, match=r"n_rounds must be larger: a = 1\.0\d* is above 1"):
        lower_bound(1, first - 1, 0.01)
