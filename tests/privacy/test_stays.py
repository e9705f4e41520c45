"""Stays of several rounds, and correlated noise, against enumeration.

In `tests/noise/test_stays.py` all ways to move between hospitals are tried on the records.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg

from dpol.privacy.chains import (
    REFERENCE,
    Chains,
    chain_norm,
    designed,
    prediction_variance,
    squared_norm,
)
from dpol.privacy.matrix_mechanism import decayed_sums, fresh_window_sums
from dpol.privacy.stays import STAYS, mu_of_rounds, mu_of_stays, stay_norm
from dpol.privacy.tree_noise import tree_levels, tree_nodes, tree_total

T = 7
COLUMNS = {
    "independent": np.eye(T),
    "prefix": decayed_sums(T).right,
    "decayed": decayed_sums(T, 0.8).right,
    "window": fresh_window_sums(T, 3).right,
}
every_matrix = pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)


@every_matrix
@pytest.mark.parametrize("stay", [1, 2, 3, 8])
def test_no_pattern_of_a_stay_is_worse(columns, stay):
    """All patterns of 0 and 1 over at most w weeks that begin with 1 are tried."""
    worst = 0.0
    for start in range(T):
        for pattern in itertools.product((0, 1), repeat=min(stay, T - start) - 1):
            weeks = [start + j for j, there in enumerate((1, *pattern)) if there]
            worst = max(worst, float(np.linalg.norm(columns[:, weeks].sum(axis=1))))
    assert stay_norm(columns, stay) == pytest.approx(worst)
    same = np.tile([0.2, 0.6, 0.8], (T, 1))  # the same pair of hospitals is worst in every week
    assert mu_of_stays(same, columns.T @ columns, stay) == pytest.approx(worst)


def test_what_cannot_be_covered_is_refused():
    cancelling = np.array([[1.0, -0.5], [0.0, 1.0]])
    assert stay_norm(cancelling, 1) == pytest.approx(math.sqrt(1.25))
    for small in (-0.5, -1e-3, -1e-9):
        with pytest.raises(ValueError, match="negative entry"):
            stay_norm(np.array([[1.0, small], [0.0, 1.0]]), 2)
    assert stay_norm(np.array([[1.0, -1e-14], [0.0, 1.0]]), 2) == pytest.approx(math.sqrt(2))


def most_common(gram, count):
    """Return the largest distance over all sets of `count` rounds."""
    sets = itertools.combinations(range(len(gram)), count)
    return max(float(np.sqrt(gram[np.ix_(rounds, rounds)].sum())) for rounds in sets)


@pytest.mark.parametrize("sign", [1, -1])
def test_mu_of_rounds_is_exact_where_rounds_are_alike(sign):
    """Inner products fall with the lag; if they alternate, swapping hospitals weekly is worst."""
    lag = np.abs(np.subtract.outer(range(8), range(8)))
    gram = (sign * 0.5) ** lag
    for count in STAYS:
        by_hand = count + 2 * sum((count - k) * 0.5**k for k in range(1, count))
        assert mu_of_rounds(np.ones((8, 2)), gram, count) == pytest.approx(math.sqrt(2 * by_hand))
        assert most_common(np.abs(gram), count) == pytest.approx(math.sqrt(by_hand))


def test_rounds_that_have_more_in_common_than_nearer_ones_are_covered():
    """Only rounds 2 apart have something in common, so a person may be counted in every second."""
    columns = np.eye(T) + 0.8 * np.eye(T, k=-2)
    gram = columns.T @ columns
    reached = [math.sqrt(2) * most_common(gram, count) for count in (1, 2, 3, T)]
    bounds = [mu_of_rounds(np.ones((T, 2)), gram, count) for count in (1, 2, 3, T)]
    assert bounds[:2] == pytest.approx(reached[:2])
    assert (np.array(bounds[2:]) > reached[2:]).all()


def test_without_noise_nobody_is_protected():
    """Weeks with inner product 0 must not make a number from 0 times infinity."""
    nothing = np.full((T, 2), np.inf)
    for find in (mu_of_stays, mu_of_rounds):
        assert [find(nothing, gram, 3) for gram in (None, np.eye(T))] == [math.inf] * 2


def most_in_tree(low, high, rounds):
    """Return how far 0, 1, 2, ... of the rounds low + 1, ..., high move the tree's nodes, squared.

    A node that round t closes holds half of the rounds of it and its right neighbour.
    """
    if high - low == 1:
        return np.array([0.0, 0.0])
    middle = (low + high) // 2
    left, right = (most_in_tree(*half, rounds) for half in ((low, middle), (middle, high)))
    if middle < rounds:  # else no round is left that would need the node
        left = left + np.arange(len(left)) ** 2.0
    return np.array(
        [
            max(
                left[here] + right[count - here]
                for here in range(max(0, count - len(right) + 1), min(count, len(left) - 1) + 1)
            )
            for count in range(high - low + 1)
        ]
    )


@pytest.mark.parametrize("rounds", [2, 3, 5, 8, 20, 67, 100])
def test_no_rounds_of_a_tree_are_worse_than_the_first(rounds):
    """All sets of rounds are covered, by the best split of each block between its halves."""
    size = 2 ** tree_levels(rounds)
    best = np.sqrt(most_in_tree(0, size, rounds))
    levels = tree_levels(rounds)
    gram = tree_nodes(rounds).T @ tree_nodes(rounds)
    for stay in STAYS:
        count = min(stay, rounds)
        norm = tree_total(rounds, stay) / math.sqrt(levels)
        assert norm == pytest.approx(best[count])
        assert norm == pytest.approx(stay_norm(tree_nodes(rounds), stay))
        if rounds <= 20:
            assert norm == pytest.approx(most_common(gram, count))


# ---- correlated noise, against explicit matrices -------------------------------------------------


PAIRS = [(0.0, 0.0), (0.0, 0.6), (0.2, 0.6), (0.5, 0.9), (-0.3, 0.1)]
every_pair = pytest.mark.parametrize(("a", "b"), PAIRS)


def releases(a, b, rounds=T):
    """Return C for kappa = 1, by its recursion."""
    first = np.array([1.0, *((b - a) * b**k for k in range(rounds - 1))])
    return linalg.toeplitz(first, np.zeros(rounds))


def chains(*pairs):
    return Chains(*np.array(pairs, dtype=float).T)


@every_pair
@pytest.mark.parametrize("stay", [1, 2, 3, 5])
def test_the_norm_is_that_of_the_worst_stay_in_a_long_chain(a, b, stay):
    columns = releases(a, b, 200)[:, :stay]
    patterns = [[1, *rest] for rest in itertools.product((0, 1), repeat=stay - 1)]
    worst = max(np.linalg.norm(columns @ pattern) for pattern in patterns)
    assert chain_norm(a, b, stay) == pytest.approx(worst, rel=1e-12)


def test_noise_is_the_inverse_of_what_is_released():
    memory = chains(*PAIRS)
    fresh = np.random.default_rng(1).standard_normal((T, 4, len(PAIRS)))
    noise = memory.noise(fresh)
    for i, pair in enumerate(PAIRS):
        np.testing.assert_allclose(np.tensordot(releases(*pair), noise[..., i], 1), fresh[..., i])
    np.testing.assert_array_equal(memory.noise(fresh[:, 0]), noise[:, 0])


def test_deviations_are_those_of_the_noise():
    memory, eye = chains(*PAIRS), np.repeat(np.eye(T)[:, :, None], len(PAIRS), axis=2)
    rows = np.linalg.norm(memory.noise(eye), axis=1)
    np.testing.assert_allclose(memory.deviations(T, len(PAIRS)), rows)


@pytest.mark.parametrize(("a", "b"), [*PAIRS, (0.9, 0.3), (0.0, -0.5)])
def test_no_rounds_apart_cost_more_than_is_said(a, b):
    """All sets of rounds and signs; if b is at least a and 0, a long chain's stay is the worst."""
    columns = releases(a, b)
    for count in (1, 2, 3):
        said = chains((a, b)).mu_of_rounds(np.ones(1), 100, count)
        for rounds in itertools.combinations(range(T), count):
            for signs in itertools.product((-1, 1), repeat=count):
                assert np.linalg.norm(columns[:, rounds] @ np.array(signs)) <= said * (1 + 1e-12)
        if b >= max(a, 0):
            assert said == pytest.approx(float(chain_norm(a, b, count)))
    assert chains((a, b)).mu_of_rounds(np.ones(1), 3, 8) == pytest.approx(said)


def test_a_stay_longer_than_the_game_is_a_whole_game():
    memory = chains((0.0, 0.5), (0.0, 0.5))
    assert memory.mu(np.ones(2), 3, 8) == pytest.approx(memory.mu(np.ones(2), 3, 3))


@given(st.floats(0.001, 1.0), st.integers(0, 98))
def test_the_steady_variance_solves_the_riccati_equation(fresh, hundredths):
    """The state is the deviation and u; the observation has the same noise that moves u."""
    process, persistence = REFERENCE
    b = hundredths / 100
    moves, sees = np.diag([persistence, 0.0]), np.array([[1.0, fresh]])
    solved = linalg.solve_discrete_are(
        moves.T, sees.T, np.diag([process, b**2]), [[fresh**2]], s=np.array([[0.0], [-b * fresh]])
    )
    settled = prediction_variance(np.array([fresh]), np.array([b]))[0]
    assert settled == pytest.approx(solved[0, 0], rel=1e-6)


def test_designs_depend_on_the_size_of_the_noise_alone():
    levels = np.array([0.002, 0.03, 0.1, 0.03, 0.4])
    for stay in (1, 4):
        memory = designed(levels, stay)
        assert not memory.a.any()
        assert memory.b[1] == memory.b[3]
        rising = np.diff(memory.b[[0, 1, 2, 4]])
        assert (rising > 0).all() if stay == 1 else (rising >= 0).all()
        assert memory.b[4] > 0.5
        np.testing.assert_allclose(memory.b, memory.b.round(2))
        memory.norm(stay)  # covers stays


@pytest.mark.parametrize("count", [1, 2, 3, 8, 52])
def test_norms_have_all_digits_for_memories_near_one_and_minus_one(count):
    """Against fractions: the sum over all pairs of weeks, each by its lag."""
    near = (0.0, 0.3, 0.9, 1 - 1e-6, 1 - 1e-9, 1 - 1e-12)
    for a, b in itertools.product([*near, *(-x for x in near)], repeat=2):
        p, q = Fraction(a), Fraction(b)
        each = 1 + (q - p) ** 2 / (1 - q**2)
        lags = sum((count - lag) * abs(q) ** (lag - 1) for lag in range(1, count))
        exact = count * each + 2 * abs(q - p) * (1 - p * q) / (1 - q**2) * lags
        assert squared_norm(a, b, count) == pytest.approx(float(exact), rel=1e-14)
