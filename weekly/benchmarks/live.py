"""Speed of what a coordinator runs every week, by its commands, start included."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

import numpy as np

from dpol_weekly.coordinator.log import Log, Release, open_log
from dpol_weekly.memory import Memory, terms_of
from dpol_weekly.released import Cells
from weekly import agreed, day, identity, record_of, recorded, report

AIMS = {"country": (15.0, 2_000.0), "state": (2.0, 2_000.0), "collect": (30.0, 2_000.0)}
"""CPU seconds and peak megabytes that each must stay below."""


def time_live() -> dict[str, dict[str, float]]:
    """Deciding for 5,000 entities, 520 weeks, and for 300, 148 weeks; 5,000 reports collected."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = {
            "country": _time_decide(folder / "country", 5_000, 520),
            "state": _time_decide(folder / "state", 300, 148),
            "collect": _time_collect(folder / "collect", 5_000),
        }
    return {
        key: {**own, "aim_s": AIMS[key][0], "aim_mb": AIMS[key][1]} for key, own in found.items()
    }


def _time_decide(folder: Path, n: int, weeks: int) -> dict[str, float]:
    """All report in all weeks."""
    names = [f"H{it:04}" for it in range(n)]
    deployment = agreed(folder, names)
    with open_log(folder / "log", deployment=deployment, new=True) as log:
        log.connection.execute("PRAGMA cache_size = -1000000")  # to be filled in a minute
        for week in range(weeks):
            _report_all(log, names, week)
    return _dpol("decide", folder / "log")


def _report_all(log: Log, names: list[str], week: int) -> None:
    """One report of all entities, whose shares differ."""
    noise = log.deployment.count_noise()
    counts = np.random.default_rng(week).normal(20, 4, len(names)).round(2)
    terms = terms_of(noise, (Decimal(0), Decimal(0)), Memory((Decimal(0), Decimal(0))))
    rows = [
        Release(
            cells=Cells(
                entity=name,
                period=day(week),
                noisy_count=f"{count:.2f}",
                capacity="100",
                noisy_share=f"{count / 100:.9g}",
                mu=str(noise.mu),
                count_sensitivity="1",
                noise_sd="",
                low="",
                high="",
            ),
            terms=terms,
            chain="",
            place=1,
        )
        for name, count in zip(names, counts.tolist(), strict=True)
    ]
    log.add_report(
        rows, sha256=f"{week:064}", file="noisy.csv", ledger="L", output="O", key="", heads={}
    )


def _time_collect(folder: Path, n: int) -> dict[str, float]:
    """A report of one row from each of n holders."""
    names = [f"H{it:04}" for it in range(n)]
    deployment = agreed(folder, names)
    first = report(folder / "first.csv", deployment, [(names[0], 0, "20", "100")])
    text, record = first.read_text(), json.loads(record_of(first).read_text())
    del record["sha256"]
    tables = [folder / f"{name}.csv" for name in names]
    for name, table in zip(names, tables, strict=True):
        table.write_text(text.replace(names[0], name))
        recorded(table, record | {"ledger": {"id": identity(name), "output": identity("O")}})
    return _dpol("collect", *tables, "--into", folder / "log", "--deployment", deployment)


def _dpol(*arguments: str | Path) -> dict[str, float]:
    """CPU time and peak memory of a command that succeeds."""
    command = [sys.executable, "-m", "dpol", *map(str, arguments)]
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    process = os.posix_spawn(sys.executable, command, os.environ, file_actions=nowhere)
    _, status, used = os.wait4(process, 0)
    assert status == 0, arguments[0]
    return {"cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}
