from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.studies.labels import risk
from dpol.studies.labels.risk import (
    average_prediction,
    median_estimate,
    round_risks,
    total_variation,
)
from studies.labels import plain


@st.composite
def mixtures(draw):
    """(weights (R, B, K), masses (K, M), laws (R, M)); laws may have zeros."""
    R, B, K, M = (draw(st.integers(1, top)) for top in (3, 4, 5, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    laws = rng.dirichlet(np.full(M, 1.0), size=R)
    if M > 1:
        laws[:, 0] *= rng.integers(0, 2, size=R)
        laws /= laws.sum(axis=1, keepdims=True)
    masses = rng.dirichlet(np.full(M, 0.5), size=K) + 1e-12
    return rng.dirichlet(np.ones(K), size=(R, B)), masses / masses.sum(axis=1, keepdims=True), laws


@given(mixtures(), st.sampled_from([1, 17, 1 << 17]))
def test_risks_are_those_of_plain_python(case, block):
    weights, masses, laws = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(risk, "_BLOCK", block)
        found = round_risks(weights, masses, laws)
    assert found.kl.shape == found.tv.shape == weights.shape[:2]
    for r, b in np.ndindex(weights.shape[:2]):
        predicted = (weights[r, b] @ masses).tolist()
        law = laws[r].tolist()
        assert found.kl[r, b] == pytest.approx(plain.kl(law, predicted), rel=1e-9, abs=1e-12)
        assert found.tv[r, b] == pytest.approx(plain.tv(law, predicted), rel=1e-9, abs=1e-12)


def test_risks_by_hand():
    weights = np.array([[[1.0, 0.0], [0.25, 0.75]], [[0.0, 1.0], [0.5, 0.5]]])
    masses = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    laws = np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])
    found = round_risks(weights, masses, laws)
    expected = [[0.0, 0.5 * math.log(4)], [math.log(2), math.log(2)]]
    np.testing.assert_allclose(found.kl, expected, atol=1e-15)
    np.testing.assert_allclose(found.tv, [[0.0, 0.375], [0.5, 0.5]], atol=1e-15)


def test_a_label_that_is_ruled_out_by_mistake_costs_infinitely_much():
    """No floor hides it, and no warning stops the run."""
    found = round_risks(np.ones((1, 1, 1)), np.array([[1.0, 0.0]]), np.array([[0.9, 0.1]]))
    assert found.kl.tolist() == [[math.inf]]
    assert found.tv[0, 0] == pytest.approx(0.1)


def test_total_variation_by_hand():
    one = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    assert total_variation(one, np.array([0.0, 0.5, 0.5])).tolist() == [0.5, 1.0]
    assert total_variation(one, one).tolist() == [0.0, 0.0]


# ---- selection ----------------------------------------------------------------------------------


def test_the_average_of_predictions_is_the_prediction_of_average_weights():
    rng = np.random.default_rng(0)
    weights, masses = rng.dirichlet(np.ones(3), size=(2, 5)), rng.dirichlet(np.ones(4), size=3)
    found = average_prediction(weights.mean(axis=1), masses)
    for r in range(2):
        np.testing.assert_allclose(found[r], (weights[r] @ masses).mean(axis=0), rtol=1e-12)


def test_the_centre_is_chosen_by_hand():
    """On two labels the distance is the difference of the first masses."""
    first = np.array([[0.0, 0.5, 0.6, 0.7, 1.0], [0.9, 0.1, 0.2, 0.15, 0.95]])
    estimates = np.stack([first, 1 - first], axis=2)
    # Median distances: 0.6, 0.2, 0.1, 0.2, 0.4 and 0.75, 0.1, 0.1, 0.05, 0.8.
    np.testing.assert_array_equal(median_estimate(estimates)[:, 0], [0.6, 0.15])


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(2, 5), st.sampled_from([0.2, 1.0]))
def test_the_chosen_is_within_three_times_of_what_most_reach(seed, G, M, kind):
    """Most lie near the truth; the others lie anywhere, or all at one wrong place."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(M))
    estimates = rng.dirichlet(np.full(M, kind), size=G)
    most = G // 2 + 1
    near = 0.1 * rng.random((most, 1))
    estimates[:most] = (1 - near) * truth + near * estimates[:most]
    if seed % 2:
        estimates[most:] = np.eye(M)[0]
    distances = sorted(plain.tv(truth, estimate) for estimate in estimates)
    chosen = median_estimate(rng.permutation(estimates)[None])[0]
    assert chosen.tolist() in estimates.tolist()
    assert plain.tv(truth, chosen) <= 3 * distances[most - 1] + 1e-12


def test_an_average_would_not_be_within_three_times():
    """The power of the test above."""
    estimates = np.array([[0.5, 0.5]] * 3 + [[1.0, 0.0]] * 2)
    assert median_estimate(estimates[None]).tolist() == [[0.5, 0.5]]
    assert plain.tv(estimates.mean(axis=0), [0.5, 0.5]) > 0.1
