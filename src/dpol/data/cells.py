"""Cells of a raw table as numbers and dates, and one message for all that are neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.errors import DataError
from dpol.core.randomness import Floats
from dpol.data.settings import EARLIEST, LATEST
from dpol.data.table import RawTable
from dpol.show.words import counted, shortened

Flags = NDArray[np.bool_]
Texts: TypeAlias = "pd.Series[Any]"

MOST_VALUES = 20
"""Different values that a message shows."""

_HOUR = "(?:[01][0-9]|2[0-3])"
_TIME = rf"{_HOUR}:[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{{1,9}})?)?(?:Z|[+-]{_HOUR}:?[0-5][0-9])?"
_DATE = rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})(?:[T ]{_TIME})?"


@dataclass(frozen=True)
class BadCells:
    """Cells of a column that do not hold what they should.

    Args:
        column: its name.
        wanted: what the cells should hold.
        texts: what they hold, at least one; indexed by the row of the raw table.
    """

    column: str
    wanted: str
    texts: Texts


def refuse_cells(raw: RawTable, found: Sequence[BadCells], remedies: Sequence[str]) -> None:
    """Refuse a table for all its bad cells at once; without bad cells, do nothing.

    Args:
        raw: the table.
        found: the bad cells, column by column.
        remedies: what the user can do, a paragraph each.

    Raises:
        DataError: the columns, each different value with its number of cells and its first row; at
            most about `MOST_VALUES` of both.
    """
    if not found:
        return
    shown = {bad.column: _values(bad.texts) for bad in found[:MOST_VALUES]}
    each = max(1, MOST_VALUES // len(shown))
    line_of = raw.lines([row for values in shown.values() for *_, row in values[:each]])
    lines = [f"{raw.file}: {counted(sum(len(bad.texts) for bad in found), 'cell')} cannot be used"]
    for bad in found[:MOST_VALUES]:
        values = shown[bad.column]
        lines.append(f"  column {bad.column}, which needs {bad.wanted}:")
        for text, number, row in values[:each]:
            held = repr(shortened(text)) if text else "nothing"
            lines.append(f"    {held}: {counted(number, 'cell')}, first in row {line_of[row]}")
        if len(values) > each:
            lines.append(f"    and {counted(len(values) - each, 'other value')}")
    if len(found) > MOST_VALUES:
        lines.append(f"  and {counted(len(found) - MOST_VALUES, 'other column')}")
    raise DataError("\n".join([*lines, *remedies]))


def _values(texts: Texts) -> list[tuple[str, int, int]]:
    """Each different value, the number of its cells and its first row."""
    rows = pd.DataFrame({"text": texts.to_numpy(), "row": texts.index})
    found = rows.groupby("text", sort=False)["row"].agg(["size", "min"])
    return [
        (str(text), int(number), int(row))
        for text, number, row in zip(found.index, found["size"], found["min"], strict=True)
    ]


def as_numbers(texts: Texts) -> Floats:
    """Texts as numbers, NaN where they hold none."""
    return pd.to_numeric(texts, errors="coerce").to_numpy(dtype=float)


def matches(texts: Texts, values: Floats, markers: Sequence[str]) -> Flags:
    """Where a cell holds a marker, as a text or as a number: -2 is also -2.0."""
    numbers = as_numbers(pd.Series(list(markers), dtype=str))
    found: Flags = texts.isin(list(markers)).to_numpy()
    return found | np.isin(values, numbers[~np.isnan(numbers)])


def parse_dates(texts: Texts) -> Texts:
    """Dates of texts, NaT where there is none from 1900 to 2100; a time of day is left out."""
    dates = texts.str.extract(f"^{_DATE}$", expand=False)
    parsed = pd.to_datetime(dates, format="%Y-%m-%d", errors="coerce")
    return parsed.where(parsed.between(pd.Timestamp(EARLIEST), pd.Timestamp(LATEST)))


def read_dates(texts: Texts) -> tuple[Texts, list[BadCells]]:
    """`parse_dates` of a column, and its cells that are no dates, if there are any.

    Args:
        texts: stripped cells, indexed by the row of the raw table; named as the column.
    """
    dates = parse_dates(texts)
    wrong = dates.isna()
    wanted = f"a date like 2021-01-31, from {EARLIEST.year} to {LATEST.year}"
    return dates, [BadCells(str(texts.name), wanted, texts[wrong])] if wrong.any() else []


def date_remedy(key: str) -> str:
    """What to do about a cell that is no date; `key` of the config names the column."""
    return f"Write dates like 2021-01-31, or name another column under {key}."
