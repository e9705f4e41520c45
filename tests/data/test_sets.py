"""A config not yet run on real data reads, cleans and plays a table that looks like its own.

The table has the publisher's header and made-up numbers.
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
