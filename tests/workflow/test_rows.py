"""Rows of `dpol league --write`, read by `--with` in another folder, as the page says."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from dpol.report.rows import AS_SENT
from pipeline import ROOT, run, succeed

pytestmark = pytest.mark.workflow
MINE = "{algorithm: rw-ftpl, label: mine}"


def play(folder: Path, *words: str) -> str:
    start = [sys.executable, "-m", "dpol", "league", MINE, "--on", "config.yaml", "--cores", "2"]
    return succeed(run(*start, *words, folder=folder))


def test_a_row_of_one_folder_ranks_in_another(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    shutil.copy(ROOT / ".test/config/config.yaml", here)
    about = "--sender", "Ann, Uni X", "--looked-at", "nothing", "--tried", "2"
    file = here / "ann.parquet"
    said = play(here, "--write", file.name, *about)
    assert f"{file.name}: {pq.ParquetFile(file).num_row_groups} rows, one for each stream" in said
    assert "no\ncount, and no name of a place" in said
    shutil.copytree(here, there)
    said = play(there, "--with", str(file))
    assert "mine (Ann, Uni X, as sent), isotropic noise" in said
    assert AS_SENT in said
    mine = pd.read_parquet(here / "results/league-test/standings.parquet")
    rows = pd.read_parquet(there / "league-config/standings.parquet")
    key = ["stream", "noise", "mu"]
    sent = rows[rows["sender"] == "Ann, Uni X"].set_index(key)["gain_share"]
    own = mine[mine["algorithm"] == "mine"].set_index(key)["gain_share"]
    assert sent.to_dict() == pytest.approx(own.to_dict(), nan_ok=True)
    assert {*rows.loc[rows["sender"] == "", "algorithm"]} >= {"mine", "rw-meta"}
