"""Records of verify/ are of what its scripts would play now, and name the best by one rule."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import record
import yaml
from made_with import MADE_WITH, read_config

from dpol.studies.league.standings import THE_LEVEL, keeps_most

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "verify" / "runs"
OF_RUNS = sorted({path.parent.name for path in RUNS.glob("*/*.csv")})
SCRIPTS: dict[str, Callable[[], dict[str, Any]]] = {
    **{run: partial(record.plays, read_config(run)) for run in OF_RUNS},
}
"""What the script of each record plays now."""
MADE = yaml.safe_load(MADE_WITH.read_text(encoding="utf-8"))
BY_HAND = {"durations"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_record_is_of_what_its_script_plays_now(name: str) -> None:
    now = SCRIPTS[name]()
    assert {key: MADE[name][key] for key in now} == now, "make this record again"


def test_every_record_says_what_it_was_made_with() -> None:
    single = {path.stem for path in RUNS.glob("*.csv")} - BY_HAND
    assert {*MADE} == single | {*OF_RUNS} == {*SCRIPTS}
    assert all(made["dpol"] for made in MADE.values())


def recorded(name: str) -> pd.DataFrame:
    rows = pd.read_csv(RUNS / f"{name}.csv")
    texts = rows.columns.intersection(["question", "stream"])
    return rows.assign(**rows[texts].astype(object).fillna(""))


def test_rows_are_those_of_the_labels() -> None:
    """Every label has its rows."""
    for run in ("central-texas", "beyond", "flu", "intensive-care"):
        assert {*recorded(f"{run}/standings")["algorithm"]} == {*MADE[run]["labels"]}


RANKED = [it for it in OF_RUNS if (RUNS / it / "standings.csv").exists()]


@pytest.mark.parametrize("name", RANKED)
def test_the_best_of_a_record_has_the_largest_share_of_its_level(name: str) -> None:
    """A curator can play all that is local."""
    rows = recorded(f"{name}/standings")
    for _, level in rows.groupby(["question", "stream", "mu"], sort=False):
        local, central = level["guarantee"] == THE_LEVEL, level["model"] == "central"
        assert level["best"].tolist() == keeps_most(level, local).tolist()
        assert level["curator"].tolist() == keeps_most(level, local | central).tolist()


def test_no_recorded_job_takes_more_memory_than_it_asks_for() -> None:
    """A job is two more processes of Snakemake; jobs of the default run are below 700 MB."""
    took = pd.read_csv(record.DURATIONS, index_col="command")["mb"].dropna()
    assert took["central-texas"] <= 700
    profile = yaml.safe_load((ROOT / "profiles/slurm/profile.yaml").read_text("utf-8"))
    asked = profile["default-resources"]["mem_mb"].removeprefix("attempt * ")
    assert (took + 2 * 205 <= int(asked)).all()
