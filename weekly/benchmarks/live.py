"""Speed and memory of what a coordinator runs every week, by its commands, start included."""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from dpol_weekly.coordinator.log import Log, open_log
from weekly import agreed, day, parts, public, report, signed

AIMS = {"country": (15.0, 2_000.0), "state": (2.0, 2_000.0), "collect": (30.0, 2_000.0)}
"""CPU seconds and peak megabytes that each must stay below."""
WORDS = {
    "country": "decide: 5,000 hospitals, 520 weeks",
    "state": "decide: 300 hospitals, 148 weeks",
    "collect": "collect: 5,000 reports",
}


def main() -> int:
    """Print a table of all measurements; 1 if an aim is missed."""
    missed = False
    print(f"{'':36} {'CPU s':>8} {'aim':>6} {'peak MB':>8} {'aim':>6}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for key, measure in (
            ("state", lambda: _time_decide(folder / "state", 300, 148)),
            ("collect", lambda: _time_collect(folder / "collect", 5_000)),
            ("country", lambda: _time_decide(folder / "country", 5_000, 520)),
        ):
            (seconds, peak), (most_seconds, most) = measure(), AIMS[key]
            print(f"{WORDS[key]:36} {seconds:8.1f} {most_seconds:6.0f} {peak:8.0f} {most:6.0f}")
            missed |= seconds > most_seconds or peak > most
    return int(missed)


def _time_decide(folder: Path, n: int, weeks: int) -> tuple[float, float]:
    """One report of all entities in each week."""
    _fill(folder, n, weeks)
    return measured(sys.executable, "-m", "dpol", "decide", folder / "log")


def _fill(folder: Path, n: int, weeks: int) -> None:
    names = [f"H{it:04}" for it in range(n)]
    with open_log(folder / "log", agreed(folder, names)) as log:
        for week in range(weeks):
            _report_all(log, names, week)


def _report_all(log: Log, names: list[str], week: int) -> None:
    """One line of the list with the rows of all entities, whose shares differ."""
    noise = log.deployment.count_noise()
    counts = np.random.default_rng(week).normal(20, 4, len(names)).tolist()
    rows = [
        [name, day(week), f"{count:.{noise.decimals}f}", "100"]
        for name, count in zip(names, counts, strict=True)
    ]
    facts = {"key": "0" * 64, "sha256": f"{week:064}", "entities": [], "refused": []}
    log.add("release", file="noisy.json", taken=rows, **facts)


def _time_collect(folder: Path, n: int) -> tuple[float, float]:
    """A report of one row from each of n holders."""
    names = [f"H{it:04}" for it in range(n)]
    deployment = agreed(folder, names)
    facts = parts(report(folder / "one.json", deployment, [(names[0], 0, "20", "100")]))
    (folder / "in").mkdir()
    for name in names:
        rows = [[name, *facts["rows"][0][1:]]]
        signed(folder / "in" / f"{name}.json", facts | {"rows": rows}, key=name)
    known = folder / "known.yaml"
    known.write_text("".join(f'{name}: "{public(name)}"\n' for name in names))
    options = "--into", folder / "log", "--deployment", deployment, "--known-keys", known
    return measured(sys.executable, "-m", "dpol", "collect", folder / "in", *options)


def measured(*command: str | Path) -> tuple[float, float]:
    """CPU seconds and peak megabytes of a command that succeeds, of its process alone.

    The peak is at least what the imports of this module take.
    """
    # A fresh process starts it: Linux counts what the parent held as the peak of its child.
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_used, *map(str, command)).result()


def _used(*words: str) -> tuple[float, float]:
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    process = os.posix_spawn(words[0], words, os.environ, file_actions=nowhere)
    _, status, used = os.wait4(process, 0)
    assert status == 0, words
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
