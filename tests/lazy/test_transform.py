"""L2P, the dartboard and others beside plain versions, and L2P as an algorithm for gains."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import lazy_plain as plain
from dpol.core.errors import DataError
from dpol.core.randomness import ReplicateGenerators, replicate_generators
from dpol.experts.interface import CuratorSetup
from dpol.experts.limited_updates import LimitedUpdates
from dpol.experts.play import RawGains, guarantee_of, play_rounds, setup_of
from dpol.lazy import stochastic_losses
from dpol.lazy.accounting import LazyGame, published_epsilon, sound_loss
from dpol.lazy.algorithm import LazyWeights
from dpol.lazy.dartboard import ShrinkingDartboard
from dpol.lazy.leaders import NOISY_LEADERS, doubling_edges, play_blocks, play_leaders
from dpol.lazy.parameters import choose_parameters
from dpol.lazy.stochastic_losses import GapLosses, PairedLosses, TurnLosses
from dpol.lazy.transform import LazyParameters, play_measure
from dpol.lazy.weights import WeightsMeasure, play_weights
from dpol.privacy.gaussian_dp import epsilon_of_delta, implied_mu
from dpol.privacy.losses import pure
from dpol.privacy.matrix_mechanism import decayed_sums
from experts_plain import tree_ftpl


@pytest.mark.parametrize(
    "rules",
    [{"normaliser": 2.0}, {"normaliser": 1.0}, {"shadow": False}, {"shadow": False, "limit": 2}],
    ids=str,
)
@pytest.mark.parametrize(
    ("B", "p", "eta"), [(1, 0.1, 0.5), (3, 0.3, 0.2), (4, 0.0, 0.05), (2, 1.0, 1.0)]
)
def test_every_replicate_is_the_plain_version_on_the_same_uniforms(rules, B, p, eta):
    rng = np.random.default_rng(3)
    losses = rng.random((14, 4))  # 14 rounds: the last batch of 3 or 4 is shorter.
    batches = [losses[t : t + B] for t in range(0, len(losses), B)]
    tapes = [plain.Tape(rng.random(100).tolist()) for _ in range(50)]
    totals, redraws = play_measure(
        WeightsMeasure(4, eta),
        LazyParameters(B, eta, p, **rules),
        SimpleNamespace(batches=lambda size: batches),
        ReplicateGenerators(tuple(tapes)),
    )
    for tape, *outcome in zip(tapes, totals, redraws, strict=True):
        actions, count = plain.play(losses, tape.numbers, B=B, eta=eta, p=p, **rules)
        assert outcome == pytest.approx([losses[np.arange(14), actions].sum(), count], rel=1e-12)


@pytest.mark.parametrize("room", [100, 10**9])
@pytest.mark.parametrize(
    ("size", "fake", "more"),
    [
        (1, 0.02, {}),
        (3, 0.1, {}),
        (1, 0.02, {"shadow": False, "limit": 3}),
        (64, 0.5, {"normaliser": 2.0}),
        (500, 1.0, {}),
    ],
)
def test_replicates_with_losses_of_their_own_play_as_if_alone(size, fake, more, room, monkeypatch):
    """From redraw to redraw as batch by batch, beyond a block of coins, in any memory."""
    monkeypatch.setattr(stochastic_losses, "MOST_SUMS", room)
    losses = PairedLosses(tuple(GapLosses(500, 5, 0.2, 7, r) for r in range(6)))
    measure, parameters = WeightsMeasure(5, 0.4), LazyParameters(size, 0.4, fake, **more)
    coins = partial(replicate_generators, 3, ("paired",), purpose="coins")
    together = play_weights(measure, parameters, losses, coins(replicates=range(6)))
    for r, sequence in enumerate(losses.sequences):
        alone = play_measure(measure, parameters, sequence, coins(replicates=[r]))
        assert [part[r] for part in together] == [part[0] for part in alone]


# ---- multiplicative weights ----------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e12])
def test_large_losses_neither_overflow_nor_vanish(shift):
    measure, state = WeightsMeasure(3, 1.0), shift + np.array([0.0, 1.0, 2000.0])
    probabilities = measure.probabilities(state)
    np.testing.assert_allclose(probabilities, [1 / (1 + math.exp(-1)), 1 / (1 + math.e), 0.0])
    tapes = tuple(plain.Tape([uniform]) for uniform in (0.0, 0.9, np.nextafter(1, 0)))
    assert measure.sample(state, ReplicateGenerators(tapes)).tolist() == [0, 1, 1]


# ---- other algorithms ----------------------------------------------------------------------------


def generators(replicates: int) -> ReplicateGenerators:
    return replicate_generators(0, ("test",), range(replicates), "algorithm")


def gaps(T):
    return PairedLosses(tuple(GapLosses(T, 3, 0.1, 2, r) for r in range(10)))


def scored(rounds, actions):
    """Return the total loss of a game, and its switches."""
    total = rounds[np.arange(len(rounds)), actions].sum()
    return pytest.approx((total, np.count_nonzero(np.diff(actions))))


@pytest.mark.parametrize("T", [2, 3, 16, 17, 45])
@pytest.mark.parametrize("mu", [0.5, 5.0, 50.0, math.inf])
def test_the_tree_is_the_plain_one(T, mu):
    """The least-noise tree plays on gains that are negative losses, with negative noise."""
    losses, levels = gaps(T), math.ceil(math.log2(T))
    ((totals, switched),) = play_leaders("tree-ftpl-min-noise", [(losses, mu)], generators(10))
    for r, rng in enumerate(generators(10).generators):
        rounds = plain.matrix(losses.sequences[r])
        negative = SimpleNamespace(standard_normal=lambda n, rng=rng: -rng.standard_normal(n))
        actions = tree_ftpl(-rounds, math.sqrt(3) * levels / mu, levels, negative)
        assert (totals[r], switched[r]) == scored(rounds, actions)


@pytest.mark.parametrize("T", [1, 2, 17])
@pytest.mark.parametrize("mu", [0.5, 50.0])
def test_the_matrix_leader_is_the_plain_one(T, mu):
    """The dense factor gives the noise of every prefix; round 1 plays expert 0."""
    losses, left = gaps(T), decayed_sums(T).left
    ((totals, switched),) = play_leaders("mf-ftpl", [(losses, mu)], generators(10))
    for r, rng in enumerate(generators(10).generators):
        rounds = plain.matrix(losses.sequences[r])
        noisy = rounds.cumsum(axis=0) + math.sqrt(3) / mu * left @ rng.standard_normal((T, 3))
        actions = [0, *noisy[:-1].argmin(axis=1)]
        assert (totals[r], switched[r]) == scored(rounds, actions)


@pytest.mark.parametrize("algorithm", NOISY_LEADERS)
def test_games_together_are_those_alone(algorithm):
    """The noise is the same at every level and on all losses."""
    turns = PairedLosses((TurnLosses(17, 3, 5),), 10)
    games = [(gaps(17), 0.5), (gaps(17), 5.0), (turns, 5.0)]
    together = play_leaders(algorithm, games, generators(10))
    assert not np.array_equal(together[1], together[2])
    for game, outcome in zip(games, together, strict=True):
        np.testing.assert_array_equal(outcome, play_leaders(algorithm, [game], generators(10))[0])


@pytest.mark.parametrize("T", [1, 2, 3, 7, 8, 17])
def test_limited_updates_play_gains_that_are_one_less_the_loss(make_stream, T):
    losses, epsilon = gaps(T), 5.0
    blocks = list(losses.between(doubling_edges(T)))
    totals, switched = play_blocks(blocks, epsilon, generators(10))
    for r, sequence in enumerate(losses.sequences):
        rounds = plain.matrix(sequence)
        stream = replace(make_stream(1 - rounds), capacity=None, given_sensitivity=np.ones(T))
        source = RawGains(stream, implied_mu(epsilon / 2), 10)
        actions = play_rounds(LimitedUpdates(), source, generators(10))[r]
        assert (totals[r], switched[r]) == scored(rounds, actions)


# ---- L2P and the dartboard on gains --------------------------------------------------------------


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
    assert [kind.origin for kind in kinds] == ["dpol", "paper"] * 2
    assert dataclasses.replace(kinds[1], largest_batch=1).origin == "dpol"


def test_a_mu_that_cannot_be_reached_is_an_error():
    message = "L2P at mu = 4e-09: it cannot be .* take a larger mu"
    with pytest.raises(DataError, match=message):
        LazyWeights(1e-9, "published").parameters_for(setup_with(n_rounds=2, mu=4e-9))
