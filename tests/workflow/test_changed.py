"""Files of a run that someone changed: no job believes them, and a command names them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

import dpol
from in_process import command
from pipeline import ROOT, fail, snakemake, succeed, write_config, written_as_before

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


def test_a_run_believes_what_it_wrote_and_nothing_else(tmp_path: Path) -> None:
    run = tmp_path / "results/test"
    write_config(tmp_path, CONFIG)
    succeed(snakemake(tmp_path))
    assert differences(run) == []

    add_one(run / "summary.parquet")
    (run / "tables/mine.csv").write_text("a\n1\n")
    assert differences(run) == ["changed: summary.parquet", "new: tables/mine.csv"]
    changes = r"summary.parquet \(changed\), tables/mine.csv \(new\); see dpol verify"
    with pytest.warns(UserWarning, match=f"was changed after the run: {changes}"):
        dpol.open_run(run)
    wanted = "results/test/summary.parquet was changed after the job that made it; delete it and"
    assert wanted in fail(snakemake(tmp_path))

    # Another config, and a part of its run before the whole.
    (run / "tables/mine.csv").unlink()
    write_config(tmp_path, CONFIG, seed=2)
    succeed(snakemake(tmp_path, "results/test/summary.parquet"))
    succeed(snakemake(tmp_path))
    assert differences(run) == []

    # Without Snakemake's own records, as in an archive, the results stay those of their config.
    hidden = (tmp_path / ".snakemake").rename(tmp_path / "hidden")
    with written_as_before(run / "report/index.html"):
        (run / "report/index.html").write_text("another page")
    said = succeed(snakemake(tmp_path, "--dry-run"))
    told = "warning: results/test/report/index.html was changed after the job that made it; delete"
    assert said.index(told) < said.index("Nothing to be done")
    write_config(tmp_path, CONFIG, seed=3)
    said = fail(snakemake(tmp_path, "--dry-run"))
    assert "error: results/test holds the results of something else:\n  seed: 2 → 3\n" in said
    shutil.rmtree(tmp_path / ".snakemake")
    hidden.rename(tmp_path / ".snakemake")
    assert "games_point" in succeed(snakemake(tmp_path, "--dry-run"))
    write_config(tmp_path, CONFIG, seed=2)

    # A deleted file is made again; a changed one is not put on the page.
    table, other = run / "tables/average-gain.html", run / "figures/privacy-utility.svg"
    table.write_text(table.read_text() + "<!-- -->")
    other.unlink()
    assert f"{table.relative_to(tmp_path)} was changed after" in fail(snakemake(tmp_path))
    assert other.is_file()
