from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

import lazy_plain as plain
from dpol.core.errors import DataError
from dpol.core.intervals import standard_error
from dpol.core.randomness import ReplicateGenerators, replicate_generators
from dpol.experts.interface import CuratorSetup
from dpol.experts.play import RawGains, guarantee_of, play_rounds, setup_of
from dpol.lazy.accounting import LazyGame, published_epsilon, sound_epsilon
from dpol.lazy.algorithm import LazyWeights
from dpol.lazy.parameters import choose_parameters
from dpol.lazy.transform import NORMALISERS
from dpol.privacy.gaussian_dp import epsilon_of_delta
from dpol.privacy.guarantee import ONE_PERSON, UNIT, Guarantee

# A sound library fails a statistical test with probability at most this.
ERROR = 1e-6


def generators(replicates, seed=0):
    return replicate_generators(seed, ("lazy weights",), range(replicates), "algorithm")


@pytest.fixture(scope="module")
def one_good(make_stream):
    """One expert of ten gains 0.9 and the others 0.1, for 300 rounds with five beds each."""
    gains = np.full((300, 10), 0.1)
    gains[:, 6] = 0.9
    return make_stream(gains, 5.0)


# ---- what is played ------------------------------------------------------------------------------


def is_plain(stream, mu, algorithm, seed=0):
    """Return B, and whether replicates are Algorithm 1 on (r - gain) / r and on 1 - gain."""
    rng = np.random.default_rng(seed)
    tapes = [plain.Tape(rng.random(5 * stream.n_rounds + 10).tolist()) for _ in range(30)]
    source = RawGains(stream, mu, 30)
    actions = play_rounds(algorithm, source, ReplicateGenerators(tuple(tapes)))
    parameters, c = algorithm.parameters_for(setup_of(source)), NORMALISERS[algorithm.normaliser]
    facts = {"B": parameters.batch_size, "eta": parameters.eta, "p": parameters.fake_switch, "c": c}
    equal = []
    for r in (stream.gain_range, 1.0):
        losses = (r - stream.gains) / r
        plays = [plain.play(losses, tape.numbers, **facts)[0] for tape in tapes]
        equal.append(plays == actions.tolist())
    return (parameters.batch_size, *equal)


@pytest.mark.parametrize("normaliser", NORMALISERS)
@pytest.mark.parametrize(("mu", "T"), [(0.05, 50), (1.0, 23), (math.inf, 20)])
def test_it_plays_algorithm_one_on_losses(random_stream, normaliser, mu, T):
    stream = random_stream(T, 4, seed=T)
    assert is_plain(stream, mu, LazyWeights(normaliser=normaliser, delta=1e-3))[1]


def test_losses_are_divided_by_the_gain_range(make_stream):
    gains = 4 * np.random.default_rng(1).random((40, 3))
    stream = make_stream(gains, 5.0, gain_range=4.0)
    assert is_plain(stream, math.inf, LazyWeights())[1:] == (True, False)


def test_a_batch_is_one_action_and_a_last_one_may_be_shorter(random_stream):
    stream = random_stream(100, 3, seed=2)
    algorithm, source = LazyWeights(delta=1e-6), RawGains(stream, 0.02, 200)
    B = algorithm.parameters_for(setup_of(source)).batch_size
    assert B > 1
    assert 100 % B
    actions = play_rounds(algorithm, source, generators(200))
    changes = (np.diff(actions, axis=1) != 0).any(axis=0)
    starts = np.arange(1, 100) % B == 0
    assert not changes[~starts].any()
    assert changes[starts].all()
    assert is_plain(stream, 0.02, algorithm)[:2] == (B, True)


# ---- how good it is ------------------------------------------------------------------------------


def gains_and_bound(stream, mu):
    """Return the (R,) summed gains of 400 replicates, and the regret bound that was minimised."""
    algorithm, source = LazyWeights(), RawGains(stream, mu, 400)
    actions = play_rounds(algorithm, source, generators(400))
    gains = stream.gains[np.arange(stream.n_rounds), actions].sum(axis=1)
    return gains, algorithm.parameters_for(setup_of(source)).objective


@pytest.mark.parametrize("mu", [0.05, 0.3, math.inf])
def test_regret_is_below_the_bound_that_was_minimised(one_good, random_stream, mu):
    """On a stream with a gap and a uniform one; normal margins, error 1e-6 each."""
    for stream in (random_stream(300, 10, seed=4), one_good):
        gains, bound = gains_and_bound(stream, mu)
        regrets = (stream.gains.sum(axis=0).max() - gains) / stream.gain_range
        assert regrets.mean() - stats.norm.isf(ERROR) * standard_error(regrets) <= bound
    # The check can fail: uniform random has a regret above the bound.
    assert bound < 300 * (0.9 - 0.18)


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
        sampler="seeded",
        epsilon_delta=(epsilon, 1e-5),
    )
    # A smaller delta is not covered.
    assert guarantee.epsilon(1e-5) == guarantee.epsilon(1e-3) == epsilon
    assert math.isinf(guarantee.epsilon(9.99e-6))


def test_without_privacy_there_is_no_guarantee_and_no_fake_switch(random_stream):
    source = RawGains(random_stream(50, 4), math.inf, 2)
    parameters = LazyWeights().parameters_for(setup_of(source))
    guarantee = guarantee_of(LazyWeights(), source)
    assert (parameters.fake_switch, parameters.batch_size, parameters.epsilon) == (0.0, 1, math.inf)
    assert (guarantee.epsilon_delta, guarantee.mu) == (None, math.inf)
    assert math.isinf(guarantee.epsilon(1e-6))


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


def test_one_small_ward_in_one_round_decides_for_all(make_stream):
    gains = np.random.default_rng(0).random((150, 20))
    capacity = np.full((150, 20), 50.0)
    capacity[149, 19] = 2.0
    small, mixed = (setup_of(RawGains(make_stream(gains, c), 1.0, 2)) for c in (2.0, capacity))
    assert LazyWeights().parameters_for(small) == LazyWeights().parameters_for(mixed)


def test_the_published_normaliser_is_accounted_with_its_constant():
    tight, published = (LazyWeights(normaliser=n) for n in ("tight", "published"))
    setup = setup_with(largest_change=1.0)
    parameters = published.parameters_for(setup)
    game = LazyGame(150, 1e-6, largest_change=1.0, normaliser=2.0)
    epsilon = sound_epsilon(game, parameters.batch_size, parameters.eta, parameters.fake_switch)
    assert parameters.epsilon == epsilon <= epsilon_of_delta(1e-6, 1.0)
    assert parameters.objective > tight.parameters_for(setup).objective


@pytest.mark.parametrize("normaliser", ["tight", "published"])
@pytest.mark.parametrize("accountant", ["sound", "published"])
def test_only_the_published_pair_is_the_papers(accountant, normaliser):
    published = LazyWeights(accountant=accountant, normaliser=normaliser, objective="published")
    origin = published.origin
    assert dataclasses.replace(published, objective="sound").origin == "ours"
    assert dataclasses.replace(published, largest_batch=1).origin == "ours"
    assert (origin == "paper") == (accountant == normaliser == "published")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("delta", value) for value in (0.0, 1.0, math.nan)),
        ("accountant", "hopeful"),
        ("normaliser", "loose"),
        ("objective", "best"),
        ("largest_batch", 0),
    ],
)
def test_wrong_parameters_are_refused(name, wrong):
    with pytest.raises(ValueError, match=name):
        LazyWeights(**{name: wrong})


@pytest.mark.parametrize(
    ("algorithm", "mu", "epsilon"),
    [(LazyWeights(1e-9, "published"), 4e-9, "1.379e-09"), (LazyWeights(0.01), 0.001, "0")],
    ids=["out of reach", "already private"],
)
def test_a_mu_that_cannot_be_reached_is_an_error(algorithm, mu, epsilon):
    message = f"L2P at mu = {mu:g}, which is epsilon = {epsilon} at delta.* take a larger mu"
    with pytest.raises(DataError, match=message):
        algorithm.parameters_for(setup_with(n_rounds=2, mu=mu))
