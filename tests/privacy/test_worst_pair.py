"""One person counts at most at the two entities with the largest shifts, in any order."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpol.privacy.chains import Chains, SumsMemory
from dpol.privacy.factorizations import prefix_sums
from dpol.privacy.gaussian_dp import mu_of_shifts
from dpol.privacy.stays import mu_of_rounds, mu_of_stays

ORDERS = list(itertools.permutations(range(3)))


@pytest.mark.parametrize("order", ORDERS)
def test_independent_noise_by_hand(order):
    """Squares are 9 + 4, 25 + 16 and 1 + 1; a week's two worst entities have no fixed place."""
    shifts = np.array([[1.0, 2.0, 3.0], [5.0, 4.0, 1.0], [1.0, 0.0, 1.0]])[:, order]
    for stay, squared in ((1, 41), (2, 54), (3, 56)):
        for gram in (None, np.eye(3)):
            assert mu_of_stays(shifts, gram, stay) == pytest.approx(math.sqrt(squared))
            assert mu_of_rounds(shifts, gram, stay) == pytest.approx(math.sqrt(squared))


@pytest.mark.parametrize("order", ORDERS)
def test_correlated_noise_by_hand(order):
    """Shifts 3, 2 and then 5, 4, with inner product 1/2: 13 + 41 + 2 (1/2) (15 + 8) = 77."""
    shifts = np.array([[1.0, 2.0, 3.0], [1.0, 4.0, 5.0]])[:, order]
    gram = np.array([[1.0, 0.5], [0.5, 1.0]])
    assert mu_of_stays(shifts, gram, 1) == pytest.approx(math.sqrt(41))
    assert mu_of_stays(shifts, gram, 2) == pytest.approx(math.sqrt(77))
    assert mu_of_rounds(shifts, gram, 2) == pytest.approx(math.sqrt(77))


@pytest.mark.parametrize("order", ORDERS)
def test_noise_with_memory_by_hand(order):
    """With (0, b), one week moves C x by 1 and b; two weeks in a row move it by 1, 1 + b, ..."""
    order, b = list(order), np.array([0.6, 0.0, 0.8])
    shifts = np.array([1.0, 2.0, 1.5])
    chains = Chains(np.zeros(3), b[order])
    one, two = shifts**2 * (1 + b**2), shifts**2 * (1 + (1 + b) ** 2)
    for stay, squares in ((1, one), (2, two)):
        expected = math.sqrt(np.sort(squares)[-2:].sum())
        assert chains.mu(shifts[order], 2, stay) == pytest.approx(expected)
    for count in (1, 2):  # in the long run: N_1^2 = 1 / (1 - b^2), and lags of b / (1 - b^2)
        long = shifts**2 * (count + 2 * (count - 1) * b) / (1 - b**2)
        expected = math.sqrt(np.sort(long)[-2:].sum())
        assert chains.mu_of_rounds(shifts[order], 9, count) == pytest.approx(expected)
    assert mu_of_shifts(shifts[order]) == 2.5
    sums = SumsMemory(prefix_sums(4))
    assert sums.mu(shifts[order], 4, 1) == pytest.approx(2.5)
    assert sums.mu_of_rounds(shifts[order], 4, 1) == pytest.approx(2.5)
