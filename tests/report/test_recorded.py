"""A run of one's own beside recorded rows: equal systems keep equal shares, others are refused."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from dpol.core.errors import DataError
from dpol.core.schemas import write_frame
from dpol.report.recorded import beside_recorded
from dpol.reruns.record import CONFIG
from in_process import command
from pipeline import ROOT
from report.run_by_hand import record

STATES = ROOT / "verify/runs/states"
ROWS = pd.read_csv(STATES / "summary.csv").query("noise == 'capacity' and mu in (1, 0.25)")
OWN = ROWS.assign(
    algorithm="mine", stream=ROWS["stream"].str.removesuffix("-share"), gain_share_half_width=0.1
)


def write(folder: Path, rows: pd.DataFrame = OWN, **privacy: Any) -> Path:
    """Write a run of an algorithm that gains as much as dpol's own did."""
    run = folder / "states-mine"
    (run / CONFIG).parent.mkdir(parents=True)
    (run / CONFIG).write_text(yaml.safe_dump({"privacy": {"levels": {"high": 1}, **privacy}}))
    write_frame(rows, run / "summary.parquet")
    return record(run)


def test_an_equal_system_keeps_the_recorded_share(tmp_path: Path) -> None:
    rows = beside_recorded(write(tmp_path), STATES).set_index(["source", "mu"])
    numbers = ["streams", "gain_share", "gain_share_half_width"]
    for mu in (1.0, 0.25):
        own, ours = (rows.loc[(source, mu), numbers] for source in ("states-mine", "ours"))
        assert own.tolist() == pytest.approx(ours.tolist(), rel=1e-6)
    assert {*rows.index.get_level_values("mu")} == {1.0, 0.25}, "levels of the run alone"
    assert rows.loc[("baseline", 1.0), "algorithm"] == "rw-meta"


def test_the_command_shows_the_strongest_at_the_strictest_level_first(tmp_path: Path) -> None:
    code, out, _ = command("compare", write(tmp_path), STATES, "--output", tmp_path / "all.csv")
    title, head, *lines = out.splitlines()
    assert (code, title.split(",")[0]) == (0, "Mean share of the possible gain")
    assert re.split(r"  +", head.strip())[-2:] == ["μ = 0.25", "μ = 1"]
    shares = [float(line.split(" ± ")[0].split()[-1]) for line in lines]
    assert shares == sorted(shares, reverse=True)
    (own,) = (line for line in lines if "states-mine" in line)
    assert own.split()[3:] == next(line for line in lines if " ours " in f" {line} ").split()[3:]
    assert len(pd.read_csv(tmp_path / "all.csv")) == 2 * len(lines)


@pytest.mark.parametrize(
    ("change", "privacy", "told"),
    [
        (lambda rows: rows[rows["stream"] != "AZ"], {}, "gains of stream AZ: uniform .* → not set"),
        (
            lambda rows: rows.assign(oracle_gain=rows["oracle_gain"] * 1.00001),
            {},
            "gains of stream NM: uniform 6.665724, oracle 21.82856 → uniform 6.665724, oracle ",
        ),
        (lambda rows: rows.assign(mu=2 * rows["mu"]), {}, r"mu \[2.0\] is not recorded, but"),
        (lambda rows: rows, {"unit": {"weeks": 4}}, "privacy.unit.weeks: 1 → 4"),
        (lambda rows: rows, {"count_sensitivity": 2}, "privacy.count_sensitivity: 1.0 → 2.0"),
    ],
)
def test_other_experiments_are_refused_by_what_differs(
    tmp_path: Path,
    change: Callable[[pd.DataFrame], pd.DataFrame],
    privacy: dict[str, Any],
    told: str,
) -> None:
    run = write(tmp_path, change(OWN), **privacy)
    with pytest.raises(DataError, match=f"is no such experiment as .*{told}"):
        beside_recorded(run, STATES)


def test_a_folder_that_no_config_of_dpol_made_is_refused(tmp_path: Path) -> None:
    copy = shutil.copytree(STATES, tmp_path / "mine")
    with pytest.raises(DataError, match="is no folder of verify/runs, such as"):
        beside_recorded(write(tmp_path), copy)
