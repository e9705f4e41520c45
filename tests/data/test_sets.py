"""Configs not yet run on real data: each reads, cleans and plays a table that looks like its own.

The tables have the headers that the publishers are known to use; the numbers are made up.
"""

from __future__ import annotations

import datetime
import itertools
from pathlib import Path

import numpy as np
import pandas as pd

import dpol
from dpol.config.experiment import load_experiment
from dpol.data.cleaning import clean_panel
from dpol.data.stream import GainStream, build_stream
from dpol.data.table import read_table
from pipeline import ROOT


def played(name: str, table: pd.DataFrame, path: Path) -> tuple[GainStream, pd.DataFrame]:
    """The only stream of a config on a table, cleaned and played, and its panel."""
    config = load_experiment(ROOT / f"config/{name}.yaml").config
    table.to_csv(path, index=False)
    raw = read_table(path, config.dataset.needed_columns.needed())
    panel = clean_panel(raw, config.dataset, config.streams).table
    (label,) = config.streams
    stream = build_stream(panel, label, 1.0, {})
    noisy = dpol.privatize(stream, noise="capacity", mu=1.0, seed=1, replicates=2)
    games = dpol.play(dpol.RWMeta(), noisy)
    assert games.actions.shape == (2, *stream.gains.shape[:1])
    assert np.isfinite(games.gains(stream)).all()
    return stream, panel


def test_nursing_homes(tmp_path: Path) -> None:
    header = [
        "Week Ending", "Federal Provider Number", "Provider State",
        "Residents Weekly Confirmed COVID-19", "Number of All Beds",
    ]  # fmt: skip
    weeks = [datetime.date(2021, 1, 3) + datetime.timedelta(weeks=week) for week in range(8)]
    rows: list[list[object]] = [
        [day, f"32500{home}", "NM", "" if (week, home) == (3, 0) else (week * home) % 7, 80]
        for (week, day), home in itertools.product(enumerate(weeks), range(4))
    ]
    table = pd.DataFrame([*rows, [weeks[0], "015009", "AL", 3, 50]], columns=header)
    stream, panel = played("nursing-homes", table, tmp_path / "homes.csv")
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
    table = pd.DataFrame(rows, columns=header)
    stream, _ = played("toronto", table, tmp_path / "shelters.csv")
    assert stream.entities == ("11", "12", "13")
    assert stream.gains[4, 0] == (10 + 15 % 9) / 20
    assert stream.gains.shape == (10, 3), "a period is a day"
