"""Runs: the memory of the job that collects, planning, starts of jobs, and a whole run."""

from __future__ import annotations

import ast
import os
import pickle
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import yaml
from machine import ROOT, Measured, children_seconds, in_own_process

from dpol.config.experiment import load_experiment
from dpol.core.schemas import write_frame
from dpol.data.stream import GainStream, write_stream
from dpol.experts.registry import make_members
from dpol.plan import Plan, inputs_of
from dpol.privacy.guarantee import NO_PRIVACY
from dpol.reruns.notes import read_notes
from dpol.studies.games.scores import Played, score_tables
from dpol.studies.games.study import STUDY

CORES = 2
SNAKEMAKE = [
    *(sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")),
    *("--configfile", "config.yaml", "--cores", str(CORES)),
]
SMALL: dict[str, Any] = yaml.safe_load((ROOT / ".test/config/config.yaml").read_text())
PAPER = ROOT / "config/paper.yaml"
WEEKS = 148
HOSPITALS = {"NM": 24, "PA": 146, "CA": 293}
REPLICATES = (100, 1_000, 3_000)
LEVELS = (1_000, 5_000)
COLLECT = """
import pickle, sys
from dpol.reruns.notes import peak_mb
from dpol.studies.jobs import write_results
package, settings, facts, inputs, files = pickle.load(sys.stdin.buffer)
write_results(package, settings, facts, inputs=inputs, files=files)
print(peak_mb())
"""
"""Make the result tables as `workflow/scripts/study_results.py` does, and print the peak memory."""


def config_of(name: str) -> dict[str, Any]:
    """Return a config of dpol, with the path of its table if the table comes with dpol."""
    config = load_experiment(ROOT / f"config/{name}.yaml").whole()
    source = config["dataset"]["source"]
    if source["kind"] == "local":
        source["file"] = str(ROOT / source["file"])
    return config


def run(folder: str, config: Mapping[str, Any], *options: str) -> str:
    """Write config.yaml into a folder, run Snakemake there, and return what it prints."""
    Path(folder, "config.yaml").write_text(yaml.safe_dump(dict(config), sort_keys=False))
    command = [*SNAKEMAKE, *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    return done.stdout + done.stderr


def time_run() -> list[Measured]:
    """Measure the default run on two cores, from nothing."""
    config = config_of("config")
    with tempfile.TemporaryDirectory() as folder:
        own, start = children_seconds(), time.perf_counter()
        run(folder, config)
        wall, cpu = time.perf_counter() - start, children_seconds() - own
        notes = read_notes(Path(folder, "results", config["run"]))
    return [
        Measured("wall", wall, "s"),
        Measured("processor time, Snakemake included", cpu, "s"),
        Measured("wall over half the processor time", CORES * wall / cpu, most=1.3),
        Measured("jobs", len(notes)),
        Measured("largest job", max(note.peak_mb for note in notes.values()), "MB"),
    ]


def time_planning() -> list[Measured]:
    """Measure `snakemake --dry-run`, start included, for many levels and for all states."""
    suites = {"local": {"noises": ["isotropic", "capacity"], "algorithms": ["rw-meta"]}}
    configs = {
        f"{count:,} levels": SMALL
        | {"privacy": {"levels": [i / 100 for i in range(1, count + 1)]}, "suites": suites}
        for count in LEVELS
    }
    configs["`config/states.yaml`, 1,000 replicates"] = config_of("states") | {"replicates": 1_000}
    found = []
    for what, config in configs.items():
        with tempfile.TemporaryDirectory() as folder:
            before = children_seconds()
            printed = run(folder, config, "--dry-run", "--quiet", "rules")
            jobs = re.search(r"^total +(\d+)$", printed, re.MULTILINE)
            assert jobs is not None
            took = children_seconds() - before
        most = 3 * int(jobs[1]) / 1_000 + 3
        found.append(Measured(f"{what}: {int(jobs[1]):,} jobs", took, "s", most=most))
    return found


def time_starts() -> list[Measured]:
    """Measure the imports of the script that plays, and of the slowest one."""
    scripts = {it.stem: it for it in (ROOT / "workflow/scripts").glob("*.py")}
    took = {name: _start(_imports(path)) for name, path in scripts.items()}
    slowest = max(took, key=lambda name: took[name])
    return [
        Measured("imports of NumPy alone", _start("import numpy"), "s"),
        Measured("imports of `study_point`", took["study_point"], "s", most=1),
        Measured(f"imports of `{slowest}`, the most", took[slowest], "s"),
    ]


def _imports(script: Path) -> str:
    """Return the imports of a script, also those below `with job_log`."""
    every = ast.walk(ast.parse(script.read_text(encoding="utf-8")))
    return "\n".join(
        ast.unparse(line) for line in every if isinstance(line, ast.Import | ast.ImportFrom)
    )


def _start(code: str) -> float:
    """Return the least processor time of three processes that run `code`."""
    found = []
    for _ in range(3):
        before = children_seconds()
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)
        found.append(children_seconds() - before)
    return min(found)


def time_collecting() -> list[Measured]:
    """Measure the job that makes the result tables of the games of config/paper.yaml."""
    peaks = [collect(count) for count in REPLICATES]
    return [
        Measured(f"peak at {count:,} replicates", peak, "MB", most=450)
        for count, peak in zip(REPLICATES, peaks, strict=True)
    ]


def plan_of(replicates: int) -> Plan:
    """Return the plan of config/paper.yaml with another number of replicates."""
    config = load_experiment(PAPER).model_copy(update={"replicates": replicates})
    return Plan(config=config, place="", name="", text="")


def collect(replicates: int) -> float:
    """Return the peak memory in MB of the job that makes the result tables of random games."""
    with tempfile.TemporaryDirectory() as name:
        folder, plan = Path(name), plan_of(replicates)
        # In another process, so that the gains drawn here do not count in the peak.
        in_own_process(partial(write_games, folder, replicates))
        games, facts = plan.config.games, plan.config.facts

        def paths(names: Sequence[str]) -> list[str]:
            return [str(folder / it) for it in names]

        written = STUDY.written_by_jobs(games, facts)
        inputs = {it: paths([f"games/{job}/{it}.parquet" for job in plan.jobs["games"]])
                  for it in written}  # fmt: skip
        streams = inputs_of(plan.jobs["games"].values())
        inputs |= {name: paths(files) for name, files in streams.items()}
        files = {it: str(folder / f"{it}.parquet") for it in STUDY.results_of(games, facts)}
        plain = games.model_dump(mode="json")
        asked = (STUDY.package, plain, facts, inputs, files)
        # With the imports of the job only, which are fewer than those of this program.
        done = subprocess.run(
            [sys.executable, "-c", COLLECT],
            check=True,
            input=pickle.dumps(asked),
            stdout=subprocess.PIPE,
        )
        return float(done.stdout)


def write_games(folder: Path, replicates: int) -> None:
    """Write scores of its games from random gains into a folder; no game is played."""
    plan, rng = plan_of(replicates), np.random.default_rng(1)
    for label, n in HOSPITALS.items():
        stream = GainStream(
            label=label,
            gains=rng.random((WEEKS, n)),
            capacity=np.full((WEEKS, n), 100.0),
            periods=np.datetime64("2020-08-09") + 7 * np.arange(WEEKS),
        )
        write_stream(stream, folder / f"streams/{label}.parquet")
    for place, job in plan.jobs["games"].items():
        tables, stream = [], Path(job.inputs["stream"]).stem
        for game in job.points:
            numbers = tuple(range(game.block[0], game.block[1] + 1))
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
                for entry in game.algorithms
                for member in make_members(entry)
            ]
            tables.append(score_tables(played, game.suite))
        for name in tables[0]:
            whole = pa.concat_tables([each[name] for each in tables])
            write_frame(whole, folder / f"games/{place}/{name}.parquet")
