"""Scores: enough for every result table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dpol.core.intervals import half_width, half_width_of
from dpol.studies.games.scores import Played
from game_tables import joined
from runs_by_hand import runs


def of_gains(gains: Sequence[Sequence[float]], **about: Any) -> list[Played]:
    """Return a suite of runs with these gains."""
    return [runs(gains, **about)]


def one(suite: list[Played]) -> tuple[pd.DataFrame, pd.Series]:
    """Return the scores and the row of the only cell of a suite."""
    scores, cells = joined([suite])
    (place,) = cells.index
    return scores, cells.loc[place]


GAINS = arrays.arrays(
    float,
    st.tuples(st.integers(2, 7), st.integers(1, 5)),
    elements=st.floats(0, 1, width=16),
)


@given(GAINS)
def test_scores_and_half_widths_are_those_of_all_rounds(gains) -> None:
    best = gains.max()
    (scores, cell), running = one(of_gains(gains, best=best)), gains.cumsum(axis=1)
    np.testing.assert_array_equal(scores["total_gain"], gains.sum(axis=1))
    np.testing.assert_array_equal(scores["hits"], (gains == best).sum(axis=1))
    np.testing.assert_allclose(cell["mean_cumulative_gain"], running.mean(axis=0), rtol=1e-14)
    half = half_width_of(cell["squared_deviations"], len(gains), 0.9, 3)
    np.testing.assert_allclose(half, half_width(running, 0.9, 3), atol=1e-14)


@given(st.floats(0, 1), st.integers(2, 60))
def test_equal_replicates_have_width_0(gain, size) -> None:
    _, cell = one(of_gains(np.full((size, 4), gain)))
    assert cell["squared_deviations"].tolist() == [0.0] * 4


def test_every_setting_and_algorithm_is_a_cell() -> None:
    changes = [{}, {"label": "b"}, {"mu": math.inf}, {"noise": "capacity"}, {"stream": "other"}]
    scores, cells = joined(of_gains([[1.0]] * 2, **change) for change in changes)
    assert len(cells) == 5
    assert scores["cell"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert scores["replicate"].tolist() == [0, 1] * 5
