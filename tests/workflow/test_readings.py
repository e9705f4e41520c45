"""A run says ahead, not above, where unmeasured numbers decide, until all readings agree."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from pipeline import snakemake, succeed, write_config

COUNTS = {"A": "27 27 27 3 3 3 3 3", "B": "<5 <5 <5 <5 <5 <5 <5 <5", "C": "1 1 1 1 1 1 1 1"}
BEDS = {"A": 30, "B": 10, "C": 30}


@pytest.mark.workflow
def test_a_run_says_ahead_at_this_reading_until_all_readings_agree(tmp_path: Path) -> None:
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
    (tmp_path / "data/raw").mkdir(parents=True)
    table.to_csv(tmp_path / "data/raw/towns.csv", index=False)
    config = {
        "run": "towns",
        "seed": 1,
        "dataset": {
            "source": {"kind": "local", "file": "data/raw/towns.csv"},
            "columns": {"entity": "town", "period": "week", "count": "sick", "capacity": "beds"},
            "cleaning": {
                "entities": "all",
                "suppressed_markers": ["<5"],
                "suppressed_value": 4,
            },
        },
        "streams": {"all": {"groups": ["all"]}},
        "privacy": {"levels": {"mu-inf": float("inf")}},
        "suites": {
            "local": {"noises": ["capacity"], "algorithms": ["persistence", "rw-ftpl"]},
        },
        "replicates": 20,
        "comparison": {"ours": {"algorithm": "persistence", "noise": "capacity"}},
    }
    results = tmp_path / "results/towns"

    def verdicts() -> list[str]:
        """Play, and return the verdicts on ours and on the strongest rival."""
        write_config(tmp_path, config)
        succeed(snakemake(tmp_path, "results/towns/standings.parquet"))
        rows = pd.read_parquet(results / "standings.parquet").set_index("algorithm")
        pairs = ("persistence", "to_strongest_verdict"), ("rw-ftpl", "to_ours_verdict")
        return [rows.loc[pair] for pair in pairs]

    assert verdicts() == ["ahead at this reading", "behind at this reading"]
    report = json.loads((results / "data/cleaning.json").read_text())
    assert report["streams"][0]["unmeasured"]["periods"] == 5
    assert any("nobody measured the best number" in text for text in report["warnings"])
    summary = pd.read_parquet(results / "summary.parquet")
    assert set(summary["unmeasured_periods"]) == {5}
    config["dataset"]["readings"] = {"other": {"suppressed_value": 2}}
    assert verdicts() == ["above", "below"]
    assert pd.read_parquet(results / "readings.parquet")["verdict"].tolist() == ["above"]
