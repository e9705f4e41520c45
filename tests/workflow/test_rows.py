"""Rows of `dpol league --record`, read by `--with` in another folder, as the page says."""

from __future__ import annotations

import sys
from pathlib import Path

import league
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline import ROOT, Done, fail, run, succeed

pytestmark = pytest.mark.workflow
MINE = "{algorithm: rw-ftpl, label: mine}"


def play(folder: Path, name: str, *words: str) -> Done:
    start = [sys.executable, "-m", "dpol", "league", name, "--on", "config.yaml", "--cores", "2"]
    (folder / "config.yaml").write_text((ROOT / ".test/config/config.yaml").read_text())
    return run(*start, *words, folder=folder)


def test_a_row_of_one_folder_ranks_in_another(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    about = "--sender", "Ann, Uni X", "--looked-at", "nothing", "--tried", "2"
    succeed(play(here, MINE, "--record", "ann.parquet", *about))
    file = here / "ann.parquet"
    assert league.needs(file) == ("dpol", "test", '{"algorithm": "rw-ftpl", "label": "mine"}')
    done = play(there, "random-effects", "--with", str(file))
    assert "mine (Ann, Uni X, replayed 3 of 3), isotropic noise" in succeed(done)
    mine = pd.read_parquet(here / "results/league-test/standings.parquet")
    rows = pd.read_parquet(there / "league-config/standings.parquet")
    key = ["stream", "noise", "mu"]
    sent = rows[rows["sender"] == "Ann, Uni X"].set_index(key)["gain_share"]
    own = mine[mine["algorithm"] == "mine"].set_index(key)["gain_share"]
    assert sent.to_dict() == pytest.approx(own.to_dict(), nan_ok=True)
    assert {*rows.loc[rows["sender"] == "", "algorithm"]} >= {"random-effects", "rw-meta"}

    table = pq.read_table(file)
    forged = [row | {"choices": [0] * len(row["choices"])} for row in table.to_pylist()]
    made = pa.Table.from_pylist(forged, table.schema)
    pq.write_table(made, there / "forged.parquet", row_group_size=1)
    assert "mine played again makes" in fail(
        play(there, "random-effects", "--with", "forged.parquet")
    )
    wrong = play(there, "random-effects", "--with", "x.parquet", "--replay", "two")
    assert "must be a number, got 'two'" in fail(wrong)
