"""Reading a raw table as text, exactly as it was published."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from dpol.errors import DataError
from dpol.files import atomic_path

_DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, pa.ArrowException, csv.Error)


@dataclass(frozen=True)
class RawTable:
    """A table whose cells are text.

    Args:
        file: where it was read from.
        cells: the wanted columns, rows numbered from 0.
    """

    file: str
    cells: pd.DataFrame

    def line(self, row: int) -> int:
        """The line of a CSV file, or the row of a Parquet file, that holds a row of `cells`."""
        path = Path(self.file)
        if path.suffix == ".parquet":
            return row + 1
        if not path.is_file():
            return row + 2
        with _open(path) as binary, io.TextIOWrapper(binary, "utf-8-sig", newline="") as text:
            reader = csv.reader(text)
            found = -2  # the header is no row
            for cells in reader:
                found += bool(cells)  # blank lines are skipped, but they count as lines
                if found == row:
                    return reader.line_num
        return row + 2

    def place(self, row: int) -> str:
        """How a message names a row."""
        return f"{self.file}, row {self.line(row)}"


def read_table(path: Path | str, columns: Sequence[str] | None = None) -> RawTable:
    """Read some columns, or all, of a `.csv`, `.csv.gz` or `.parquet` table as text.

    Missing cells of a Parquet table become empty text; blank lines of a CSV are skipped.

    Raises:
        DataError: no such file, empty, cut short, not a table, or a column is missing.
    """
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path}: is a folder, not a table; name the file in dataset.source.file")
    if not path.exists():
        raise DataError(f"{path}: no such file; put the table there or change dataset.source.file")
    if path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty; fetch or copy it again")
    wanted = None if columns is None else list(dict.fromkeys(columns))
    read = _read_parquet if path.suffix == ".parquet" else _read_csv
    try:
        cells = read(path, wanted)
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not UTF-8 text; save it as UTF-8 CSV") from None
    except OSError as error:
        if isinstance(error, gzip.BadGzipFile) or error.errno is None:
            raise DataError(_damaged(path, error)) from None
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except _DAMAGE as error:
        raise DataError(_damaged(path, error)) from None
    if cells.empty:
        raise DataError(f"{path}: has a header but no rows; fetch or copy it again")
    return RawTable(str(path), cells)


def _damaged(path: Path, error: Exception) -> str:
    return (
        f"{path}: cannot be read ({error}); the file is damaged or cut short:"
        " delete it, then fetch or copy it again"
    )


def _open(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _read_csv(path: Path, columns: list[str] | None) -> pd.DataFrame:
    with _open(path) as binary, io.TextIOWrapper(binary, "utf-8-sig", newline="") as text:
        rows = (cells for cells in csv.reader(text) if cells)
        header, first = next(rows, None), next(rows, None)
    if header is None:
        raise DataError(f"{path}: holds no table; fetch or copy it again")
    columns = header if columns is None else columns
    _refuse_columns(path, columns, header)
    if first is None:
        return pd.DataFrame(columns=columns, dtype=str)
    with _open(path) as binary:
        table = pyarrow.csv.read_csv(
            binary,
            read_options=pyarrow.csv.ReadOptions(use_threads=False),
            parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=columns, column_types=dict.fromkeys(columns, pa.string())
            ),
        )
    return _as_text(table, columns)


def _read_parquet(path: Path, columns: list[str] | None) -> pd.DataFrame:
    present = pq.read_schema(path).names
    columns = present if columns is None else columns
    _refuse_columns(path, columns, present)
    return _as_text(pq.read_table(path, columns=columns), columns)


def _as_text(table: pa.Table, columns: list[str]) -> pd.DataFrame:
    texts = {}
    for name in columns:
        values = table.column(name)
        if pa.types.is_floating(values.type):
            values = pc.if_else(pc.is_nan(values), None, values)
        texts[name] = values.cast(pa.string()).fill_null("")
    frame: pd.DataFrame = pa.table(texts).to_pandas().astype(str)
    return frame


def _refuse_columns(path: Path, wanted: list[str], present: list[str]) -> None:
    missing = [name for name in wanted if name not in present]
    other = [mark for mark in (";", "\t", "|") if len(present) == 1 and mark in present[0]]
    if missing and other:
        raise DataError(
            f"{path}: its columns are separated by {other[0]!r}; save it again with commas"
        )
    if missing:
        raise DataError(
            f"{path}: no column named {', '.join(missing)}; it has {', '.join(present)}."
            " Name the right ones under dataset.columns in the config"
        )
    twice = [name for name in dict.fromkeys(wanted) if present.count(name) > 1]
    if twice:
        raise DataError(f"{path}: several columns named {', '.join(twice)}; rename all but one")


def read_dates(raw: RawTable, column: str, key: str) -> pd.Series[Any]:
    """Dates of a column; a time of day or zone after the date is left out.

    Raises:
        DataError: a cell holds no date; `key` of the config names the column.
    """
    texts = raw.cells[column].str.strip()
    dates = texts.where(texts.str.fullmatch(r"\d{4}-\d{2}-\d{2}([T ].*)?")).str.slice(0, 10)
    parsed = pd.to_datetime(dates, format="%Y-%m-%d", errors="coerce")
    wrong = np.flatnonzero(parsed.isna())
    if len(wrong):
        row = int(wrong[0])
        raise DataError(
            f"{raw.place(row)}: column {column} holds {texts.iloc[row]!r}, not a date like"
            f" 2021-01-31 ({len(wrong)} such cells); mend the table or {key}"
        )
    return parsed


def write_table(cells: pd.DataFrame, path: Path | str) -> None:
    """Write a table of text as `.csv.gz`; equal tables give equal bytes."""
    with (
        atomic_path(path) as temporary,
        temporary.open("wb") as stream,
        gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed,
    ):
        packed.write(cells.to_csv(index=False, lineterminator="\n").encode())
