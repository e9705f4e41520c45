"""Posterior weights compared with the distribution of the messages, directly and by simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpol.labels.bayes import MembershipBayes, MessageBayes, ResponseBayes
from dpol.labels.clients import Messages
from dpol.labels.hypotheses import HypothesisClass
from dpol.labels.learners import Terms
from labels import plain
from replicates import many

ROUNDS = 4
KINDS = {"messages": MessageBayes, "membership": MembershipBayes, "response": ResponseBayes}


def make(kind, epsilon, hypotheses=plain.HYPOTHESES, rounds=ROUNDS):
    return KINDS[kind](hypotheses, Terms(rounds, epsilon))


def up_to_a_constant(logs):
    logs = np.asarray(logs)
    return logs - logs.max(axis=-1, keepdims=True)


# ---- likelihoods ---------------------------------------------------------------------------------


@given(plain.cases(), st.integers(0, 10**6), st.floats(0.05, 30))
def test_densities_of_messages_agree_with_the_mixture(case, seed, epsilon):
    """Cell by cell, at the knots, near them and far out."""
    (masses, T), rng = case, np.random.default_rng(seed)
    X, K, _ = masses.shape
    learner = make("messages", epsilon, HypothesisClass(masses), T)
    logs, scales = learner.clipping.log_cells, learner.client.scales
    assume((scales > 0).all())
    features, index = rng.integers(X, size=6), rng.integers(K, size=(1, 6))
    value = np.empty((1, 6))
    for t, (x, J) in enumerate(zip(features, index[0], strict=True)):
        knots = logs[x, J][np.isfinite(logs[x, J])]
        noise = [0.0, 0.0, rng.laplace(), rng.laplace(), -30.0, 30.0][t]
        value[0, t] = rng.choice(knots) + noise * scales[x, J]
    scores = learner.scores(Messages(value, index), features)[0]
    for t, (x, J) in enumerate(zip(features, index[0], strict=True)):
        F = learner.clipping.hypotheses.masses[x].tolist()
        pbar = plain.clipped(F, T)
        at = value[0, t], F, T, J, scales[x, J]
        direct = [math.log(plain.message_density(*at, pbar[k])) for k in range(K)]
        np.testing.assert_allclose(
            up_to_a_constant(scores[t]), up_to_a_constant(direct), rtol=1e-8, atol=1e-8
        )


def test_a_message_that_is_always_the_same_says_nothing():
    """Hypothesis 0 is proportional to the cells, so its messages need no noise and have none."""
    learner = make("messages", 1.0, HypothesisClass([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]))
    labels = np.array([[0, 1] * 50])
    messages = learner.client.privatize(labels, np.zeros(100, dtype=int), many(1))
    scores = learner.scores(messages, np.zeros(100, dtype=int))
    np.testing.assert_allclose(scores[..., 0], scores[..., 1], atol=1e-12)


@pytest.mark.parametrize("epsilon", [0.3, 2.0, math.inf])
def test_likelihoods_of_responses_by_hand(epsilon):
    learner = make("response", epsilon)
    keep = 1 / (1 + 3 * math.exp(-epsilon))
    labels, features = np.arange(4)[None], np.array([0, 0, 1, 1])
    scores = learner.scores(plain.about(labels), features)[0]
    for (t, x), j in itertools.product(enumerate(features), range(3)):
        mass = plain.TWO_FEATURES[x][j][t]
        likelihood = keep * mass + (1 - keep) / 3 * (1 - mass)
        if likelihood:
            assert scores[t, j] == pytest.approx(math.log(likelihood), rel=1e-12)
        else:
            assert scores[t, j] < -1e20
    np.testing.assert_array_equal(learner.masses, plain.HYPOTHESES.masses)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_likelihoods_of_answers_by_hand(epsilon):
    """The probability of yes about A_J is a sum over labels."""
    learner = make("membership", epsilon)
    sets, keep = learner.client.sets, 1 / (1 + math.exp(-epsilon))
    index, features = np.array([[0, 1, 2, 0, 1, 2]]), np.array([0, 0, 0, 1, 1, 1])
    for answer in (True, False):
        scores = learner.scores(Messages(np.full((1, 6), int(answer)), index), features)[0]
        for (t, x), j in itertools.product(enumerate(features), range(3)):
            true = sets[x, index[0, t]] == answer
            chance = sum(plain.TWO_FEATURES[x][j] * np.where(true, keep, 1 - keep))
            assert scores[t, j] == pytest.approx(math.log(chance), rel=1e-12)


# ---- posteriors ----------------------------------------------------------------------------------


def test_certain_answers_have_no_negative_probability():
    """The masses, all inside the set, sum to more than 1 by rounding."""
    hypotheses = HypothesisClass(np.repeat(np.eye(2), 10, axis=1) / 10)
    scores = make("membership", math.inf, hypotheses).scores(
        Messages(np.array([[1, 0, 1]]), np.array([[0, 0, 1]])), np.zeros(3, int)
    )
    assert not np.isnan(scores).any()
    assert scores[0, 0] == pytest.approx([0.0, -1e30])


@pytest.mark.parametrize("epsilon", [301.0, math.inf])
def test_messages_with_too_little_noise_are_refused(epsilon):
    with pytest.raises(ValueError, match="epsilon must be at most 300, got"):
        make("messages", epsilon)
