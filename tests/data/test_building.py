"""Streams made of panels."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from dpol.core.errors import DataError
from dpol.data.building import build_stream
from streams_by_hand import FACTS, assert_same, stream


@pytest.fixture
def panel() -> pd.DataFrame:
    """A panel of two streams; NM has three periods and two entities."""
    made = stream()
    rows = [
        {
            "stream": "NM",
            "entity": entity,
            "name": name,
            "period": pd.Timestamp(period),
            "density": made.gains[t, i],
            "capacity": made.capacity[t, i],
        }
        for t, period in enumerate(made.periods)
        for i, (entity, name) in enumerate(zip(made.entities, made.names, strict=True))
    ]
    return pd.DataFrame([*rows, {**rows[0], "stream": "PA"}, {**rows[1], "stream": "PA"}])


def test_a_panel_makes_the_stream_of_its_densities_and_capacities(panel: pd.DataFrame) -> None:
    assert_same(build_stream(panel, "NM", 2.0, FACTS["provenance"]), stream(count_sensitivity=2.0))
    assert build_stream(panel, "PA", 1.0, {}).n_rounds == 1


def test_the_order_of_the_rows_of_a_panel_does_not_matter(panel: pd.DataFrame) -> None:
    shuffled = panel.sample(frac=1, random_state=3)
    assert_same(build_stream(shuffled, "NM", 1.0, FACTS["provenance"]), stream())


def test_a_panel_with_a_hole_is_refused(panel: pd.DataFrame) -> None:
    with pytest.raises(DataError) as caught:
        build_stream(panel.drop(index=2), "NM", 1.0, {})
    assert str(caught.value) == "the panel's stream NM has holes: 5 rows, not 3x2"


def test_a_stream_that_the_panel_lacks_is_refused(panel: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="the panel has no stream CA; clean the table again"):
        build_stream(panel, "CA", 1.0, {})


def test_a_panel_with_a_bad_cell_is_refused_with_the_cell(panel: pd.DataFrame) -> None:
    panel.loc[3, "density"] = math.nan
    with pytest.raises(DataError, match=r"stream NM: gain of b in round 2 \(2021-01-10\) is nan"):
        build_stream(panel, "NM", 1.0, {})
