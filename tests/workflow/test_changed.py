"""Files of a run that someone changed: no job believes them, and a command names them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

import dpol
from pipeline import ROOT, fail, snakemake, succeed, write_config
from releases import run as command

CONFIG = yaml.safe_load((ROOT / ".test/config/config.yaml").read_text())

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    write_config(folder, CONFIG)
    succeed(snakemake(folder))
    return folder


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


def test_a_changed_file_is_not_believed(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder)
    run = folder / "results/test"
    assert differences(run) == []
    add_one(run / "summary.parquet")
    (run / "tables/mine.csv").write_text("a\n1\n")
    assert differences(run) == ["changed: summary.parquet", "new: tables/mine.csv"]
    with pytest.warns(UserWarning, match="was changed after the run: summary.parquet; see dpol v"):
        dpol.open_run(run)
    wanted = "results/test/summary.parquet was changed after the job that made it; delete it to"
    assert wanted in fail(snakemake(folder))

    (run / "summary.parquet").unlink()
    (run / "tables/mine.csv").unlink()
    succeed(snakemake(folder))
    assert differences(run) == []

    page = run / "tables/average-gain.html"
    page.write_text(page.read_text().replace("</table>", "<!-- --></table>"))
    assert "results/test/tables/average-gain.html was changed after" in fail(snakemake(folder))


def test_a_run_that_goes_on_believes_itself(finished: Path, tmp_path: Path) -> None:
    """After another config, after a part of a run, and without the games."""
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder)
    run = folder / "results/test"
    write_config(folder, CONFIG, seed=2)
    succeed(snakemake(folder, "results/test/summary.parquet"))
    assert "changed: summary.parquet" in differences(run)
    succeed(snakemake(folder))
    assert differences(run) == []
    shutil.rmtree(run / "runs")
    missing = differences(run)
    assert missing
    assert all(it.startswith("missing: runs/") for it in missing)
    dpol.open_run(run)  # they can be played again
