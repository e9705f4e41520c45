"""L2P, the dartboard and their rivals on synthetic losses, beside plain versions."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import lazy_plain as plain
from dpol.core.randomness import ReplicateGenerators, replicate_generators
from dpol.experts.limited_updates import LimitedUpdates
from dpol.experts.play import RawGains, play_rounds
from dpol.lazy import stochastic_losses
from dpol.lazy.leaders import NOISY_LEADERS, doubling_edges, play_blocks, play_leaders
from dpol.lazy.stochastic_losses import GapLosses, PairedLosses, TurnLosses
from dpol.lazy.transform import LazyParameters, play_measure
from dpol.lazy.weights import WeightsMeasure, play_weights
from dpol.privacy.gaussian_dp import implied_mu
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


# ---- rivals --------------------------------------------------------------------------------------


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
