"""Cleaning counts every kind of dirt in a table, and restores the clean table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from dirty_table import DIRT, SPARSE_WEEK, STARTS, STREAMS, DirtyTable

from dpol.data.cleaning import clean_panel
from dpol.data.panel import PANEL, RULES, CleanPanel
from dpol.data.raw_table import raw_table
from dpol.data.settings import Dataset, Stream

CONFIG = Path(__file__).parents[2] / "config/paper.yaml"


@pytest.fixture(scope="module", params=[1, 2])
def cleaned(request: pytest.FixtureRequest) -> tuple[CleanPanel, DirtyTable]:
    """Return the table, cleaned as by the shipped config of the paper.

    Of a few hospitals one is closed, one starts late and one moves away, so more cells become 0.
    """
    dirty = DirtyTable(request.param)
    keys = yaml.safe_load(CONFIG.read_text())["dataset"]
    keys["cleaning"]["max_zeroed"] = 0.1
    dataset = Dataset.model_validate(keys)
    raw = raw_table("table.csv.gz", dirty.frame()[dataset.needed_columns.needed()])
    streams = {label: Stream(groups=groups) for label, groups in STREAMS.items()}
    return clean_panel(raw, dataset, streams), dirty


def test_every_kind_is_counted_as_often_as_it_was_put_in(
    cleaned: tuple[CleanPanel, DirtyTable],
) -> None:
    panel, dirty = cleaned
    for rule in set(RULES) - {"identified_rows"}:
        counted = {report.stream: report.cells[rule] for report in panel.reports}
        assert counted == {label: dirty.counts[label][rule] for label in STREAMS}, rule
        assert all(counted.values()), f"every stream holds some {rule}"


def test_rows_that_are_not_played_are_counted_and_entities_dropped_are_named(
    cleaned: tuple[CleanPanel, DirtyTable],
) -> None:
    panel, dirty = cleaned
    assert panel.rows_outside == dirty.outside
    assert panel.rows_read == len(dirty.rows) + len(dirty.before) + len(dirty.after)
    for report in panel.reports:
        dropped = {drop["entity"]: drop["reason"] for drop in report.dropped}
        assert dropped == dirty.dropped[report.stream]
        assert report.selection == "counts"


def test_missing_and_sparse_weeks_are_named(cleaned: tuple[CleanPanel, DirtyTable]) -> None:
    nm, pa, west = cleaned[0].reports
    assert nm.missing_periods == (f"1 between {STARTS[30]} and {STARTS[32]}",)
    assert pa.sparse_periods == (f"{STARTS[SPARSE_WEEK]} (1 of {pa.entities} entities)",)
    assert (nm.periods, pa.periods, west.periods) == (66, 67, 67)


def test_all_other_cells_are_what_the_table_said(cleaned: tuple[CleanPanel, DirtyTable]) -> None:
    """No kind of dirt changed a cell of another kind, and corrections replaced the wrong rows."""
    panel, dirty = cleaned
    table = PANEL.check(panel.table, "panel")
    column = DIRT["missing_counts"][0]
    reported = table[table["count_source"] == "reported"]
    for row in reported.itertuples():
        week = STARTS.index(str(row.period.date()))
        keys = {(state, row.entity, week) for state in STREAMS[row.stream]}
        (key,) = keys & dirty.rows.keys()
        assert row.count == float(dirty.rows[key][column])
        assert row.density == min(row.count / row.capacity, 1)
    filled = {"suppressed_counts", "carried_counts", "zero_counts"}
    others = sum(dirty.counts[label][rule] for label in STREAMS for rule in filled)
    assert len(reported) == len(table) - others
    assert np.isfinite(table["capacity"]).all()
