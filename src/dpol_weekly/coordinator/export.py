"""The log as a table for anybody: it holds public numbers only."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from dpol.core.cells import spreadsheet_text
from dpol.core.errors import DataError
from dpol.core.files import atomic_path
from dpol_weekly.coordinator.log import Released, open_log

NUMBERS = "noisy_count", "capacity", "noisy_share", "mu", "count_sensitivity", "a", "b"
"""Columns that are text in the log, as they were released."""
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
        OutputError: it cannot be written.
    """
    if to.suffix not in (".csv", ".parquet"):
        raise DataError(f"{to}: must end in .csv or .parquet")
    with open_log(folder) as log:
        entries = log.releases()
    table = pd.DataFrame([it.row for it in entries], columns=list(Released._fields))
    table["noise_sd"] = [it.row.noise for it in entries]
    table["fresh_sd"] = [it.row.fresh for it in entries]
    table["ledger"] = [it.ledger for it in entries]
    table["report"] = [it.report for it in entries]
    table["set_aside"] = [it.set_aside or "" for it in entries]
    with atomic_path(to) as temporary:
        if to.suffix == ".csv":
            for name in _TEXTS:
                table[name] = table[name].map(spreadsheet_text)
            table.to_csv(temporary, index=False, lineterminator="\n")
        else:
            table.astype(dict.fromkeys(NUMBERS, float)).to_parquet(temporary, index=False)
    return len(entries)
