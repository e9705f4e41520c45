"""A measurement, and the processor time and memory of processes."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Measured:
    """A number of a benchmark.

    Args:
        what: what was measured.
        value: the number.
        unit: its unit; empty for a ratio.
        most: the aim, the largest value that is good enough; None without one.
        least: the aim of a ratio that should be large.
    """

    what: str
    value: float
    unit: str = ""
    most: float | None = None
    least: float | None = None


def cpu_seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """Return the least processor time of this process: other processes count for little."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def children_seconds() -> float:
    """Return the processor time of all ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def in_own_process(work: Callable[[], Any]) -> Any:
    """Run `work` in a fresh process, so that nothing else counts in its peak memory."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work).result()
