"""L2P and the dartboard over multiplicative weights, batch by batch."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

import lazy_plain as plain
import replicates
from dpol.core.randomness import ReplicateGenerators, replicate_generators
from dpol.lazy import stochastic_losses
from dpol.lazy.stochastic_losses import GapLosses, PairedLosses
from dpol.lazy.transform import LazyParameters, advance, play_measure, start
from dpol.lazy.weights import WeightsMeasure, play_weights


def run(measure, parameters, batches, generators):
    states = [start(measure, generators)]
    for batch in batches:
        states.append(advance(measure, parameters, states[-1], batch, generators))
    return states


@pytest.mark.parametrize("normaliser", [2.0, 1.0])
@pytest.mark.parametrize(
    ("B", "p", "eta"), [(1, 0.1, 0.5), (3, 0.3, 0.2), (4, 0.0, 0.05), (2, 1.0, 1.0)]
)
def test_every_replicate_is_the_plain_version_on_the_same_uniforms(normaliser, B, p, eta):
    rng = np.random.default_rng(3)
    losses = rng.random((14, 4))  # 14 rounds: the last batch of 3 or 4 is shorter.
    tapes = [plain.Tape(rng.random(100).tolist()) for _ in range(50)]
    states = run(
        WeightsMeasure(4, eta),
        LazyParameters(B, eta, p, normaliser=normaliser),
        [losses[t : t + B].sum(axis=0) for t in range(0, len(losses), B)][:-1],
        ReplicateGenerators(tuple(tapes)),
    )
    for r, tape in enumerate(tapes):
        _, points = plain.play(losses, tape.numbers, B=B, eta=eta, p=p, c=normaliser)
        assert [(s.played[r], s.shadow[r]) for s in states] == points


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


def test_the_total_is_the_loss_of_the_points_played():
    losses, measure = GapLosses(20, 4, 0.2, 1), WeightsMeasure(4, 0.4)
    parameters = LazyParameters(3, 0.4, 0.5)
    total, redraws = play_measure(measure, parameters, losses, replicates.many(30))
    batches = [rounds.sum(axis=0) for rounds in losses.batches(3)]
    states = run(measure, parameters, batches[:-1], replicates.many(30))
    played = [batch[state.played] for batch, state in zip(batches, states, strict=True)]
    np.testing.assert_array_equal(total, sum(played))
    np.testing.assert_array_equal(redraws, states[-1].redraws)


def test_after_as_many_redraws_as_the_limit_a_point_stays():
    parameters = LazyParameters(1, 0.7, 1.0, shadow=False, limit=2)
    coins = replicates.many(30)
    states = run(WeightsMeasure(9, 0.7), parameters, np.ones((5, 9)), coins)
    assert [set(state.redraws.tolist()) for state in states] == [{0}, {1}, *[{2}] * 4]
    for state in states[3:]:
        np.testing.assert_array_equal(state.played, states[2].played)


# ---- multiplicative weights ----------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e12])
def test_large_losses_neither_overflow_nor_vanish(shift):
    measure, state = WeightsMeasure(3, 1.0), shift + np.array([0.0, 1.0, 2000.0])
    probabilities = measure.probabilities(state)
    np.testing.assert_allclose(probabilities, [1 / (1 + math.exp(-1)), 1 / (1 + math.e), 0.0])
    tapes = tuple(plain.Tape([uniform]) for uniform in (0.0, 0.9, np.nextafter(1, 0)))
    assert measure.sample(state, ReplicateGenerators(tapes)).tolist() == [0, 1, 1]
