from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import lazy_plain as plain
from dpol.lazy.exact import exact_epsilon, neighbours, output_masses, worst_epsilon
from dpol.lazy.transform import LazyParameters

L2P = [
    {"B": B, "eta": eta, "p": p, "c": c}
    for B, eta, p in ((1, 0.3, 0.2), (2, 1.5, 0.0), (1, 0.1, 1.0))
    for c in (0.0, 1.0, 2.0)
]
DARTBOARD = [
    {"B": 2, "eta": 0.3, "p": p, "shadow": False, "limit": limit}
    for p in (0.2, 0.0, 1.0)
    for limit in (0, 1, math.inf)
]


def rule_of(B, eta, p, c=0.0, **more):
    return LazyParameters(batch_size=B, eta=eta, fake_switch=p, normaliser=c, **more)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("facts", [*L2P, *DARTBOARD], ids=str)
def test_laws_agree_with_following_every_draw(facts, d):
    sums = np.random.default_rng(0).uniform(0, facts["B"], size=(2, 3, d))
    for row, law in zip(sums.tolist(), output_masses(sums, rule_of(**facts)), strict=True):
        assert law == pytest.approx(plain.law(row, **facts), rel=1e-12)


def test_exact_epsilon_by_hand():
    """P = (3/4, 1/4), Q = (1/4, 3/4): 3/4 - e^eps / 4 = delta."""
    first, second = np.array([[0.75, 0.25]]), np.array([[0.25, 0.75]])
    for delta in (0.0, 0.1, 0.4):
        epsilon = exact_epsilon(first, second, delta)
        np.testing.assert_allclose(epsilon, math.log(3 - 4 * delta), rtol=1e-12)
    assert exact_epsilon(first, second, 0.5).tolist() == [0]
    assert exact_epsilon(first, np.array([[0.0, 1.0]]), 0.7).tolist() == [50]
    assert exact_epsilon(first, np.array([[0.0, 1.0]]), 0.76).tolist() == [0]


def test_exact_epsilon_is_the_divergence_over_all_events():
    """Definition 2.2: the supremum of log((P(S) - δ) / Q(S)) over events of six outcomes."""
    one, other = np.random.default_rng(0).dirichlet(np.ones(6), (2, 100))
    events = np.array(list(itertools.product((0, 1), repeat=6)))[1:]
    for delta in (0.0, 0.01, 0.2):
        ratios = np.maximum(one @ events.T - delta, 0) / (other @ events.T)
        expected = np.log(np.maximum(ratios.max(axis=1), 1))
        np.testing.assert_allclose(exact_epsilon(one, other, delta), expected, atol=1e-9)


def test_neighbours_are_all_pairs_that_differ_in_one_batch():
    values = (0, 0.5, 1, 1.5)
    sequences, pairs = neighbours(2, 2, values)
    assert len(np.unique(sequences, axis=0)) == len(sequences) == 4**4
    gap = np.abs(sequences[:, None] - sequences).max(axis=3)
    assert len(pairs) == 2
    for s, (first, second) in enumerate(pairs):
        wanted = (gap[..., s] > 0) & (gap[..., s] <= 1) & (gap[..., 1 - s] == 0)
        differ = np.zeros_like(wanted)
        differ[first, second] = True
        np.testing.assert_array_equal(differ, wanted)
        assert len(first) == wanted.sum()


def test_the_worst_pair_is_found():
    cells = list(itertools.product((0.0, 1.0), repeat=2))
    games = list(itertools.product(cells, repeat=2))
    facts = {"B": 1, "eta": 0.7, "p": 0.2, "c": 1.0}
    laws = [np.array([plain.law(game, **facts)]) for game in games]
    worst = max(
        float(exact_epsilon(laws[one], laws[other], 0.01)[0])
        for one, other in itertools.permutations(range(len(games)), 2)
        if sum(a == b for a, b in zip(games[one], games[other], strict=True)) == 1
    )
    assert worst_epsilon(2, 2, rule_of(**facts), (0, 1), delta=0.01) == pytest.approx(
        worst, rel=1e-9
    )
