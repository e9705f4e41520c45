"""How far a run goes: the memory of the collecting job and the time of planning."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import yaml
from exp3 import peak_mb
from machine import ROOT, children_seconds, in_own_process
from whole import SNAKEMAKE, config_of, run

from dpol.config.experiment import load_experiment
from dpol.core.schemas import write_frame
from dpol.data.stream import GainStream, write_stream
from dpol.experts.registry import make_members
from dpol.plan import Plan, inputs_of
from dpol.privacy.guarantee import NO_PRIVACY
from dpol.studies.games.scores import Played, score_tables
from dpol.studies.games.study import STUDY
from dpol.studies.jobs import write_results

SMALL: dict[str, Any] = yaml.safe_load((ROOT / ".test/config/config.yaml").read_text())
PAPER = ROOT / "config/paper.yaml"
WEEKS = 148
HOSPITALS = {"NM": 24, "PA": 146, "CA": 293}
REPLICATES = (100, 1_000, 3_000)
JOBS = (1_000, 5_000, 20_000)


def plan_of(replicates: int) -> Plan:
    """Return the plan of config/paper.yaml with another number of replicates."""
    config = load_experiment(PAPER).config.model_copy(update={"replicates": replicates})
    return Plan(config=config, place="", name="", text="")


def write_games(folder: Path, replicates: int) -> None:
    """Write scores of its games from random gains into a folder; no game is played."""
    plan = plan_of(replicates)
    rng = np.random.default_rng(1)
    for label, n in HOSPITALS.items():
        stream = GainStream(
            label=label,
            gains=rng.random((WEEKS, n)),
            capacity=np.full((WEEKS, n), 100.0),
            entities=tuple(map(str, range(n))),
            periods=np.datetime64("2020-08-09") + 7 * np.arange(WEEKS),
        )
        write_stream(stream, folder / f"streams/{label}.parquet")
    for place, job in plan.jobs["games"].items():
        tables, stream = [], Path(job.inputs["stream"]).stem
        for game in job.points:
            numbers = tuple(range(game.block[0], game.block[1] + 1))
            members = [member for entry in game.algorithms for member in make_members(entry)]
            played = [
                Played(
                    stream=stream,
                    noise=game.noise,
                    mu=game.mu,
                    label=member.label,
                    family=member.family,
                    origin=member.origin,
                    guarantee=NO_PRIVACY,
                    replicates=numbers,
                    actions=rng.integers(0, HOSPITALS[stream], (len(numbers), WEEKS)),
                    gains=rng.random((len(numbers), WEEKS)),
                    best=np.ones(WEEKS),
                )
                for member in members
            ]
            tables.append(score_tables(played, game.suite))
        for name in tables[0]:
            whole = pa.concat_tables([each[name] for each in tables])
            write_frame(whole, folder / f"games/{place}/{name}.parquet")


def collect(replicates: int) -> dict[str, float]:
    """Return the peak memory of the job that makes the result tables of its games."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In another process, so that the gains drawn here do not count in the peak.
        in_own_process(partial(write_games, folder, replicates))
        plan = plan_of(replicates)
        games, facts = plan.config.games, plan.config.facts
        inputs = {
            name: [str(folder / f"games/{it}/{name}.parquet") for it in plan.jobs["games"]]
            for name in STUDY.written_by_jobs(games, facts)
        }
        streams = inputs_of(plan.jobs["games"].values())
        inputs |= {name: [str(folder / it) for it in paths] for name, paths in streams.items()}
        write_results(
            STUDY.package,
            games.model_dump(mode="json"),
            facts,
            inputs=inputs,
            files={
                name: str(folder / f"{name}.parquet") for name in STUDY.results_of(games, facts)
            },
        )
        files = [path for name in ("scores", "curves") for path in inputs[name]]
        read = sum(Path(path).stat().st_size for path in files) / 2**20
        return {
            "replicates": replicates,
            "jobs": len(inputs["scores"]),
            "read_mb": read,
            "peak_mb": peak_mb(),
        }


def time_collecting() -> list[dict[str, float]]:
    """Run `collect` for growing numbers of replicates."""
    return [in_own_process(partial(collect, count)) for count in REPLICATES]


def time_planning() -> list[dict[str, Any]]:
    """Time `snakemake --dry-run` for growing numbers of jobs, and all of states."""
    found = []
    for jobs in JOBS:
        config = SMALL | {
            "privacy": {"levels": [i / 100 for i in range(1, jobs + 1)]},
            "suites": {"local": {"noises": ["isotropic", "capacity"], "algorithms": ["rw-meta"]}},
        }
        found.append({"what": f"{jobs:,} levels"} | _dry_run(config))
    states = config_of("states") | {"replicates": 1_000}
    return [*found, {"what": "`config/states.yaml`, 1,000 replicates"} | _dry_run(states)]


def _dry_run(config: Mapping[str, Any]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        spent, began = children_seconds(), time.perf_counter()
        printed = run(folder, config, [*SNAKEMAKE, "--dry-run", "--quiet", "rules"])
        cpu, wall = children_seconds() - spent, time.perf_counter() - began
        jobs = re.search(r"^total +(\d+)$", printed, re.MULTILINE)
        assert jobs is not None
        return {"jobs": int(jobs[1]), "cpu_s": cpu, "wall_s": wall}
