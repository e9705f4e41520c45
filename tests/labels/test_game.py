"""Games compared with plain Python, and what games of every registered learner share."""

import dataclasses
import json
import math

import numpy as np
import pytest

from dpol.labels import game as module
from dpol.labels.game import (
    LabelGame,
    LabelGenerators,
    label_generators,
    play_adversary,
    play_labels,
    realisable,
    round_risks,
)
from dpol.labels.hypotheses import HypothesisClass
from dpol.labels.learners import Terms
from dpol.labels.registry import SELECTORS, make_learner, variants
from dpol.privacy.losses import Loss
from labels import plain

# Two distributions; the second has zeros.
LAWS = np.array(
    [[[0.1, 0.2, 0.3, 0.4], [0.3, 0.3, 0.4, 0.0]], [[0.0, 0.0, 0.0, 1.0], [0.5, 0.0, 0.5, 0.0]]]
)


class Recorder:
    """A learner that sends the labels, and changes log-weights by a fixed amount for each."""

    masses = plain.HYPOTHESES.masses * 0.9 + 0.025

    def __init__(self):
        self.client = self
        self.table = np.random.default_rng(0).normal(size=(4, 3))

    def privatize(self, labels, features, generators):
        assert generators.n_replicates == len(labels)
        self.labels, self.features = labels, features  # one chunk
        return labels

    def scores(self, messages, features):
        return self.table[messages]


def test_a_game_agrees_with_plain_python():
    """Labels are drawn by inversion, by the truth of the replicate and the feature of the round."""
    T, truth = 300, np.array([0, 1, 1, 0])
    features = np.random.default_rng(0).integers(2, size=T)
    game = LabelGame(hypotheses=plain.HYPOTHESES, features=features, truths=LAWS, truth=truth)
    recorder = Recorder()
    run = play_labels(recorder, game, label_generators(5, ("k",), 4, "r"))
    np.testing.assert_array_equal(recorder.features, features)
    nature = label_generators(5, ("k",), 4, "r").nature
    for r, generator in enumerate(nature.generators):
        laws = LAWS[truth[r]]
        pairs = zip(features, generator.random(T), strict=True)
        drawn = [plain.draw(laws[x], u) for x, u in pairs]
        assert recorder.labels[r].tolist() == drawn
        kl, tv, used, final = plain.play(
            recorder.table[drawn].tolist(), recorder.masses, features, laws.tolist()
        )
        assert run.kl[r] == pytest.approx(kl, rel=1e-10)
        assert run.tv[r] == pytest.approx(tv, rel=1e-10)
        np.testing.assert_allclose(run.mean_weights[r], np.mean(used, axis=0), rtol=1e-10)
        np.testing.assert_allclose(run.final_weights[r], final, rtol=1e-10)


def test_clients_of_the_same_key_meet_the_same_labels_with_their_own_coins():
    one, other = (label_generators(1, ("k",), 2, client) for client in ("a", "b"))
    again = label_generators(1, ("k",), 2, "a")
    labels = one.nature.uniforms(5)
    np.testing.assert_array_equal(labels, other.nature.uniforms(5))
    coins = one.clients.uniforms(5)
    np.testing.assert_array_equal(coins, again.clients.uniforms(5))
    assert not np.isclose(coins, other.clients.uniforms(5)).any()
    assert not np.isclose(coins, labels).any()


@pytest.mark.parametrize(
    ("truths", "message"),
    [
        (LAWS[:, :, :3], r"truths must have shape \(L, 2, 4\), got \(2, 2, 3\)"),
        (LAWS[0], r"truths must have shape \(L, 2, 4\), got \(2, 4\)"),
        (0.9 * LAWS, "masses of `truths` must be at least 0 and sum to 1"),
        (np.array([[[1.1, -0.1, 0, 0]] * 2] * 2), "masses of `truths` must be at least 0"),
        (LAWS * math.nan, "masses of `truths` must be at least 0"),
    ],
)
def test_games_that_do_not_fit_are_refused(truths, message):
    with pytest.raises(ValueError, match=message):
        LabelGame(
            hypotheses=plain.HYPOTHESES,
            features=np.array([0, 1]),
            truths=truths,
            truth=np.array([0, 1]),
        )


# ---- risks ---------------------------------------------------------------------------------------


def test_a_label_of_probability_0_adds_nothing_though_nobody_predicts_it():
    """Its log(0) times 0 would be no number."""
    kl, tv = round_risks(np.array([[[1.0, 0.0]]]), np.eye(2), np.array([[1.0, 0.0]]))
    assert (kl.tolist(), tv.tolist()) == ([[0.0]], [[0.0]])


def test_a_label_that_is_ruled_out_by_mistake_costs_infinitely_much():
    """No floor hides it, and no warning stops the run."""
    kl, tv = round_risks(np.ones((1, 1, 1)), np.array([[1.0, 0.0]]), np.array([[0.9, 0.1]]))
    assert kl.tolist() == [[math.inf]]
    assert tv[0, 0] == pytest.approx(0.1)


# ---- every registered learner --------------------------------------------------------------------


T, R = 150, 6
MEMBERS = list(variants())
every_member = pytest.mark.parametrize(("name", "rule"), MEMBERS, ids=map("-".join, MEMBERS))
FIELDS = ("kl", "tv", "mean_weights", "final_weights")


FEATURES = np.arange(T) % 3 // 2


def learner_of(name, rule, epsilon=1.0):
    return make_learner(name, plain.HYPOTHESES, Terms(T, epsilon), rule)


def game_of():
    return realisable(plain.HYPOTHESES, FEATURES, R)


def coins(seed=1):
    return label_generators(seed, ("suite",), R, "own")


def run_of(learner):
    return play_labels(learner, game_of(), coins())


@every_member
@pytest.mark.parametrize("length", [64, 70, 149])
def test_weights_do_not_depend_on_how_rounds_are_cut(name, rule, length, monkeypatch):
    whole = run_of(learner_of(name, rule))
    monkeypatch.setattr(module, "_CHUNK", length * R * 3)
    monkeypatch.setattr(module, "_BLOCK", 100)
    cut = run_of(learner_of(name, rule))
    # Exactly equal, since the messages are the same.
    np.testing.assert_array_equal(cut.final_weights, whole.final_weights)
    for field in FIELDS:
        np.testing.assert_allclose(getattr(cut, field), getattr(whole, field), rtol=1e-11)


@every_member
def test_replicates_at_once_are_separate_runs(name, rule):
    learner, game = learner_of(name, rule), game_of()
    whole, generators = run_of(learner), coins()
    for r in range(R):
        single = LabelGenerators(generators.nature.of([r]), generators.clients.of([r]))
        alone = play_labels(learner, dataclasses.replace(game, truth=game.truth[[r]]), single)
        np.testing.assert_array_equal(alone.final_weights[0], whole.final_weights[r])
        for field in FIELDS:
            one, expected = getattr(alone, field)[0], getattr(whole, field)[r]
            np.testing.assert_allclose(one, expected, rtol=1e-11)


@every_member
def test_the_guarantee_is_complete(name, rule):
    guarantee = learner_of(name, rule).client.guarantee
    assert Loss.of_data(json.loads(guarantee.as_row()["loss"])) == guarantee.loss
    assert guarantee.sensitivity > 0
    if guarantee.model == "none":
        return  # tests of clients check its fields
    assert (guarantee.model, guarantee.sampler) == ("local", "seeded")
    delta = learner_of(name, rule).client.delta
    assert delta in (0.0, 1e-6), f"{name}: its delta is not the delta of the terms"
    epsilon = guarantee.epsilon(delta)
    if rule == "exact":
        assert 0 < epsilon <= 1.0, f"{name}: misses the epsilon of the terms"
    else:
        assert epsilon > 0


# ---- selectors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SELECTORS)
def test_a_selection_depends_on_the_seed_and_on_its_own_generator_only(name):
    selector = SELECTORS[name](HypothesisClass(plain.TWO_FEATURES[0]), Terms(T, 0.3))
    game, generators = realisable(selector.hypotheses, np.zeros(T, dtype=int), R), coins()
    whole = selector.selected(game, generators)
    assert whole.shape == (R,)
    np.testing.assert_array_equal(selector.selected(game, coins()), whole)
    others = [selector.selected(game, coins(seed)).tolist() for seed in range(2, 8)]
    assert any(other != whole.tolist() for other in others)
    for r in range(R):
        one = LabelGenerators(coins().nature.of([r]), coins().clients.of([r]))
        alone = selector.selected(dataclasses.replace(game, truth=game.truth[[r]]), one)
        assert alone.tolist() == [whole[r]]


# ---- features of an adversary --------------------------------------------------------------------


def against_an_adversary(learner, worst=max):
    """Return KL and final weights (R,), round by round, at the feature of the `worst` next risk."""
    game, generators = game_of(), coins()
    laws = [game.truths[j].tolist() for j in game.truth]
    logs, kls = np.zeros((R, 3)), np.zeros(R)
    looks = [*range(101), 102, 104, *range(106, 150, 2)]
    for t in range(T):
        weights = [plain.softmax(row) for row in logs.tolist()]
        mixed = np.einsum("rk,xky->rxy", weights, learner.masses).tolist()
        risks = [[plain.kl(laws[r][x], mixed[r][x]) for x in (0, 1)] for r in range(R)]
        if t in looks:
            shown = [worst((0, 1), key=risk.__getitem__) for risk in risks]
        kls += [risk[x] for risk, x in zip(risks, shown, strict=True)]
        uniforms = generators.nature.uniforms(1)[:, 0]
        labels = [plain.draw(laws[r][shown[r]], uniforms[r]) for r in range(R)]
        features = np.array(shown)[:, None]
        sent = learner.client.privatize(np.array(labels)[:, None], features, generators.clients)
        logs += learner.scores(sent, features)[:, 0]
    return kls, np.array([plain.softmax(row) for row in logs.tolist()])


@every_member
def test_an_adversary_shows_what_costs_most_next(name, rule):
    """Rounding may choose the feature once one weight is almost 1."""
    learner = learner_of(name, rule, epsilon=0.3)
    run = play_adversary(learner, game_of(), coins())
    kls, final = against_an_adversary(learner)
    np.testing.assert_allclose(run.kl, kls, rtol=1e-6)
    np.testing.assert_allclose(run.final_weights, final, rtol=0, atol=1e-2)
    np.testing.assert_allclose(run.mean_weights.sum(axis=1), 1)
    assert (run.tv <= np.sqrt(run.kl * T / 2)).all()
    # A friend picks the best feature, which is another game.
    assert not np.isclose(against_an_adversary(learner, min)[0], run.kl, rtol=1e-3).any()


# ---- a wrong class -------------------------------------------------------------------------------


@every_member
def test_a_label_that_no_hypothesis_allows_costs_infinitely_much_and_stops_nothing(name, rule):
    """Its message is like any other, weights stay numbers, and the risk shows the mistake."""
    wrong = HypothesisClass([[0.5, 0.5, 0.0], [0.25, 0.75, 0.0], [1.0, 0.0, 0.0]])
    game = plain.constant_game(wrong, [0.3, 0.3, 0.4], T, R)
    run = play_labels(make_learner(name, wrong, Terms(T, 1.0), rule), game, coins())
    assert (run.kl == math.inf).all()
    assert ((run.tv >= 0.4 * T * (1 - 1e-12)) & (run.tv <= T)).all()
    for weights in (run.final_weights, run.mean_weights):
        np.testing.assert_allclose(weights.sum(axis=1), 1.0)
