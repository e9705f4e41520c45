"""Layouts of tables: what holds a column per entity becomes a row per entity and period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from dpol.core.errors import DataError
from dpol.data.cells import dates_of
from dpol.data.format import PLAIN
from dpol.data.plain import refuse_columns, refuse_periods_as_columns
from dpol.data.settings import CapacityTable, Columns, Dataset
from dpol.data.table import RawTable, read_table, refuse_unnamed
from dpol.data.values import columns_of


def read_counts(file: Path | str, dataset: Dataset) -> RawTable:
    """A table of counts in the long layout, whatever layout it has; see `read_table`."""
    raw, columns = read_table(file, dataset.read_columns, dataset.format), dataset.needed_columns
    layout = dataset.format.layout
    if layout == "long":
        return raw
    if layout == "wide":
        refuse_periods_as_columns(raw.file, list(map(str, raw.cells)))
        made, kept = columns.entity, columns_of(columns.period)
    else:
        made = str(columns.period)
        kept = [it for it in columns.needed() if it not in (made, columns.count)]
    dropped_by = [it for it in dataset.cleaning.drop_where if it not in (made, columns.count)]
    table = long_of(
        raw,
        kept=list(dict.fromkeys([*kept, *dropped_by])),
        melted=columns.entities,
        name=made,
        number=columns.count,
    )
    # The header of a sheet may hold real dates.
    typed = dates_of(table.cells[made], PLAIN).notna().all()
    form = table.formats[made] if layout == "wide" else PLAIN if typed else dataset.format
    return replace(table, formats={**table.formats, made: form})


def read_capacities(columns: Columns) -> RawTable | None:
    """The second table of the columns in the long layout; None if the counts hold capacities."""
    second = columns.capacity
    if not isinstance(second, CapacityTable):
        return None
    if second.format.layout == "long":
        wanted = [second.entity, second.capacity, *second.kept]
        return read_table(second.file, wanted, second.format)
    return long_of(
        read_table(second.file, form=second.format),
        kept=second.kept,
        melted=None,
        name=second.entity,
        number=second.capacity,
    )


def long_of(
    raw: RawTable, *, kept: Sequence[str], melted: Sequence[str] | None, name: str, number: str
) -> RawTable:
    """A wide table in the long layout, row by row; each row keeps its number in the file.

    Args:
        raw: a column per entity, or per period.
        kept: other columns.
        melted: those of entities or periods; without it all others.
        name: of the column that will hold the names of the columns.
        number: name of the column that will hold their cells.

    Raises:
        DataError: a column is missing, twice there or without a name, or some hold text and others
            numbers that are written with other signs.
    """
    present = list(raw.cells.columns)
    refuse_columns(raw.file, [*kept, *(melted or present)], present)
    refuse_unnamed(raw.file, present)
    melted = melted or [it for it in present if it not in kept]
    forms = [raw.formats[it] for it in melted]
    if len({(form.decimal_sign, form.thousands) for form in forms}) > 1:
        raise DataError(
            f"{raw.file}: some columns of counts hold numbers, others text in which numbers are"
            " written with other signs; write all of them as numbers"
        )
    cells = {it: np.repeat(raw.cells[it].to_numpy(), len(melted)) for it in kept}
    cells[name] = np.tile(np.array([it.strip() for it in melted], object), len(raw.cells))
    cells[number] = raw.cells[list(melted)].to_numpy().ravel()
    return RawTable(
        file=raw.file,
        cells=pd.DataFrame(cells, raw.cells.index.repeat(len(melted))),
        formats={
            **{it: raw.formats[it] for it in kept},
            name: forms[0],
            # A column that shows its decimal sign speaks for all, as a cell does for its column.
            number: max(forms, key=lambda form: form.decided),
        },
        encoding=raw.encoding,
    )
