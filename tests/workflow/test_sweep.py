"""A grid of configs in one call: what each run is, and what is refused."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpol.cli.sweep import sweep_configs
from dpol.core.errors import UsageError
from pipeline import SMALL, Done, run, succeed

KEYS = "run", "seed", "dataset", "privacy", "replicates"
TINY: dict[str, Any] = {key: SMALL[key] for key in KEYS} | {
    "streams": {"A": {"groups": ["A"]}},
    "suites": {"local": {"algorithms": ["rw-ftpl"]}},
    "points_per_job": 8,
    "report": {"algorithms": ["rw-ftpl"], "envelope": ""},
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    return tmp_path / "tiny.yaml"


def dpol(folder: Path, *words: str) -> Done:
    return run(sys.executable, "-m", "dpol", "run", *words, "--cores", "2", folder=folder)


def test_a_grid_has_a_run_for_each_combination(config: Path) -> None:
    grid = sweep_configs(config, ["seed=1..2", "privacy.levels.mu-0.5=0.25,2"])
    assert {name: (it["seed"], it["privacy"]["levels"]["mu-0.5"]) for name, it in grid.items()} == {
        "small-seed-1-mu-0.5-0.25": (1, 0.25),
        "small-seed-1-mu-0.5-2": (1, 2),
        "small-seed-2-mu-0.5-0.25": (2, 0.25),
        "small-seed-2-mu-0.5-2": (2, 2),
    }
    for name, it in grid.items():
        levels = {**TINY["privacy"]["levels"], "mu-0.5": it["privacy"]["levels"]["mu-0.5"]}
        assert it == TINY | {"run": name, "seed": it["seed"], "privacy": {"levels": levels}}


@pytest.mark.parametrize(
    ("sweeps", "message"),
    [
        (["seed"], "--sweep seed: has no values; write KEY=VALUES"),
        (["seed="], "--sweep seed=: has no values; write KEY=VALUES"),
        (["seed=5..1"], "5..1 is not a range; write two whole numbers"),
        (["seed=0.1..5"], "0.1..5 is not a range; write two whole numbers"),
        (["seed=1..301"], "1..301 is not a range; .* at most 300"),
        (["seed=1..120", "replicates=2..4"], "makes 360 runs, more than 300; omit"),
        (["seed=1,1"], "two runs are named small-seed-1; give each key and value once"),
        (["sede=1"], "run small-sede-1: sede = 1: unknown key; did you mean seed"),
        (["seed=one"], "run small-seed-one: seed = 'one': must be a whole number"),
        (["privacy.level.x=1"], "privacy.level.x = 1: unknown key; did you mean levels"),
    ],
)
def test_a_sweep_that_cannot_be_run_is_refused_in_a_line(
    config: Path, sweeps: list[str], message: str
) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        sweep_configs(config, sweeps)
    assert "\n" not in str(caught.value)


@pytest.mark.workflow
def test_a_run_of_a_sweep_is_the_run_of_its_config(config: Path) -> None:
    """Its jobs are the same, to the hashes of their code and params; the whole grid is one plan."""
    folder, result = config.parent, "results/small-seed-2/summary.parquet"
    sweep = config.name, "--sweep", "seed=2,3"
    succeed(dpol(folder, *sweep, result))
    (folder / "alone.yaml").write_text(yaml.safe_dump(TINY | {"run": "small-seed-2", "seed": 2}))
    assert "Nothing to be done" in succeed(dpol(folder, "alone.yaml", result, "--dry-run"))
    planned = succeed(dpol(folder, *sweep, "--dry-run"))
    jobs = dict(re.findall(r"^(small_seed_[23]_[a-z_]+) +([0-9]+)$", planned, re.M))
    assert jobs["small_seed_2_render_report"] == jobs["small_seed_3_render_report"] == "1"
    assert "small_seed_2_games_point" not in jobs, "it is played"
    assert "dpol compare results/small-seed-2 results/small-seed-3" in planned
