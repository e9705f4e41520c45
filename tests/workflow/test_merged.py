"""Config files that Snakemake merges."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml

import dpol
from pipeline import ROOT, command, fail, run, succeed, write_config

CONFIG = yaml.safe_load((ROOT / ".test/config/config.yaml").read_text())

pytestmark = pytest.mark.workflow


def test_two_config_files_are_the_config_that_they_merge_to(
    small_run: tuple[Path, str], tmp_path: Path
) -> None:
    """Blocks merge and lists are replaced; the page, which names the files, is made again."""
    shutil.copytree(small_run[0], tmp_path, dirs_exist_ok=True)
    base = {**CONFIG, "seed": 5, "suites": {"local": {"algorithms": ["ridge", "rw-ftpl"]}}}
    source = base["dataset"]["source"]
    base["dataset"] = {**base["dataset"], "source": {**source, "weeks": 30}}
    over = {key: CONFIG[key] for key in ("seed", "suites")}
    over["dataset"] = {"source": {"weeks": source["weeks"]}}
    write_config(tmp_path, base)
    (tmp_path / "over.yaml").write_text(yaml.safe_dump(over))
    both = command(tmp_path, str(tmp_path / "over.yaml"), "--cores", "2")
    plan = succeed(run(*both, "--dry-run"))
    assert re.findall(r"^(\w+) +\d+$", plan, re.M) == ["render_report", "all", "total"]
    succeed(run(*both))
    made = dpol.open_run(tmp_path / "results/test")
    assert made.config == CONFIG
    assert "Config: config.yaml + over.yaml" in (made.folder / "report/index.html").read_text()
    last = command(tmp_path, "--configfile", str(tmp_path / "over.yaml"), "--dry-run")
    assert "over.yaml: " in fail(run(*last)), "of two options Snakemake takes the last"
