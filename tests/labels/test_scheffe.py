"""The Scheffé tournament: its answers, its selection by hand, and its error in closed form."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpol.labels.hypotheses import HypothesisClass
from dpol.labels.learners import Terms
from dpol.labels.scheffe import ScheffeTournament
from labels import plain
from replicates import many

# A sound library fails a statistical test with at most this probability.
ERROR = 1e-6
TWO = [[0.6, 0.3, 0.1], [0.2, 0.4, 0.4]]
THREE = [[0.6, 0.2, 0.2], [0.1, 0.6, 0.3], [0.3, 0.0, 0.7]]


def tournament(masses, epsilon=1.0, rounds=10):
    return ScheffeTournament(HypothesisClass(masses), Terms(rounds, epsilon))


# ---- sets and answers ----------------------------------------------------------------------------


def test_scheffe_sets_by_hand():
    client = tournament(THREE).client
    assert [pair.tolist() for pair in client.pairs] == [[0, 0, 1], [1, 2, 2]]
    assert client.sets.tolist() == [[[1, 0, 0], [1, 1, 0], [0, 1, 0]]]


# ---- the selection -------------------------------------------------------------------------------


@pytest.mark.parametrize("yes", range(11))
def test_two_hypotheses_by_hand(yes):
    """Label 0 alone is in the set; e^eps = 3, so yes comes with probability 1/4 + mass / 2.

    For masses 0.6 and 0.2 these are 0.55 and 0.35: the middle, 0.45, is between 4 and 5 of 10.
    """
    selector = tournament(TWO, epsilon=math.log(3))
    assert selector.select(np.array([[[10 - yes, yes]]])).tolist() == [int(yes < 5)]


def test_three_hypotheses_by_hand():
    """Without noise the estimates are 1/2, 1/2, 1/5 for the sets {0}, {0, 1}, {1}.

    Hypothesis 0 is wrong by 0.1 and 0.3, hypothesis 1 by 0.4 and 0.4, hypothesis 2 by 0.2 and 0.2.
    If nobody is asked about the sets of 2 and another, only 0.1 and 0.4 are left, and 0 for 2.
    With yes and no exchanged the last estimate is 4/5, which 0 does not answer for.
    """
    selector = tournament(THREE, epsilon=60.0)
    counts = np.array([[[5, 5], [5, 5], [8, 2]], [[5, 5], [0, 0], [0, 0]]])
    assert selector.select(counts).tolist() == [2, 2]
    assert selector.select(counts[:, :, ::-1]).tolist() == [0, 2]


def share_of_errors(sender, selector, rounds, replicates=40_000):
    """Return how often 1 is selected if 0 is true, with the sender's answers."""
    game = plain.constant_game(sender.hypotheses, TWO[0], rounds, replicates)
    object.__setattr__(sender, "select", selector.select)
    coins = SimpleNamespace(clients=many(replicates, seed=1))
    return int(sender.selected(game, coins).sum()), replicates


@pytest.mark.parametrize(("epsilon", "rounds"), [(0.5, 31), (1.0, 26), (1.5, 31)])
def test_the_error_for_two_hypotheses_is_a_binomial_tail(epsilon, rounds):
    """Broken once each: the answers of another coin, and estimates without its correction."""
    keep = 1 / (1 + math.exp(-epsilon))
    rates = [1 - keep + (2 * keep - 1) * mass for mass in (0.6, 0.2)]
    fewest = math.ceil(rounds * sum(rates) / 2)
    exact = float(stats.binom.cdf(fewest - 1, rounds, rates[0]))
    errors, runs = share_of_errors(tournament(TWO, epsilon), tournament(TWO, epsilon), rounds)
    assert stats.binomtest(errors, runs, exact).pvalue > ERROR
    for sender, selector in ((epsilon / 2, epsilon), (epsilon, 60.0)):
        errors, runs = share_of_errors(tournament(TWO, sender), tournament(TWO, selector), rounds)
        assert stats.binomtest(errors, runs, exact).pvalue < ERROR


@given(st.integers(0, 10**6), st.integers(2, 16), st.integers(2, 30))
def test_the_selected_hypothesis_is_nearly_the_best(seed, K, M):
    """Its TV is at most 3 of the best and 2 of the largest error.

    Whatever the truth is, and however the estimates are wrong.
    """
    rng = np.random.default_rng(seed)
    masses = plain.random_masses(rng, K, M)
    truth = 0.9 * masses[0] + 0.1 * rng.dirichlet(np.full(M, 0.5))
    selector = tournament(masses, epsilon=60.0)
    inside, n = selector.client.sets[0].astype(float), 400
    yes = np.clip(np.round(n * (inside @ truth + rng.uniform(-0.03, 0.03, len(inside)))), 0, n)
    (chosen,) = selector.select(np.stack([n - yes, yes], axis=1)[None].astype(int))
    distances = [plain.tv(truth, law) for law in masses]
    error = float(np.abs(yes / n - inside @ truth).max())
    assert distances[chosen] <= 3 * min(distances) + 2 * error + 1e-9


def test_several_features_are_refused():
    with pytest.raises(ValueError, match="a Scheffé tournament needs one feature, got 2"):
        tournament(plain.TWO_FEATURES)
