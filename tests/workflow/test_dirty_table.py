"""The paper's rules of cleaning on a table of six states with every kind of dirt, as a real run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from data.dirty_table import STREAMS, DirtyTable
from dpol.data.stream import read_stream
from dpol.data.table import write_table

ROOT = Path(__file__).parents[2]
STUDIES = ("batching", "lazy", "convex", "labels", "audits", "claims")

pytestmark = pytest.mark.workflow


def test_a_dirty_table_is_played_without_touching_it(tmp_path: Path) -> None:
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    dirty = DirtyTable(3)
    write_table(dirty.frame(), tmp_path / config["dataset"]["source"]["file"])
    config = {key: value for key, value in config.items() if key not in STUDIES}
    config |= {
        "streams": {label: {"groups": groups} for label, groups in STREAMS.items()},
        "privacy": {"levels": {"mu-1": 1}},
        "suites": {"local": {"algorithms": ["rw-ftpl"]}},
        "replicates": 2,
        "report": {"algorithms": ["rw-ftpl"], "envelope": "rw-ftpl"},
    }
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    start = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    where = ["--directory", str(tmp_path), "--configfile", str(tmp_path / "config.yaml")]
    done = subprocess.run(
        [*start, *where, "--cores", "2"], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    results = tmp_path / "results/paper"
    report = json.loads((results / "data/cleaning.json").read_text())
    assert report["rows_outside"] == dirty.outside
    for stream in report["streams"]:
        played = read_stream(results / f"streams/{stream['stream']}.parquet")
        assert played.provenance["selection"] == stream["selection"] == "counts"
        assert (played.n_experts, played.n_rounds) == (stream["entities"], stream["periods"])
    log = (results / "logs/clean_panel.log").read_text()
    assert "stream PA: almost no entity has a row in the period" in log
    assert set(pd.read_parquet(results / "summary.parquet")["stream"]) == set(STREAMS)
    page = (results / "report/index.html").read_text()
    assert "<img src=x" not in page
    assert "negative capacities taken as missing" in page
