"""Private WMA, its losses and its regret; what other constants would do to the weights."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import labels_plain as plain
from dpol.distributions.exp3 import PrivateEXP3
from dpol.distributions.play import LabelGame, label_generators, play_labels, softmax
from dpol.distributions.wma import LossScale, PrivateWMA, loss_scale
from dpol.local.hypotheses import HypothesisClass
from dpol.local.label_messages import SampledClient, VectorClient, VectorMessages
from dpol.privacy.laplace_composition import scale_factor


def wma(masses=plain.TWO_FEATURES, T=50, epsilon=1.0, rule="exact", composition="exact"):
    return PrivateWMA(
        VectorClient(plain.sensitivity(masses, T, rule), epsilon, 1e-6, composition=composition)
    )


# ---- the constants -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "composition", "s"),
    [("exact", "exact", math.log(4 * 50)), ("published", "published", math.log(3 * 50))],
)
def test_scores_are_those_of_algorithm_1(rule, composition, s):
    """-eta Ytilde_j, Ytilde_j = -c (message_j + log M - c'), K = 3, M = 4, T = 50."""
    learner = wma(rule=rule, composition=composition)
    values = np.random.default_rng(0).normal(-3, 5, size=(2, 7, 3))
    found = learner.scores(VectorMessages(values), np.zeros(7, dtype=int))
    offset = scale_factor(3, 1.0, 1e-6, composition) * s * (2 * math.log(50) + math.log(3))
    c = 1 / (s + 2 * offset)
    losses = [[[-c * (v + math.log(4) - offset) for v in row] for row in rows] for rows in values]
    np.testing.assert_allclose(found, -math.sqrt(2 * math.log(3) / 50) * np.array(losses))
    assert learner.rate == pytest.approx(math.sqrt(2 * math.log(3) / 50), rel=1e-15)
    assert learner.loss_scale.scale == pytest.approx(c, rel=1e-12)
    assert learner.loss_scale.offset == pytest.approx(offset, rel=1e-12)


def test_published_scale_by_hand():
    """(2 sqrt(2K log(1/delta)) + sqrt(K eps)) / eps, at K = 3, eps = 2, delta = 1e-6."""
    learner = wma(epsilon=2.0, rule="published", composition="published")
    b = math.log(150) * (2 * math.sqrt(6 * math.log(1e6)) + math.sqrt(6)) / 2
    expected = b * (math.log(50) + math.log(3) + math.log(50))
    assert learner.loss_scale.offset == pytest.approx(expected, rel=1e-12)


def test_it_mixes_the_clipped_hypotheses():
    learner = wma()
    expected = learner.client.sensitivity.clipping.block_masses
    np.testing.assert_array_equal(learner.masses, expected)


def test_scores_do_not_change_the_messages():
    messages = VectorMessages(np.zeros((1, 2, 3)))
    wma().scores(messages, np.zeros(2, dtype=int))
    assert not messages.values.any()


@given(
    st.integers(0, 10**6),
    st.integers(2, 5),
    st.integers(2, 9),
    st.sampled_from([0.05, 1.0]),
    st.integers(2, 10**6),
    st.floats(0.1, 8),
    st.floats(-1, 1),
)
def test_losses_lie_in_0_to_1_unless_the_noise_is_extreme(seed, K, M, kind, T, epsilon, part):
    """Noise up to c' is not: it is exceeded somewhere in a run with probability 1 / T at most."""
    masses = plain.random_masses(np.random.default_rng(seed), K, M, kind)
    sensitivity = plain.sensitivity(masses, T)
    found = loss_scale(sensitivity, 1 / epsilon)
    logs = sensitivity.clipping.log_cells
    losses = found.losses(logs[np.isfinite(logs)] + part * found.offset)
    assert (losses >= -1e-9).all()
    assert (losses <= 1 + 1e-9).all()
    # By the union bound: K T messages, tails exp(-c' / b), b <= s / eps.
    b = sensitivity.bound / epsilon
    assert K * T * math.exp(-found.offset / b) == pytest.approx(1 / T, rel=1e-6)
    # Of a hypothesis that reaches 1/M, noise above c' makes a negative loss; below, far below -c'.
    top = -math.log(M)
    assert found.losses(np.array([top + 1.001 * found.offset]))[0] < 0
    assert found.losses(np.array([top - sensitivity.bound - 1.001 * found.offset]))[0] > 1


def test_equal_messages_are_equal_losses_for_every_hypothesis():
    """However different the sensitivities s_j are."""
    masses = [[0.1] * 10, np.eye(10)[0]]
    learner = wma(masses, 10_000)
    ranges = learner.client.sensitivity.clipping.ranges[0]
    assert ranges.max() > 3 * ranges.min()
    messages = VectorMessages(np.repeat(np.linspace(-20, 5, 9)[:, None], 2, axis=1)[None])
    scores = learner.scores(messages, np.zeros(9, dtype=int))
    np.testing.assert_array_equal(scores[..., 0], scores[..., 1])


# ---- constants that differ between hypotheses ----------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Biased:
    """The mistake of spec 6.3: c' and c of each hypothesis by its own sensitivity."""

    learner: PrivateWMA | PrivateEXP3

    origin = "ours"

    @property
    def client(self):
        return self.learner.client

    @property
    def masses(self):
        return self.learner.masses

    def scores(self, messages, features):
        sensitivity = self.client.sensitivity
        common = self.learner.loss_scale
        own = sensitivity.values[0] / sensitivity.bound * common.offset
        scales = [LossScale(1 / (sensitivity.bound + 2 * c), c, common.n_labels) for c in own]
        if isinstance(messages, VectorMessages):
            losses = [scale.losses(messages.values[..., j]) for j, scale in enumerate(scales)]
        else:
            losses = [
                np.where(messages.index == j, scale.losses(messages.value), 0.0)
                for j, scale in enumerate(scales)
            ]
        return -self.learner.rate * np.stack(losses, axis=-1)


@pytest.mark.parametrize("kind", ["wma", "exp3"])
def test_constants_that_differ_between_hypotheses_bias_the_weights(kind):
    """K = 2, M = 10, T = 10^4, eps = 1, uniform against a point mass, which is true.

    With common constants the truth gains weight; with its own ones, it loses most of it.
    """
    T, replicates = 10_000, 24
    hypotheses = HypothesisClass([[0.1] * 10, np.eye(10)[0]])
    sensitivity = plain.sensitivity(hypotheses.masses, T)
    learner = (
        PrivateWMA(VectorClient(sensitivity, 1.0))
        if kind == "wma"
        else PrivateEXP3(SampledClient(sensitivity, 1.0))
    )
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


def regret(scores, losses):
    """sum_t (w_t . losses_t) - min_j sum_t losses_tj, weights by the learner; (R,)."""
    running = np.cumsum(np.concatenate([np.zeros_like(scores[:, :1]), scores], axis=1), axis=1)
    weights = softmax(running[:, :-1])
    return (weights * losses).sum(axis=(1, 2)) - losses.sum(axis=1).min(axis=1)


@pytest.mark.parametrize("epsilon", [0.25, 4.0])
@pytest.mark.parametrize("T", [100, 3000])
def test_lemma_1_bounds_the_regret_on_realised_losses(epsilon, T):
    learner = wma(T=T, epsilon=epsilon)
    rng = np.random.default_rng(0)
    labels, features = rng.integers(4, size=(20, T)), rng.integers(2, size=T)
    messages = learner.client.privatize(labels, features, plain.Tapes(20))
    losses = learner.loss_scale.losses(messages.values)
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
    scale = learner.loss_scale
    messages = VectorMessages(scale.offset - math.log(4) - losses / scale.scale)
    scores = learner.scores(messages, np.zeros(T, dtype=int))
    np.testing.assert_allclose(scores, -learner.rate * losses, atol=1e-9)
    bound = math.sqrt(2 * T * math.log(3))
    assert regret(scores, losses)[0] <= bound
    if pattern in ("constant", "late"):
        assert regret(-scores, losses)[0] > bound
