"""Rows on statements for all features play all kinds of features."""

from __future__ import annotations

import numpy as np
import pytest

from dpol.labels.game import label_generators, play_adversary, play_labels, realisable
from dpol.labels.hypotheses import HypothesisClass, random_class
from dpol.labels.learners import Terms
from dpol.labels.registry import make_learner
from dpol.studies.ledger.claims import labels
from dpol.studies.ledger.claims.core import Finding
from ledger import SEED

X, T, R = 3, 40, 48


def learner_of(n_features: int):
    hypotheses = random_class(4, 5, seed=1, concentration=0.3, n_features=n_features)
    return make_learner("exp3", hypotheses, Terms(T, 1.0))


def played(learner, name):
    """The runs of a learner by the setting in words."""
    plays = labels._plays([learner], SEED, name)
    return {Finding("wma-risk", 0.0, 0.0, at=at).setting: run for at, _, run in plays}


def test_each_constant_feature_random_ones_and_an_adversary_are_played():
    learner, about = learner_of(X), "random, K = 4, M = 5"
    found = played(learner, "exp3")
    always = [f", feature {x} always" for x in range(X)]
    cases = [*always, ", random features", ", features of an adversary"]
    assert list(found) == [about + case for case in cases]
    for x, case in enumerate(cases):
        coins = label_generators(SEED, ("claims", "random", 4), R, f"exp3{case}")
        if case == ", random features":
            continue
        play = play_labels if case in always else play_adversary
        features = np.full(T, x if case in always else 0)
        run = play(learner, realisable(learner.hypotheses, features, R), coins)
        np.testing.assert_array_equal(found[about + case].kl, run.kl)
    constant = [found[about + case].kl.mean() for case in always]
    random, worst = (found[about + case].kl.mean() for case in cases[X:])
    assert min(constant) < random < max(constant)
    assert worst > random


def test_a_class_of_constants_is_played_once():
    ((case, run),) = played(learner_of(1), "exp3").items()
    assert (case, run.kl.shape) == ("random, K = 4, M = 5", (R,))


def test_an_adversary_stays_where_there_is_a_risk():
    """A learner that is perfect at every feature but one: only the adversary stays there."""
    masses = np.array([[[0.5, 0.5]] * 2] * 19 + [[[0.9, 0.1], [0.1, 0.9]]])
    learner = make_learner("exp3", HypothesisClass(masses), Terms(T, 1.0))
    found = {case.split(", ")[-1]: run.kl.mean() for case, run in played(learner, "").items()}
    assert found["feature 0 always"] == pytest.approx(0, abs=0.1)
    assert found["random features"] < 0.2 * found["features of an adversary"]
    assert found["features of an adversary"] == pytest.approx(found["feature 19 always"], rel=0.2)
