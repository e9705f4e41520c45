"""Learners and selectors of hypotheses, by hand and by the distribution of messages; bounds."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from dpol.labels.bayes import MembershipBayes, MessageBayes, ResponseBayes
from dpol.labels.bounds import (
    exp3_bound,
    lower_bound,
    rounds_of_selection,
    wma_bound,
)
from dpol.labels.clients import Messages, scale_factor
from dpol.labels.hypotheses import HypothesisClass
from dpol.labels.learners import PrivateEXP3, PrivateWMA, Terms
from dpol.labels.scheffe import ScheffeTournament
from labels import plain
from replicates import many

# ---- private WMA and EXP3 ------------------------------------------------------------------------


def exp3(masses=plain.TWO_FEATURES, T=50, epsilon=2.0, rule="exact"):
    return PrivateEXP3(HypothesisClass(masses), Terms(T, epsilon), rule)


BOUNDS = [("exact", math.log(4 * 50)), ("published", math.log(3 * 50))]


@pytest.mark.parametrize(("rule", "s"), BOUNDS)
def test_scores_follow_algorithm_1(rule, s):
    """-rate Ytilde_j, Ytilde_j = -c (message_j + log M - c'), K = 3, M = 4, T = 50."""
    learner = PrivateWMA(plain.HYPOTHESES, Terms(50, 1.0), rule)
    values = np.random.default_rng(0).normal(-3, 5, size=(2, 7, 3))
    scores = learner.scores(plain.about(values), np.zeros(7, dtype=int))
    offset = scale_factor(3, 1.0, 1e-6, rule) * s * (2 * math.log(50) + math.log(3))
    c = 1 / (s + 2 * offset)
    losses = [[[-c * (v + math.log(4) - offset) for v in row] for row in rows] for rows in values]
    np.testing.assert_allclose(scores, -math.sqrt(2 * math.log(3) / 50) * np.array(losses))


@pytest.mark.parametrize(("rule", "s"), BOUNDS)
def test_scores_follow_algorithm_2(rule, s):
    """At J rate c (message + log M - c'), c' = s (log T + log K + log T) / eps; 0 elsewhere.

    With the offset log M - c' at other indices, their scores would not be 0.
    """
    learner, rng = exp3(rule=rule), np.random.default_rng(0)
    index, value = rng.integers(3, size=(2, 8)), rng.normal(-3, 5, size=(2, 8))
    scores = learner.scores(Messages(value, index), np.zeros(8, dtype=int))
    offset = s * (2 * math.log(50) + math.log(3)) / 2
    c, rate = 1 / (s + 2 * offset), math.sqrt(2 * 3 * math.log(3) / 50)
    for r, t, j in np.ndindex(scores.shape):
        heard = rate * c * (value[r, t] + math.log(4) - offset) if index[r, t] == j else 0.0
        assert scores[r, t, j] == pytest.approx(heard, rel=1e-12, abs=0)


@given(plain.cases(), st.sampled_from([1, 10**4]), st.floats(0.1, 8), st.floats(-1, 1))
def test_losses_lie_in_0_to_1_unless_the_noise_is_extreme(case, times, epsilon, part):
    """Noise up to c' is not extreme: a run exceeds it with probability at most 1 / T."""
    masses, T = case[0], times * case[1]
    learner, (_, K, M) = exp3(masses, T, epsilon), masses.shape
    clipping = learner.clipping
    logs = clipping.log_cells
    losses = learner.losses(logs[np.isfinite(logs)] + part * learner.offset)
    assert ((losses >= -1e-9) & (losses <= 1 + 1e-9)).all()
    # By the union bound: K T messages, tails exp(-c' / b), b <= s / eps.
    b = clipping.bound / epsilon
    assert K * T * math.exp(-learner.offset / b) == pytest.approx(1 / T, rel=1e-6)
    # At likelihood 1/M, noise above c' makes a loss negative; far lower, noise below -c' exceeds 1.
    top = -math.log(M)
    assert learner.losses(np.array([top + 1.001 * learner.offset]))[0] < 0
    assert learner.losses(np.array([top - clipping.bound - 1.001 * learner.offset]))[0] > 1


# ---- posteriors ----------------------------------------------------------------------------------


ROUNDS = 4
KINDS = {"messages": MessageBayes, "membership": MembershipBayes, "response": ResponseBayes}


def make(kind, epsilon, hypotheses=plain.HYPOTHESES, rounds=ROUNDS):
    return KINDS[kind](hypotheses, Terms(rounds, epsilon))


def up_to_a_constant(logs):
    logs = np.asarray(logs)
    return logs - logs.max(axis=-1, keepdims=True)


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


# ---- the Scheffé tournament ----------------------------------------------------------------------


# A sound library fails a statistical test with at most this probability.
ERROR = 1e-6
TWO = [[0.6, 0.3, 0.1], [0.2, 0.4, 0.4]]
THREE = [[0.6, 0.2, 0.2], [0.1, 0.6, 0.3], [0.3, 0.0, 0.7]]


def tournament(masses, epsilon=1.0, rounds=10):
    return ScheffeTournament(HypothesisClass(masses), Terms(rounds, epsilon))


def test_scheffe_sets_by_hand():
    client = tournament(THREE).client
    assert [pair.tolist() for pair in client.pairs] == [[0, 0, 1], [1, 2, 2]]
    assert client.sets.tolist() == [[[1, 0, 0], [1, 1, 0], [0, 1, 0]]]


@pytest.mark.parametrize("yes", range(11))
def test_a_tournament_of_two_hypotheses_by_hand(yes):
    """Label 0 alone is in the set; e^eps = 3, so yes comes with probability 1/4 + mass / 2.

    For masses 0.6 and 0.2 these are 0.55 and 0.35: the middle, 0.45, is between 4 and 5 of 10.
    """
    selector = tournament(TWO, epsilon=math.log(3))
    assert selector.select(np.array([[[10 - yes, yes]]])).tolist() == [int(yes < 5)]


def test_a_tournament_of_three_hypotheses_by_hand():
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


def test_a_tournament_of_several_features_is_refused():
    with pytest.raises(ValueError, match="a Scheffé tournament needs one feature, got 2"):
        tournament(plain.TWO_FEATURES)


# ---- bounds on risks -----------------------------------------------------------------------------


def bound_by_hand(K, T, b_over_s, samples):
    """Return sqrt(2 K' T log K) / c + 3 s + e^-gamma (T s + 3 s); gamma = log T, s = log(KT+T)."""
    s = math.log(K + 1) + math.log(T)
    c = 1 / (s + 2 * b_over_s * s * (math.log(T) + math.log(K) + math.log(T)))
    return math.sqrt(2 * samples * T * math.log(K)) / c + 3 * s + (T * s + 3 * s) / T


@pytest.mark.parametrize(("K", "T", "epsilon"), [(2, 100, 1.0), (16, 10**6, 0.25), (5, 2, 4.0)])
def test_bounds_by_hand(K, T, epsilon):
    assert exp3_bound(K, T, epsilon) == pytest.approx(bound_by_hand(K, T, 1 / epsilon, K))
    published = (2 * math.sqrt(2 * K * math.log(1e6)) + math.sqrt(K * epsilon)) / epsilon
    published_bound = wma_bound(K, T, epsilon, 1e-6, "published")
    assert published_bound == pytest.approx(bound_by_hand(K, T, published, 1))
    exact = bound_by_hand(K, T, scale_factor(K, epsilon, 1e-6, "exact"), 1)
    assert wma_bound(K, T, epsilon, 1e-6, "exact") == pytest.approx(exact)
    assert exact < published_bound


@pytest.mark.parametrize(("K", "epsilon", "alpha"), [(4, 4.0, 0.5), (2, 0.5, 0.3), (64, 1.0, 0.05)])
def test_the_rounds_of_selection_are_the_least_and_of_their_order(K, epsilon, alpha):
    """The bound on the KL risk is at most 2 T alpha^2 (Pinsker); its largest term is the order."""

    def within(T):
        return bound_by_hand(K, T, 1 / epsilon, K) <= 2 * T * alpha**2

    T = rounds_of_selection(K, epsilon, alpha)
    assert within(T)
    assert not within(T - 1)
    order = K * math.log(K) * math.log((K + 1) * T) ** 4 / (epsilon**2 * alpha**4)
    assert 0.5 < T / order < 12.5 * max(1, epsilon) ** 2


def test_a_lower_bound_needs_enough_rounds():
    """K / (9 eps-part): here 1 / (9 * 1 * 0.5) = 0.22 for a pair; eps = 0.01 needs 1,100."""
    growth = math.expm1(0.01)
    first = math.ceil(1 / (9 * growth**2 * math.exp(0.01)))
    assert first > 1000
    assert lower_bound(1, first, 0.01) == pytest.approx(first / 132, rel=1e-3)
    with pytest.raises(ValueError, match=r"n_rounds must be larger: a = 1\.0\d* is above 1"):
        lower_bound(1, first - 1, 0.01)
