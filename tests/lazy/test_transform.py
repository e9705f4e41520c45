from __future__ import annotations

import math

import numpy as np
import pytest

import lazy_plain as plain
import replicates
from dpol.core.randomness import ReplicateGenerators
from dpol.lazy.transform import LazyParameters, LazyState, advance, start
from dpol.lazy.weights import WeightsMeasure

NORMALISERS = (2.0, 1.0)


def run(measure, parameters, batches, generators):
    states = [start(measure, generators)]
    for batch in batches:
        states.append(advance(measure, parameters, states[-1], batch, generators))
    return states


@pytest.mark.parametrize("normaliser", NORMALISERS)
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


# By hand, eta = log 2, B = 1, losses (1, 0): nu ratio is 1/2 for expert 0 and 1 for expert 1.
KEEP = [
    (2.0, 0, 1, 1 / 8),
    (2.0, 1, 0, 1 / 2),
    (2.0, 0, 0, 1 / 4),
    (2.0, 1, 1, 1 / 4),
    (1.0, 0, 1, 1 / 4),
    (1.0, 1, 0, 1.0),
    (1.0, 0, 0, 1 / 2),
    (1.0, 1, 1, 1 / 2),
]


def advanced(eta, p, normaliser, x, y, uniforms):
    """Return the next state of a replicate at x and y after losses (1, 0), and the draws of y."""
    measure, tape = WeightsMeasure(2, eta), plain.Tape(uniforms)
    state = LazyState(
        measure=measure.initial(),
        played=np.array([x]),
        shadow=np.array([y]),
        redraws=np.zeros(1, dtype=np.int64),
    )
    parameters, batch = LazyParameters(1, eta, p, normaliser=normaliser), np.array([1.0, 0.0])
    after = advance(measure, parameters, state, batch, ReplicateGenerators((tape,)))
    return after, tape.read - 3 - int(after.redraws[0])


@pytest.mark.parametrize(("normaliser", "x", "y", "keep"), KEEP)
def test_keep_probability_by_hand(normaliser, x, y, keep):
    def redraws(*uniforms):
        after, of_shadow = advanced(math.log(2), 0.25, normaliser, x, y, [*uniforms, 0.5, 0.5])
        return int(after.redraws[0]), of_shadow

    assert redraws(keep - 1e-9, 0.9, 0.9) == (0, 0)
    if keep < 1:
        assert redraws(keep + 1e-9, 0.9, 0.9) == (1, 0)
    assert redraws(0.0, 0.25, 0.9) == (0, 0)
    assert redraws(0.0, 0.2499, 0.9) == (1, 0)
    assert redraws(0.0, 0.9, 0.25) == (0, 0)
    assert redraws(0.0, 0.9, 0.2499) == (0, 1)


def test_a_redrawn_point_comes_from_the_measure_after_the_batch():
    """eta = log 3, losses (1, 0): the new measure is (1/4, 3/4), the old measure (1/2, 1/2)."""
    for uniform, point in [(0.2499, 0), (0.2501, 1), (0.4999, 1)]:
        after, _ = advanced(math.log(3), 1.0, 1.0, 1, 0, [0.0, 0.0, 0.0, uniform, 0.9])
        assert (after.played.tolist(), after.shadow.tolist()) == ([point], [1])


def test_after_as_many_redraws_as_the_limit_a_point_stays():
    parameters = LazyParameters(1, 0.7, 1.0, shadow=False, limit=2)
    coins = replicates.many(30)
    states = run(WeightsMeasure(9, 0.7), parameters, np.ones((5, 9)), coins)
    assert [set(state.redraws.tolist()) for state in states] == [{0}, {1}, *[{2}] * 4]
    for state in states[3:]:
        np.testing.assert_array_equal(state.played, states[2].played)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("batch_size", value) for value in (0, 1.5)),
        *(("eta", value) for value in (0.0, math.inf, math.nan)),
        *(("fake_switch", value) for value in (-0.1, 1.1, math.nan)),
    ],
)
def test_wrong_parameters_are_refused(name, wrong):
    with pytest.raises(ValueError, match=name):
        LazyParameters(**{"batch_size": 1, "eta": 0.1, "fake_switch": 0.1, name: wrong})
