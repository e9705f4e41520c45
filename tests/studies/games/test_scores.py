"""Scores: enough for every result table, however the replicates are split into jobs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dpol.core.intervals import half_width, half_width_of
from dpol.studies.games.scores import RunBlock
from game_tables import block_of, joined
from runs_by_hand import runs

SUITES = [("rw-ftpl", "ridge"), ("multiplicative-weights",), ("tree-ftpl-min-noise",)]


def of_gains(gains: Sequence[Sequence[float]], first: int = 0, **about: Any) -> RunBlock:
    """Return runs with these gains; `first` is the number of the first replicate."""
    return block_of(runs(gains, **about), first, best=0.5)


def one(blocks: Sequence[RunBlock]) -> tuple[pd.DataFrame, pd.Series]:
    """Return the scores and the row of the only cell of blocks."""
    scores, cells = joined(blocks)
    (place,) = cells.index
    return scores, cells.loc[place]


GAINS = arrays.arrays(
    float,
    st.tuples(st.integers(2, 7), st.integers(1, 5)),
    elements=st.floats(0, 1, width=16),
)


def test_scores_by_hand() -> None:
    scores, cell = one([of_gains([[1.0, 0.0, 0.5], [0.0, 0.0, 1.0]])])
    assert scores["total_gain"].tolist() == [1.5, 1.0]
    assert scores["hits"].tolist() == [1, 0]  # the largest gain is 0.5 in every round
    assert cell["mean_cumulative_gain"].tolist() == [0.5, 0.5, 1.25]
    assert cell["squared_deviations"].tolist() == [0.5, 0.5, 0.125]


@given(GAINS)
def test_half_widths_from_scores_equal_half_widths_from_rounds(gains) -> None:
    (scores, cell), running = one([of_gains(gains)]), gains.cumsum(axis=1)
    np.testing.assert_array_equal(scores["total_gain"], gains.sum(axis=1))
    np.testing.assert_allclose(cell["mean_cumulative_gain"], running.mean(axis=0), rtol=1e-14)
    half = half_width_of(cell["squared_deviations"], len(gains), 0.9, 3)
    np.testing.assert_allclose(half, half_width(running, 0.9, 3), atol=1e-14)


@given(GAINS, st.data())
def test_joined_blocks_equal_the_whole(gains, data) -> None:
    """Totals are exact, curves agree up to rounding; equal replicates stay exactly equal."""
    cuts = sorted(data.draw(st.sets(st.integers(1, len(gains) - 1))))
    parts = [of_gains(own, first) for first, own in _cut(gains, cuts)]
    scores, together = one(data.draw(st.permutations(parts)))
    every, whole = one([of_gains(gains)])
    pd.testing.assert_frame_equal(scores, every)
    np.testing.assert_array_equal(together["first_actions"], whole["first_actions"])
    for name, close in (
        ("mean_cumulative_gain", {"rtol": 1e-14}),
        ("squared_deviations", {"rtol": 1e-9, "atol": 1e-13}),
    ):
        np.testing.assert_allclose(together[name], whole[name], **close)
    assert together["replicates"] == whole["replicates"] == len(gains)


def _cut(gains, cuts):
    ends = [0, *cuts, len(gains)]
    return [(a, gains[a:b]) for a, b in itertools.pairwise(ends)]


@given(st.floats(0, 1), st.integers(2, 60), st.integers(1, 59))
def test_equal_replicates_have_width_0_in_any_blocks(gain, size, cut) -> None:
    gains = np.full((size, 4), gain)
    parts = [of_gains(own, first) for first, own in _cut(gains, [min(cut, size - 1)])]
    assert one(parts)[1]["squared_deviations"].tolist() == [0.0] * 4


def test_blocks_of_equal_replicates_may_differ() -> None:
    _, together = one([of_gains([[1.0]] * 2), of_gains([[0.5]] * 2, first=2)])
    assert together["squared_deviations"].tolist() == [0.25]


def test_blocks_are_joined_in_the_order_of_their_replicates() -> None:
    order = (10, 9, 2, 1, 0, 3, 4, 5, 6, 7, 8)
    scores, cell = one([of_gains([[float(number)]], number) for number in order])
    assert scores["total_gain"].tolist() == list(range(11))
    assert cell["first_actions"].tolist() == [0]


def test_every_setting_and_algorithm_is_a_cell() -> None:
    changes = [{}, {"label": "b"}, {"mu": math.inf}, {"noise": "capacity"}, {"stream": "other"}]
    _, cells = joined(of_gains([[1.0]], **change) for change in changes)
    assert len(cells) == 5


@pytest.mark.parametrize("numbers", [[0, 2], [1, 2], [0, 0], [3, 1, 0, 1]])
def test_missing_and_repeated_replicates_are_refused(numbers: list[int]) -> None:
    with pytest.raises(ValueError, match=r"nm, a, mu 0.5: replicates .* are not 0, 1, 2"):
        joined(of_gains([[0.0]], number) for number in numbers)
