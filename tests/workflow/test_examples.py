"""The examples for data of one's own: each is run, with fewer replicates and levels."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from code_blocks import blocks
from dpol.data.stream import GainStream, read_stream
from pipeline import ROOT, Done, snakemake, succeed, write_config

EXAMPLES = ROOT / "data/examples"
PAGE = ROOT / "docs/how-to/add-dataset.md"
LEVELS = {"mu-inf": float("inf"), "mu-1": 1}

workflow = pytest.mark.workflow


def example(name: str) -> str:
    """Return a shipped config, or one that the page on tables of one's own prints."""
    shipped = ROOT / f"config/{name}.yaml"
    if shipped.exists():
        return shipped.read_text()
    (printed,) = (block for block in blocks(PAGE) if block.file == shipped.name)
    return printed.code


def play(folder: Path, name: str, *files: str, **changes: Any) -> Done:
    """Run an example in a folder, smaller: up to some files, or to the report."""
    config = yaml.safe_load(example(name))
    write_config(folder, config, **{"replicates": 3, "privacy": {"levels": LEVELS}, **changes})
    return snakemake(folder, *(f"results/{name}/{file}" for file in files))


def stream_of(folder: Path, run: str, label: str) -> GainStream:
    return read_stream(folder / f"results/{run}/streams/{label}.parquet")


def summary_of(folder: Path, run: str) -> pd.DataFrame:
    return pd.read_parquet(folder / f"results/{run}/summary.parquet")


def table_of(folder: Path, run: str, name: str) -> str:
    return (folder / f"results/{run}/tables/{name}.md").read_text()


def test_example_tables_are_those_of_their_script(tmp_path: Path) -> None:
    runpy.run_path(str(EXAMPLES / "make_examples.py"))["write_examples"](tmp_path)
    assert (tmp_path / "shelters.csv").read_text() == (EXAMPLES / "shelters.csv").read_text()
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "clicks.parquet"), pd.read_parquet(EXAMPLES / "clicks.parquet")
    )
    assert sum(path.stat().st_size for path in EXAMPLES.iterdir()) < 100_000


@workflow
def test_a_table_with_names_and_markers_of_its_own(tmp_path: Path) -> None:
    town_only = {"town": {"title": "Whole town", "groups": ["Old Town", "Riverside"]}}
    succeed(play(tmp_path, "shelters", "tables/league.md", streams=town_only))
    table = pd.read_csv(EXAMPLES / "shelters.csv", dtype=str)
    report = json.loads((tmp_path / "results/shelters/data/cleaning.json").read_text())
    (town,) = report["streams"]
    assert town["cells"]["suppressed_counts"] == (table["guests"] == "<5").sum() > 0
    filled = town["cells"]["carried_counts"] + town["cells"]["zero_counts"]
    assert filled == (table["guests"] == "-").sum() > 0
    assert town["entities"] == table["shelter"].nunique()
    stream = stream_of(tmp_path, "shelters", "town")
    row = table.iloc[1]
    share = float(row["guests"]) / float(row["places"])
    assert stream.gains[0, stream.entities.index(row["shelter"])] == share
    assert set(summary_of(tmp_path, "shelters")["noise"]) >= {"isotropic", "capacity"}
    assert "Data: simulated, not measured." in table_of(tmp_path, "shelters", "league")


@workflow
def test_a_table_of_gains(tmp_path: Path) -> None:
    succeed(play(tmp_path, "clicks"))
    table = pd.read_parquet(EXAMPLES / "clicks.parquet")
    stream = stream_of(tmp_path, "clicks", "articles")
    assert stream.entities == tuple(table.columns[1:])
    assert stream.periods.astype(str).tolist() == table["day"].tolist()
    np.testing.assert_array_equal(stream.gains, table.iloc[:, 1:])
    summary = summary_of(tmp_path, "clicks")
    assert set(summary["unit"]) == {"one round"}
    assert set(summary[summary["model"] != "none"]["sensitivity"]) == {0.0070711}
    noisy = summary[(summary["mu"] == 1) & summary["guaranteed_mu"].notna()]
    np.testing.assert_allclose(
        noisy[~noisy["algorithm"].str.contains("regret")]["guaranteed_mu"], 1.0
    )
    shown = table_of(tmp_path, "clicks", "privacy")
    assert "Protected: one round. Adjacent inputs: two streams that" in shown
    assert "person" not in shown
    logs = (tmp_path / "results/clicks/logs/games_point").rglob("*.log")
    played = (line.split(" ", 1)[1] for log in logs for line in log.read_text().splitlines())
    assert {line.split(" done in ")[0] for line in played} >= {
        f"{name}, rounds: 120" for name in ("tree-ftpl-min-noise", "l2p")
    }
