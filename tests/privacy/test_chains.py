"""Correlated noise, against explicit matrices and enumeration of a person's weeks and hospitals."""

from __future__ import annotations

import itertools
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

T = 7
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
