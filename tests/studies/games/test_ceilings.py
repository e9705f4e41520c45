"""The ceiling of a comparison: what knowing the classes gains, and that it is not a rival."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpol.experts.learners.random_effects import BY_SIZE, GROWTH, RandomEffectsBank
from dpol.experts.registry import make_members
from dpol.studies.games import ceilings
from dpol.studies.games.ceilings import classes_of, runs_with_classes
from dpol.studies.games.findings import collect
from dpol.studies.games.runs import play_suite
from dpol.studies.games.settings import Comparison, Games, Report, Suite, System
from dpol.studies.study import Facts

LEVELS = {"none": math.inf, "high": 0.1}
PAPER = System(algorithm="persistence", noise="capacity")
OURS = System(algorithm="random-effects", noise="capacity")
MAIN = Games(
    streams={"town": None},
    levels=LEVELS,
    suites={"local": Suite(noises=["capacity"], algorithms=["persistence", "random-effects"])},
    replicates=40,
    seed=5,
    report=Report(algorithms=["persistence"], envelope=""),
    comparison=Comparison(paper=PAPER, ours=OURS, classes_known=True),
)
FACTS = Facts({"town": "Town"}, simulated=True, confidence=0.95)
CALM, WILD = 20, 10


@pytest.fixture(scope="module")
def town(make_stream):
    """20 hospitals that hardly leave the shared level of 10%, then 10 that move far from it."""
    rng, scale = np.random.default_rng(2), np.repeat([0.01, 1.5], [CALM, WILD])
    moves = rng.standard_normal((120, CALM + WILD)) * math.sqrt(1 - 0.85**2)
    x = np.zeros_like(moves)
    for t in range(1, 120):
        x[t] = 0.85 * x[t - 1] + moves[t]
    gains = np.clip(0.1 + 0.1 * scale * x, 0, 1)
    return make_stream(gains, label="town", capacity=np.full(gains.shape, 60.0))


@pytest.fixture(scope="module")
def played(town):
    members = [it for name in ("persistence", "random-effects") for it in make_members(name)]
    blocks = [
        play_suite(town, members, noise="capacity", mu=mu, seed=5, replicates=range(40))
        for mu in LEVELS.values()
    ]
    return [it for block in blocks for it in block.played]


def test_the_true_gains_of_all_rounds_tell_the_classes(town):
    weights = classes_of(town, RandomEffectsBank())
    assert weights.sum(axis=0) == pytest.approx(np.ones(CALM + WILD))
    by_scale = weights.reshape(len(GROWTH) * len(BY_SIZE), 3, -1).sum(axis=0)
    assert by_scale[0, :CALM].min() > 0.9
    assert by_scale[0, CALM:].max() < 0.1


def test_the_classes_forget_nothing(town):
    weights = [classes_of(town, RandomEffectsBank(forgetting=it)) for it in (0.5, 1.0)]
    np.testing.assert_array_equal(*weights)


def test_known_classes_gain_more_and_wrong_ones_less(town, played, monkeypatch):
    """Each by 4 standard errors of paired differences: chance does so in 1 of 20,000 runs."""
    ours = next(it for it in played if (it.label, it.mu) == ("random-effects", 0.1))
    (knowing,) = runs_with_classes({"town": town}, MAIN)
    turned = classes_of(town, RandomEffectsBank())[:, ::-1]
    monkeypatch.setattr(ceilings, "classes_of", lambda stream, bank: turned)
    (wrong,) = runs_with_classes({"town": town}, MAIN)
    for more, less in ((knowing, ours), (ours, wrong)):
        apart = more.totals - less.totals
        assert apart.mean() > 4 * apart.std(ddof=1) / math.sqrt(len(apart))


def test_a_ceiling_is_beside_ours_and_in_no_ranking(town, played):
    found = collect({"cells": played, "streams": {"town": town}}, MAIN, FACTS)
    rows = found["comparison"].set_index(["kind", "mu"])
    ceiling = rows.loc[("ceiling", 0.1)]
    assert (ceiling["other_algorithm"], ceiling["other_model"]) == ("known-classes", "none")
    assert ceiling["common_noise"]
    assert ("ceiling", math.inf) not in rows.index, "without noise, ours is a ceiling itself"
    others = found["comparison"].query("kind != 'ceiling'")["other_algorithm"]
    assert "known-classes" not in {*others, *found["summary"]["algorithm"]}
    assert "known-classes" not in set(found["ranking"]["algorithm"])
