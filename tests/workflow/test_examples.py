"""The examples for data of one's own."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from code_blocks import blocks
from dpol.data.stream import read_stream
from pipeline import ROOT, snakemake, succeed, write_config

EXAMPLES = ROOT / "data/examples"
PAGE = ROOT / "docs/how-to/add-dataset.md"


def test_example_tables_are_those_of_their_script(tmp_path: Path) -> None:
    runpy.run_path(str(EXAMPLES / "make_examples.py"))["write_examples"](tmp_path)
    assert (tmp_path / "shelters.csv").read_text() == (EXAMPLES / "shelters.csv").read_text()
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "clicks.parquet"), pd.read_parquet(EXAMPLES / "clicks.parquet")
    )
    assert sum(path.stat().st_size for path in EXAMPLES.iterdir()) < 100_000


@pytest.mark.workflow
def test_a_table_of_gains(tmp_path: Path) -> None:
    """The config that the page prints is run, with fewer replicates and levels."""
    (printed,) = (block.code for block in blocks(PAGE) if block.file == "clicks.yaml")
    levels = {"levels": [float("inf"), 1]}
    write_config(tmp_path, yaml.safe_load(printed), replicates=3, privacy=levels)
    succeed(snakemake(tmp_path, "results/clicks/tables/privacy.md"))
    table = pd.read_parquet(EXAMPLES / "clicks.parquet")
    results = tmp_path / "results/clicks"
    stream = read_stream(results / "streams/articles.parquet")
    assert stream.entities == tuple(table.columns[1:])
    assert stream.periods.astype(str).tolist() == table["day"].tolist()
    np.testing.assert_array_equal(stream.gains, table.iloc[:, 1:])
    summary = pd.read_parquet(results / "summary.parquet")
    assert set(summary["unit"]) == {"one round"}
    assert set(summary[summary["model"] != "none"]["sensitivity"]) == {0.0070711}
    noisy = summary[(summary["mu"] == 1) & (summary["model"] != "none")].set_index("algorithm")
    assert 0 < noisy["guaranteed_mu"].pop("l2p") < 1, "more privacy would not gain more"
    np.testing.assert_allclose(noisy["guaranteed_mu"].drop("l2p"), 1.0)
    shown = (results / "tables/privacy.md").read_text()
    assert "Protected: one round. Adjacent inputs: two streams that" in shown
    assert "person" not in shown
    played = [log.read_text() for log in (results / "logs/games").rglob("*.log")]
    for name in ("tree-ftpl-min-noise", "l2p"):
        assert any(f" {name}, rounds: 120 done in " in text for text in played)
