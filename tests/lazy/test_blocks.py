"""Many games of L2P in one pass, compared with single games on the same random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from dpol.core.randomness import ReplicateGenerators, replicate_generators
from dpol.lazy import LazyParameters, blocks, play
from dpol.lazy.adversaries import EpochLosses, ExpertLosses, GapLosses
from dpol.lazy.blocks import play_weights
from dpol.lazy.weights import WeightsMeasure

PARAMETERS = [
    LazyParameters(1, 0.2, 0.1),
    LazyParameters(5, 0.1, 0.3, normaliser="published"),
    LazyParameters(60, 0.1, 0.5),
    LazyParameters(1, 0.01, 0.01, normaliser="published"),
    LazyParameters(7, 0.01, 0.0),
    LazyParameters(2, 0.01, 1.0),
    LazyParameters(500, 0.1, 0.5),  # one batch
    LazyParameters(3, 0.05, 0.1, shadow=False, limit=20),
    LazyParameters(1, 0.2, 0.0, shadow=False),
]


@dataclass(frozen=True)
class Fractions(ExpertLosses):
    """Losses that are not whole numbers."""

    def _blocks(self) -> Iterator[np.ndarray]:
        yield np.random.default_rng(4).random((self.n_rounds, self.n_experts))


SEQUENCES = [GapLosses(400, 5, 0.2, 1), EpochLosses(400, 3, 0.02, 1), EpochLosses(1, 2, 1.0, 0)]


def generators(game: int) -> ReplicateGenerators:
    return replicate_generators(game, ("test",), range(4 + game), "algorithm")


def in_one_pass(losses: ExpertLosses) -> list[tuple[np.ndarray, np.ndarray]]:
    return play_weights(losses, [(rules, generators(g)) for g, rules in enumerate(PARAMETERS)])


def batch_by_batch(losses: ExpertLosses) -> list[tuple[np.ndarray, np.ndarray]]:
    return [
        play(WeightsMeasure(losses.n_experts, rules.eta), rules, losses, generators(g))
        for g, rules in enumerate(PARAMETERS)
    ]


def same(losses: ExpertLosses) -> bool:
    pairs = zip(in_one_pass(losses), batch_by_batch(losses), strict=True)
    return all((a == b).all() for one, other in pairs for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("losses", SEQUENCES)
@pytest.mark.parametrize("held", [50, 3_000, 2_000_000])  # blocks of 1, 41 and all rounds
def test_games_in_one_pass_are_those_played_batch_by_batch(monkeypatch, losses, held):
    monkeypatch.setattr(blocks, "_HELD", held)
    assert same(losses)


def test_a_batch_that_is_skipped_but_may_redraw_would_be_seen(monkeypatch):
    """Power of the test: the bound on the keep probability is raised by a hundredth."""
    least = blocks._least_keep
    monkeypatch.setattr(blocks, "_least_keep", lambda rules: min(least(rules) + 0.01, 1.0))
    assert not same(SEQUENCES[0])


def test_on_fractions_only_the_last_digits_differ():
    losses = Fractions(400, 5)
    pairs = zip(in_one_pass(losses), batch_by_batch(losses), strict=True)
    for (total, redraws), (expected, as_often) in pairs:
        np.testing.assert_allclose(total, expected, rtol=1e-12)
        np.testing.assert_array_equal(redraws, as_often)
