"""Private WMA and EXP3: losses, weights and regret; what other constants would do to them."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.studies.labels.accounting import scale_factor
from dpol.studies.labels.clients import Messages
from dpol.studies.labels.game import LabelGame, label_generators, play_labels
from dpol.studies.labels.hypotheses import HypothesisClass
from dpol.studies.labels.learners import PrivateEXP3, PrivateWMA, Terms
from studies.labels import plain


def wma(masses=plain.TWO_FEATURES, T=50, epsilon=1.0, rule="exact"):
    return PrivateWMA(HypothesisClass(masses), Terms(T, epsilon), rule)


def exp3(masses=plain.TWO_FEATURES, T=50, epsilon=2.0, rule="exact"):
    return PrivateEXP3(HypothesisClass(masses), Terms(T, epsilon), rule)


# ---- the constants -------------------------------------------------------------------------------

BOUNDS = [("exact", math.log(4 * 50)), ("published", math.log(3 * 50))]


@pytest.mark.parametrize(("rule", "s"), BOUNDS)
def test_scores_are_those_of_algorithm_1(rule, s):
    """-rate Ytilde_j, Ytilde_j = -c (message_j + log M - c'), K = 3, M = 4, T = 50."""
    learner = wma(rule=rule)
    values = np.random.default_rng(0).normal(-3, 5, size=(2, 7, 3))
    found = learner.scores(plain.about(values), np.zeros(7, dtype=int))
    offset = scale_factor(3, 1.0, 1e-6, rule) * s * (2 * math.log(50) + math.log(3))
    c = 1 / (s + 2 * offset)
    losses = [[[-c * (v + math.log(4) - offset) for v in row] for row in rows] for rows in values]
    np.testing.assert_allclose(found, -math.sqrt(2 * math.log(3) / 50) * np.array(losses))
    assert learner.rate == pytest.approx(math.sqrt(2 * math.log(3) / 50), rel=1e-15)
    assert learner.scale == pytest.approx(c, rel=1e-12)
    assert learner.offset == pytest.approx(offset, rel=1e-12)


@pytest.mark.parametrize(("rule", "s"), BOUNDS)
def test_scores_are_those_of_algorithm_2(rule, s):
    """0 but at J, where it is rate c (message + log M - c'), c' = s (log T + log K + log T) / eps.

    The offset log M - c' at other indices would give them other scores than 0.
    """
    learner, rng = exp3(rule=rule), np.random.default_rng(0)
    index, value = rng.integers(3, size=(2, 8)), rng.normal(-3, 5, size=(2, 8))
    found = learner.scores(Messages(value, index), np.zeros(8, dtype=int))
    offset = s * (2 * math.log(50) + math.log(3)) / 2
    c, rate = 1 / (s + 2 * offset), math.sqrt(2 * 3 * math.log(3) / 50)
    assert learner.rate == pytest.approx(rate, rel=1e-15)
    for r, t, j in np.ndindex(found.shape):
        heard = rate * c * (value[r, t] + math.log(4) - offset) if index[r, t] == j else 0.0
        assert found[r, t, j] == pytest.approx(heard, rel=1e-12, abs=0)


@pytest.mark.parametrize("learner", [wma(), exp3()])
def test_it_mixes_the_clipped_hypotheses(learner):
    expected = learner.clipping.block_masses
    np.testing.assert_array_equal(learner.masses, expected)


@given(plain.cases(), st.sampled_from([1, 10**4]), st.floats(0.1, 8), st.floats(-1, 1))
def test_losses_lie_in_0_to_1_unless_the_noise_is_extreme(case, times, epsilon, part):
    """Noise up to c' is not: it is exceeded somewhere in a run with probability 1 / T at most."""
    masses, T = case[0], times * case[1]
    found, (_, K, M) = exp3(masses, T, epsilon), masses.shape
    clipping = found.clipping
    logs = clipping.log_cells
    losses = found.losses(logs[np.isfinite(logs)] + part * found.offset)
    assert ((losses >= -1e-9) & (losses <= 1 + 1e-9)).all()
    # By the union bound: K T messages, tails exp(-c' / b), b <= s / eps.
    b = clipping.bound / epsilon
    assert K * T * math.exp(-found.offset / b) == pytest.approx(1 / T, rel=1e-6)
    # Of a hypothesis that reaches 1/M, noise above c' makes a negative loss; below, far below -c'.
    top = -math.log(M)
    assert found.losses(np.array([top + 1.001 * found.offset]))[0] < 0
    assert found.losses(np.array([top - clipping.bound - 1.001 * found.offset]))[0] > 1


def test_equal_messages_are_equal_losses_for_every_hypothesis():
    """However different the sensitivities s_j are."""
    masses = [[0.1] * 10, np.eye(10)[0]]
    learner = wma(masses, 10_000)
    ranges = learner.clipping.ranges[0]
    assert ranges.max() > 3 * ranges.min()
    messages = plain.about(np.repeat(np.linspace(-20, 5, 9)[:, None], 2, axis=1)[None])
    scores = learner.scores(messages, np.zeros(9, dtype=int))
    np.testing.assert_array_equal(scores[..., 0], scores[..., 1])


# ---- constants that differ between hypotheses ----------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Biased:
    """The mistake of spec 6.3: c' and c of each hypothesis by its own sensitivity."""

    learner: PrivateWMA | PrivateEXP3

    def __getattr__(self, name):
        return getattr(self.learner, name)

    def scores(self, messages, features):
        clipping = self.clipping
        own = clipping.sensitivity[0] / clipping.bound * self.learner.offset
        scales = 1 / (clipping.bound + 2 * own)
        values, heard = messages.values, True
        if self.learner.sampled:
            values = values[..., None]
            heard = messages.index[..., None] == np.arange(len(own))
        losses = -scales * (values + math.log(self.masses.shape[2]) - own)
        return -self.learner.rate * np.where(heard, losses, 0.0)


@pytest.mark.parametrize("kind", [wma, exp3])
def test_constants_that_differ_between_hypotheses_bias_the_weights(kind):
    """K = 2, M = 10, T = 10^4, eps = 1, uniform against a point mass, which is true.

    With common constants the truth gains weight; with its own ones, it loses most of it.
    """
    T, replicates = 10_000, 24
    hypotheses = HypothesisClass([[0.1] * 10, np.eye(10)[0]])
    learner = kind(hypotheses.masses, T, 1.0)
    laws = hypotheses.masses.transpose(1, 0, 2)
    truth = np.ones(replicates, dtype=int)
    game = LabelGame(hypotheses, np.zeros(T, dtype=int), laws, truth)

    def weight(algorithm):
        run = play_labels(algorithm, game, label_generators(1, ("bias",), replicates, "c"))
        weights = run.final_weights[:, 1]
        return weights.mean(), 5 * weights.std(ddof=1) / math.sqrt(replicates)

    right, error = weight(learner)
    biased, other_error = weight(Biased(learner))
    assert right + error > 0.55
    assert biased + other_error < 0.5
    assert biased < 0.3 < 0.5 < right


# ---- regret --------------------------------------------------------------------------------------


def weighted(scores, losses):
    """sum_t w_t . losses_t, (R,)."""
    return (plain.weights_before(scores) * losses).sum(axis=(1, 2))


def regret(scores, losses):
    """sum_t (w_t . losses_t) - min_j sum_t losses_tj, weights by the learner; (R,)."""
    return weighted(scores, losses) - losses.sum(axis=1).min(axis=1)


@pytest.mark.parametrize("epsilon", [0.25, 4.0])
@pytest.mark.parametrize("T", [100, 3000])
def test_lemma_1_bounds_the_regret_on_realised_losses(epsilon, T):
    learner = wma(T=T, epsilon=epsilon)
    rng = np.random.default_rng(0)
    labels, features = rng.integers(4, size=(20, T)), rng.integers(2, size=T)
    messages = learner.client.privatize(labels, features, plain.Tapes(20))
    losses = learner.losses(messages.values)
    assert ((losses >= 0) & (losses <= 1)).all()
    found = regret(learner.scores(messages, features), losses)
    assert (found <= math.sqrt(2 * T * math.log(3))).all()
    assert (found > 0).any()


@pytest.mark.parametrize("pattern", ["constant", "alternating", "late", "random"])
def test_lemma_1_holds_for_the_worst_losses_too(pattern):
    """Any losses in [0, 1], as messages; weights that grow with the loss would break it."""
    T = 400
    learner = wma(T=T)
    t = np.arange(T)[:, None]
    losses = {
        "constant": np.broadcast_to([1.0, 0.0, 1.0], (T, 3)),
        "alternating": ((t + np.arange(3)) % 2).astype(float),
        "late": np.where(t < T / 2, [[0.0, 0.3, 1.0]], [[1.0, 0.3, 0.0]]),
        "random": np.random.default_rng(0).integers(2, size=(T, 3)).astype(float),
    }[pattern][None]
    messages = plain.about(learner.offset - math.log(4) - losses / learner.scale)
    scores = learner.scores(messages, np.zeros(T, dtype=int))
    np.testing.assert_allclose(scores, -learner.rate * losses, atol=1e-9)
    bound = math.sqrt(2 * T * math.log(3))
    assert regret(scores, losses)[0] <= bound
    if pattern in ("constant", "late"):
        assert regret(-scores, losses)[0] > bound


def expected_regret(learner, losses, sign=1.0):
    """max_i E sum_t (sum_j w_tj Z_tjj - Z_tii) over all K^T sequences of indices."""
    T, K = losses.shape
    index = np.array(list(itertools.product(range(K), repeat=T)))
    M = learner.masses.shape[2]
    value = learner.offset - math.log(M) - losses[np.arange(T), index] / learner.scale
    scores = sign * learner.scores(Messages(value, index), np.zeros(T, dtype=int))
    own = weighted(scores, losses)
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
