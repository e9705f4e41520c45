"""Time and memory of everything the paper's config runs, at full size on the real hospitals.

Runs benchmarks/full.yaml from nothing on two cores, in a folder of its own. Writes full.json next
to this file and renews results.md. One job of 20,000 hospitals and nursing homes over ten years
follows.

    OPENBLAS_NUM_THREADS=1 python benchmarks/full.py            # this checkout
    OPENBLAS_NUM_THREADS=1 python benchmarks/full.py CHECKOUT   # another one, as "before"
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from machine import ROOT, busy_seconds, children_seconds, time_in_own_process
from page import renew_page
from scale import time_country

from dpol.core.files import write_json

CONFIG = ROOT / "benchmarks" / "full.yaml"
FOUND = ROOT / "benchmarks" / "full.json"
CORES = 2


def measure(checkout: Path) -> dict[str, Any]:
    """Wall and CPU time of a whole run of a checkout, and what each of its jobs took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [sys.executable, "-m", "snakemake", "--snakefile", checkout / "Snakefile"]
        options = ["--directory", folder, "--configfile", CONFIG, "--cores", str(CORES)]
        source = {"PYTHONPATH": str(checkout / "src")}
        busy, own, start = busy_seconds(), children_seconds(), time.perf_counter()
        subprocess.run([*command, *options], check=True, env={**os.environ, **source})
        wall, cpu = time.perf_counter() - start, children_seconds() - own
        others = max(busy_seconds() - busy - cpu, 0.0)
        return summary(folder / "results" / "full" / "benchmarks", wall, cpu, others)


def summary(benchmarks: Path, wall: float, cpu: float, others: float) -> dict[str, Any]:
    """Measurements of a run, rule by rule and point by point.

    Args:
        benchmarks: folder of the tables that Snakemake writes, one for each job.
        wall: seconds from start to end.
        cpu: CPU seconds of all processes of the run.
        others: CPU seconds of all other processes meanwhile.
    """
    jobs = pd.concat(
        pd.read_csv(path, sep="\t", na_values="-").assign(
            rule=path.relative_to(benchmarks).parts[0].removesuffix(".tsv"), point=path.stem
        )
        for path in sorted(benchmarks.rglob("*.tsv"))
    )
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "wall_s": wall,
        "cpu_s": cpu,
        "others_cpu_s": others,
        "wall_over_half_cpu": wall / (cpu / CORES),
        "largest_process_mb": float(jobs["max_rss"].max()),
        "rules": {rule: _of_rule(own) for rule, own in jobs.groupby("rule")},
    }


def _of_rule(jobs: pd.DataFrame) -> dict[str, Any]:
    """Jobs of a rule: wall and CPU seconds in all (Snakemake samples CPU), and of every point."""
    each = jobs.set_index("point")[["s", "cpu_time"]].fillna(0.0)
    return {
        "jobs": len(jobs),
        "wall_s": float(each["s"].sum()),
        "cpu_s": float(each["cpu_time"].sum()),
        "longest": str(each["s"].idxmax()),
        "longest_s": float(each["s"].max()),
        "largest_process_mb": float(jobs["max_rss"].max()),
        "points": each["s"].to_dict() if each.index.is_unique else {},
    }


def main(checkout: Path | None) -> None:
    found: Mapping[str, Any] = json.loads(FOUND.read_text()) if FOUND.is_file() else {}
    measured = {"before" if checkout else "now": measure(checkout or ROOT)}
    if checkout is None:
        measured["largest"] = time_in_own_process(partial(time_country, 20_000, 520, 3_000))
    write_json(FOUND, {**found, **measured})
    print(renew_page())


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None)
