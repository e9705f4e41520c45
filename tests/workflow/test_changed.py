"""Files of a run that someone changed: no job believes them, and a command names them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

import dpol
from dpol.report.door import CRATE
from in_process import command
from pipeline import ROOT, fail, snakemake, succeed, write_config

CONFIG = yaml.safe_load((ROOT / ".test/config/config.yaml").read_text())

pytestmark = pytest.mark.workflow


def add_one(summary: Path) -> None:
    """A better result."""
    frame = pd.read_parquet(summary)
    frame.assign(mean_gain=frame["mean_gain"] + 1).to_parquet(summary)


def differences(run: Path) -> list[str]:
    code, out, _ = command("verify", run)
    if code == 0:
        assert out == f"{run}: all files are as the run made them\n"
        return []
    return [line.replace(f"{run}/", "") for line in out.splitlines()]


def planned(folder: Path, *flags: str) -> set[str]:
    """Return the rules of the jobs that a dry run names."""
    said = succeed(snakemake(folder, "--dry-run", *flags))
    rules = {*re.findall(r"^(\w+) +\d+$", said, re.M)} - {"total", "all"}
    assert rules or "Nothing to be done" in said
    return rules


def test_a_run_believes_what_it_wrote_and_what_it_was_asked_and_nothing_else(
    small_run: tuple[Path, str], tmp_path: Path
) -> None:
    shutil.copytree(small_run[0], tmp_path, dirs_exist_ok=True)
    run, database = tmp_path / "results/test", ("--persistence-backend", "db")
    assert differences(run) == []
    copy = shutil.copytree(tmp_path, tmp_path / "copy", copy_function=shutil.copyfile)
    assert planned(copy) == set(), "as after cp -r"

    add_one(run / "summary.parquet")
    (run / "tables/mine.csv").write_text("a\n1\n")
    assert differences(run) == ["changed: summary.parquet", "new: tables/mine.csv"]
    changes = r"summary.parquet \(changed\) and tables/mine.csv \(new\); see dpol verify"
    with pytest.warns(UserWarning, match=f"was changed after the run: {changes}"):
        dpol.open_run(run)
    wanted = "error: results/test: changed since the jobs wrote them: summary.parquet; move or"
    assert wanted in fail(snakemake(tmp_path))

    # Another config, and a part of its run before the whole, with Snakemake's records elsewhere.
    for name in ("summary.parquet", "tables/mine.csv"):
        (run / name).unlink()
    write_config(tmp_path, CONFIG, seed=2, replicates=4)
    succeed(snakemake(tmp_path, "results/test/summary.parquet", *database))
    succeed(snakemake(tmp_path, *database))
    assert (run / "games/A/mu-1/local/0-2/scores.parquet").exists()
    assert differences(run) == [], "it is silent about a place that the config left"

    # By the records of the first run, the results would be of its config.
    assert planned(tmp_path, *database) == set()
    write_config(tmp_path, CONFIG, replicates=4)
    said = succeed(snakemake(tmp_path, "--dry-run"))
    (why,) = re.findall(r"^seed: 2 → 1: (\d) jobs run again, and all that follow$", said, re.M)
    assert int(why) > 3
    assert not re.search(r"[0-9a-f]{12}|settings|facts", said), "no internal name or hash"
    assert "comparison_shown 1" in re.sub(" +", " ", said)
    write_config(tmp_path, CONFIG, seed=2, replicates=4)
    assert planned(tmp_path, *database) == set(), "the dry run left no trace"

    # Neither records nor a crate: results stay those of their config, and the crate is made.
    shutil.rmtree(tmp_path / ".snakemake")
    (run / CRATE).unlink()
    assert planned(tmp_path) == {"render_report"}
    (run / "logs/games/A/mu-1/local/0-3.json").unlink()
    assert {"games_point", "games_results", "render_report"} <= planned(tmp_path)
