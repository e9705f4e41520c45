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
from dpol.lazy.accounting import LazyGame, published_epsilon, sound_epsilon
from dpol.lazy.algorithm import LazyWeights
from dpol.lazy.parameters import choose_parameters
from dpol.privacy.gaussian_dp import epsilon_of_delta
from dpol.privacy.guarantee import ONE_PERSON, UNIT, Guarantee

# ---- what is played ------------------------------------------------------------------------------


@pytest.mark.parametrize(("mu", "T"), [(0.02, 100), (1.0, 23), (math.inf, 20)])
def test_it_plays_algorithm_one_on_losses(make_stream, mu, T):
    gains = 4 * np.random.default_rng(T).random((T, 4))
    source = RawGains(make_stream(gains, 5.0, gain_range=4.0), mu, 30)
    algorithm = LazyWeights(delta=1e-3)
    tapes = [plain.Tape(np.random.default_rng(k).random(600).tolist()) for k in range(30)]
    actions = play_rounds(algorithm, source, ReplicateGenerators(tuple(tapes)))
    rules = algorithm.parameters_for(setup_of(source))
    assert (rules.batch_size > 1) == (mu == 0.02)
    facts = {"B": rules.batch_size, "eta": rules.eta, "p": rules.fake_switch, "c": 1.0}
    plays = [plain.play((4 - gains) / 4, tape.numbers, **facts)[0] for tape in tapes]
    assert plays == actions.tolist()


# ---- its guarantee -------------------------------------------------------------------------------


@pytest.mark.parametrize("accountant", ["sound", "published"])
def test_the_guarantee_is_the_accounted_epsilon_at_delta(random_stream, accountant):
    stream = random_stream(60, 4)
    algorithm, source = LazyWeights(accountant=accountant, delta=1e-5), RawGains(stream, 0.1, 3)
    parameters, change = algorithm.parameters_for(setup_of(source)), 1 / stream.capacity.min()
    game = LazyGame(60, 1e-5, largest_change=change)
    account = {"sound": sound_epsilon, "published": published_epsilon}[accountant]
    epsilon = account(game, parameters.batch_size, parameters.eta, parameters.fake_switch)
    assert 0.95 * epsilon_of_delta(1e-5, 0.1) < epsilon <= epsilon_of_delta(1e-5, 0.1)
    guarantee = guarantee_of(algorithm, source)
    assert math.isnan(guarantee.mu)
    assert dataclasses.replace(guarantee, mu=0.0) == Guarantee(
        mechanism=f"lazy resampling from multiplicative weights (L2P), {accountant} accountant",
        adjacency=ONE_PERSON,
        unit=UNIT,
        sensitivity=change,
        sensitivity_unit="L-infinity, gain",
        mu=0.0,
        model="central",
        epsilon_delta=(epsilon, 1e-5),
    )
    # A smaller delta is not covered.
    assert guarantee.epsilon(1e-5) == guarantee.epsilon(1e-3) == epsilon
    assert math.isinf(guarantee.epsilon(9.99e-6))


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
    game = LazyGame(150, 1e-6, largest_change=s, normaliser=1.0)
    expected = choose_parameters(game, epsilon=epsilon_of_delta(1e-6, 1.0), n_experts=20)
    assert LazyWeights().parameters_for(setup_with(**fields)) == expected


def test_the_published_accountant_comes_with_the_normaliser_of_the_paper_which_is_its_own():
    setup = setup_with(mu=8.0)
    kinds = [LazyWeights(accountant=accountant) for accountant in ("sound", "published")]
    assert [kind.parameters_for(setup).normaliser for kind in kinds] == [1.0, 2.0]
    assert [kind.origin for kind in kinds] == ["ours", "paper"]
    assert dataclasses.replace(kinds[1], largest_batch=1).origin == "ours"


@pytest.mark.parametrize(
    ("algorithm", "mu", "epsilon"),
    [(LazyWeights(1e-9, "published"), 4e-9, "1.379e-09"), (LazyWeights(0.01), 0.001, "0")],
    ids=["out of reach", "already private"],
)
def test_a_mu_that_cannot_be_reached_is_an_error(algorithm, mu, epsilon):
    message = f"L2P at mu = {mu:g}, which is epsilon = {epsilon} at delta.* take a larger mu"
    with pytest.raises(DataError, match=message):
        algorithm.parameters_for(setup_with(n_rounds=2, mu=mu))
