"""Games of the lower bound, by rounds, over all losses, and with players that draw."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpol.core.randomness import replicate_generators
from dpol.lazy.leaders import doubling_edges, play_blocks
from dpol.lazy.stochastic_losses import Stretch
from dpol.lazy.transform import LazyParameters, play_measure
from dpol.lazy.weights import WeightsMeasure
from dpol.studies.ledger.claims.lazy import mean_lead
from dpol.studies.ledger.claims.lower_bound import (
    gain_of_repeating,
    games_of_lower_bound,
    most_gain,
    play,
    totals_of,
)
from ledger import SEED

# 11 rounds: batches of 4 start within epochs 2 and 3, and one batch is within an epoch.
EDGES, T = np.array([0, 3, 6, 7, 11]), 11
PLAYERS = {
    "batches": ([0, 4, 8, 11], 0.7, False),
    "short batches": ([0, 1, 2, 4, 5, 8, 9, 11], 0.7, False),
    "blocks": (doubling_edges(T), 0.7, True),
}


def played(losses, *player):
    """Return the expected loss and the gain of a player on losses (d, E) of epochs."""
    return play(EDGES, totals_of(EDGES, losses), *player)


def by_rounds(losses):
    """Return the (T, d) losses of all rounds."""
    return np.repeat(losses, np.diff(EDGES), axis=1).T.astype(float)


def expected_loss(rounds, edges, rate, last_only):
    """Return the expected total loss of weights, batch by batch."""
    total, seen = 0.0, np.zeros(rounds.shape[1])
    for first, end in itertools.pairwise(edges):
        weights = np.exp(-rate * seen)
        total += float(weights @ rounds[first:end].sum(axis=0)) / weights.sum()
        seen = rounds[0 if not last_only else first : end].sum(axis=0)
    return total


@pytest.mark.parametrize("player", PLAYERS)
def test_a_game_by_epochs_is_the_game_by_rounds(player):
    """Losses in every game; gains on average over all 256 games of two experts."""
    edges, rate, last_only = PLAYERS[player]
    gains, behind = [], []
    for bits in itertools.product((0, 1), repeat=8):
        losses = np.array(bits, dtype=np.int8).reshape(2, 4)
        loss, gain = played(losses, edges, rate, last_only)
        assert loss == pytest.approx(expected_loss(by_rounds(losses), edges, rate, last_only))
        gains.append(gain)
        behind.append(T / 2 - loss)
    assert np.mean(gains) == pytest.approx(np.mean(behind))
    assert np.mean(gains) > 0.1  # he saw the beginnings of epochs
    assert np.var(gains) < np.var(behind)


def test_batches_that_start_with_epochs_gain_nothing():
    losses = np.random.default_rng(3).integers(0, 2, (5, 4), np.int8)
    assert played(losses, [0, 3, 7, 11], 9.0, False)[1] == 0


def test_players_that_draw_have_the_computed_losses():
    """20,000 runs of L2P, the dartboard and limited updates; an error below 1e-6 in each."""
    losses, runs = np.random.default_rng(5).integers(0, 2, (3, 4), np.int8), 20_000
    rounds = by_rounds(losses)
    coins = replicate_generators(1, ("lower bound",), range(runs), "players")
    found = {}
    for name, more in (("L2P", {}), ("the dartboard", {"shadow": False})):
        rule = LazyParameters(4, 0.7, 0.2, **more)
        source = type("Losses", (), {"batches": lambda _, size: iter(np.split(rounds, [4, 8]))})()
        totals, _ = play_measure(WeightsMeasure(3, 0.7), rule, source, coins)
        found[name] = totals, played(losses, [0, 4, 8, 11], 0.7, False)[0]
    edges = doubling_edges(T)
    before = np.concatenate([np.zeros((1, 3)), rounds.cumsum(axis=0)])[edges].astype(int)
    blocks = [
        Stretch(np.tile(one, (runs, 1)), np.tile(other, (runs, 1)))
        for one, other in itertools.pairwise(before)
    ]
    found["limited updates"] = (
        play_blocks(blocks, 1.4, coins)[0],
        played(losses, edges, 0.7, True)[0],
    )
    for name, (totals, expected) in found.items():
        assert abs(totals.mean() - expected) < 5 * totals.std() / math.sqrt(runs), name
        assert totals.std() > 0.1


def test_repeating_the_best_expert_without_privacy():
    """By rounds, T = 10,000, d = 10 and ε = 0.03: the review has -3,815 ± 18, and idling 172."""
    T, d, epochs = 10_000, 10, round(300 ** (4 / 3))
    rng, lengths = np.random.default_rng(2), np.diff(np.arange(epochs + 1) * T // epochs)
    regrets, idle = [], []
    for _ in range(40):
        rounds = np.repeat(rng.integers(0, 2, (epochs, d)), lengths, axis=0)
        noise = rng.random((T, d))  # ties at random
        chosen = (rounds + noise).argmin(axis=1)[:-1]
        least = rounds.sum(axis=0).min()
        regrets.append(0.5 + rounds[np.arange(1, T), chosen].sum() - least)
        idle.append(T / 2 - least)
    lead = T / epochs * mean_lead(epochs, d)
    expected = lead - gain_of_repeating(T, d, epochs)
    assert expected == pytest.approx(-3815, abs=18)
    assert lead == pytest.approx(172, abs=5)
    for sample, mean in ((regrets, expected), (idle, lead)):
        assert abs(np.mean(sample) - mean) < 4 * np.std(sample) / math.sqrt(40)


def test_the_bound_of_the_proof_by_hand():
    """B = 2, E = 100 and log(T³ d) = log(200³ · 2): 1 + 6 · 10 · sqrt(16.59) · 0.1."""
    assert most_gain(200, 2, 100, 0.1) == pytest.approx(1 + 6 * 10 * math.sqrt(16.588) * 0.1, 1e-4)


def test_no_private_player_leaves_random_choice():
    """The review has 1,846 ± 333 (L2P), 1,650 ± 335 (limited updates) and 1,631 ± 190 (random)."""
    found = list(games_of_lower_bound(SEED))
    private = [each for each in found if each.name == "lower-bound-games"]
    assert len(private) == 6
    for each in private:
        assert each.bounds[0] <= 0 <= each.bounds[1]
        assert each.bounds[1] - each.bounds[0] < 100
    first = found[0].numbers["regrets"].split("; ")[0]
    for name, low, high in (
        ("limited updates", 1650 - 335, 1650 + 335),
        ("L2P", 1846 - 333, 1846 + 333),
        ("random choice", 1631 - 190, 1631 + 190),
    ):
        mean, half = (
            float(number.replace(",", ""))
            for number in first.split(f"{name} ")[1].split(", ")[0].split(" ± ")
        )
        assert low - half < mean < high + half
