"""The tutorial goes on: its own lines release ten weeks more, and each is decided."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpol
from code_blocks import ROOT, blocks
from dpol.noise.released import template_of
from in_process import command

TABLE, _, RELEASE = (it.code for it in blocks(ROOT / "docs/tutorial.md") if it.language == "python")
RAW, TEMPLATE = Path("data/raw/wards.csv"), Path("results/wards/choose/mu-0.5.csv")


def test_ten_weeks_are_released_and_decided_by_the_lines_of_the_tutorial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    RAW.parent.mkdir(parents=True)
    TEMPLATE.parent.mkdir(parents=True)
    exec(TABLE, {})
    words = "--entity ward --period week --count patients --capacity beds --row number"
    assert command("new", "dataset", RAW, *words.split())[0] == 0
    stream = dpol.read_table("wards.yaml")
    template_of(stream, "capacity", 0.5, "designed").to_csv(TEMPLATE, index=False)
    Path("release.py").write_text(RELEASE)
    (first,) = command("choose", "window-mean", TEMPLATE, "--name", "wards")[1].splitlines()[:1]
    assert first == "window-mean chooses for 2025-02-24: Ward 1"
    beds, released = stream.capacity[-1], []
    for week in range(1, 11):
        monday = pd.Timestamp(str(stream.periods[-1])) + pd.Timedelta(weeks=week)
        rows = (f"Ward {i + 1};{monday:%d.%m.%Y};{7 + i};{n:.0f}" for i, n in enumerate(beds))
        with RAW.open("a") as file:
            file.writelines(f"{row}\n" for row in rows)
        runpy.run_path("release.py")
        table = pd.read_csv("released.csv").dropna(subset="share")
        released.append(table.loc[table["period"] == f"{monday:%Y-%m-%d}", "share"].to_numpy())
        best = int(np.argmax(np.mean(released[-8:], axis=0)))
        out = command("choose", "window-mean", "released.csv", "--name", "wards")[1]
        following = f"{monday + pd.Timedelta(weeks=1):%Y-%m-%d}"
        assert out.startswith(f"window-mean chooses for {following}: Ward {best + 1}\n")
        assert f"This rests on {week} period" in out
    with pytest.raises(AssertionError, match="a week is released once"):
        runpy.run_path("release.py")
    noise = np.array(released) - (7 + np.arange(8)) / beds
    assert np.unique(noise).size == noise.size, "no number is released with the noise of another"
