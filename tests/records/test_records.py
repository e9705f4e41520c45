"""Records of verify/ are of what its scripts would play now, and name rivals by one rule."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import record
import yaml
from made_with import MADE_WITH, read_config, systems_of

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
    texts = rows.columns.intersection(["question", "stream", "role"])
    return rows.assign(**rows[texts].astype(object).fillna(""))


def test_rows_are_those_of_the_labels() -> None:
    """Every label has its rows; of the fillings, curators but Table 2's and most lines leave."""
    members = [member for _, member in systems_of(read_config("robustness"))]
    local = [it for it in members if it.algorithm.model == "local"]
    assert {*recorded("robustness/worlds")["algorithm"]} == {it.label for it in local}
    rows = recorded("fillings")
    assert {*rows["algorithm"]} <= {*MADE["robustness"]["labels"]}
    assert {*rows[rows["model"] == "local"]["family"]} == {it.family for it in local}
    for run in ("central-texas", "beyond", "flu", "intensive-care"):
        assert {*recorded(f"{run}/standings")["algorithm"]} == {*MADE[run]["labels"]}


WHOLE = {
    **{
        f"{it}/standings": ["question", "stream", "mu"]
        for it in OF_RUNS
        if (RUNS / it / "standings.csv").exists()
    },
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_keeps_most_in_a_record_has_the_largest_share_of_its_level(name: str) -> None:
    for _, level in recorded(name).groupby(WHOLE[name]):
        most = keeps_most(level, level["guarantee"] == THE_LEVEL)
        assert level["most"].tolist() == most.tolist()


def test_no_recorded_job_takes_more_memory_than_it_asks_for() -> None:
    """A job is two more processes of Snakemake; jobs of the default run are below 700 MB."""
    took = pd.read_csv(record.DURATIONS, index_col="command")["mb"].dropna()
    assert took["central-texas"] <= 700
    profile = yaml.safe_load((ROOT / "profiles/slurm/profile.yaml").read_text("utf-8"))
    asked = profile["default-resources"]["mem_mb"].removeprefix("attempt * ")
    assert (took + 2 * 205 <= int(asked)).all()
