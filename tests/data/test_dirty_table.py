"""Cleaning counts every kind of dirt in a table, and restores the clean table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from data.dirty_table import IDLE_WEEKS, STARTS, STREAMS, DirtyTable, days_of, sum_of
from data.drawn import Cleaned, clean_raw
from dpol.data.cleaning import RULES
from dpol.data.panel import PANEL
from dpol.data.settings import Dataset, Stream
from dpol.data.simulator import ALL_BEDS, ALL_COVID
from dpol.data.stream import MEASURED
from dpol.data.table import table_of

OF_SUMS = "summed", "hidden_sum", "uncovered"
NOT_HERE = {
    *("suppressed_counts", "suppressed_capacities", "idle_counts"),
    *("above_counts", "cut_counts"),
}
"""Rules of other configs: all hidden averages have sums, and idle hospitals are dropped."""
CONFIG = Path(__file__).parents[2] / "config/paper.yaml"


@pytest.fixture(scope="module", params=[1, 2])
def cleaned(request: pytest.FixtureRequest) -> tuple[Cleaned, DirtyTable]:
    """Return the table, cleaned as by the shipped config of the paper.

    Of a few hospitals one is closed, one starts late and one moves away, so more cells become 0.
    """
    dirty = DirtyTable(request.param)
    return clean(dirty), dirty


def clean(dirty: DirtyTable, *, sums: bool = True, **cleaning: Any) -> Cleaned:
    keys = yaml.safe_load(CONFIG.read_text())["dataset"]
    keys["cleaning"] |= {"max_zeroed": 0.1, **cleaning}
    dataset = Dataset.model_validate(keys)
    columns = dataset.needed_columns.needed + dataset.needed_columns.may_lack * sums
    raw = table_of("table.csv.gz", dirty.frame()[[*dict.fromkeys(columns)]])
    streams = {label: Stream(groups=groups) for label, groups in STREAMS.items()}
    return clean_raw(raw, dataset, streams)


def test_every_kind_is_counted_as_often_as_it_was_put_in(
    cleaned: tuple[Cleaned, DirtyTable],
) -> None:
    panel, dirty = cleaned
    for rule in RULES:
        counted = {report.stream: report.cells[rule] for report in panel.reports}
        assert counted == {label: dirty.counts[label][rule] for label in STREAMS}, rule
        there = [*map(bool, counted.values())]
        assert there == [rule not in NOT_HERE] * 3, f"every stream holds some {rule}"


def test_without_the_sums_hidden_averages_are_suppressed_and_idle_hospitals_may_play(
    cleaned: tuple[Cleaned, DirtyTable],
) -> None:
    _, dirty = cleaned
    for report in clean(dirty, sums=False, capacity_zero="carry").reports:
        put_in = dirty.counts[report.stream]
        for of in ("counts", "capacities"):
            told = (f"{kind}_{of}" for kind in OF_SUMS)
            assert report.cells[f"suppressed_{of}"] == sum(put_in[rule] for rule in told)
            assert not any(report.cells[f"{kind}_{of}"] for kind in OF_SUMS)
        assert report.cells["idle_counts"] == IDLE_WEEKS[report.stream]


def test_rows_that_are_not_played_are_counted_and_entities_dropped_are_named(
    cleaned: tuple[Cleaned, DirtyTable],
) -> None:
    panel, dirty = cleaned
    assert panel.joined["rows_outside"] == dirty.outside
    assert panel.joined["rows_read"] == len(dirty.rows) + len(dirty.before) + len(dirty.after)
    for report in panel.reports:
        dropped = {drop["entity"]: drop["reason"] for drop in report.dropped}
        assert dropped == dirty.dropped[report.stream]
        assert report.selection == "counts"


def test_missing_weeks_are_named(cleaned: tuple[Cleaned, DirtyTable]) -> None:
    nm, pa, west = cleaned[0].reports
    assert f"periods missing: 1 between {STARTS[30]} and {STARTS[32]}" in nm.checks
    assert (nm.periods, pa.periods, west.periods) == (66, 67, 67)


def test_all_other_cells_are_what_the_table_said(cleaned: tuple[Cleaned, DirtyTable]) -> None:
    """No kind of dirt changed a cell of another kind, and corrections replaced the wrong rows."""
    panel, dirty = cleaned
    table = PANEL.check(panel.table, "panel")
    measured = table[table["count_source"].isin(MEASURED)]
    for row in measured.itertuples():
        week = STARTS.index(str(row.period.date()))
        keys = {(state, row.entity, week) for state in STREAMS[row.stream]}
        (key,) = keys & dirty.rows.keys()
        assert row.count == number(dirty.rows[key], ALL_COVID, row.count_source)
        if row.capacity_source in MEASURED:
            assert row.capacity == number(dirty.rows[key], ALL_BEDS, row.capacity_source)
        assert row.density == min(row.count / row.capacity, 1)
    filled = {"hidden_sum_counts", "uncovered_counts", "carried_counts", "zero_counts"}
    others = sum(dirty.counts[label][rule] for label in STREAMS for rule in filled)
    assert len(measured) == len(table) - others
    assert np.isfinite(table["capacity"]).all()


def number(row: dict[str, str], average: str, source: str) -> float:
    """Return what the table says: an average, or a sum and the days behind it."""
    if source == "reported":
        return float(row[average])
    return float(row[sum_of(average)]) / float(row[days_of(average)])
