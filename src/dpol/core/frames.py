"""Tables of results that are read back are checked before they are used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dpol.core.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


def check_frame(frame: pd.DataFrame, columns: Iterable[str], name: str) -> None:
    """Raise DataError unless the table of `name` has these columns and at least one row."""
    missing = [column for column in columns if column not in frame.columns]
    if missing or frame.empty:
        what = f"has no column {', '.join(missing)}" if missing else "is empty"
        raise DataError(f"the table of {name} {what}; delete it and run again")


def check_streams(frame: pd.DataFrame, streams: Iterable[str], name: str) -> None:
    """Raise DataError unless the table of `name` has rows of all these streams."""
    if unknown := [label for label in streams if label not in set(frame["stream"])]:
        raise DataError(
            f"the table of {name} has no stream {', '.join(unknown)}; delete it and run again"
        )
