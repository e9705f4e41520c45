"""The log as a table for anybody: it holds public numbers only."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

from dpol.core.cells import spreadsheet_text
from dpol.core.errors import DataError, DpolError
from dpol.core.files import atomic_path
from dpol_weekly.coordinator.log import Log, open_log
from dpol_weekly.released.row import released_row

COLUMNS = (
    *("entity", "period", "version", "noisy_count", "capacity", "noisy_share", "mu"),
    *("count_sensitivity", "noise_sd", "ledger", "report", "set_aside"),
)
"""Columns of the table."""
_NUMBERS = "noisy_count", "capacity", "noisy_share", "mu", "count_sensitivity", "noise_sd"
_TEXTS = "entity", "set_aside"
Row = dict[str, str | int]


def export(folder: Path, to: Path) -> int:
    """Write all releases of a log to a table, superseded ones included; how many.

    Besides the cells that were released there are the `version` (one above 1 supersedes those
    before), the id of the holder's `ledger`, the number of the `report`, and `set_aside`, the
    reason why a row does not count, empty if it does. In CSV numbers are the text that was
    released, and no other text is a formula for a spreadsheet. In Parquet numbers are floats.

    Raises:
        DataError: as `open_log`, or the table is to be neither CSV nor Parquet.
        DpolError: it is to be Parquet, and pyarrow is not installed.
        OutputError: it cannot be written.
    """
    if to.suffix not in (".csv", ".parquet"):
        raise DataError(f"{to}: must end in .csv or .parquet; choose another name")
    with open_log(folder) as log, atomic_path(to) as temporary:
        write = _write_parquet if to.suffix == ".parquet" else _write_csv
        return write(temporary, _rows(log))


def verify(folder: Path, noted: str = "") -> str:
    """Make sure that a log is what was collected, in the order of arrival; the head of its chain.

    Args:
        folder: of the coordinator.
        noted: a head that was noted earlier.

    Raises:
        DataError: as `open_log`; or the log never had that head.
    """
    with open_log(folder) as log:
        if noted:
            log.at(noted)
        return log.head


def _rows(log: Log) -> Iterator[Row]:
    noise = log.deployment.count_noise()
    for it in log.releases():
        cells = released_row(
            entity=it["entity"],
            period=log.deployment.period_of(it["period"]).isoformat(),
            noisy_count=it["noisy_count"],
            capacity=it["capacity"],
            noise=noise,
        )
        row = {**it, **cells._asdict(), "set_aside": it["set_aside"] or ""}
        yield {name: row[name] for name in COLUMNS}


def _write_csv(path: Path, rows: Iterable[Row]) -> int:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        count = 0
        for row in rows:
            writer.writerow(row | {key: spreadsheet_text(str(row[key])) for key in _TEXTS})
            count += 1
    return count


def _write_parquet(path: Path, rows: Iterable[Row]) -> int:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise DpolError(
            'tables of Parquet need more libraries: pip install "dpol[pipeline]"; CSV needs none'
        ) from None
    found = list(rows)
    columns = {
        name: [float(row[name]) if name in _NUMBERS else row[name] for row in found]
        for name in COLUMNS
    }
    parquet.write_table(pyarrow.table(columns), path)
    return len(found)
