"""An algorithm of another package plays in a run, and stands beside the papers'."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from paper_run import SUITES
from pipeline import SMALL, snakemake, succeed, write_config
from plugins.conftest import install


@pytest.mark.workflow
def test_a_rival_is_beside_the_papers_algorithms_by_config_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Table 2 has its row and the first figure of the page its line, like those of a variant."""
    packages = tmp_path / "packages"
    packages.mkdir()
    install(packages, "adalg")
    monkeypatch.setenv("PYTHONPATH", str(packages))
    games = {key: SMALL[key] for key in ("run", "seed", "dataset", "privacy")}
    suites = SUITES | {"mine": {"algorithms": ["adalg:ForgetfulLeader", "persistence"]}}
    more = {"streams": {"A": {"groups": ["A"]}}, "suites": suites, "replicates": 3}
    ours = {"ours": {"algorithm": "rw-meta", "noise": "capacity"}}
    write_config(tmp_path, games, comparison=ours, **more)
    succeed(snakemake(tmp_path))
    results = tmp_path / "results/small"
    said = "ForgetfulLeader, not in the paper"
    rows = pd.read_csv(results / "tables/table-2.csv").query("column == 'ForgetfulLeader'")
    summary = pd.read_parquet(results / "summary.parquet").query("algorithm == 'ForgetfulLeader'")
    assert rows["mean_gain"].tolist() == pytest.approx(summary["mean_gain"].tolist())
    page = (results / "report/index.html").read_text()
    (read,) = re.findall(r'id="answer-data">(.*?)</script>', page)
    names = [it["name"] for it in json.loads(read)["panels"][0]["lines"]]
    assert [it.endswith(", not in the paper") for it in names][-3:] == [False, True, True]
    assert page.count(said) > 1, "the table of the page and its first figure"
