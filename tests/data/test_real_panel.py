"""Cleaning works on real weeks of the HHS table."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pandas as pd
import pytest

from data import drawn
from dpol.data import panel as panels
from dpol.data.cleaning import clean_panel
from dpol.data.raw_table import RawTable, read_table
from dpol.data.settings import Dataset
from dpol.data.stream import build_stream

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("DPOL_REAL_DATA", ROOT.parent / "shared/data"))
PANEL = ROOT / "data/hospitals/hospitals-15-states-2021-01-01--2022-07-29.parquet"
VERBATIM = FOLDER / "hhs-verbatim-nm-pa-ca-2022-09-23--2022-10-21.csv.gz"
STREAMS = drawn.streams(NM=["NM"], PA=["PA"], CA=["CA"])


def dataset(columns: dict[str, object], **cleaning: float) -> Dataset:
    keys = {"entity": "hospital_pk", "period": "collection_week", "name": "hospital_name"}
    return drawn.dataset({**keys, **columns}, **{"max_clipped": 0.01, **cleaning})


ADULTS = dataset(
    {
        "count": "total_adult_patients_hospitalized_confirmed_covid_7_day_avg",
        "capacity": "all_adult_hospital_inpatient_beds_7_day_avg",
    },
    case_factor=7,
    min_total_cases=100,
)
EVERYONE = dataset(
    {
        "count": "inpatient_beds_used_covid_7_day_avg",
        "capacity": "inpatient_beds_7_day_avg",
        "cases": [
            "previous_day_admission_adult_covid_suspected_7_day_sum",
            "previous_day_admission_pediatric_covid_suspected_7_day_sum",
        ],
    },
)


def read(file: Path, rules: Dataset) -> RawTable:
    if not file.exists():
        pytest.skip(f"{file.name} is not in {FOLDER} (DPOL_REAL_DATA names another folder)")
    return read_table(file, rules.columns.needed())


def test_the_table_that_comes_with_dpol_is_the_one_of_the_results() -> None:
    """Its bytes and the panel of three states are as before; an extract gave the same panel."""
    digest = hashlib.sha256(PANEL.read_bytes()).hexdigest()
    assert digest == "1d9a8c1471ac389004a67be9c735808c4f03226eb3afdacc8b19a5f5dd0dd088"
    panel = clean_panel(read(PANEL, ADULTS), ADULTS, STREAMS).table.to_csv(index=False)
    digest = hashlib.sha256(panel.encode()).hexdigest()
    assert digest == "e4be70a146f1421344e7c6b1b536a720e3a1a55c2a499e938cfbe96c9abba21c"


def test_the_panel_of_the_real_weeks() -> None:
    """Entities, weeks, gaps, suppressed cells and names equal counts by other means."""
    raw = read(PANEL, ADULTS)
    panel = clean_panel(raw, ADULTS, STREAMS)
    table = panels.PANEL.check(panel.table, "panel")
    assert (panel.rows_read, panel.rows_outside) == (164_621, 164_621 - 38_511)
    assert len(table) == 67 * (33 + 154 + 307)
    mine = raw.cells[raw.cells["hospital_pk"].isin(set(table["entity"]))]
    hidden = mine[ADULTS.columns.count].str.startswith("-999999").groupby(mine["state"]).sum()
    names = mine["hospital_name"].str.strip().groupby([mine["state"], mine["hospital_pk"]])
    renamed = (names.nunique() > 1).groupby("state").sum()
    assert (hidden.sum(), renamed.sum()) == (562 + 1_833 + 3_608, 26)
    assert sum(report.entities + len(report.dropped) for report in panel.reports) == 586
    for report, entities in zip(panel.reports, (33, 154, 307), strict=True):
        assert (report.entities, report.periods) == (entities, 67)
        assert sum(int(gap.split()[0]) for gap in report.missing_periods) == 16
        assert report.sparse_periods == ()
        assert report.cells["suppressed_counts"] == hidden[report.stream]
        assert report.cells["renamed_entities"] == renamed[report.stream]
        assert 0.5 < report.largest_density <= 1 < report.smallest_capacity
        stream = build_stream(table, report.stream, 1.0, {})
        assert stream.gains.shape == (67, entities)
        assert stream.gains.sum() == pytest.approx(
            table[table["stream"] == report.stream]["density"].sum()
        )
        assert stream.periods[0] == pd.Timestamp("2021-01-01").to_datetime64()


# Counts of COVID or influenza patients and their beds, among the table's 127 columns.
PAIRS = [
    ("inpatient_beds_used_covid", "total_beds"),
    ("total_adult_patients_hospitalized_confirmed_covid", "all_adult_hospital_beds"),
    ("total_pediatric_patients_hospitalized_confirmed_covid", "all_pediatric_inpatient_beds"),
    ("staffed_icu_adult_patients_confirmed_covid", "total_icu_beds"),
    ("total_patients_hospitalized_confirmed_influenza_and_covid", "inpatient_beds"),
]
MARKER = "-999999"


@pytest.mark.parametrize(("count", "capacity"), PAIRS)
def test_no_pair_of_published_columns_stops_a_run_and_all_markers_are_counted(
    count: str, capacity: str
) -> None:
    columns = {"count": f"{count}_7_day_avg", "capacity": f"{capacity}_7_day_avg"}
    rules = dataset(columns)
    table = read(VERBATIM, rules)
    panel = clean_panel(table, rules, STREAMS)
    kept = panel.table[["group", "entity"]].drop_duplicates()
    mine = table.cells.merge(
        kept, left_on=["state", "hospital_pk"], right_on=["group", "entity"]
    ).groupby("state")
    for kind, column in (("counts", columns["count"]), ("capacities", columns["capacity"])):
        for rule, markers in (("suppressed", [MARKER]), ("missing", ["", "NA"])):
            held = mine[column].agg(lambda cells, markers=markers: cells.isin(markers).sum())
            counted = {report.stream: report.cells[f"{rule}_{kind}"] for report in panel.reports}
            assert counted == held.to_dict()
    assert all(report.cells["clipped_densities"] == 0 for report in panel.reports) or "icu" in count
