"""The paper's rules of cleaning on a table of six states with every kind of dirt, as a real run."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml
from dirty_table import STREAMS, DirtyTable

from dpol.data.raw_table import write_table
from dpol.data.stream import read_stream
from dpol.studies.registry import STUDIES
from pipeline import ROOT, snakemake, succeed, write_config

pytestmark = pytest.mark.workflow


def test_a_dirty_table_is_played_without_touching_it(tmp_path: Path) -> None:
    config = yaml.safe_load((ROOT / "config/paper.yaml").read_text())
    dirty = DirtyTable(3)
    write_table(dirty.frame(), tmp_path / config["dataset"]["source"]["file"])
    write_config(
        tmp_path,
        {key: value for key, value in config.items() if key not in STUDIES},
        streams={label: {"groups": groups} for label, groups in STREAMS.items()},
        privacy={"levels": {"mu-1": 1}},
        suites={"local": {"algorithms": ["rw-ftpl"]}},
        replicates=2,
        report={"algorithms": ["rw-ftpl"], "envelope": "rw-ftpl"},
    )
    succeed(snakemake(tmp_path))
    results = tmp_path / "results/paper"
    report = json.loads((results / "data/cleaning.json").read_text())
    assert report["rows_outside"] == dirty.outside
    for stream in report["streams"]:
        played = read_stream(results / f"streams/{stream['stream']}.parquet")
        assert played.provenance["selection"] == stream["selection"] == "counts"
        assert (played.n_experts, played.n_rounds) == (stream["entities"], stream["periods"])
    log = (results / "logs/clean_panel.log").read_text()
    assert "stream PA: periods with almost no entity, check their dates: " in log
    assert set(pd.read_parquet(results / "summary.parquet")["stream"]) == set(STREAMS)
    page = (results / "report/index.html").read_text()
    assert "<img src=x" not in page
    assert "negative capacities taken as missing" in page
