from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import lazy_plain as plain
from dpol.core.errors import DataError
from dpol.core.randomness import ReplicateGenerators
from dpol.experts.interface import CuratorSetup
from dpol.experts.play import RawGains, guarantee_of, play_rounds, setup_of
from dpol.lazy.accounting import LazyGame, published_epsilon, sound_loss
from dpol.lazy.algorithm import LazyWeights
from dpol.lazy.dartboard import ShrinkingDartboard
from dpol.lazy.parameters import choose_parameters
from dpol.privacy.gaussian_dp import epsilon_of_delta
from dpol.privacy.losses import pure

# ---- what is played ------------------------------------------------------------------------------


@pytest.mark.parametrize("mu", [0.02, 1.0, math.inf])
@pytest.mark.parametrize(
    "made", [LazyWeights(1e-3), ShrinkingDartboard(1e-3)], ids=lambda it: it.name
)
def test_it_plays_algorithm_one_on_losses(make_stream, made, mu):
    T = {0.02: 100, 1.0: 23, math.inf: 20}[mu]
    gains = 4 * np.random.default_rng(T).random((T, 4))
    source = RawGains(make_stream(gains, 5.0, gain_range=4.0), mu, 30)
    tapes = [plain.Tape(np.random.default_rng(k).random(600).tolist()) for k in range(30)]
    actions = play_rounds(made, source, ReplicateGenerators(tuple(tapes))).tolist()
    rules = made.parameters_for(setup_of(source))
    assert (rules.batch_size > 1) == (mu == 0.02)
    facts = {"B": rules.batch_size, "eta": rules.eta, "p": rules.fake_switch}
    facts["shadow"] = made.name == "L2P"
    for r in (4, 8):  # power: losses in another unit are other games
        plays = [plain.play((r - gains) / r, tape.numbers, **facts)[0] for tape in tapes]
        assert (plays == actions) == (r == 4)


# ---- its guarantee -------------------------------------------------------------------------------


def test_the_guarantee_of_the_theorem_is_its_epsilon_at_delta(random_stream):
    stream = random_stream(60, 4)
    algorithm = LazyWeights(accountant="published", delta=1e-5)
    source = RawGains(stream, 0.1, 3)
    parameters, change = algorithm.parameters_for(setup_of(source)), 1 / stream.capacity.min()
    game = LazyGame(60, 1e-5, largest_change=change)
    epsilon = published_epsilon(game, parameters.batch_size, parameters.eta, parameters.fake_switch)
    assert 0.95 * epsilon_of_delta(1e-5, 0.1) < epsilon <= epsilon_of_delta(1e-5, 0.1)
    guarantee = guarantee_of(algorithm, source)
    assert (guarantee.loss, guarantee.mu) == (pure(epsilon, 1e-5), math.inf)
    assert (guarantee.sensitivity, guarantee.sensitivity_unit) == (change, "L-infinity, gain")
    assert guarantee.mechanism.endswith(" (L2P), published accountant")


@pytest.mark.parametrize("made", [LazyWeights(), ShrinkingDartboard()], ids=lambda made: made.name)
@pytest.mark.parametrize("mu", [0.02, 0.1])
def test_parameters_are_searched_for_the_mu_and_reach_it(random_stream, made, mu):
    source = RawGains(random_stream(60, 4, seed=2), mu, 3)
    setup = dataclasses.replace(setup_of(source), largest_change=0.5)
    parameters, record = made.parameters_for(setup), made.guarantee(setup)
    assert 0.99 * mu <= record.mu <= mu
    game = LazyGame(60, 1e-6, largest_change=0.5)
    assert parameters.shadow == (made.name == "L2P")
    assert record.loss == sound_loss(game, parameters)


def setup_with(**fields):
    facts = {"n_replicates": 2, "n_rounds": 150, "n_experts": 20, "gain_range": 1.0, "mu": 1.0}
    return CuratorSetup(**{**facts, "sensitivity": 0.3, "largest_change": 0.2, **fields})


@pytest.mark.parametrize(
    ("fields", "s"),
    [
        ({}, 0.2),
        ({"largest_change": 0.05}, 0.05),
        ({"gain_range": 4.0}, 0.05),
        ({"largest_change": 3.0}, 1.0),
        ({"sensitivity": 0.9}, 0.2),
    ],
)
def test_it_is_accounted_for_how_far_one_person_moves_a_loss(fields, s):
    made = LazyWeights(accountant="published")
    game = LazyGame(150, 1e-6, largest_change=s, normaliser=2.0)
    setup = setup_with(mu=8.0, **fields)
    asked = {"epsilon": epsilon_of_delta(1e-6, 8.0), "n_experts": 20, "accountant": "published"}
    assert made.parameters_for(setup) == choose_parameters(game, **asked)
    sound = LazyWeights()
    rules, game = sound.parameters_for(setup), LazyGame(150, 1e-6, largest_change=s)
    assert sound.guarantee(setup).loss == sound_loss(game, rules)


def test_the_published_accountant_comes_with_the_normaliser_of_the_paper_which_is_its_own():
    setup = setup_with(mu=8.0)
    kinds = [LazyWeights(accountant=accountant) for accountant in ("sound", "published")]
    assert [kind.parameters_for(setup).normaliser for kind in kinds] == [1.0, 2.0]
    kinds += [ShrinkingDartboard(accountant=accountant) for accountant in ("sound", "published")]
    assert [kind.origin for kind in kinds] == ["ours", "paper"] * 2
    assert dataclasses.replace(kinds[1], largest_batch=1).origin == "ours"


def test_a_mu_that_cannot_be_reached_is_an_error():
    message = "L2P at mu = 4e-09: it cannot be .* take a larger mu"
    with pytest.raises(DataError, match=message):
        LazyWeights(1e-9, "published").parameters_for(setup_with(n_rounds=2, mu=4e-9))
