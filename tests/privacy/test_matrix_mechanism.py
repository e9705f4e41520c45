"""The matrix mechanism: its mu and its noise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpol.privacy.factorizations import decayed_sums, fresh_window_sums
from dpol.privacy.matrix_mechanism import scaled_to
from replicates import many

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
