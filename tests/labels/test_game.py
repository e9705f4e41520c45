"""The game compared with plain Python, and exact risks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpol.labels.game import LabelGame, label_generators, play_labels, round_risks
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
