"""Reading a table as rows of text.

Messages end up in logs, so no message repeats the contents of a cell.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from dpol.core.errors import DataError
from dpol.core.words import counted, shortened
from dpol_weekly.tables.format import PLAIN, Format
from dpol_weekly.tables.sheets import DamagedError, read_sheet

MOST_TITLES = 20
"""Number of lines above the header in which it is looked for."""
_SEMICOLONS = {"delimiter": ";", "decimal": ","}
_DELIMITERS = ";", "\t", "|", ","
_WORKBOOKS = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
"""The first bytes of `.xlsx` and `.ods`, and of `.xls`."""


@dataclass(frozen=True, kw_only=True)
class TextTable:
    """A table of text, as it was written.

    Args:
        header: the columns.
        rows: their cells, row by row.
        lines: the line of the file on which each row ends (the header is line 1), or the number of
            the row in a Parquet file or sheet.
        typed: formats of the columns that held numbers or dates as such.
    """

    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    typed: Mapping[str, Format]


def read_table_file(path: Path, columns: Sequence[str] | None, form: Format) -> TextTable:
    """Read some columns, or all, of a CSV, `.csv.gz`, `.parquet` or `.xlsx` table as text.

    Missing cells of a Parquet table or sheet become empty text; blank lines of a CSV and blank
    rows of a sheet are skipped. A formula yields the value that was saved with it.

    Raises:
        DataError: the file is missing, empty, cut short or not a table, a column or the sheet is
            missing, a formula has no value, or a key of the format does not apply to such a file.
    """
    if path.is_dir():
        raise DataError(f"{path}: is a folder, not a table; name the file in table")
    if not path.exists():
        raise DataError(f"{path}: no such file; put the table there or change table")
    for key, others in (
        ("sheet", path.suffix != ".xlsx"),
        ("skip_rows", path.suffix == ".parquet"),
    ):
        if getattr(form, key) and others:
            wrong = f"format.{key} does not apply to it; remove that key from hospital.yaml"
            raise DataError(f"{path}: {wrong}")
    wanted = None if columns is None else list(dict.fromkeys(columns))
    try:
        if path.suffix == ".parquet":
            table = _read_parquet(path, wanted)
        elif path.suffix == ".xlsx":
            table = _read_sheet(path, wanted, form)
        else:
            table = _read_csv(path, wanted, form)
    except (EOFError, zlib.error, DamagedError, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise DataError(f"{path}: cannot be read: {error.strerror}") from None
        # Readers of gzip and Parquet raise an OSError without a number.
        raise DataError(
            f"{path}: is damaged, cut short or not a {path.suffix} file; get an intact copy of it,"
            " or give it the suffix of its format"
        ) from None
    if not table.rows:
        raise DataError(f"{path}: has a header but no rows; get an intact copy of it")
    return table


def open_table(path: Path) -> IO[bytes]:
    """Open a CSV file, gzip or not, for reading its bytes."""
    return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _read_csv(path: Path, columns: list[str] | None, form: Format) -> TextTable:
    with open_table(path) as binary:
        data = binary.read()
    try:
        text = data.decode("utf-8-sig" if form.encoding == "utf-8" else form.encoding)
    except UnicodeError:
        raise _undecoded(path, data, form) from None
    lines = io.StringIO(text, newline="")
    for _ in range(form.skip_rows):
        lines.readline()
    reader = csv.reader(lines, delimiter=form.delimiter, strict=True)
    rows, ends = list[list[str]](), list[int]()
    try:
        header = next((row for row in reader if row), None)
        if header is None:
            raise DataError(f"{path}: holds no table; get an intact copy of it")
        _refuse_another_header(path, columns, header, text, form)
        columns = header if columns is None else columns
        _refuse_columns(path, columns, header)
        places = [header.index(name) for name in columns]
        for row in reader:
            if row and len(row) != len(header):
                raise DataError(
                    f"{path}, row {form.skip_rows + reader.line_num}: has"
                    f" {counted(len(row), 'cell')}, but the header has {len(header)}. Quote cells"
                    f" that hold {form.delimiter!r} or a line break, write numbers with a decimal"
                    " point (16.8), or, if the file is cut short here, get an intact copy of it"
                )
            if row:
                rows.append([row[place] for place in places])
                ends.append(form.skip_rows + reader.line_num)
    except csv.Error as error:
        place = f"{path}, row {form.skip_rows + reader.line_num}"
        raise DataError(f"{place}: is not CSV: {error}; get an intact copy of it") from None
    return TextTable(header=columns, rows=rows, lines=ends, typed={})


def _read_parquet(path: Path, columns: list[str] | None) -> TextTable:
    try:
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.parquet as pq
    except ImportError:
        raise DataError(
            f"{path}: reading Parquet needs pyarrow: pip install pyarrow; or save the table as"
            " .xlsx or CSV"
        ) from None
    typed, texts = {}, []
    try:
        names = pq.read_schema(path).names
        columns = names if columns is None else columns
        _refuse_columns(path, columns, names)
        for name, values in zip(columns, pq.read_table(path, columns=columns), strict=True):
            kind = values.type
            if pa.types.is_nested(kind):
                raise DataError(
                    f"{path}: column {name} holds {kind}, not text, numbers or dates; write one"
                    " value in each cell"
                )
            # A whole number may be a date such as 20210104.
            if not pa.types.is_integer(kind) and (
                pa.types.is_primitive(kind) or pa.types.is_decimal(kind)
            ):
                typed[name] = PLAIN
            if pa.types.is_floating(kind):
                values = pc.if_else(pc.is_nan(values), None, values)
            texts.append(values.cast(pa.string()).fill_null("").to_pylist())
    except pa.ArrowException:
        raise DamagedError from None
    rows = [list(row) for row in zip(*texts, strict=True)]
    return TextTable(header=columns, rows=rows, lines=[*range(1, len(rows) + 1)], typed=typed)


def _read_sheet(path: Path, columns: list[str] | None, form: Format) -> TextTable:
    (_, header), *rows = read_sheet(path, form)
    if columns is not None and not {*columns} <= {*header.texts}:
        for line, titled in rows[:MOST_TITLES]:
            if {*columns} <= {*titled.texts}:
                raise _unlike(path, f"its header is in row {line}", {"skip_rows": line - 1})
    columns = header.texts if columns is None else columns
    _refuse_columns(path, columns, header.texts)
    places = [header.texts.index(name) for name in columns]
    unsaved = [
        f"{row.letters[place]}{line}"
        for line, row in rows
        for place in places
        if row.unsaved[place]
    ]
    if unsaved:
        raise DataError(
            f"{path}: cell {unsaved[0]} holds a formula that was never calculated"
            f" ({counted(len(unsaved), 'such cell')}). Open the workbook in a spreadsheet program"
            " and save it"
        )
    named = {place for place, name in enumerate(header.texts) if name}
    for line, row in rows:
        held = [place for place, text in enumerate(row.texts) if text]
        if held and named.isdisjoint(held):
            raise DataError(
                f"{path}: cell {row.letters[held[0]]}{line} holds a text in a row and a column"
                " outside the table; delete it, or move it to another sheet"
            )
    typed = {}
    for name, place in zip(columns, places, strict=True):
        dates = [row.dates[place] for _, row in rows if row.texts[place]]
        if dates and all(dates):
            typed[name] = PLAIN
    return TextTable(
        header=columns,
        rows=[[row.texts[place] for place in places] for _, row in rows],
        lines=[line for line, _ in rows],
        typed=typed,
    )


def _undecoded(path: Path, data: bytes, form: Format) -> DataError:
    """Return the error for a wrong encoding, and a wrong delimiter if the first line shows one."""
    start = data.partition(b"\n")[0]
    if start.startswith(_WORKBOOKS):
        return DataError(f"{path}: is a workbook, not CSV; save it as a file that ends in .xlsx")
    semicolons = _SEMICOLONS if b";" in start and b"," not in start else {}
    likely = likely_encoding(data)
    likely = likely if likely != form.encoding else "utf-8"
    wanted: dict[str, str | int] = {"encoding": likely, **semicolons}
    return _unlike(path, f"is not {form.encoding.upper()} text", wanted)


def likely_encoding(data: bytes) -> str:
    """Return the encoding that the first bytes of a CSV table show, or else `cp1252`."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)  # the last letter may be cut
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _refuse_another_header(
    path: Path, columns: Sequence[str] | None, header: list[str], text: str, form: Format
) -> None:
    """Refuse a table whose header is below titles, or has another delimiter."""
    wanted = {*(columns or ())}
    if wanted <= {*header} and (wanted or len(header) > 1):
        return
    lines = text.splitlines()[: form.skip_rows + MOST_TITLES]
    for number, line in enumerate(lines[form.skip_rows :], start=form.skip_rows):
        for mark in (form.delimiter, *_DELIMITERS):
            cells = next(csv.reader([line], delimiter=mark), [])
            if not wanted <= {*cells} or (not wanted and len(cells) < 2):
                continue
            changed: dict[str, str | int] = {}
            what = f"its header is in line {number + 1}"
            if mark != form.delimiter:
                excel = ", as Excel does where the decimal sign is a comma" if mark == ";" else ""
                what = f"its cells are separated by {mark!r}{excel}"
                changed |= _SEMICOLONS if mark == ";" else {"delimiter": mark}
            if number > form.skip_rows and wanted:
                changed["skip_rows"] = number
            if changed:
                raise _unlike(path, what, changed)
        if not wanted:
            return


def _unlike(path: Path, what: str, changed: Mapping[str, str | int]) -> DataError:
    """Return the error for a table in another format, with the keys that read it."""
    block = ", ".join(f"{key}: {json.dumps(value)}" for key, value in changed.items())
    saved = "Save it as UTF-8 CSV with commas between cells and decimal points; or set"
    return DataError(
        f"{path}: {what}. {'Set' if 'skip_rows' in changed else saved} in hospital.yaml: format:"
        f" {{{block}}}"
    )


def _refuse_columns(path: Path, wanted: Sequence[str], present: Sequence[str]) -> None:
    """Refuse a table that lacks wanted columns, or has several with one name."""
    if missing := [name for name in wanted if name not in present]:
        held = f"it has {', '.join(map(shortened, present))}"
        # Without a header, the first line holds cells.
        numbers = any(name.strip()[:1].isdigit() for name in present)
        if numbers or not {*wanted} & {*present}:
            held = "its header has no such column, or is missing"
        raise DataError(
            f"{path}: no column named {', '.join(missing)}; {held}."
            " Name the right ones under columns in hospital.yaml"
        )
    if twice := [name for name in dict.fromkeys(wanted) if present.count(name) > 1]:
        raise DataError(f"{path}: several columns named {', '.join(twice)}; rename all but one")
