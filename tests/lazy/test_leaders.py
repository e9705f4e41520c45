"""Rivals of L2P on synthetic losses, compared with plain versions."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import lazy_plain as plain
from dpol.core.randomness import ReplicateGenerators, replicate_generators
from dpol.experts.limited_updates import LimitedUpdates
from dpol.experts.play import RawGains, play_rounds
from dpol.lazy.leaders import NOISY_LEADERS, doubling_edges, play_blocks, play_leaders
from dpol.lazy.stochastic_losses import GapLosses, PairedLosses, TurnLosses
from dpol.privacy.gaussian_dp import implied_mu
from dpol.privacy.matrix_mechanism import decayed_sums
from experts_plain import tree_ftpl


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
