from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.studies.labels.game import (
    LabelGame,
    LabelGenerators,
    label_generators,
    play_labels,
    realisable,
    softmax,
)
from dpol.studies.labels.hypotheses import HypothesisClass
from studies.labels import plain

HYPOTHESES = HypothesisClass(plain.TWO_FEATURES)
# Two laws; the second has zeros.
LAWS = np.array(
    [
        [[0.1, 0.2, 0.3, 0.4], [0.3, 0.3, 0.4, 0.0]],
        [[0.0, 0.0, 0.0, 1.0], [0.5, 0.0, 0.5, 0.0]],
    ]
)


class Recorder:
    """Sends labels as they are, with a fixed change of log-weights for every label."""

    origin = "ours"
    masses = HYPOTHESES.masses * 0.9 + 0.025

    def __init__(self):
        self.client = self
        self.labels = []
        self.features = []
        self.table = np.random.default_rng(0).normal(size=(4, 3))

    def privatize(self, labels, features, generators):
        assert generators.n_replicates == len(labels)
        self.labels.append(labels)
        self.features.append(features)
        return labels

    def scores(self, messages, features):
        return self.table[messages]


def test_a_game_is_that_of_plain_python():
    """Labels by inversion from the law of the replicate and the feature of the round."""
    T, truth = 300, np.array([0, 1, 1, 0])
    features = np.random.default_rng(0).integers(2, size=T)
    game = LabelGame(HYPOTHESES, features, LAWS, truth)
    recorder = Recorder()
    run = play_labels(recorder, game, label_generators(5, ("k",), 4, "r"))
    labels = np.concatenate(recorder.labels, axis=1)
    np.testing.assert_array_equal(np.concatenate(recorder.features), features)
    nature = label_generators(5, ("k",), 4, "r").nature
    for r, generator in enumerate(nature.generators):
        laws = LAWS[truth[r]]
        pairs = zip(features, generator.random(T), strict=True)
        drawn = [plain.draw(laws[x], u) for x, u in pairs]
        assert labels[r].tolist() == drawn
        kl, tv, used, final = plain.play(
            recorder.table[drawn].tolist(), recorder.masses, features, laws.tolist()
        )
        assert run.kl[r] == pytest.approx(kl, rel=1e-10)
        assert run.tv[r] == pytest.approx(tv, rel=1e-10)
        np.testing.assert_allclose(run.mean_weights[r], np.mean(used, axis=0), rtol=1e-10)
        np.testing.assert_allclose(run.final_weights[r], final, rtol=1e-10)


def test_a_prediction_uses_messages_of_earlier_rounds_only():
    """The first is the average of all; the last message moves the final weights alone."""
    game = LabelGame(HYPOTHESES, np.zeros(1, dtype=int), LAWS, np.array([0]))
    run = play_labels(Recorder(), game, label_generators(5, ("k",), 1, "r"))
    np.testing.assert_allclose(run.mean_weights, [[1 / 3] * 3])
    average = Recorder.masses[0].mean(axis=0).tolist()
    assert run.kl[0] == pytest.approx(plain.kl(LAWS[0, 0].tolist(), average))
    assert run.final_weights.std() > 0.01


def test_realisable_games_take_every_hypothesis_in_turn():
    features = np.array([0, 1, 1])
    game = realisable(HYPOTHESES, features, 7)
    assert game.law.tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert (game.n_laws, game.n_rounds, game.n_replicates) == (3, 3, 7)
    for j in range(3):
        np.testing.assert_array_equal(game.laws[j], HYPOTHESES.masses[:, j])


def test_clients_of_the_same_key_meet_the_same_labels_with_their_own_coins():
    one, other = (label_generators(1, ("k",), 2, client) for client in ("a", "b"))
    again = label_generators(1, ("k",), 2, "a")
    labels = one.nature.uniforms(5)
    np.testing.assert_array_equal(labels, other.nature.uniforms(5))
    coins = one.clients.uniforms(5)
    np.testing.assert_array_equal(coins, again.clients.uniforms(5))
    assert not np.isclose(coins, other.clients.uniforms(5)).any()
    assert not np.isclose(coins, labels).any()
    assert not np.isclose(labels[0], labels[1]).any()
    elsewhere = label_generators(1, ("l",), 2, "a"), label_generators(2, ("k",), 2, "a")
    for generators in elsewhere:
        assert not np.isclose(labels, generators.nature.uniforms(5)).any()
    assert isinstance(one, LabelGenerators)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6), st.floats(-1e6, 1e6))
def test_softmax_is_that_of_plain_python(logs, shift):
    logs = np.array(logs)
    before = logs.copy()
    np.testing.assert_allclose(softmax(logs), plain.softmax(logs.tolist()), rtol=1e-9, atol=1e-300)
    np.testing.assert_array_equal(logs, before)
    np.testing.assert_allclose(softmax(logs + shift), softmax(logs), rtol=1e-6, atol=1e-12)


def test_softmax_survives_what_is_impossible():
    logs = np.array([[0.0, -1e30], [-2e30, -1e30], [-1e30, -1e30], [-math.inf, 0.0]])
    np.testing.assert_array_equal(softmax(logs), [[1, 0], [0, 1], [0.5, 0.5], [0, 1]])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"laws": LAWS[:, :, :3]}, r"laws must have shape \(L, 2, 4\), got \(2, 2, 3\)"),
        ({"laws": LAWS[:, :1]}, r"laws must have shape \(L, 2, 4\), got \(2, 1, 4\)"),
        ({"laws": LAWS[0]}, r"laws must have shape \(L, 2, 4\), got \(2, 4\)"),
        ({"laws": 0.9 * LAWS}, "laws must be distributions"),
        ({"laws": np.array([[[1.1, -0.1, 0, 0]] * 2] * 2)}, "laws must be distributions"),
        ({"laws": LAWS * math.nan}, "laws must be distributions"),
        ({"features": np.array([0, 2])}, r"features must be a vector of integers in 0\.\.1"),
        ({"features": np.array([0, -1])}, r"features must be a vector of integers in 0\.\.1"),
        ({"features": np.array([0.0, 1.0])}, "features must be a vector of integers"),
        ({"features": np.array([[0, 1]])}, "features must be a vector of integers"),
        ({"features": np.array([], dtype=int)}, "features must be .* not empty"),
        ({"law": np.array([0, 2])}, r"law must be a vector of integers in 0\.\.1"),
        ({"law": np.array([-1])}, r"law must be a vector of integers in 0\.\.1"),
        ({"law": np.array([], dtype=int)}, "law must be .* not empty"),
    ],
)
def test_games_that_do_not_fit_are_refused(changed, message):
    parts = {"features": np.array([0, 1]), "laws": LAWS, "law": np.array([0, 1])}
    LabelGame(HYPOTHESES, **parts)
    with pytest.raises(ValueError, match=message):
        LabelGame(HYPOTHESES, **{**parts, **changed})


def test_the_law_of_a_feature_that_never_occurs_does_not_matter():
    laws = LAWS.copy()
    laws[:, 1] = [30.0, 10.0, 0.0, 0.0]
    LabelGame(HYPOTHESES, np.array([0, 0]), laws, np.array([0]))
    with pytest.raises(ValueError, match="laws must be distributions"):
        LabelGame(HYPOTHESES, np.array([0, 1]), laws, np.array([0]))
