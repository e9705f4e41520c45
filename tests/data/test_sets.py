"""Configs not yet run on real data: each reads, cleans and plays a table that looks like its own.

The tables have the headers that the publishers are known to use; the numbers are made up.
"""

from __future__ import annotations

import csv
import datetime
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpol
from data.fetching import Fetch, epidata
from data.http_server import TableServer
from dpol.config.experiment import load_experiment
from dpol.config.models import Config
from dpol.data.cleaning import clean_panel
from dpol.data.fetch import fetch_table
from dpol.data.query import query_for
from dpol.data.simulator import ADULT_COVID, ALL_BEDS, simulate_hospitals
from dpol.data.sources import known_tables
from dpol.data.stream import GainStream, build_stream
from dpol.data.table import read_table
from pipeline import ROOT

NAMES = ["connecticut", "delphi", "nursing-homes", "toronto"]


def config_of(name: str) -> Config:
    return load_experiment(ROOT / f"config/{name}.yaml").config


def played(config: Config, table: Path) -> tuple[GainStream, pd.DataFrame]:
    """The only stream of a config on a table, cleaned and played, and its panel."""
    raw = read_table(table, config.dataset.needed_columns.needed())
    panel = clean_panel(raw, config.dataset, config.streams).table
    (label,) = config.streams
    stream = build_stream(panel, label, 1.0, {})
    noisy = dpol.privatize(stream, noise="capacity", mu=1.0, seed=1, replicates=2)
    games = dpol.play(dpol.RWMeta(), noisy)
    assert games.actions.shape == (2, *stream.gains.shape[:1])
    assert np.isfinite(games.gains(stream)).all()
    return stream, panel


def fetched(
    config: Config, url: str, run: Fetch, monkeypatch: pytest.MonkeyPatch
) -> tuple[GainStream, pd.DataFrame]:
    """The stream of a config whose primary is at this address of this machine."""
    source = config.dataset.source
    assert source.kind == "web"
    assert source.table is not None
    known = known_tables()[source.table]
    primary = type(known.primary).model_validate({**known.primary.model_dump(), "url": url})
    known = known.model_copy(update={"primary": primary, "mirrors": ()})
    monkeypatch.setattr("dpol.data.settings.known_tables", lambda: {source.table: known})
    groups = [group for stream in config.streams.values() for group in stream.groups]
    query = query_for(config.dataset, groups)
    fetch_table(source, query, run.destination, run.log.append, sleep=run.pauses.append)
    return played(config, run.destination)


def hospitals(state: str) -> pd.DataFrame:
    return simulate_hospitals({state: 6}, 30, datetime.date(2020, 8, 9), 3).drop_duplicates()


@pytest.mark.parametrize("name", NAMES)
def test_the_config_is_short_and_says_that_it_has_not_run(name: str) -> None:
    text = (ROOT / f"config/{name}.yaml").read_text()
    assert len(text.splitlines()) < 40
    assert "# Not yet run on real data." in text


def test_the_copy_of_connecticut(
    server: TableServer, run: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = hospitals("CT")
    cells["collection_week"] += "T00:00:00"  # as a Socrata server writes dates
    server.columns, server.rows = tuple(cells), [tuple(row) for row in cells.to_numpy()]
    config = config_of("connecticut")
    stream, panel = fetched(config, f"{server.url}/resource/table.csv", run, monkeypatch)
    assert set(panel["group"]) == {"CT"}
    assert stream.gains.shape[0] == cells["collection_week"].nunique()


def test_the_mirror_of_delphi(
    server: TableServer, run: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, cells = config_of("delphi"), hospitals("NM")
    names = known_tables()["hhs-facility-delphi"].primary.columns
    assert names is not None
    # By the API's documentation, which shortens one of them.
    assert names[ADULT_COVID] == "total_adult_patients_hosp_confirmed_suspected_covid_7d_avg"
    assert names[ALL_BEDS] == "inpatient_beds_7_day_avg"
    rows: list[dict[str, Any]] = cells[list(names)].rename(columns=names).to_dict("records")
    for row in rows:
        row["collection_week"] = int(row["collection_week"][:10].replace("-", ""))
        for key in (names[ADULT_COVID], names[ALL_BEDS]):
            row[key] = None if row[key] in ("", "NA") else float(row[key])
    server.faults["file"] = [epidata(rows)] * 3
    stream, panel = fetched(config, f"{server.url}/epidata/hospitals/", run, monkeypatch)
    counts = cells.set_index(["hospital_pk", "collection_week"])[ADULT_COVID]
    reported = panel[panel["count_source"] == "reported"]
    there = [counts[it.entity, str(it.period.date())] for it in reported.itertuples()]
    assert len(there) > 50
    assert reported["count"].tolist() == [float(text) for text in there]
    assert stream.gains.shape == (30, panel["entity"].nunique())


def write(path: Path, header: list[str], rows: list[list[object]]) -> Path:
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path


def test_nursing_homes(tmp_path: Path) -> None:
    header = [
        "Week Ending", "Federal Provider Number", "Provider State",
        "Residents Weekly Confirmed COVID-19", "Number of All Beds",
        "Total Number of Occupied Beds",
    ]  # fmt: skip
    weeks = [datetime.date(2021, 1, 3) + datetime.timedelta(weeks=week) for week in range(8)]
    rows: list[list[object]] = [
        [day, f"32500{home}", "NM", "" if (week, home) == (3, 0) else (week * home) % 7, 80, 60]
        for (week, day), home in itertools.product(enumerate(weeks), range(4))
    ]
    rows.append([weeks[0], "015009", "AL", 3, 50, 40])
    table = write(tmp_path / "homes.csv", header, rows)
    stream, panel = played(config_of("nursing-homes"), table)
    assert stream.entities == tuple(f"32500{home}" for home in range(4))
    assert stream.gains[5].tolist() == [(5 * home) % 7 / 80 for home in range(4)]
    assert panel["count_source"].tolist().count("zero") == 1, "no new case is carried forward"


def test_shelters_of_toronto(tmp_path: Path) -> None:
    header = ["OCCUPANCY_DATE", "SECTOR", "PROGRAM_ID", "OCCUPIED_BEDS", "CAPACITY_ACTUAL_BED"]
    days = [datetime.date(2021, 1, 1) + datetime.timedelta(days=day) for day in range(10)]
    rows: list[list[object]] = [
        [day, "Families", program, 10 + (number + program) % 9, 20]
        for (number, day), program in itertools.product(enumerate(days), (11, 12, 13))
    ]
    rows += [[day, "Families", 14, "", ""] for day in days]  # rooms, not beds
    stream, _ = played(config_of("toronto"), write(tmp_path / "shelters.csv", header, rows))
    assert stream.entities == ("11", "12", "13")
    assert stream.gains[4, 0] == (10 + 15 % 9) / 20
    assert stream.gains.shape == (10, 3), "a period is a day"
