"""Cells that do not hold what they should, and one message for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from dpol.core.errors import DataError, Text, in_lines
from dpol.core.words import counted, shortened

if TYPE_CHECKING:
    import pandas as pd

Texts: TypeAlias = "pd.Series[Any]"
"""The cells of a column: named like the column, indexed by row of the file."""

MOST_VALUES = 20
"""Number of distinct values that a message shows."""


@dataclass(frozen=True)
class BadCells:
    """The cells of a column that do not hold what they should.

    Args:
        texts: the bad cells, possibly none.
        wanted: what the cells should hold.
        remedies: what the user can do, one paragraph each.
    """

    texts: Texts
    wanted: Text
    remedies: tuple[Text, ...] = ()


def refuse_cells(file: str, columns: Sequence[BadCells]) -> None:
    """Refuse a table for all its bad cells at once; without bad cells, do nothing.

    Args:
        file: path of the table.
        columns: the bad cells, column by column.

    Raises:
        DataError: a cell is bad; the text lists, for each column, every distinct value with its
            number of cells and first row, at most about `MOST_VALUES` values and columns.
    """
    columns = [bad for bad in columns if len(bad.texts)]
    if not columns:
        return
    shown = columns[:MOST_VALUES]
    each = MOST_VALUES // len(shown)
    number = counted(sum(len(bad.texts) for bad in columns), "cell")
    lines: list[Text] = [f"{file}: {number} cannot be used"]
    for bad in shown:
        lines.append((f"  column {bad.texts.name}, which needs ", bad.wanted, ":"))
        rows = bad.texts.index.to_series().groupby(bad.texts.to_numpy(), sort=False)
        values = rows.agg(["size", "min"])
        for text, size, row in values[:each].itertuples():
            held = repr(shortened(text)) if text else "nothing"
            lines.append(f"    {held}: {counted(size, 'cell')}, first in row {row}")
        if len(values) > each:
            lines.append(f"    and {counted(len(values) - each, 'other value')}")
    if len(columns) > len(shown):
        lines.append(f"  and {counted(len(columns) - len(shown), 'other column')}")
    remedies = dict.fromkeys(remedy for bad in columns for remedy in bad.remedies)
    raise DataError(in_lines([*lines, *remedies]))
