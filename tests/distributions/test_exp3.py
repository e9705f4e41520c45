"""Private EXP3: its losses, and Lemma 7 by enumeration of all indices."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import labels_plain as plain
from dpol.distributions.exp3 import PrivateEXP3
from dpol.distributions.play import softmax
from dpol.local.label_messages import SampledClient, SampledMessages


def exp3(masses=plain.TWO_FEATURES, T=50, epsilon=2.0, rule="exact"):
    return PrivateEXP3(SampledClient(plain.sensitivity(masses, T, rule), epsilon))


@pytest.mark.parametrize(
    ("rule", "s"), [("exact", math.log(4 * 50)), ("published", math.log(3 * 50))]
)
def test_scores_are_those_of_algorithm_2(rule, s):
    """0 but at J, where it is eta c (message + log M - c'), c' = s (log T + log K + log T) / eps.

    The offset log M - c' at other indices would give them other scores than 0.
    """
    learner, rng = exp3(rule=rule), np.random.default_rng(0)
    index, value = rng.integers(3, size=(2, 8)), rng.normal(-3, 5, size=(2, 8))
    found = learner.scores(SampledMessages(index, value), np.zeros(8, dtype=int))
    offset = s * (2 * math.log(50) + math.log(3)) / 2
    c, rate = 1 / (s + 2 * offset), math.sqrt(2 * 3 * math.log(3) / 50)
    assert learner.rate == pytest.approx(rate, rel=1e-15)
    for r, t, j in np.ndindex(found.shape):
        if index[r, t] == j:
            expected = rate * c * (value[r, t] + math.log(4) - offset)
            assert found[r, t, j] == pytest.approx(expected, rel=1e-12)
        else:
            assert found[r, t, j] == 0.0


def test_it_mixes_the_clipped_hypotheses():
    learner = exp3()
    expected = learner.client.sensitivity.clipping.block_masses
    np.testing.assert_array_equal(learner.masses, expected)


def test_scores_do_not_change_the_messages():
    messages = SampledMessages(np.zeros((1, 2), dtype=int), np.ones((1, 2)))
    exp3().scores(messages, np.zeros(2, dtype=int))
    assert (messages.value == 1).all()


def expected_regret(learner, losses, sign=1.0):
    """max_i E sum_t (sum_j w_tj Z_tjj - Z_tii) over all K^T sequences of indices."""
    T, K = losses.shape
    index = np.array(list(itertools.product(range(K), repeat=T)))
    scale, M = learner.loss_scale, learner.masses.shape[2]
    value = scale.offset - math.log(M) - losses[np.arange(T), index] / scale.scale
    scores = sign * learner.scores(SampledMessages(index, value), np.zeros(T, dtype=int))
    running = np.cumsum(np.concatenate([np.zeros((len(index), 1, K)), scores], axis=1), axis=1)
    own = (softmax(running[:, :-1]) * losses).sum(axis=(1, 2))
    return float((own[:, None] - losses.sum(axis=0)).mean(axis=0).max())


@pytest.mark.parametrize("T", [2, 5, 8])
@pytest.mark.parametrize("seed", range(8))
def test_lemma_7_in_expectation_over_all_indices(T, seed):
    """K = 2: 2^T sequences, each as likely; any losses in [0, 1]."""
    rng = np.random.default_rng(seed)
    losses = rng.random((T, 2)) if seed % 2 else rng.integers(2, size=(T, 2)).astype(float)
    found = expected_regret(exp3(plain.COUNTEREXAMPLE, T), losses)
    assert found <= math.sqrt(2 * T * 2 * math.log(2))


def test_lemma_7_would_be_broken_by_weights_that_grow_with_the_loss():
    learner, losses = exp3(plain.COUNTEREXAMPLE, 8), np.tile([0.0, 1.0], (8, 1))
    bound = math.sqrt(2 * 8 * 2 * math.log(2))
    assert 0 < expected_regret(learner, losses) < 4 < bound
    assert expected_regret(learner, losses, sign=-1.0) > bound


def test_expected_scores_are_a_kth_of_those_of_all_hypotheses():
    """E over J of the loss at j is Z_j / K, for every j alike: no bias between hypotheses."""
    learner = exp3()
    values = np.array([-2.0, -7.0, -3.5])
    each = learner.scores(SampledMessages(np.arange(3)[None], values[None]), np.zeros(3, int))[0]
    expected = -learner.rate * learner.loss_scale.losses(values) / 3
    np.testing.assert_allclose(each.mean(axis=0), expected, rtol=1e-12)
