"""Real tables of public indexes, from their fetch to the report; these tests need the network.

The numbers are sums over the tables as published, which pandas and R give too.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from pipeline import ROOT, run, snakemake, succeed, write_config

TABLES = {
    "dengue": (228, {"MG": (66, 2_285_503), "BA": (32, 736_007), "SP": (63, 2_535_416)}),
    "influenza": (416, {"BW": (44, 8_892), "BY": (96, 13_029)}),
}
"""The periods of a table; the entities and cases of its streams."""


@pytest.mark.parametrize("name", TABLES)
def test_a_public_table_becomes_a_report(tmp_path: Path, name: str) -> None:
    config = yaml.safe_load((ROOT / f"config/{name}.yaml").read_text(encoding="utf-8"))
    config |= {"replicates": 2, "privacy": {"levels": {"mu-inf": float("inf"), "mu-1": 1}}}
    script = ROOT / f"config/{name}.py"
    if script.exists():
        succeed(run(sys.executable, str(script), folder=tmp_path))
    write_config(tmp_path, config)
    succeed(snakemake(tmp_path))
    results = tmp_path / "results" / name
    panel = pd.read_parquet(results / "data/panel.parquet")
    periods, streams = TABLES[name]
    counted = {
        label: (len(rows), rows["period"].nunique(), rows["entity"].nunique(), rows["count"].sum())
        for label, rows in panel.groupby("stream")
    }
    assert counted == {
        label: (entities * periods, periods, entities, cases)
        for label, (entities, cases) in streams.items()
    }
    page = (results / "report/index.html").read_text(encoding="utf-8")
    assert config["dataset"]["licence"] in page
    assert config["dataset"]["citation"].split(":")[0] in page
    shutil.rmtree(results)
