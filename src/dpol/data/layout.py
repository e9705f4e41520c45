"""Layouts of tables: what holds a column per entity becomes a row per entity and period."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from dpol.core.errors import DataError
from dpol.data.plain import refuse_columns
from dpol.data.settings import CapacityTable, Columns, Dataset
from dpol.data.table import RawTable, read_table, refuse_unnamed
from dpol.data.values import columns_of


def read_counts(file: Path | str, dataset: Dataset) -> RawTable:
    """A table of counts in the long layout, whatever layout it has; see `read_table`."""
    raw, columns = read_table(file, dataset.read_columns, dataset.format), dataset.needed_columns
    if dataset.format.layout == "long":
        return raw
    made = (columns.entity, columns.count)
    dropped_by = [name for name in dataset.cleaning.drop_where if name not in made]
    return long_of(
        raw,
        kept=[*columns_of(columns.period), *dropped_by],
        entities=columns.entities,
        entity=columns.entity,
        number=columns.count,
    )


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
        entities=None,
        entity=second.entity,
        number=second.capacity,
    )


def long_of(
    raw: RawTable, *, kept: Sequence[str], entities: Sequence[str] | None, entity: str, number: str
) -> RawTable:
    """A wide table in the long layout, row by row; each row keeps its number in the file.

    Args:
        raw: a column per entity.
        kept: columns that are not entities.
        entities: columns that are; without it all others.
        entity: name of the column that will hold the names of the columns.
        number: name of the column that will hold their cells.

    Raises:
        DataError: a column is missing, twice there or without a name, or some hold text and others
            numbers that are written with other signs.
    """
    present = list(raw.cells.columns)
    refuse_columns(raw.file, [*kept, *(entities or present)], present)
    refuse_unnamed(raw.file, present)
    entities = entities or [name for name in present if name not in kept]
    forms = [raw.formats[name] for name in entities]
    if len({(form.decimal_sign, form.thousands) for form in forms}) > 1:
        raise DataError(
            f"{raw.file}: some columns of entities hold numbers, others text in which numbers are"
            " written with other signs; write all of them as numbers"
        )
    cells = {name: np.repeat(raw.cells[name].to_numpy(), len(entities)) for name in kept}
    cells[entity] = np.tile(np.array([name.strip() for name in entities], object), len(raw.cells))
    cells[number] = raw.cells[list(entities)].to_numpy().ravel()
    return RawTable(
        file=raw.file,
        cells=pd.DataFrame(cells, raw.cells.index.repeat(len(entities))),
        formats={
            **{name: raw.formats[name] for name in kept},
            entity: forms[0],
            # A column that shows its decimal sign speaks for all, as a cell does for its column.
            number: max(forms, key=lambda form: form.decided),
        },
        encoding=raw.encoding,
    )
