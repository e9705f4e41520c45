"""Gains of the best sequences, beside all sequences of small games."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpol.studies.games.switches import switching_gains

gains_of = st.tuples(st.integers(1, 6), st.integers(1, 3)).flatmap(
    lambda shape: arrays(float, shape, elements=st.integers(-4, 9).map(float))
)


@given(gains_of)
def test_every_sequence_was_tried(gains):
    T, n = gains.shape
    best = np.full(T, -np.inf)
    for sequence in itertools.product(range(n), repeat=T):
        switches = sum(one != two for one, two in itertools.pairwise(sequence))
        best[switches:] = np.maximum(best[switches:], gains[np.arange(T), sequence].sum())
    np.testing.assert_array_equal(switching_gains(gains, T - 1), best)


@given(gains_of)
def test_it_grows_from_the_best_expert_to_the_best_of_each_round(gains):
    T = len(gains)
    found = switching_gains(gains, T + 2)
    assert found[0] == gains.sum(axis=0).max()
    assert (np.diff(found) >= 0).all()
    assert (found[T - 1 :] == gains.max(axis=1).sum()).all()


def test_a_visit_costs_two_switches():
    """So the gains need not be concave in the number of switches."""
    assert switching_gains(np.array([[3.0, 0.0], [0.0, 1.0], [3.0, 0.0]]), 2).tolist() == [6, 6, 7]
