"""Reading a raw table as text, exactly as it was published."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from dpol.core.errors import DataError
from dpol.core.files import atomic_path, packed_file
from dpol.core.words import counted, shortened
from dpol.data.format import DEFAULT, PLAIN, Format

_DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, pa.ArrowException, csv.Error)
_MAGIC = {
    ".gz": (b"\x1f\x8b", "packed with gzip", "pack it, or take .gz off its name"),
    ".parquet": (b"PAR1", "a Parquet table", "name it .csv"),
}
"""The first bytes of a file by suffix, the name of its kind, and the remedy for plain CSV."""
_DELIMITERS = (";", "\t", "|", ",")
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SEMICOLONS = {"delimiter": ";", "decimal": ","}
LARGEST_ROW = 1 << 24
"""Bytes of a row; a file with a longer one is refused."""


@dataclass(frozen=True)
class RawTable:
    """A table whose cells are text.

    Args:
        file: where it was read from.
        cells: the wanted columns, rows numbered from 0.
        format: how numbers and dates are written, and the file if it is a CSV file.
        typed: columns that were numbers or dates in a Parquet file; they are written as in Python.
        whole: those of them that were whole numbers.
    """

    file: str
    cells: pd.DataFrame
    format: Format = DEFAULT
    typed: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()

    def format_of(self, column: str) -> Format:
        """The format of the cells of a column."""
        if column in self.typed:
            return PLAIN
        return self.format.of_column(self.cells[column].str.strip().unique())

    def dates_of(self, column: str) -> Format:
        """The format of the dates of a column, which may be whole numbers such as 20210104."""
        return self.format if column in self.whole else self.format_of(column)

    def lines(self, rows: Iterable[int]) -> dict[int, int]:
        """The lines of a CSV file, or the rows of a Parquet file, that hold rows of `cells`."""
        path, wanted = Path(self.file), sorted({int(row) for row in rows})
        if path.suffix == ".parquet":
            return {row: row + 1 for row in wanted}
        found = {row: row + 2 for row in wanted}
        if wanted and path.is_file():
            with _rows(path, self.format) as lines:
                next(lines, None)  # the header is not a row
                for row, (line, _) in enumerate(itertools.islice(lines, max(wanted) + 1)):
                    if row in wanted:
                        found[row] = line
        return found


def read_table(
    path: Path | str, columns: Sequence[str] | None = None, form: Format = DEFAULT
) -> RawTable:
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
    wanted = None if columns is None else list(dict.fromkeys(columns))
    read = _read_parquet if path.suffix == ".parquet" else _read_csv
    try:
        raw = read(path, wanted, form)
    except UnicodeError:
        raise _undecoded(path, form) from None
    except (*_DAMAGE, OSError) as error:
        reason = getattr(error, "strerror", None)
        told = f"{path}: cannot be read: {reason}" if reason else ""
        raise DataError(told or _damaged(path, error, form)) from None
    if raw.cells.empty:
        raise DataError(f"{path}: has a header but no rows; {_again(path)}")
    return raw


def _undecoded(path: Path, form: Format) -> DataError:
    """The refusal of another encoding; the first line may show another delimiter too."""
    with _open(path) as binary:
        start = binary.readline(LARGEST_ROW)
    was = form.encoding
    likely = "cp1252" if was == "utf-8" else "utf-8"
    keys = {"encoding": "utf-16" if start.startswith(_UTF_16) else likely}
    semicolons = _SEMICOLONS if b";" in start and b"," not in start else {}
    return _unlike(path, f"is not {was.upper()} text", keys | semicolons)


def _unlike(path: Path, what: str, keys: Mapping[str, str]) -> DataError:
    """The refusal of a table in another format, with the keys that read it."""
    lines = [f"    {key}: {json.dumps(value)}" for key, value in keys.items()]
    told = f"{path}: {what}. Save it as UTF-8 CSV with commas between cells and decimal points"
    to_set = [f"{told}; or set in the config:", "dataset:", "  format:", *lines]
    return DataError("\n".join(to_set))


def _damaged(path: Path, error: Exception, form: Format) -> str:
    """The reason why a file is not a table, and a remedy; the user may have no other copy of it."""
    magic, kind, rename = _MAGIC.get(path.suffix, (b"", "", ""))
    with path.open("rb") as stream:
        start = stream.read(len(magic))
    if not magic.startswith(start):
        remedy = _again(path) if _fetched(path) else f"if it holds plain CSV, {rename}"
        return f"{path}: is not {kind}, though its name ends in {path.suffix}; {remedy}"
    if isinstance(error, pa.ArrowException) and path.suffix != ".parquet":
        with suppress(*_DAMAGE):  # the file may be damaged beyond that row
            if message := _odd_row(path, form):
                return message
    return f"{path}: is damaged or cut short ({' '.join(str(error)[:200].split())}); {_again(path)}"


def _fetched(path: Path) -> bool:
    return path.with_name(path.name + ".provenance.json").exists()


def _again(path: Path) -> str:
    """The way to a good copy of a table: one that dpol has fetched can be fetched again."""
    if _fetched(path):
        return "delete it and run again, which fetches it again"
    return "get an intact copy of it"


def _odd_row(path: Path, form: Format) -> str:
    """The fault of the first row with more or fewer cells than the header; empty without one."""
    with _rows(path, form) as lines:
        _, header = next(lines)
        odd = ((line, cells) for line, cells in lines if len(cells) != len(header))
        line, cells = next(odd, (0, []))
    if not cells:
        return ""
    if form.delimiter != ",":
        cause = f"Put cells that hold {form.delimiter!r} or a line break in quotes, or fix the row"
    elif len(cells) > len(header):
        cause = (
            "A comma within a cell is taken for the end of the cell: put the cell in quotes, or"
            " write the number with a decimal point (16.8)"
        )
    else:
        cause = (
            "A cell or a comma is missing, or a cell with a line break or carriage return needs"
            f" quotes, or the file is cut short here: {_again(path)}"
        )
    held = f"has {counted(len(cells), 'cell')}, but the header has {len(header)}"
    return f"{path}, row {line}: {held}. {cause}"


@contextmanager
def _rows(path: Path, form: Format) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """The rows of a CSV file with the lines they end on; blank lines are not rows."""
    limit = csv.field_size_limit(2**31 - 1)  # Arrow, which reads the cells, knows none
    try:
        encoding = "utf-8-sig" if form.encoding == "utf-8" else form.encoding
        with _open(path) as binary, io.TextIOWrapper(binary, encoding, newline="") as text:
            reader = csv.reader(text, delimiter=form.delimiter)
            yield ((reader.line_num, cells) for cells in reader if cells)
    finally:
        csv.field_size_limit(limit)


def _open(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _read_csv(path: Path, columns: list[str] | None, form: Format) -> RawTable:
    with _rows(path, form) as lines:
        _, header = next(lines, (0, []))
    if not header:
        raise DataError(f"{path}: holds no table; {_again(path)}")
    _refuse_delimiter(path, columns, header, form)
    columns = header if columns is None else columns
    refuse_columns(path, columns, header)
    with _open(path) as binary:
        table = pyarrow.csv.read_csv(
            binary,
            read_options=pyarrow.csv.ReadOptions(
                use_threads=False, block_size=LARGEST_ROW, encoding=form.encoding
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=form.delimiter, newlines_in_values=True
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=columns, column_types=dict.fromkeys(columns, pa.string())
            ),
        )
    return RawTable(str(path), _as_text(path, table, columns), form)


def _refuse_delimiter(
    path: Path, columns: Sequence[str] | None, header: list[str], form: Format
) -> None:
    """Refuse a table whose header has the wanted columns if it is cut at another sign."""
    wanted, sign = {*(columns or ())}, form.delimiter
    if wanted <= {*header} and (wanted or len(header) > 1):
        return
    line = sign.join(header)
    for mark in _DELIMITERS:
        if mark != sign and mark in line and (len(header) == 1 or wanted <= {*line.split(mark)}):
            keys = _SEMICOLONS if mark == ";" else {"delimiter": mark}
            excel = ", as Excel does where the decimal sign is a comma" if mark == ";" else ""
            raise _unlike(path, f"its cells are separated by {mark!r}{excel}", keys)


def _read_parquet(path: Path, columns: list[str] | None, form: Format) -> RawTable:
    present = pq.read_schema(path).names
    columns = present if columns is None else columns
    refuse_columns(path, columns, present)
    table = pq.read_table(path, columns=columns)
    typed = frozenset(
        column.name
        for column in table.schema
        if pa.types.is_primitive(column.type) or pa.types.is_decimal(column.type)
    )
    whole = frozenset(it.name for it in table.schema if pa.types.is_integer(it.type))
    return RawTable(str(path), _as_text(path, table, columns), form, typed, whole)


def _as_text(path: Path, table: pa.Table, columns: list[str]) -> pd.DataFrame:
    texts = {}
    for name in columns:
        values = table.column(name)
        if pa.types.is_nested(values.type):
            raise DataError(
                f"{path}: column {name} holds {values.type}, not text, numbers or dates; write"
                " one value into each cell"
            )
        if pa.types.is_floating(values.type):
            values = pc.if_else(pc.is_nan(values), None, values)
        texts[name] = values.cast(pa.string()).fill_null("")
    frame: pd.DataFrame = pa.table(texts).to_pandas().astype(str)
    return frame


def refuse_columns(
    path: Path | str, wanted: list[str], present: list[str], key: str = "dataset.columns"
) -> None:
    """Refuse a table that lacks wanted columns or has several of one name.

    Raises:
        DataError: those columns; `key` of the config names the right ones.
    """
    missing = [name for name in wanted if name not in present]
    if missing:
        held = ", ".join(map(shortened, present))
        raise DataError(
            f"{path}: no column named {', '.join(missing)}; it has {held}."
            f" Name the right ones under {key} in the config"
        )
    twice = [name for name in dict.fromkeys(wanted) if present.count(name) > 1]
    if twice:
        raise DataError(f"{path}: several columns named {', '.join(twice)}; rename all but one")


def write_table(cells: pd.DataFrame, path: Path | str) -> None:
    """Write a table of text as `.csv.gz`; equal tables give equal bytes."""
    with atomic_path(path) as temporary, packed_file(temporary) as packed:
        packed.write(cells.to_csv(index=False, lineterminator="\n").encode())
