"""Configs not yet run on real data read, clean and play a table that looks like their own.

The tables have the publishers' headers and made-up numbers.
"""

from __future__ import annotations

import datetime
import itertools
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import dpol
from dpol.config.experiment import load_experiment
from dpol.data.cleaning import clean_panel
from dpol.data.stream import GainStream, build_stream
from dpol.data.table import read_table
from pipeline import ROOT, run, succeed


def played(name: str, table: pd.DataFrame, path: Path) -> tuple[GainStream, pd.DataFrame]:
    """Clean and play the first stream of a config on a table; return it and its panel."""
    config = load_experiment(ROOT / f"config/{name}.yaml").config
    table.to_csv(path, index=False)
    raw = read_table(path, config.dataset.needed_columns.needed())
    panel = clean_panel(raw, config.dataset, config.streams).table
    label = next(iter(config.streams))
    stream = build_stream(panel, label, 1.0, {})
    noisy = dpol.privatize(stream, noise="capacity", mu=1.0, seed=1, replicates=2)
    games = dpol.play(dpol.RWMeta(), noisy)
    assert games.actions.shape == (2, *stream.gains.shape[:1])
    assert np.isfinite(games.gains(stream)).all()
    return stream, panel


def test_every_real_table_has_a_licence_and_a_citation() -> None:
    for path in (ROOT / "config").glob("*.yaml"):
        dataset = load_experiment(path).config.dataset
        assert dataset.simulated or (dataset.licence and dataset.citation), path.name


def test_intensive_care_in_germany(tmp_path: Path) -> None:
    header = [
        "datum", "bundesland_id", "bundesland_name", "behandlungsgruppe", "anzahl_meldebereiche",
        "faelle_covid_aktuell", "faelle_covid_erstaufnahmen", "intensivbetten_belegt",
        "intensivbetten_frei",
    ]  # fmt: skip
    days = [datetime.date(2020, 4, 29) + datetime.timedelta(days=day) for day in range(10)]
    rows = [
        [day, number, state, "Erwachsene", 9, number + shift, "NA", 40, 20]
        for (shift, day), (number, state) in itertools.product(
            enumerate(days), enumerate(("Bremen", "Bayern", "Thüringen"))
        )
    ]
    table = pd.DataFrame(rows, columns=header)
    stream, _ = played("intensive-care", table, tmp_path / "care.csv")
    assert stream.entities == ("Bayern", "Bremen", "Thüringen")
    assert stream.gains.shape == (8, 3), "a period is a day, and the first two are left out"
    assert stream.gains[0].tolist() == [3 / 40, 2 / 40, 4 / 40]


def test_accident_and_emergency_in_england(tmp_path: Path) -> None:
    header = (
        "Period,Org Code,Parent Org,Org name,A&E attendances Type 1,A&E attendances Type 2,"
        "Attendances over 4hrs Type 1\n"
    )
    folder = tmp_path / "data/raw/nhs-emergency"
    folder.mkdir(parents=True)
    for number, month in enumerate(("MARCH-2024", "APRIL-2024", "MAY-2024")):
        (folder / f"{month}-CSV-x7.csv").write_text(
            f'{header}MSitAE-{month},R1A,NHS ENGLAND LONDON,"St A, B","1,000",3,{200 + number}\n'
            f"MSitAE-{month},R1B,NHS ENGLAND LONDON,St B,500,0,90\n"
            f"MSitAE-{month},R1C,NHS ENGLAND LONDON,Minor,0,0,0\n"
            f"MSitAE-{month},R2A,NHS ENGLAND MIDLANDS,St C,400,0,80\n"
            f"MSitAE-{month},R2B,NHS ENGLAND MIDLANDS,St D,400,0,70\n"
            f'TOTAL,TOTAL,TOTAL,TOTAL,"1,500",3,290\n'
        )
    succeed(run(sys.executable, str(ROOT / "config/emergency.py"), folder=tmp_path))
    table = pd.read_csv(tmp_path / "data/raw/nhs-emergency.csv")
    stream, _ = played("emergency", table, tmp_path / "emergency.csv")
    assert stream.entities == ("R1A", "R1B"), "a department without patients does not play"
    assert stream.gains.tolist() == [[0.2, 0.18], [0.201, 0.18], [0.202, 0.18]]
    assert [str(day) for day in stream.periods] == ["2024-03-01", "2024-04-01", "2024-05-01"]
