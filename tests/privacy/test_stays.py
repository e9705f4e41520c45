"""Stays of several rounds, against enumeration of who is where in which week."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpol.privacy.factorizations import decayed_sums, fresh_window_sums, prefix_sums
from dpol.privacy.stays import mu_of_stays, stay_norm

T = 6
COLUMNS = {
    "independent": np.eye(T),
    "prefix": prefix_sums(T).right,
    "decayed": decayed_sums(T, 0.8).right,
    "window": fresh_window_sums(T, 3).right,
}
every_matrix = pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)


@every_matrix
@pytest.mark.parametrize("stay", [1, 2, 3, 8])
def test_no_pattern_of_a_stay_is_worse(columns, stay):
    """All patterns of 0 and 1 of at most w weeks that begin with 1."""
    found = 0.0
    for start in range(T):
        for pattern in itertools.product((0, 1), repeat=min(stay, T - start) - 1):
            weeks = [start + j for j, there in enumerate((1, *pattern)) if there]
            found = max(found, float(np.linalg.norm(columns[:, weeks].sum(axis=1))))
    assert stay_norm(columns, stay) == pytest.approx(found)


@every_matrix
@pytest.mark.parametrize("stay", [1, 2, 3])
def test_nobody_who_moves_between_hospitals_is_worse(columns, stay):
    """Every way to be at one of three hospitals or nowhere in each week, against every other."""
    shifts = np.random.default_rng(stay).uniform(0.2, 1.0, (T, 3))
    vectors = np.vstack([np.eye(3), np.zeros((1, 3))])
    largest = 0.0
    for start in range(T - stay + 1):
        for one, other in itertools.product(itertools.product(range(4), repeat=stay), repeat=2):
            moved = np.zeros((T, 3))
            moved[start : start + stay] = vectors[list(one)] - vectors[list(other)]
            largest = max(largest, float(np.linalg.norm(columns @ (moved * shifts))))
    bound = mu_of_stays(shifts, columns.T @ columns, stay)
    assert largest <= bound * (1 + 1e-12)
    same = np.tile(shifts[:1], (T, 1))  # the same two are the worst in every week: it is reached
    first, second = np.argsort(same[0])[-2:]
    moved = np.zeros((T, 3))
    worst = max(
        range(T - stay + 1),
        key=lambda start: np.linalg.norm(columns[:, start : start + stay].sum(axis=1)),
    )
    moved[worst : worst + stay, [first, second]] = 1.0, -1.0
    reached = float(np.linalg.norm(columns @ (moved * same)))
    assert mu_of_stays(same, columns.T @ columns, stay) == pytest.approx(reached)


def test_independent_noise_by_hand():
    assert stay_norm(np.eye(30), 8) == pytest.approx(math.sqrt(8))
    assert stay_norm(np.eye(3), 8) == pytest.approx(math.sqrt(3))


def test_what_cannot_be_covered_is_refused():
    cancelling = np.array([[1.0, -0.5], [0.0, 1.0]])
    assert stay_norm(cancelling, 1) == pytest.approx(math.sqrt(1.25))
    with pytest.raises(ValueError, match="negative entry"):
        stay_norm(cancelling, 2)
    with pytest.raises(ValueError, match="at least 1 round"):
        stay_norm(np.eye(2), 0)
