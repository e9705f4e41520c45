"""Posterior weights against the law of the messages, evaluated directly and by simulation."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpol.studies.labels.bayes import MembershipBayes, MessageBayes, ResponseBayes
from dpol.studies.labels.clients import Messages
from dpol.studies.labels.game import LabelGenerators, play_labels, realisable
from dpol.studies.labels.hypotheses import HypothesisClass
from dpol.studies.labels.learners import Terms
from studies.labels import plain

HYPOTHESES = HypothesisClass(plain.TWO_FEATURES)
ROUNDS = 4


KINDS = {"messages": MessageBayes, "membership": MembershipBayes, "response": ResponseBayes}


def make(kind, epsilon, hypotheses=HYPOTHESES, rounds=ROUNDS):
    return KINDS[kind](hypotheses, Terms(rounds, epsilon))


def about_labels(labels):
    return Messages(labels, np.zeros_like(labels))


def up_to_a_constant(logs):
    logs = np.asarray(logs)
    return logs - logs.max(axis=-1, keepdims=True)


# ---- likelihoods ---------------------------------------------------------------------------------


@given(
    st.integers(0, 10**6),
    st.integers(2, 4),
    st.integers(2, 7),
    st.sampled_from([0.05, 0.5, 2.0]),
    st.integers(2, 200),
    st.floats(0.05, 30),
)
def test_densities_of_messages_are_those_of_the_mixture(seed, K, M, kind, T, epsilon):
    """Cell by cell, at values near the knots, at them and far out."""
    rng = np.random.default_rng(seed)
    masses = np.stack([plain.random_masses(rng, K, M, kind) for _ in range(2)])
    learner = make("messages", epsilon, HypothesisClass(masses), T)
    logs, scales = learner.clipping.log_cells, learner.client.scales
    assume((scales > 0).all())
    features = rng.integers(2, size=6)
    index = rng.integers(K, size=(1, 6))
    value = np.empty((1, 6))
    for t, (x, J) in enumerate(zip(features, index[0], strict=True)):
        knots = logs[x, J][np.isfinite(logs[x, J])]
        noise = [0.0, 0.0, rng.laplace(), rng.laplace(), -30.0, 30.0][t]
        value[0, t] = rng.choice(knots) + noise * scales[x, J]
    found = learner.scores(Messages(value, index), features)[0]
    for t, (x, J) in enumerate(zip(features, index[0], strict=True)):
        F = learner.clipping.hypotheses.masses[x].tolist()
        pbar = plain.clipped(F, T)
        direct = [
            math.log(plain.message_density(value[0, t], F, T, J, scales[x, J], pbar[k]))
            for k in range(K)
        ]
        np.testing.assert_allclose(
            up_to_a_constant(found[t]), up_to_a_constant(direct), rtol=1e-8, atol=1e-8
        )


BINS = np.linspace(-8.0, 2.0, 13)


@pytest.mark.parametrize("truth", [0, 1, 2])
def test_densities_of_messages_are_those_of_a_histogram(checks, truth):
    """Labels from one hypothesis; frequencies from the scores, by the ratios to another one.

    P_truth(bin) = the integral over the bin of p_other exp(score_truth - score_other), by the
    midpoint rule on 400 points a bin; p_other is a plain mixture.
    """
    learner, size = make("messages", 1.0), 60_000
    client, F = learner.client, plain.TWO_FEATURES[0]
    labels = np.random.default_rng(truth).choice(4, p=F[truth], size=(1, size))
    zeros = np.zeros(size, dtype=int)
    messages = client.privatize(labels, zeros, plain.Tapes(1, seed=truth))
    other, points = (truth + 1) % 3, 400
    width = (BINS[1] - BINS[0]) / points
    grid = BINS[0] + width * (np.arange(points * (len(BINS) - 1)) + 0.5)

    def law(J, ahead):
        pbar = plain.clipped(F, ROUNDS)[other]
        direct = [plain.message_density(v, F, ROUNDS, J, client.scales[0, J], pbar) for v in grid]
        at = Messages(grid[None], np.full((1, len(grid)), J))
        scores = learner.scores(at, np.zeros(len(grid), dtype=int))[0]
        dense = np.array(direct) * np.exp(scores[:, ahead] - scores[:, other])
        inside = dense.reshape(-1, points).sum(axis=1) * width
        return np.append(inside, 1 - inside.sum())

    rejected = []
    for J in range(3):
        values = messages.values[messages.index == J]
        counts = np.histogram(values, BINS)[0]
        counts = np.append(counts, len(values) - counts.sum())
        assert checks.frequencies(counts, law(J, truth))
        rejected.append(not checks.frequencies(counts, law(J, other)))
    assert any(rejected)


def test_a_message_that_is_always_the_same_says_nothing():
    """Hypothesis 0 is in proportion to the cells: its messages have no noise and need none."""
    learner = make("messages", 1.0, HypothesisClass([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]))
    labels = np.array([[0, 1] * 50])
    messages = learner.client.privatize(labels, np.zeros(100, dtype=int), plain.Tapes(1))
    scores = learner.scores(messages, np.zeros(100, dtype=int))
    np.testing.assert_allclose(scores[..., 0], scores[..., 1], atol=1e-12)


@pytest.mark.parametrize("epsilon", [0.3, 2.0, math.inf])
def test_likelihoods_of_responses_by_hand(epsilon):
    learner = make("response", epsilon)
    keep = 1 / (1 + 3 * math.exp(-epsilon))
    labels, features = np.arange(4)[None], np.array([0, 0, 1, 1])
    found = learner.scores(about_labels(labels), features)[0]
    for t, x in enumerate(features):
        for j in range(3):
            mass = plain.TWO_FEATURES[x][j][t]
            likelihood = keep * mass + (1 - keep) / 3 * (1 - mass)
            if likelihood:
                assert found[t, j] == pytest.approx(math.log(likelihood), rel=1e-12)
            else:
                assert found[t, j] < -1e20
    np.testing.assert_array_equal(learner.masses, HYPOTHESES.masses)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_likelihoods_of_answers_by_hand(epsilon):
    """The chance of yes about A_J: sums over labels, one by one."""
    learner = make("membership", epsilon)
    sets, keep = learner.client.sets, 1 / (1 + math.exp(-epsilon))
    index, features = np.array([[0, 1, 2, 0, 1, 2]]), np.array([0, 0, 0, 1, 1, 1])
    for answer in (True, False):
        messages = Messages(np.full((1, 6), int(answer)), index)
        found = learner.scores(messages, features)[0]
        for t, x in enumerate(features):
            for j in range(3):
                chance = sum(
                    mass * (keep if bool(sets[x, index[0, t], y]) == answer else 1 - keep)
                    for y, mass in enumerate(plain.TWO_FEATURES[x][j])
                )
                assert found[t, j] == pytest.approx(math.log(chance), rel=1e-12)


@pytest.mark.parametrize("kind", ["response", "membership"])
def test_likelihoods_of_finite_messages_are_frequencies(checks, kind):
    """Simulated messages of labels from each hypothesis; those of another one are rejected."""
    learner, size = make(kind, 1.0), 60_000
    for truth, law in enumerate(plain.TWO_FEATURES[0]):
        labels = np.random.default_rng(truth).choice(4, p=law, size=(1, size))
        zeros = np.zeros(size, dtype=int)
        messages = learner.client.privatize(labels, zeros, plain.Tapes(1, seed=truth))
        if kind == "response":
            every = about_labels(np.arange(4)[None])
            counts = np.bincount(messages.values[0], minlength=4)
            share = 1.0
        else:
            every = Messages(np.arange(6)[None] % 2, np.repeat(np.arange(3), 2)[None])
            counts = np.bincount(2 * messages.index[0] + messages.values[0], minlength=6)
            share = 1 / 3
        scores = learner.scores(every, np.zeros(len(counts), dtype=int))[0]
        for j in range(3):
            assert checks.frequencies(counts, share * np.exp(scores[:, j])) == (j == truth)


# ---- posteriors ----------------------------------------------------------------------------------


@functools.lru_cache
def posterior_play(kind, epsilon, believed, replicates=3000, rounds=60):
    """Final weights (R, K) and truths, where the server believes in another epsilon."""
    learner = make(kind, believed, rounds=rounds)
    game = realisable(HYPOTHESES, np.arange(rounds) % 2, replicates)
    client = make(kind, epsilon, rounds=rounds).client

    class Mixed:
        origin = "ours"
        masses = learner.masses
        scores = staticmethod(learner.scores)

    Mixed.client = client
    run = play_labels(
        Mixed(), game, LabelGenerators(plain.Tapes(replicates, 1), plain.Tapes(replicates, 2))
    )
    return run.final_weights, game.law


def calibrated(checks, weights, law):
    """Given the weights, the truth is hypothesis j with probability w_j (the law is uniform).

    So the weight of the truth is the sum of squared weights, on average.
    """
    own = weights[np.arange(len(law)), law]
    return checks.mean(own - (weights**2).sum(axis=1), 0.0)


@pytest.mark.parametrize("kind", ["response", "membership", "messages"])
def test_posteriors_are_calibrated(checks, kind):
    """And a server with another keep probability or scale is not."""
    assert calibrated(checks, *posterior_play(kind, 1.0, 1.0))
    for believed in (2.0, 0.5):
        assert not calibrated(checks, *posterior_play(kind, 1.0, believed))


def test_bayes_without_privacy_has_an_expected_risk_of_at_most_log_k(checks):
    """Averaged over the truths; one-sided normal test of 3,000 runs."""
    replicates, rounds = 3000, 100
    learner = make("response", math.inf)
    game = realisable(HYPOTHESES, np.arange(rounds) % 2, replicates)

    def risk(algorithm):
        coins = LabelGenerators(plain.Tapes(replicates, 1), plain.Tapes(replicates, 2))
        kl = play_labels(algorithm, game, coins).kl
        return kl.mean(), 4.75 * kl.std(ddof=1) / math.sqrt(replicates)

    mean, error = risk(learner)
    assert mean <= math.log(3) + error
    assert mean > 0.5 * math.log(3)
    # Power: one whose weights move half as fast would be seen to cost more.

    class Slow:
        origin, client, masses = "ours", learner.client, learner.masses

        @staticmethod
        def scores(messages, features):
            return 0.2 * learner.scores(messages, features)

    slow, slow_error = risk(Slow())
    assert slow - slow_error > math.log(3)


def test_a_refuted_hypothesis_never_comes_back():
    hypotheses = HypothesisClass([[1.0, 0.0], [1e-9, 1 - 1e-9]])
    learner = make("response", math.inf, hypotheses)
    labels = np.array([[1] + [0] * 10_000])
    scores = learner.scores(about_labels(labels), np.zeros(10_001, dtype=int))[0].sum(axis=0)
    assert scores[0] < scores[1] - 1e6


def test_certain_answers_make_no_negative_chances():
    """Masses whose sum is above 1 by rounding, all inside the set."""
    thirds = np.zeros((2, 20))
    thirds[0, :10], thirds[1, 10:] = 0.1, 0.1
    hypotheses = HypothesisClass(thirds / thirds.sum(axis=1, keepdims=True))
    scores = make("membership", math.inf, hypotheses).scores(
        Messages(np.array([[1, 0, 1]]), np.array([[0, 0, 1]])), np.zeros(3, int)
    )
    assert not np.isnan(scores).any()
    assert scores[0, 0] == pytest.approx([0.0, -1e30])


@pytest.mark.parametrize("epsilon", [301.0, math.inf])
def test_messages_with_too_little_noise_are_refused(epsilon):
    with pytest.raises(ValueError, match="epsilon must be at most 300, got"):
        make("messages", epsilon)


def test_messages_with_little_noise_have_densities():
    learner = make("messages", 300.0)
    logs = learner.clipping.log_cells
    for knot in logs[0, 0]:
        for noise in (-37, 0, 37):
            value = np.array([[knot + noise * learner.client.scales[0, 0]]])
            scores = learner.scores(Messages(value, np.zeros((1, 1), int)), np.zeros(1, int))
            assert np.isfinite(scores).all()
