"""Tables as offices send them, as real runs: a workbook, and a table with a repeated header."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import openpyxl
import pytest

from dpol.data.stream import read_stream
from pipeline import SMALL, snakemake, succeed, write_config

pytestmark = pytest.mark.workflow

PEOPLE = {"Köln": 50_000, "Ulm": 20_000, "Trier": 40_000}
CASES = np.array([[10, 0, 30], [20, 5, 80], [0, 15, 40]])


OFFICE = {key: SMALL[key] for key in ("run", "seed", "privacy", "replicates")} | {
    "streams": {"all": {"groups": ["all"]}},
    "suites": {"local": {"algorithms": ["rw-ftpl"]}},
    "report": {"algorithms": ["rw-ftpl"], "envelope": "rw-ftpl"},
}


@pytest.mark.parametrize("view", [[], ["--logger", "dpol"]])
def test_a_run_ends_with_what_to_check_in_the_table(tmp_path: Path, view: list[str]) -> None:
    header, *lines = "town,week,sick", "Ulm,2021-01-03,1", "Bonn,2021-01-03,2"
    (tmp_path / "t.csv").write_text("\n".join([header, *lines, header]) + "\n")
    write_config(
        tmp_path,
        OFFICE,
        dataset={
            "source": {"kind": "local", "file": "t.csv"},
            "columns": {"entity": "town", "period": "week", "count": "sick"},
            "cleaning": {"entities": "all"},
        },
        gain={"of": "count", "bound": 9},
    )
    said = succeed(snakemake(tmp_path, "data", *view))
    assert said.count("warning: row 4 repeats the header, and is left out") == 1
    assert said.count("Read results/small/data/cleaning.md on them.") == 1
    assert "warning" not in succeed(snakemake(tmp_path, "data", *view))


def test_a_wide_sheet_of_months_is_played_per_1000_people(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    cases, people = book.worksheets[0], book.create_sheet("People")
    cases.title = "Cases"
    for row in (["Cases by town"], [], ["year", "month", *PEOPLE, "Total"]):
        cases.append(row)
    for month, counts in enumerate(CASES.tolist(), 11):
        cases.append([2021 + month // 13, month % 12 or 12, *counts, sum(counts)])
    for row in (["town", "inhabitants"], *PEOPLE.items()):
        people.append(row)
    book.save(tmp_path / "office.xlsx")
    write_config(
        tmp_path,
        OFFICE,
        dataset={
            "source": {"kind": "local", "file": "office.xlsx", "simulated": True},
            "format": {"layout": "wide", "sheet": "Cases", "skip_rows": 1},
            "columns": {
                "entity": "town",
                "period": {"year": "year", "month": "month"},
                "count": "cases",
                "capacity": {
                    "file": "office.xlsx",
                    "format": {"sheet": "People"},
                    "entity": "town",
                    "capacity": "inhabitants",
                },
                "capacity_per": 1000,
            },
            "periods": {"months": 1},
            "cleaning": {"entities": "all", "drop_where": {"town": "Total"}, "max_clipped": 0.2},
        },
    )
    succeed(snakemake(tmp_path, "results/small/streams/all.parquet"))
    results = tmp_path / "results/small"
    stream = read_stream(results / "streams/all.parquet")
    assert stream.periods.astype(str).tolist() == ["2021-11-01", "2021-12-01", "2022-01-01"]
    towns = sorted(PEOPLE)
    thousands = np.array([PEOPLE[town] for town in towns]) / 1000
    columns = [[*PEOPLE].index(town) for town in towns]
    assert stream.entities == tuple(towns)
    np.testing.assert_allclose(stream.gains, np.minimum(CASES[:, columns] / thousands, 1))
    np.testing.assert_allclose(stream.sensitivity, np.sqrt(2) / thousands.min())
    report = json.loads((results / "data/cleaning.json").read_text())
    assert (report["rows_read"], report["rows_dropped"]) == (12, 3)
    assert report["provenance"]["capacities"]["sha256"] == report["provenance"]["sha256"]
