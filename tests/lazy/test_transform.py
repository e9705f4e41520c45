"""L2P and the dartboard over multiplicative weights, batch by batch."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import lazy_plain as plain
from dpol.core.randomness import ReplicateGenerators, replicate_generators
from dpol.lazy import stochastic_losses
from dpol.lazy.stochastic_losses import GapLosses, PairedLosses
from dpol.lazy.transform import LazyParameters, play_measure
from dpol.lazy.weights import WeightsMeasure, play_weights


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
