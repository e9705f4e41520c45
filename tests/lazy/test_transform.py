from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import lazy_plain as plain
import replicates
from dpol.core.randomness import ReplicateGenerators, replicate_generators
from dpol.lazy.exact import LazyLaw, paths_and_shadow
from dpol.lazy.transform import LazyParameters, advance, start
from dpol.lazy.weights import WeightsMeasure

# A sound library fails a statistical test with probability at most 1e-6 per comparison.
ERROR = 1e-6
NORMALISERS = {"published": 2.0, "tight": 1.0}
BATCHES = np.array([[1.0, 0.0, 0.4], [0.0, 1.0, 0.9], [1.0, 0.2, 0.0], [0.3, 1.0, 0.0]])


def run(measure, parameters, batches, generators):
    """The states of all batches."""
    states = [start(measure, generators)]
    for batch in batches:
        states.append(advance(measure, parameters, states[-1], batch, generators))
    return states


def many(normaliser="tight", p=0.2, eta=0.7, n=50_000, batches=BATCHES, seed=0):
    measure = WeightsMeasure(batches.shape[1], eta)
    parameters = LazyParameters(1, eta, p, normaliser=normaliser)
    return run(measure, parameters, batches, replicates.many(n, seed))


def counts(points, d):
    return np.bincount(points, minlength=d)


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
        _, points = plain.play(losses, tape.numbers, B=B, eta=eta, p=p, c=NORMALISERS[normaliser])
        assert [(s.played[r], s.shadow[r]) for s in states] == points


@pytest.mark.parametrize("normaliser", NORMALISERS)
def test_whole_plays_follow_the_enumerated_law(normaliser, checks):
    """(x_1, ..., x_4, y_4) for d = 2: 32 outcomes."""
    batches = np.array([[1.0, 0.0], [0.5, 1.0], [0.0, 0.8]])
    states = many(normaliser, p=0.3, eta=0.5, batches=batches)
    outcome = sum(s.played.astype(int) * 2 ** (4 - i) for i, s in enumerate(states))
    outcome = outcome + states[-1].shadow
    law = {
        c: paths_and_shadow(
            batches[None], LazyLaw(batch_size=1, eta=0.5, fake_switch=0.3, normaliser=c)
        ).ravel()
        for c in (1.0, 2.0)
    }
    right = NORMALISERS[normaliser]
    assert checks.frequencies(counts(outcome, 32), law[right])
    assert not checks.frequencies(counts(outcome, 32), law[3.0 - right])


# By hand, eta = log 2, B = 1, losses (1, 0): nu ratio is 1/2 for expert 0 and 1 for expert 1.


def test_advance_leaves_states_and_batches_as_they_were():
    measure, parameters = WeightsMeasure(3, 0.7), LazyParameters(1, 0.7, 0.5)
    generators = replicate_generators(1, ("lazy",), range(200), "algorithm")
    state = start(measure, generators)
    for batch in BATCHES:
        kept, loss = dataclasses.asdict(state), batch.copy()
        following = advance(measure, parameters, state, loss, generators)
        for name, value in kept.items():
            np.testing.assert_array_equal(getattr(state, name), value)
        np.testing.assert_array_equal(loss, batch)
        assert (following.played != state.played).any()
        state = following


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("batch_size", value) for value in (0, 1.5)),
        *(("eta", value) for value in (0.0, math.inf, math.nan)),
        *(("fake_switch", value) for value in (-0.1, 1.1, math.nan)),
        ("normaliser", "loose"),
    ],
)
def test_wrong_parameters_are_refused(name, wrong):
    with pytest.raises(ValueError, match=name):
        LazyParameters(**{"batch_size": 1, "eta": 0.1, "fake_switch": 0.1, name: wrong})
