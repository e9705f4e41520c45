"""A run on a table of one's own: to its page, nothing leaves the folder, and read_table agrees."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import dpol
from dpol.data.stream import PUBLIC
from dpol.report.door import disagreements
from pipeline import ROOT, snakemake, succeed, write_config
from report.crates import checked_crate
from streams_by_hand import assert_same, streams_of_config

COUNTS = {"A": "27 27 27 3 3 3 3 3", "B": "<5 <5 <5 <5 <5 <5 <5 <5", "C": "1 1 1 1 1 1 1 1"}
BEDS = {"A": 30, "B": 10, "C": 30}


@pytest.mark.workflow
def test_hidden_counts_are_read_in_two_ways_and_raw_counts_stay_here(tmp_path: Path) -> None:
    """The hidden B is the best of five weeks if it is read as 2 or 4.

    Last week's choice finds it at once, the leader of all weeks only later.
    """
    days = pd.date_range("2021-01-03", periods=8, freq="7D").strftime("%Y-%m-%d")
    rows = [
        (town, day, count, BEDS[town])
        for town, line in COUNTS.items()
        for day, count in zip(days, line.split(), strict=True)
    ]
    table = pd.DataFrame(rows, columns=["town", "week", "sick", "beds"])
    table.to_csv(tmp_path / "towns.csv", index=False)
    config = {
        "run": "towns",
        "seed": 1,
        "dataset": {
            "source": {"kind": "local", "file": "towns.csv"},
            "columns": {"entity": "town", "period": "week", "count": "sick", "capacity": "beds"},
            "cleaning": {
                "entities": "all",
                "suppressed_markers": ["<5"],
                "suppressed_value": 4,
            },
            "readings": {"other": {"suppressed_value": 2}},
        },
        "streams": {"all": {"groups": ["all"]}},
        "privacy": {"levels": [float("inf")]},
        "suites": {
            "local": {"noises": ["capacity"], "algorithms": ["persistence", "rw-ftpl"]},
        },
        "replicates": 20,
        "comparison": {"ours": {"algorithm": "persistence", "noise": "capacity"}},
        "report": {"algorithms": ["rw-ftpl"]},
    }
    write_config(tmp_path, config)
    warning = "This folder holds your raw counts. Share nothing of it."
    assert f"results/towns: {warning}" in succeed(snakemake(tmp_path))

    results = tmp_path / "results/towns"
    standings = pd.read_parquet(results / "standings.parquet").set_index("algorithm")
    pairs = ("persistence", "to_strongest_verdict"), ("rw-ftpl", "to_ours_verdict")
    assert [standings.loc[pair] for pair in pairs] == ["above", "below"]
    assert pd.read_parquet(results / "readings.parquet")["verdict"].tolist() == ["above"]
    assert disagreements(results) == [], "the streams of readings are its own"
    report = json.loads((results / "data/cleaning.json").read_text())
    assert report["streams"][0]["unmeasured"]["periods"] == 5
    assert any("nobody measured the best number" in text for text in report["warnings"])
    summary = pd.read_parquet(results / "summary.parquet")
    assert set(summary["unmeasured_periods"]) == {5}

    assert warning in (results / "report/index.html").read_text()
    described = {node["@id"]: node for node in checked_crate(results)}["./"]["description"]
    assert described.endswith(warning)
    assert not (results / "replay.parquet").exists()


@pytest.mark.workflow
def test_the_stream_of_a_config_is_that_of_a_run(tmp_path: Path) -> None:
    file, path = ROOT / "config/config.yaml", "results/central-texas/streams/CTX.parquet"
    succeed(snakemake(tmp_path, path, config=file))
    made, (own,) = dpol.read_stream(tmp_path / path), streams_of_config(file)
    # No file of a run says whether everyone may see its table; its config does.
    assert_same(own, replace(made, provenance=made.provenance | {PUBLIC: True}))
    assert own.stay == made.stay
