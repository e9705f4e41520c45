from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import labels_plain as plain
from dpol.distributions import risk
from dpol.distributions.risk import round_risks, total_variation


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


def test_no_argument_is_changed():
    case = [np.full((1, 2, 2), 0.5), np.eye(2), np.array([[1.0, 0.0]])]
    before = [a.copy() for a in case]
    round_risks(*case)
    for one, other in zip(case, before, strict=True):
        np.testing.assert_array_equal(one, other)


def test_total_variation_by_hand():
    one = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    assert total_variation(one, np.array([0.0, 0.5, 0.5])).tolist() == [0.5, 1.0]
    assert total_variation(one, one).tolist() == [0.0, 0.0]
