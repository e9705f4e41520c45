"""CPU time and memory of the machine and of the processes of a benchmark."""

from __future__ import annotations

import multiprocessing
import os
import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def busy_seconds() -> float:
    """Return the CPU time that all cores have spent since the machine started (Linux)."""
    spent = Path("/proc/stat").read_text(encoding="ascii").split()[1:9]
    idle, waiting = 3, 4
    ticks = sum(int(text) for i, text in enumerate(spent) if i not in (idle, waiting))
    return ticks / os.sysconf("SC_CLK_TCK")


def children_seconds() -> float:
    """Return the CPU time of all ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def in_own_process(work: Callable[[], Any]) -> Any:
    """Run `work` in a fresh process, so that nothing else counts in its peak memory."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work).result()
