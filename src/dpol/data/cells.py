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
        texts: what they hold, perhaps none; named as the column, indexed by the row of the table.
        wanted: what the cells should hold.
        remedy: what the user can do, a paragraph.
    """

    texts: Texts
    wanted: str
    remedy: str = ""


def refuse_cells(raw: RawTable, found: Sequence[BadCells], remedies: Sequence[str] = ()) -> None:
    """Refuse a table for all its bad cells at once; without bad cells, do nothing.

    Args:
        raw: the table.
        found: the bad cells, column by column.
        remedies: more that the user can do, a paragraph each.

    Raises:
        DataError: the columns, each different value with its number of cells and its first row; at
            most about `MOST_VALUES` of both.
    """
    found = [bad for bad in found if len(bad.texts)]
    if not found:
        return
    shown = found[:MOST_VALUES]
    each = max(1, MOST_VALUES // len(shown))
    values = [
        bad.texts.index.to_series().groupby(bad.texts.to_numpy(), sort=False).agg(["size", "min"])
        for bad in shown
    ]
    line_of = raw.lines([row for of in values for row in of["min"][:each]])
    lines = [f"{raw.file}: {counted(sum(len(bad.texts) for bad in found), 'cell')} cannot be used"]
    for bad, of in zip(shown, values, strict=True):
        lines.append(f"  column {bad.texts.name}, which needs {bad.wanted}:")
        for text, number, row in of[:each].itertuples():
            held = repr(shortened(text)) if text else "nothing"
            lines.append(f"    {held}: {counted(number, 'cell')}, first in row {line_of[row]}")
        if len(of) > each:
            lines.append(f"    and {counted(len(of) - each, 'other value')}")
    if len(found) > len(shown):
        lines.append(f"  and {counted(len(found) - len(shown), 'other column')}")
    own = dict.fromkeys(bad.remedy for bad in found if bad.remedy)
    raise DataError("\n".join([*lines, *own, *remedies]))


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


def read_dates(texts: Texts, key: str) -> tuple[Texts, BadCells]:
    """`parse_dates` of a column, and its cells that are no dates.

    Args:
        texts: stripped cells, indexed by the row of the raw table; named as the column.
        key: of the config, which names the column.
    """
    dates = parse_dates(texts)
    wanted = f"a date like 2021-01-31, from {EARLIEST.year} to {LATEST.year}"
    remedy = f"Write dates like 2021-01-31, or name another column under {key}."
    return dates, BadCells(texts[dates.isna()], wanted, remedy)
