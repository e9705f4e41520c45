from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import lazy_plain as plain
import replicates
from dpol.core.randomness import ReplicateGenerators, replicate_generators
from dpol.lazy import transform
from dpol.lazy.exact import LazyLaw, paths_and_shadow
from dpol.lazy.transform import LazyParameters, LazyState, advance, start
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
    parameters = LazyParameters(1, eta, p, normaliser)
    return run(measure, parameters, batches, replicates.many(n, seed))


def batch_sums(losses, B):
    return [losses[t : t + B].sum(axis=0) for t in range(0, len(losses), B)][:-1]


def generators_of(seed, replicates):
    return replicate_generators(seed, ("lazy",), replicates, "algorithm")


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
        LazyParameters(B, eta, p, normaliser),
        batch_sums(losses, B),
        ReplicateGenerators(tuple(tapes)),
    )
    for r, tape in enumerate(tapes):
        _, points = plain.play(losses, tape.numbers, B=B, eta=eta, p=p, c=NORMALISERS[normaliser])
        assert [(s.played[r], s.shadow[r]) for s in states] == points


def measures(eta=0.7):
    """nu_1, nu_2, ... after the losses of `BATCHES`."""
    return [plain.weights(BATCHES[:s].sum(axis=0).tolist(), eta) for s in range(len(BATCHES) + 1)]


def shadow_laws(p, eta=0.7):
    """Law of y_s: nu at the batch of its last redraw, (1 - p) of the law before and p of nu_s."""
    laws = measures(eta)[:1]
    for nu in measures(eta)[1:]:
        laws.append([(1 - p) * old + p * new for old, new in zip(laws[-1], nu, strict=True)])
    return laws


@pytest.mark.parametrize("p", [0.1, 0.5, 1.0])
def test_shadow_points_follow_the_measure_of_their_last_redraw(p, checks):
    """Not nu_s: y is kept with probability 1 - p whatever the losses. Five comparisons."""
    states = many(p=p)
    for state, law in zip(states, shadow_laws(p), strict=True):
        assert checks.frequencies(counts(state.shadow, 3), law)
    assert checks.frequencies(counts(states[-1].shadow, 3), measures()[-1]) == (p == 1.0)


def test_played_points_do_not_depend_on_the_shadow(checks):
    """Given y_1, ..., y_{s-1} the law of x_s is nu_s: the pairs (x_s, y_{s-1}) are independent."""
    states = many(p=0.3)
    laws = zip(states, states[1:], measures()[1:], shadow_laws(0.3), strict=False)
    for before, state, nu, shadow in laws:
        pairs = counts(3 * state.played + before.shadow, 9)
        assert checks.frequencies(pairs, np.outer(nu, shadow).ravel())


@pytest.mark.parametrize("normaliser", NORMALISERS)
def test_whole_plays_follow_the_enumerated_law(normaliser, checks):
    """(x_1, ..., x_4, y_4) for d = 2: 32 outcomes."""
    batches = np.array([[1.0, 0.0], [0.5, 1.0], [0.0, 0.8]])
    states = many(normaliser, p=0.3, eta=0.5, batches=batches)
    outcome = sum(s.played.astype(int) * 2 ** (4 - i) for i, s in enumerate(states))
    outcome = outcome + states[-1].shadow
    law = {c: paths_and_shadow(batches[None], LazyLaw(1, 0.5, 0.3, c)).ravel() for c in (1.0, 2.0)}
    right = NORMALISERS[normaliser]
    assert checks.frequencies(counts(outcome, 32), law[right])
    assert not checks.frequencies(counts(outcome, 32), law[3.0 - right])


# By hand, eta = log 2, B = 1, losses (1, 0): nu ratio is 1/2 for expert 0 and 1 for expert 1.
KEEP = [
    ("published", 0, 1, 1 / 8),
    ("published", 1, 0, 1 / 2),
    ("published", 0, 0, 1 / 4),
    ("published", 1, 1, 1 / 4),
    ("tight", 0, 1, 1 / 4),
    ("tight", 1, 0, 1.0),
    ("tight", 0, 0, 1 / 2),
    ("tight", 1, 1, 1 / 2),
]


@pytest.mark.parametrize(("normaliser", "x", "y", "keep"), KEEP)
def test_keep_probability_by_hand(normaliser, x, y, keep):
    measure = WeightsMeasure(2, math.log(2))
    parameters = LazyParameters(1, math.log(2), 0.25, normaliser)
    none = np.zeros(1, dtype=np.int64)
    state = LazyState(measure.initial(), np.array([x]), np.array([y]), none, none)

    def redraws(own, other, shadow):
        tape = plain.Tape([own, other, shadow, 0.5, 0.5])
        after = advance(
            measure, parameters, state, np.array([1.0, 0.0]), ReplicateGenerators((tape,))
        )
        return int(after.redraws[0]), int(after.shadow_redraws[0])

    assert redraws(keep - 1e-9, 0.9, 0.9) == (0, 0)
    if keep < 1:
        assert redraws(keep + 1e-9, 0.9, 0.9) == (1, 0)
    assert redraws(0.0, 0.25, 0.9) == (0, 0)
    assert redraws(0.0, 0.2499, 0.9) == (1, 0)
    assert redraws(0.0, 0.9, 0.25) == (0, 0)
    assert redraws(0.0, 0.9, 0.2499) == (0, 1)


def test_a_redrawn_point_comes_from_the_measure_after_the_batch():
    """eta = log 3, losses (1, 0): the new measure is (1/4, 3/4), the old one (1/2, 1/2)."""
    measure = WeightsMeasure(2, math.log(3))
    none = np.zeros(1, dtype=np.int64)
    state = LazyState(measure.initial(), np.array([1]), np.array([0]), none, none)
    for uniform, point in [(0.2499, 0), (0.2501, 1), (0.4999, 1)]:
        tape = plain.Tape([0.0, 0.0, 0.0, uniform, 0.9])
        parameters = LazyParameters(1, math.log(3), 1.0)
        after = advance(
            measure, parameters, state, np.array([1.0, 0.0]), ReplicateGenerators((tape,))
        )
        assert after.played.tolist() == [point]
        assert after.shadow.tolist() == [1]


def test_advance_leaves_states_and_batches_as_they_were():
    measure, parameters = WeightsMeasure(3, 0.7), LazyParameters(1, 0.7, 0.5)
    generators = generators_of(1, range(200))
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
    ("change", "message"),
    [
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": 1.5}, "batch_size"),
        ({"eta": 0.0}, "eta"),
        ({"eta": math.inf}, "eta"),
        ({"eta": math.nan}, "eta"),
        ({"fake_switch": -0.1}, "fake_switch"),
        ({"fake_switch": 1.1}, "fake_switch"),
        ({"fake_switch": math.nan}, "fake_switch"),
        ({"normaliser": "loose"}, "normaliser"),
    ],
)
def test_wrong_parameters_are_refused(change, message):
    fields = {"batch_size": 1, "eta": 0.1, "fake_switch": 0.1, "normaliser": "tight", **change}
    with pytest.raises(ValueError, match=message):
        LazyParameters(**fields)


@pytest.mark.parametrize("normaliser", NORMALISERS)
def test_played_points_follow_the_measure_in_every_batch(normaliser, checks):
    """Five comparisons: error probability 5e-6 at most."""
    for state, nu in zip(many(normaliser), measures(), strict=True):
        assert checks.frequencies(counts(state.played, 3), nu)


@pytest.mark.parametrize("wrong", [0.0, 0.5])
def test_a_normaliser_below_one_breaks_the_marginals(monkeypatch, checks, wrong):
    monkeypatch.setitem(transform.NORMALISERS, "tight", wrong)
    states = many("tight")
    pairs = zip(states, measures(), strict=True)
    assert not all(checks.frequencies(counts(s.played, 3), nu) for s, nu in pairs)
