"""Time and memory that the machine and the processes of a benchmark spend."""

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
    """CPU time that all cores have spent on anything since the machine started (Linux)."""
    spent = Path("/proc/stat").read_text(encoding="ascii").split()[1:9]
    idle, waiting = 3, 4
    ticks = sum(int(it) for i, it in enumerate(spent) if i not in (idle, waiting))
    return ticks / os.sysconf("SC_CLK_TCK")


def children_seconds() -> float:
    """CPU time of all processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def in_own_process(work: Callable[[], Any]) -> Any:
    """What `work` makes in a fresh process, so that its peak memory is its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work).result()
