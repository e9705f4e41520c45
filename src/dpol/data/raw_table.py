"""Reading raw tables as text, exactly as they were published, but with a row for each count."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from dpol.core.errors import DataError
from dpol.core.files import atomic_path, packed_file, sha256
from dpol.core.shipped import way_back
from dpol.data.bad_cells import Texts
from dpol.data.parse import parse_dates
from dpol.data.setting_types import Period, columns_of
from dpol.data.settings import CapacityTable, Columns, Dataset, LocalSource, WebSource
from dpol.data.table_files import (
    MOST_MB,
    read_table_file,
    refuse_columns,
    refuse_periods_as_columns,
)
from dpol.data.table_format import DEFAULT, PLAIN, Format

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Characters that a terminal may obey."""


@dataclass(frozen=True, kw_only=True)
class RawTable:
    """A table of text, without leading and trailing blanks.

    Args:
        file: path of the file.
        cells: the wanted columns; the index is the line of the file on which a row ends (the header
            is line 1), or the number of the row in a Parquet file or sheet.
        formats: the format of numbers and dates in each column.
        encoding: encoding of the file.
        headers: the rows left out because they repeat the header.
        controls: the rows that hold control characters, which are read as `?`.
        repeated: the rows that repeat an earlier row in full, if they were looked for.
    """

    file: str
    cells: pd.DataFrame
    formats: Mapping[str, Format]
    encoding: str
    headers: tuple[int, ...] = ()
    controls: tuple[int, ...] = ()
    repeated: frozenset[int] = frozenset()


def raw_table(
    file: str,
    cells: pd.DataFrame,
    form: Format = DEFAULT,
    typed: Mapping[str, Format] | None = None,
) -> RawTable:
    """Make a `RawTable`; a column's own cells may decide its format.

    Args:
        file: path of the file.
        cells: cells of text, with the index of `RawTable`.
        form: the format of the table.
        typed: formats of the columns that held numbers or dates as such.
    """
    cells = cells.apply(lambda column: column.str.strip())
    controls = pd.Series(False, cells.index)
    for name, column in cells.items():
        if texts := [text for text in column.unique() if _CONTROL.search(text)]:
            controls |= column.isin(texts)
            cells[name] = column.replace(_CONTROL, "?", regex=True)
    formats = {str(name): form.of_column(column.unique()) for name, column in cells.items()}
    return RawTable(
        file=file,
        cells=cells,
        formats={**formats, **(typed or {})},
        encoding=form.encoding,
        controls=(*cells.index[controls],),
    )


def read_table(
    path: Path | str,
    columns: Sequence[str] | None = None,
    form: Format = DEFAULT,
    *,
    max_mb: int = MOST_MB,
) -> RawTable:
    """Read some columns, or all, of a table as text; see `read_table_file`."""
    table = read_table_file(Path(path), columns, form, max_mb=max_mb)
    cells = pd.DataFrame(table.rows, table.lines, table.header, dtype=str)
    return raw_table(str(path), cells, form, table.typed)


def refuse_unnamed(path: Path | str, present: Sequence[str]) -> None:
    """Refuse a column without a name in a table whose columns name entities or experts."""
    if blank := [number for number, name in enumerate(present, 1) if not name.strip()]:
        raise DataError(
            f"{path}: column {blank[0]} has no name; name it, or remove the column if it only"
            " numbers the rows"
        )


def read_counts(file: Path | str, dataset: Dataset) -> RawTable:
    """Read a table of counts of any layout as a long table; see `read_table`.

    Raises:
        DataError: the table cannot be read, or is not the one whose SHA-256 the source gives.
    """
    if isinstance(dataset.source, LocalSource) and dataset.source.sha256:
        _refuse_another(Path(file), dataset.source.sha256)
    max_mb = dataset.source.max_mb if isinstance(dataset.source, WebSource) else MOST_MB
    raw = read_table(file, dataset.read_columns, dataset.format, max_mb=max_mb)
    columns = dataset.needed_columns
    is_header = (raw.cells == [str(name).strip() for name in raw.cells]).all(axis=1)
    raw = replace(raw, cells=raw.cells[~is_header], headers=(*raw.cells.index[is_header],))
    if dataset.cleaning.merges_rows:
        raw = replace(raw, repeated=frozenset(raw.cells.index[raw.cells.duplicated()]))
    layout = dataset.format.layout
    if layout == "long":
        return raw
    if layout == "wide":
        refuse_periods_as_columns(raw.file, list(map(str, raw.cells)))
        made, kept = columns.entity, columns_of(columns.period)
    else:
        made = str(columns.period)
        kept = [name for name in columns.needed() if name not in (made, columns.count)]
    dropped_by = [name for name in dataset.cleaning.drop_where if name not in (made, columns.count)]
    table = to_long(
        raw,
        kept=list(dict.fromkeys([*kept, *dropped_by])),
        melted=columns.entities,
        name=made,
        number=columns.count,
    )
    # The header of a sheet may hold dates as such.
    typed = parse_dates(table.cells[made], PLAIN).notna().all()
    form = table.formats[made] if layout == "wide" else PLAIN if typed else dataset.format
    return replace(table, formats={**table.formats, made: form})


def period_texts(raw: RawTable, period: Period) -> tuple[Texts, Format]:
    """Return the text that names the period of each row, and its format."""
    if isinstance(period, str):
        return raw.cells[period], raw.formats[period]
    # Programs often store whole numbers as 2021.0 if a cell of the column is empty.
    year, month = (raw.cells[name].str.removesuffix(".0") for name in columns_of(period))
    texts = (year + "-" + month).rename(f"{period.year}-{period.month}")
    return texts, DEFAULT.model_copy(update={"date": "YYYY-M"})


def _refuse_another(file: Path, pinned: str) -> None:
    if file.exists() and (digest := sha256(file)) != pinned:
        again = way_back(str(file)) or "get an intact copy of it"
        raise DataError(
            f"{file}: has SHA-256 {digest} instead of {pinned}, so it was changed; {again}; or, if"
            " the change is meant, remove dataset.source.sha256"
        )


def read_capacities(columns: Columns) -> RawTable | None:
    """Read the second table as a long table; None if the columns name no second table."""
    second = columns.capacity
    if not isinstance(second, CapacityTable):
        return None
    if second.format.layout == "long":
        wanted = [second.entity, second.capacity, *second.kept]
        return read_table(second.file, wanted, second.format)
    return to_long(
        read_table(second.file, form=second.format),
        kept=second.kept,
        melted=None,
        name=second.entity,
        number=second.capacity,
    )


def to_long(
    raw: RawTable, *, kept: Sequence[str], melted: Sequence[str] | None, name: str, number: str
) -> RawTable:
    """Convert a wide table to the long layout; each row keeps its number in the file.

    Args:
        raw: a table with a column per entity, or per period.
        kept: the columns to keep.
        melted: the columns of entities or periods; None for all columns not kept.
        name: the new column for the names of the melted columns.
        number: the new column for their cells.

    Raises:
        DataError: a column is missing, repeated or has no name, or some columns hold numbers and
            others text with another decimal sign or thousands separator.
    """
    present = list(raw.cells.columns)
    refuse_columns(raw.file, [*kept, *(melted or present)], present)
    refuse_unnamed(raw.file, present)
    melted = melted or [column for column in present if column not in kept]
    forms = [raw.formats[column] for column in melted]
    if len({(form.decimal_sign, form.thousands) for form in forms}) > 1:
        raise DataError(
            f"{raw.file}: some columns of counts hold numbers, others text with another decimal"
            " sign or thousands separator; store all of them as numbers"
        )
    cells = {column: np.repeat(raw.cells[column].to_numpy(), len(melted)) for column in kept}
    cells[name] = np.tile(
        np.array([_CONTROL.sub("?", name.strip()) for name in melted], object), len(raw.cells)
    )
    cells[number] = raw.cells[list(melted)].to_numpy().ravel()
    return RawTable(
        file=raw.file,
        cells=pd.DataFrame(cells, raw.cells.index.repeat(len(melted))),
        formats={
            **{column: raw.formats[column] for column in kept},
            name: forms[0],
            # A column that shows its decimal sign decides for all, as a cell does for its column.
            number: max(forms, key=lambda form: form.decided),
        },
        encoding=raw.encoding,
        headers=raw.headers,
        controls=raw.controls,
        repeated=raw.repeated,
    )


def write_table(cells: pd.DataFrame, path: Path | str) -> None:
    """Write a table of text as `.csv.gz`, with equal bytes for equal tables."""
    with atomic_path(path) as temporary, packed_file(temporary) as packed:
        packed.write(cells.to_csv(index=False, lineterminator="\n").encode())
