"""The learner with optimal sets: its design, its messages, and its bound by enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.labels.design import DesignBayes, optimal_design, sets_of
from dpol.labels.game import label_generators
from dpol.labels.hypotheses import HypothesisClass
from dpol.labels.learners import Terms
from labels import plain


def excess(masses, chances, weights):
    """Return ||d||_1^2 / mean <signs, d>^2 for differences d of mixtures, <= K - 1 if optimal."""
    signs = 2.0 * sets_of(len(masses[0])) - 1
    differences = weights @ masses
    squares = chances @ (signs @ differences.T) ** 2
    return np.abs(differences).sum(axis=1) ** 2 / squares


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 7), st.sampled_from([0.2, 1.0]))
def test_the_design_sees_every_difference(seed, K, M, concentration):
    """The theorem of Kiefer and Wolfowitz, for differences of two mixtures."""
    rng = np.random.default_rng(seed)
    masses = plain.random_masses(rng, K, M, concentration)
    chances = optimal_design(masses)
    assert chances.sum() == pytest.approx(1)
    weights = rng.dirichlet(np.full(K, 0.3), size=50) - rng.dirichlet(np.full(K, 0.3), size=50)
    weights = np.concatenate([weights, np.eye(K)[:-1] - np.eye(K)[1:]])
    assert excess(masses, chances, weights).max() <= (K - 1) * 1.02


@pytest.mark.parametrize(
    ("masses", "k"),
    [
        ([[0.5, 0.5], [0.5, 0.5]], 0),
        ([[0.1, 0.2, 0.7]] * 4, 0),
        ([[0.3, 0.7], [0.1 + 0.2, 0.7]], 0),  # 0.1 + 0.2 is not 0.3
        ([[0.7, 0.2, 0.1], [0.7, 0.2, 0.1], [0.1, 0.2, 0.7]], 1),
        ([[0.7, 0.2, 0.1], [0.4, 0.2, 0.4], [0.1, 0.2, 0.7]], 1),
        ([[0.6, 0.2, 0.2], [0.1, 0.6, 0.3], [0.6, 0.2, 0.2], [0.1, 0.2, 0.7]], 2),
    ],
)
def test_hypotheses_may_agree(masses, k):
    """The remaining differences have k dimensions, and k is then the bound."""
    masses = np.array(masses)
    chances = optimal_design(masses)
    if k == 0:
        assert chances.tolist() == [1 / len(chances)] * len(chances)
        return
    rng, K = np.random.default_rng(1), len(masses)
    weights = rng.dirichlet(np.ones(K), size=50) - rng.dirichlet(np.ones(K), size=50)
    assert 0.9 < excess(masses, chances, weights).max() <= k * 1.02


def test_too_many_labels_are_refused():
    with pytest.raises(ValueError, match="at most 12 labels, got 13"):
        optimal_design(np.full((2, 13), 1 / 13))


def test_messages_follow_the_distribution_that_the_learner_assumes(checks):
    """Chi-square of 20,000 messages about each label, error 1e-6; another epsilon is refused."""
    reader = DesignBayes(HypothesisClass(plain.TWO_FEATURES), Terms(10, 1.0))
    features = np.arange(40_000) % 2
    for label in range(3):
        coins = label_generators(1, ("design", label), 1, "own").clients
        sent = reader.client.privatize(np.full((1, 40_000), label), features, coins)
        for x in (0, 1):
            counts = np.zeros((8, 2))
            np.add.at(counts, (sent.index[0, features == x], sent.values[0, features == x]), 1)
            member = sets_of(4)[:, label]
            for epsilon in (1.0, 1.2):
                yes = np.where(member, 1, 0) * math.tanh(epsilon / 2) + 1 / (1 + math.exp(epsilon))
                law = reader.client.index_chances[x][:, None] * np.stack([1 - yes, yes], axis=1)
                seen = law > 1e-9
                assert checks.frequencies(counts[seen], law[seen]) == (epsilon == 1.0)
                assert counts[~seen].sum() == 0


THREE = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]])


def test_blocks_of_rounds_have_the_log_odds_of_the_design():
    """The optimal sets are {0} and {0, 2}, half each; half of all sets carry no information.

    At e^epsilon = 3 an answer is yes with probability 1/4 + p/2, p the mass of the set. The mean of
    4,000 sums of 200 rounds has an error of 0.05; a uniform design would give half.
    """
    odds, rounds = 0.0, 200
    for one, other in ((0.8, 0.1), (0.9, 0.2)):
        yes, no = 1 / 4 + one / 2, 1 / 4 + other / 2
        odds += (yes * math.log(yes / no) + (1 - yes) * math.log((1 - yes) / (1 - no))) / 2
    reader = DesignBayes(HypothesisClass(THREE[None]), Terms(10_000, math.log(3)))
    coins = label_generators(1, ("block",), 4_000, "own").clients
    laws = np.broadcast_to(THREE[0], (4_000, 3))
    sums = reader.sums(laws, 0, np.array([rounds]), coins)[:, 0]
    assert (sums[:, 0] - sums[:, 1]).mean() == pytest.approx(rounds * odds, abs=0.5)
