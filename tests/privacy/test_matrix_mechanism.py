"""Factorisations of sums, and the matrix mechanism: products, noise and mu."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.privacy.matrix_mechanism import (
    decayed_sums,
    fresh_window_sums,
    prefix_sums_times,
    scaled_to,
)
from replicates import many

rounds = st.integers(1, 60)


def least_row_norm(workload):
    """Return a lower bound on the largest row norm of B, if columns of C have norm 1 at most.

    Source: Edmonds, Nikolov and Ullman, "The Power of Factorization Mechanisms in Local and Central
    Differential Privacy" (2020), for the mean square; the largest is no smaller.
    """
    return np.linalg.norm(workload, "nuc") / len(workload)


@given(rounds, st.floats(0.01, 1.0))
def test_factors_multiply_to_the_sums_and_columns_have_norm_one(t, decay):
    sums = decayed_sums(t, decay)
    expected = [[decay ** (i - j) if i >= j else 0.0 for j in range(t)] for i in range(t)]
    np.testing.assert_allclose(sums.workload, expected, atol=1e-12)
    np.testing.assert_allclose(sums.column_norms, 1.0, rtol=1e-14)
    assert sums.row_norms.max() >= least_row_norm(sums.workload) * (1 - 1e-12)


@given(rounds, st.integers(1, 70))
def test_fresh_windows(t, window):
    fresh = fresh_window_sums(t, window)
    gains = np.random.default_rng(t).random(t)
    sums = [gains[max(0, s - window + 1) : s + 1].sum() for s in range(t)]
    np.testing.assert_allclose(fresh.workload @ gains, sums)
    assert fresh.row_norms.tolist() == [1.0] * t
    assert fresh.column_norms.max() == pytest.approx(math.sqrt(min(window, t)))


@given(st.integers(1, 300))
def test_many_rounds_need_no_matrix(t):
    draws = np.random.default_rng(t).standard_normal((t, 2, 3))
    expected = np.tensordot(decayed_sums(t).left, draws, axes=1)
    np.testing.assert_allclose(prefix_sums_times(draws), expected, atol=1e-11)


@pytest.mark.parametrize(
    ("t", "largest", "root_mean_square", "bound"),
    [(67, 2.226, 2.142, 2.054), (148, 2.473, 2.387, 2.300), (1024, 3.081, 2.991, 2.910)],
)
def test_noise_on_prefix_sums_by_the_literature(t, largest, root_mean_square, bound):
    """The numbers agree to the last published digit."""
    norms = decayed_sums(t).row_norms
    least = least_row_norm(np.tril(np.ones((t, t))))
    found = norms.max(), math.sqrt((norms**2).mean()), least
    np.testing.assert_allclose(found, (largest, root_mean_square, bound), atol=5.1e-4)
    assert norms.max() / least <= {67: 1.09, 148: 1.08, 1024: 1.06}[t]


@pytest.mark.parametrize(
    ("decay", "independent", "factorised", "bound"),
    [
        (0.7, 1.400, 1.175, 1.173),
        (0.8, 1.667, 1.270, 1.267),
        (0.9, 2.294, 1.452, 1.443),
        (0.95, 3.203, 1.649, 1.628),
        (0.98, 5.019, 1.920, 1.867),
    ],
)
def test_noise_on_decayed_sums_by_the_literature(decay, independent, factorised, bound):
    sums = decayed_sums(148, decay)
    fresh = np.linalg.norm(sums.workload, axis=1).max()
    given = fresh, sums.row_norms.max(), least_row_norm(sums.workload)
    np.testing.assert_allclose(given, (independent, factorised, bound), atol=5.1e-4)


# ---- the mechanism -------------------------------------------------------------------------------

T, N, MU = 9, 4, 0.7
FACTORIZATIONS = [decayed_sums(T), decayed_sums(T, 0.8), fresh_window_sums(T, 3)]
CHANGES = 1 / np.random.default_rng(0).integers(5, 60, (T, N))


def test_scales_by_hand():
    """Two rounds of two gains, with columns of norm 1 and mu = 1/2."""
    changes = np.array([[0.5, 0.1], [0.2, 0.4]])
    isotropic, capacity = (
        scaled_to(decayed_sums(2), changes, 2, 0.5, by_capacity=flag) for flag in (False, True)
    )
    np.testing.assert_allclose(isotropic.scale, math.sqrt(2) / 0.5 * np.array([0.5, 0.5]))
    np.testing.assert_allclose(capacity.scale, math.sqrt(2) / 0.5 * np.array([0.5, 0.4]))
    assert isotropic.achieved_mu == pytest.approx(0.5 / math.sqrt(2) * math.hypot(1, 0.2))
    assert capacity.achieved_mu == pytest.approx(0.5 / math.sqrt(2) * math.hypot(0.4, 1))


def test_a_given_sensitivity_holds_for_any_change_of_a_round():
    mechanism = scaled_to(fresh_window_sums(T, 4), 0.3, 1, MU, by_capacity=False)
    assert mechanism.scale.tolist() == pytest.approx([2 * 0.3 / MU])
    assert mechanism.achieved_mu == pytest.approx(MU)


def test_no_noise_without_privacy():
    mechanism = scaled_to(decayed_sums(T), CHANGES, N, math.inf, by_capacity=True)
    assert mechanism.achieved_mu == math.inf
    assert not mechanism.noise(many(2)).any()


@pytest.mark.parametrize("by_capacity", [False, True])
@pytest.mark.parametrize("factorization", FACTORIZATIONS, ids=lambda made: made.name)
def test_the_noise_is_b_times_the_draws(factorization, by_capacity):
    mechanism = scaled_to(factorization, CHANGES, N, MU, by_capacity=by_capacity)
    draws = many(3).standard_normal(T, N)
    noise = mechanism.scale * np.einsum("ts,rsn->trn", factorization.left, draws)
    np.testing.assert_allclose(mechanism.noise(many(3)), noise)
