"""Measure speed and memory: `make bench`. It writes results.json and results.md beside this file.

python run.py                   # every part, in some four minutes
python run.py rw_meta starts    # these parts; the others keep their numbers
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from games import time_adabatch, time_lazy, time_learners, time_long, time_meta, time_scaling
from machine import ROOT, Measured
from peers import time_peers
from runs import time_collecting, time_planning, time_run, time_starts

from dpol.core.files import write_json, write_text

PARTS: Mapping[str, tuple[str, Callable[[], list[Measured]]]] = {
    "rw_meta": ("RW-Meta, n = 293, T = 148, m = 13, 100 replicates", time_meta),
    "adabatch": ("RW-AdaBatch, n = 100", time_adabatch),
    "peers": ("Other packages on the same work", time_peers),
    "lazy": ("L2P, 20 replicates", time_lazy),
    "learners": ("RW-Meta by its number of learners m, μ = 0.25", time_learners),
    "long": ("Long games, n = 300, T = 15,000, μ = 0.25, 12 replicates", time_long),
    "scaling": ("RW-Meta and its learners, doubled in one size", time_scaling),
    "starts": ("Start of a job", time_starts),
    "collecting": ("The job that collects the games of `config/paper.yaml`", time_collecting),
    "planning": ("`snakemake --dry-run`", time_planning),
    "run": ("The default run on two cores", time_run),
}
"""Title and function of each part."""
RESULTS = ROOT / "benchmarks" / "results.json"


def page(found: Mapping[str, Any]) -> str:
    """Return the page of what results.json holds; what misses its aim is bold."""
    lines = ["# Last benchmark", "", "| what | measured | aim |", "|---|---:|---|"]
    for name, part in found.items():
        machine = "{cores} cores, Python {python}, NumPy {numpy}".format(**part["machine"])
        lines.append(f"| **{PARTS[name][0]}** ({part['day']}, {machine}) | | |")
        for row in part["rows"]:
            value, aim, missed = row["value"], "", False
            for word, bound, over in (("at most", row["most"], 1), ("at least", row["least"], -1)):
                if bound is not None:
                    aim, missed = f"{word} {bound:g}", over * (value - bound) > 0
            shown = f"{value:.3g} {row['unit']}".strip()
            lines.append(f"| {row['what']} | {f'**{shown}**' if missed else shown} | {aim} |")
    return "\n".join([*lines, ""])


def main(wanted: Sequence[str]) -> None:
    """Measure the parts that are named, or all, and keep what is known of the others."""
    if unknown := {*wanted} - {*PARTS}:
        sys.exit(f"error: no part {', '.join(unknown)}; parts are {', '.join(PARTS)}")
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    machine = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    for name in wanted or PARTS:
        start = time.perf_counter()
        rows = [vars(it) for it in PARTS[name][1]()]
        day = datetime.datetime.now(datetime.UTC).date().isoformat()
        known[name] = {"day": day, "machine": machine, "rows": rows}
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
        # What is measured stays if a later part fails.
        write_json(RESULTS, {it: known[it] for it in PARTS if it in known})
        write_text(RESULTS.with_suffix(".md"), page(json.loads(RESULTS.read_text())))


if __name__ == "__main__":
    main(sys.argv[1:])
