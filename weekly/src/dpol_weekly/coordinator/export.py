"""Export the log as a table for anybody: it holds public numbers only."""

from __future__ import annotations

import csv
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.files import atomic_path
from dpol.core.safe_text import spreadsheet_text
from dpol_weekly.coordinator.log import open_log

COLUMNS = "entity, period, version, noisy_count, capacity, ledger, report, set_aside"
"""Columns of the table."""


def export(folder: Path, to: Path) -> int:
    """Write all releases of a log, superseded ones too, to a CSV table; return their number.

    Besides the released cells, a row has the `version` (a higher one supersedes the lower ones),
    the id of the holder's `ledger`, the number of the `report`, and `set_aside`: why the row does
    not count, empty if it does. No text is a spreadsheet formula.

    Raises:
        DataError: as `open_log`, or the name of the table is not one of CSV.
        OutputError: the table cannot be written.
    """
    if to.suffix != ".csv":
        raise DataError(f"{to}: must end in .csv; choose another name")
    with open_log(folder) as log, atomic_path(to) as temporary:
        rows = [
            (*cells, spreadsheet_text(aside or ""))
            for *cells, aside in log.releases(columns=COLUMNS)
        ]
        with temporary.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows([COLUMNS.split(", "), *rows])
    return len(rows)


def verify(folder: Path, noted: str = "") -> str:
    """Check that a log is unchanged since it was collected; return the head of its chain.

    Args:
        folder: the coordinator's folder.
        noted: a head that was noted earlier.

    Raises:
        DataError: as `open_log`; or the log never had that head.
    """
    with open_log(folder) as log:
        if noted:
            log.refuse_unknown(noted)
        return log.head
