"""Gains of the best sequences, beside all sequences of small games."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpol.studies.games.collect import switching_gains

gains_of = st.tuples(st.integers(1, 6), st.integers(1, 3)).flatmap(
    lambda shape: arrays(float, shape, elements=st.integers(-4, 9).map(float))
)


@given(gains_of)
def test_every_sequence_was_tried(gains):
    T, n = gains.shape
    best = np.full(T + 3, -np.inf)  # more switches than rounds add nothing
    for sequence in itertools.product(range(n), repeat=T):
        switches = sum(one != two for one, two in itertools.pairwise(sequence))
        best[switches:] = np.maximum(best[switches:], gains[np.arange(T), sequence].sum())
    np.testing.assert_array_equal(switching_gains(gains, T + 2), best)
