"""Time and memory of whole runs, from their configs and in folders of their own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from machine import ROOT, busy_seconds, children_seconds

from dpol.config.experiment import load_experiment
from dpol.reruns.notes import read_notes
from dpol.studies.registry import STUDIES

CORES = 2
SNAKEMAKE = [
    *(sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")),
    *("--configfile", "config.yaml", "--cores", str(CORES)),
]


def config_of(name: str) -> dict[str, Any]:
    """Return a config of dpol, with the path of its table if the table comes with dpol."""
    config = load_experiment(ROOT / f"config/{name}.yaml").config.whole()
    source = config["dataset"]["source"]
    if source["kind"] == "local":
        source["file"] = str(ROOT / source["file"])
    return config


def write_config(folder: str, config: Mapping[str, Any]) -> None:
    """Write config.yaml into a folder, the suites in their order."""
    (Path(folder) / "config.yaml").write_text(yaml.safe_dump(dict(config), sort_keys=False))


def run(folder: str, config: Mapping[str, Any], command: Sequence[str]) -> str:
    """Write config.yaml into a folder, run a command there, and return what it prints."""
    write_config(folder, config)
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    return done.stdout + done.stderr


def time_run(config: Mapping[str, Any], *targets: str, first: str | None = None) -> dict[str, Any]:
    """Return wall time, CPU time and memory of a run, and what each rule took.

    CPU time covers all processes, Snakemake's included. `free_wall_over_half_cpu` leaves out what
    other processes of the machine took of its two cores meanwhile.

    Args:
        config: the config.
        targets: what to make (default: everything).
        first: a target that is made before the clock starts.
    """
    with tempfile.TemporaryDirectory() as folder:
        if first:
            run(folder, config, [*SNAKEMAKE, first])
        busy, own, start = busy_seconds(), children_seconds(), time.perf_counter()
        run(folder, config, [*SNAKEMAKE, *targets])
        wall, cpu = time.perf_counter() - start, children_seconds() - own
        others = max(busy_seconds() - busy - cpu, 0.0)
        jobs = _jobs_in(Path(folder) / "results" / config["run"])
    return {
        "wall_s": wall,
        "jobs": len(jobs),
        "cpu_s": cpu,
        "others_cpu_s": others,
        "wall_over_half_cpu": wall / (cpu / CORES),
        "free_wall_over_half_cpu": (wall - others / CORES) / (cpu / CORES),
        "largest_process_mb": float(jobs["max_rss"].max()),
        "rules": {rule: _of_rule(own) for rule, own in jobs.groupby("rule")},
    }


def _jobs_in(folder: Path) -> pd.DataFrame:
    """Return what each job of a run noted: seconds, memory and rule."""
    return pd.DataFrame(
        {
            "s": (note.ended - note.began) / 1e9,
            "max_rss": note.peak_mb,
            "rule": f"{first}_point" if first in STUDIES else first,
        }
        for name, note in read_notes(folder).items()
        for first in [name.partition("/")[0]]
    )


def _of_rule(jobs: pd.DataFrame) -> dict[str, Any]:
    return {
        "jobs": len(jobs),
        "wall_s": float(jobs["s"].sum()),
        "largest_process_mb": float(jobs["max_rss"].max()),
    }


def time_grid() -> dict[str, Any]:
    """Measure the grid of config/simulated.yaml, from the clean panel to table and figure."""
    folder = "results/simulated"
    results = f"{folder}/tables/table-2.md", f"{folder}/figures/figure-2.svg"
    return time_run(config_of("simulated"), *results, first="data")


def time_states() -> list[dict[str, Any]]:
    """Measure two states of config/states.yaml with 100 and with 1,000 replicates."""
    config = config_of("states")
    cut = config | {"streams": {label: config["streams"][label] for label in ("NM", "CO")}}
    return [
        {"replicates": count, **time_run(cut | {"replicates": count})} for count in (100, 1_000)
    ]
