"""Reading raw tables as text, exactly as they were published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from dpol.core.errors import DataError
from dpol.core.files import atomic_path, packed_file
from dpol.data.table_files import read_table_file
from dpol.data.table_format import DEFAULT, Format

Texts: TypeAlias = "pd.Series[Any]"
"""The cells of a column: named like the column, indexed by row of the file."""


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
        repeated: the rows that repeat an earlier row in full, if they were looked for.
    """

    file: str
    cells: pd.DataFrame
    formats: Mapping[str, Format]
    encoding: str
    headers: tuple[int, ...] = ()
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
    formats = {str(name): form.of_column(column.unique()) for name, column in cells.items()}
    return RawTable(
        file=file, cells=cells, formats={**formats, **(typed or {})}, encoding=form.encoding
    )


def read_table(
    path: Path | str, columns: Sequence[str] | None = None, form: Format = DEFAULT
) -> RawTable:
    """Read some columns, or all, of a table as text; see `read_table_file`."""
    table = read_table_file(Path(path), columns, form)
    cells = pd.DataFrame(table.rows, table.lines, table.header, dtype=str)
    return raw_table(str(path), cells, form, table.typed)


def refuse_unnamed(path: Path | str, present: Sequence[str]) -> None:
    """Refuse a column without a name in a table whose columns name entities or experts."""
    if blank := [number for number, name in enumerate(present, 1) if not name.strip()]:
        raise DataError(
            f"{path}: column {blank[0]} has no name; name it, or remove the column if it only"
            " numbers the rows"
        )


def write_table(cells: pd.DataFrame, path: Path | str) -> None:
    """Write a table of text as `.csv.gz`, with equal bytes for equal tables."""
    with atomic_path(path) as temporary, packed_file(temporary) as packed:
        packed.write(cells.to_csv(index=False, lineterminator="\n").encode())
