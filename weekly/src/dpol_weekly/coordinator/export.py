"""The log as a table for anybody: it holds public numbers only."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from dpol.core.cells import spreadsheet_text
from dpol.core.errors import DataError, DpolError
from dpol.core.files import atomic_path
from dpol.privacy.chains import chain_growth
from dpol_weekly.coordinator.log import open_log

COLUMNS = (
    *("entity", "period", "version", "noisy_count", "capacity", "noisy_share", "chain", "place"),
    *("mu", "count_sensitivity", "a", "b", "unit_weeks", "scale", "decimals"),
    *("noise_sd", "fresh_sd", "ledger", "report", "set_aside"),
)
"""Columns of the table."""
_NUMBERS = "noisy_count", "capacity", "noisy_share", "mu", "count_sensitivity", "a", "b"
_TEXTS = "entity", "chain", "set_aside"


def export(folder: Path, to: Path) -> int:
    """Write all releases of a log to a table, superseded ones included; how many.

    Besides the columns of the log there are `noise_sd` and `fresh_sd`, the standard deviations of
    the noise on the share and of what is fresh in it; the id of the holder's `ledger`; the number
    of the `report`; and `set_aside`, the reason why a row does not count, empty if it does. In CSV
    numbers are the text that was released, and no other text is a formula for a spreadsheet. In
    Parquet numbers are floats.

    Raises:
        DataError: as `open_log`, or the table is to be neither CSV nor Parquet.
        DpolError: it is to be Parquet, and pyarrow is not installed.
        OutputError: it cannot be written.
    """
    if to.suffix not in (".csv", ".parquet"):
        raise DataError(f"{to}: must end in .csv or .parquet")
    with open_log(folder) as log, atomic_path(to) as temporary:
        rows = map(_with_noise, log.releases())
        if to.suffix == ".parquet":
            return _write_parquet(temporary, list(rows))
        with temporary.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            count = 0
            for row in rows:
                writer.writerow(row | {key: spreadsheet_text(row[key]) for key in _TEXTS})
                count += 1
    return count


def _with_noise(row: sqlite3.Row) -> dict[str, Any]:
    """A release with the deviations of its noise, and a text for its state."""
    fresh = row["scale"] / 10.0 ** row["decimals"] / float(row["capacity"])
    noise = fresh * _growth(row["a"], row["b"], row["place"])
    return {**row, "fresh_sd": fresh, "noise_sd": noise, "set_aside": row["set_aside"] or ""}


@cache
def _growth(a: str, b: str, place: int) -> float:
    return float(chain_growth(float(a), float(b), place - 1))


def verify(folder: Path, noted: str = "") -> str:
    """Make sure that a log is what was collected, in the order of arrival; the head of its chain.

    Args:
        folder: of the coordinator.
        noted: a head that was noted earlier, or its first digits.

    Raises:
        DataError: as `open_log`; something in the log was removed, changed or reordered, or it
            never had that head.
    """
    with open_log(folder) as log:
        return log.verified_head(noted)


def _write_parquet(path: Path, rows: Sequence[dict[str, Any]]) -> int:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise DpolError(
            'tables of Parquet need more libraries: pip install "dpol[pipeline]"; CSV needs none'
        ) from None
    columns = {
        name: [float(row[name]) if name in _NUMBERS else row[name] for row in rows]
        for name in COLUMNS
    }
    parquet.write_table(pyarrow.table(columns), path)
    return len(rows)
