"""Reading a raw table as text, exactly as it was published."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dpol.core.errors import DataError
from dpol.core.files import atomic_path, packed_file
from dpol.core.words import counted, shortened
from dpol.data.format import DEFAULT, PLAIN, Format
from dpol.data.sheets import BadWorkbookError, read_sheet

_SEMICOLONS = {"delimiter": ";", "decimal": ","}


@dataclass(frozen=True, kw_only=True)
class RawTable:
    """A table whose cells are text, without blanks around.

    Args:
        file: where it was read from.
        cells: the wanted columns; the index is the line of the file on which a row ends, the header
            on line 1, or the number of the row of a Parquet file
            or sheet.
        formats: how the numbers and dates of each column are written.
        encoding: of the file.
    """

    file: str
    cells: pd.DataFrame
    formats: Mapping[str, Format]
    encoding: str


def raw_table(
    file: str,
    cells: pd.DataFrame,
    form: Format = DEFAULT,
    typed: Mapping[str, Format] | None = None,
) -> RawTable:
    """A table of text, whose columns may show more of their format than the config says.

    Args:
        file: where it was read from.
        cells: of text; the index is that of `RawTable`.
        form: how the table is written.
        typed: how the columns that were numbers or dates have been written.
    """
    cells = cells.apply(lambda column: column.str.strip())
    formats = {str(name): form.of_column(column.unique()) for name, column in cells.items()}
    return RawTable(
        file=file, cells=cells, formats={**formats, **(typed or {})}, encoding=form.encoding
    )


def read_table(
    path: Path | str, columns: Sequence[str] | None = None, form: Format = DEFAULT
) -> RawTable:
    """Read some columns, or all, of a `.csv`, `.csv.gz`, `.parquet` or `.xlsx` table as text.

    Missing cells of a Parquet table or a sheet become empty text; blank lines of a CSV and blank
    rows of a sheet are skipped. A formula of a sheet is the value that was saved with it.

    Raises:
        DataError: no such file, empty, cut short, not a table, a column or the sheet is missing, or
            the format has a key that such a file has no use for.
    """
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path}: is a folder, not a table; name the file in dataset.source.file")
    if not path.exists():
        raise DataError(f"{path}: no such file; put the table there or change dataset.source.file")
    for key, readers in (("sheet", (".xlsx",)), ("skip_rows", (".csv", ".gz", ".xlsx"))):
        if getattr(form, key) and path.suffix not in readers:
            raise DataError(f"{path}: has no use for dataset.format.{key}; remove it in the config")
    wanted = None if columns is None else list(dict.fromkeys(columns))
    try:
        if path.suffix == ".parquet":
            table = _read_parquet(path, wanted, form)
        elif path.suffix == ".xlsx":
            table = _read_sheet(path, wanted, form)
        else:
            table = _read_csv(path, wanted, form)
    except UnicodeError:
        raise _undecoded(path, form) from None
    except (EOFError, zlib.error, gzip.BadGzipFile, BadWorkbookError, pa.ArrowException) as error:
        cause = " ".join(str(error)[:200].split())
        raise DataError(
            f"{path}: is damaged, cut short or no {path.suffix} file ({cause}); {_again(path)}, or"
            " name the file after what it holds"
        ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    if table.cells.empty:
        raise DataError(f"{path}: has a header but no rows; {_again(path)}")
    return table


def _read_csv(path: Path, columns: list[str] | None, form: Format) -> RawTable:
    lines, kept = [], []
    if path.suffix == ".gz":  # a damaged file is damaged, whatever its rows look like
        with gzip.open(path) as packed:
            while packed.read(1 << 20):
                pass
    with _csv_rows(path, form) as rows:
        _, header = next(rows, (0, []))
        if not header:
            raise DataError(f"{path}: holds no table; {_again(path)}")
        _refuse_delimiter(path, columns, header, form)
        columns = header if columns is None else columns
        refuse_columns(path, columns, header)
        places = [header.index(name) for name in columns]
        for line, row in rows:
            if len(row) != len(header):
                raise DataError(
                    f"{path}, row {line}: has {counted(len(row), 'cell')}, but the header has"
                    f" {len(header)}. Put cells that hold {form.delimiter!r} or a line break in"
                    " quotes, and write numbers with a decimal point (16.8). If the file is cut"
                    f" short here, {_again(path)}"
                )
            lines.append(line)
            kept.append([row[place] for place in places])
    return raw_table(str(path), pd.DataFrame(kept, lines, columns, dtype=str), form)


@contextmanager
def _csv_rows(path: Path, form: Format) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """The rows of a CSV file with the lines they end on; blank lines are not rows."""
    encoding = "utf-8-sig" if form.encoding == "utf-8" else form.encoding
    limit = csv.field_size_limit(2**31 - 1)
    try:
        with _open(path) as binary, io.TextIOWrapper(binary, encoding, newline="") as text:
            for _ in range(form.skip_rows):
                text.readline()
            reader = csv.reader(text, delimiter=form.delimiter, strict=True)
            try:
                yield ((form.skip_rows + reader.line_num, row) for row in reader if row)
            except csv.Error as error:
                place = f"{path}, row {form.skip_rows + reader.line_num}"
                raise DataError(f"{place}: is not CSV: {error}; {_again(path)}") from None
    finally:
        csv.field_size_limit(limit)


def _open(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _read_parquet(path: Path, columns: list[str] | None, form: Format) -> RawTable:
    schema = pq.read_schema(path)
    columns = schema.names if columns is None else columns
    refuse_columns(path, columns, schema.names)
    typed, texts = {}, {}
    for name, values in zip(columns, pq.read_table(path, columns=columns), strict=True):
        kind = values.type
        if pa.types.is_nested(kind):
            raise DataError(
                f"{path}: column {name} holds {kind}, not text, numbers or dates; write one value"
                " into each cell"
            )
        if pa.types.is_integer(kind):  # which may be a date such as 20210104
            typed[name] = PLAIN.model_copy(update={"date": form.date})
        elif pa.types.is_primitive(kind) or pa.types.is_decimal(kind):
            typed[name] = PLAIN
        if pa.types.is_floating(kind):
            values = pc.if_else(pc.is_nan(values), None, values)
        texts[name] = values.cast(pa.string()).fill_null("")
    cells = pa.table(texts).to_pandas().astype(str)
    cells.index += 1
    return raw_table(str(path), cells, form, typed)


def _read_sheet(path: Path, columns: list[str] | None, form: Format) -> RawTable:
    cells, dated = read_sheet(path, form)
    header = list(cells.columns)
    columns = header if columns is None else columns
    refuse_columns(path, columns, header)
    places = [header.index(name) for name in columns]
    typed = {header[place]: PLAIN for place in places if dated[place]}
    return raw_table(str(path), cells.iloc[:, places], form, typed)


def _undecoded(path: Path, form: Format) -> DataError:
    """The refusal of another encoding; the first line may show another delimiter too."""
    with _open(path) as binary:
        start = binary.readline(1 << 24)
    likely = "cp1252" if form.encoding == "utf-8" else "utf-8"
    utf_16 = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    keys = {"encoding": "utf-16" if utf_16 else likely}
    semicolons = _SEMICOLONS if b";" in start and b"," not in start else {}
    return _unlike(path, f"is not {form.encoding.upper()} text", keys | semicolons)


def _refuse_delimiter(
    path: Path, columns: Sequence[str] | None, header: list[str], form: Format
) -> None:
    """Refuse a table whose header has the wanted columns if it is cut at another sign."""
    wanted = {*(columns or ())}
    if wanted <= {*header} and (wanted or len(header) > 1):
        return
    line = form.delimiter.join(header)
    for mark in (";", "\t", "|", ","):
        if mark != form.delimiter and mark in line and wanted <= {*line.split(mark)}:
            keys = _SEMICOLONS if mark == ";" else {"delimiter": mark}
            excel = ", as Excel does where the decimal sign is a comma" if mark == ";" else ""
            raise _unlike(path, f"its cells are separated by {mark!r}{excel}", keys)


def _unlike(path: Path, what: str, keys: Mapping[str, str]) -> DataError:
    """The refusal of a table in another format, with the keys that read it."""
    lines = [f"    {key}: {json.dumps(value)}" for key, value in keys.items()]
    return DataError(
        f"{path}: {what}. Save it as UTF-8 CSV with commas between cells and decimal points; or set"
        " in the config:\ndataset:\n  format:\n" + "\n".join(lines)
    )


def _again(path: Path) -> str:
    """The way to a good copy of a table: one that dpol has fetched can be fetched again."""
    if path.with_name(path.name + ".provenance.json").exists():
        return "delete it and run again, which fetches it again"
    return "get an intact copy of it"


def refuse_columns(
    path: Path | str, wanted: Sequence[str], present: Sequence[str], key: str = "dataset.columns"
) -> None:
    """Refuse a table that lacks wanted columns or has several of one name.

    Raises:
        DataError: those columns; `key` of the config names the right ones.
    """
    if missing := [name for name in wanted if name not in present]:
        held = ", ".join(map(shortened, present))
        raise DataError(
            f"{path}: no column named {', '.join(missing)}; it has {held}."
            f" Name the right ones under {key} in the config"
        )
    if twice := [name for name in dict.fromkeys(wanted) if present.count(name) > 1]:
        raise DataError(f"{path}: several columns named {', '.join(twice)}; rename all but one")


def refuse_unnamed(path: Path | str, present: Sequence[str]) -> None:
    """Refuse a column without a name where columns are named after entities or experts."""
    if blank := [number for number, name in enumerate(present, 1) if not name.strip()]:
        raise DataError(
            f"{path}: column {blank[0]} has no name; name it, or take the column out if it only"
            " numbers the rows"
        )


def write_table(cells: pd.DataFrame, path: Path | str) -> None:
    """Write a table of text as `.csv.gz`; equal tables give equal bytes."""
    with atomic_path(path) as temporary, packed_file(temporary) as packed:
        packed.write(cells.to_csv(index=False, lineterminator="\n").encode())
