"""The log as a table for anybody: it holds public numbers only."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from dpol.core.errors import DataError
from dpol.core.files import atomic_path
from dpol.live.log import open_log

NUMBERS = "noisy_count", "capacity", "noisy_share", "mu", "count_sensitivity", "a", "b"
"""Columns that are text in the log, as they were released."""


def export(folder: Path, to: Path) -> int:
    """Write all releases of a log to a table, superseded ones included; how many.

    Besides the columns of the log there are `noise_sd` and `fresh_sd`, the standard deviations of
    the noise on the share and of what is fresh in it, and the id of the holder's `ledger`. In CSV
    numbers are the text that was released, in Parquet they are floats.

    Raises:
        DataError: as `open_log`, or the table is to be neither CSV nor Parquet.
        OutputError: it cannot be written.
    """
    if to.suffix not in (".csv", ".parquet"):
        raise DataError(f"{to}: must end in .csv or .parquet")
    with open_log(folder) as log:
        found = log.releases()
        ledgers = dict(log.connection.execute("SELECT number, ledger FROM report"))
    rows = [row for _, row in found]
    table = pd.DataFrame(rows, columns=list(type(rows[0])._fields) if rows else None)
    table["noise_sd"] = [row.noise for row in rows]
    table["fresh_sd"] = [row.fresh for row in rows]
    table["ledger"] = [ledgers[report] for report, _ in found]
    with atomic_path(to) as temporary:
        if to.suffix == ".csv":
            table.to_csv(temporary, index=False, lineterminator="\n")
        else:
            table.astype(dict.fromkeys(NUMBERS, float)).to_parquet(temporary, index=False)
    return len(rows)
