"""Configs of tables from elsewhere read, clean and play them as data/elsewhere/README.md says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpol
from dpol.config.experiment import load_experiment
from dpol.data.cleaning import clean_table
from dpol.data.stream import GainStream, build_stream
from pipeline import ROOT

FLU = "data/elsewhere/flu-admissions-us-2022-02-05--2026-06-27.parquet"
CARE = "data/elsewhere/intensive-care-germany-2020-05-01--2022-04-30.parquet"


def cleaned(name: str, file: str) -> tuple[GainStream, pd.DataFrame, dict[str, Any]]:
    """Clean a table by its shipped config; return the only stream, the panel and the report."""
    config = load_experiment(ROOT / f"config/{name}.yaml").config
    assert config.dataset.source.file == file
    panel, report = clean_table(ROOT / file, config.dataset, config.streams, config.gains.values())
    (label,) = config.streams
    return build_stream(panel, label, 1.0, {}, gain=config.gain), panel, report


def test_every_real_table_has_a_licence_and_a_citation() -> None:
    for path in (ROOT / "config").glob("*.yaml"):
        dataset = load_experiment(path).config.dataset
        assert dataset.simulated or (dataset.licence and dataset.citation), path.name


@pytest.mark.parametrize(
    ("name", "file", "columns", "per", "shape", "empty"),
    [
        ("flu", FLU, "date location value population", 100_000, (230, 52), 36),
        (
            "intensive-care",
            CARE,
            "datum bundesland_name faelle_covid_aktuell intensivbetten_belegt",
            1,
            (730, 16),
            0,
        ),
    ],
)
def test_gains_are_those_of_pandas_alone(
    name: str, file: str, columns: str, per: int, shape: tuple[int, int], empty: int
) -> None:
    stream, panel, report = cleaned(name, file)
    raw = pd.read_parquet(ROOT / file)
    period, entity, count, capacity = columns.split()
    assert raw[count].isna().sum() == empty == report["streams"][0]["cells"]["zero_counts"]
    assert panel["count"].sum() == raw[count].sum()
    raw["share"] = raw[count].fillna(0) / raw[capacity] * per
    wide = raw.pivot(index=period, columns=entity, values="share")[list(stream.entities)]
    assert stream.gains.shape == shape
    np.testing.assert_allclose(stream.gains, wide.to_numpy(float), rtol=1e-12)
    noisy = dpol.privatize(stream, noise="capacity", mu=1.0, seed=1, replicates=2)
    assert np.isfinite(dpol.play(dpol.RWMeta(), noisy).gains(stream)).all()
