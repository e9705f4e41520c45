"""Reading a raw table as rows of text, without pandas."""

from __future__ import annotations

import base64
import codecs
import csv
import gzip
import io
import itertools
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from dpol.core.errors import DataError
from dpol.core.words import counted, shortened
from dpol.data.excel import BadWorkbookError, SheetRow, read_sheet
from dpol.data.parse import date_formats
from dpol.data.table_format import DEFAULT, PLAIN, YEARS, Format

_SEMICOLONS = {"delimiter": ";", "decimal": ","}
_DELIMITERS = ";", "\t", "|", ","
MOST_TITLES = 20
"""Number of lines above the header in which dpol looks for it."""
MOST_MB = 2_000
"""Largest CSV table, unpacked, in MB (10^6 bytes)."""
BLOCK, LONGEST_CELL = 1 << 20, 10_000_000
"""Number of bytes read at once, which must not all be blank; largest number of characters of a
cell."""
_WORKBOOKS = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
"""The first bytes of `.xlsx` and `.ods`, and of `.xls`."""


@dataclass(frozen=True, kw_only=True)
class Keys:
    """Keys that messages name, and the file that holds them.

    Args:
        file: the key of the table's path.
        columns: the key of its columns.
        format: the key of its format.
        place: the file that holds these keys.
        secret: whether messages must not repeat the content of cells.
    """

    file: str = "dataset.source.file"
    columns: str = "dataset.columns"
    format: str = "dataset.format"
    place: str = "the config"
    secret: bool = False


CONFIG = Keys()


@dataclass(frozen=True, kw_only=True)
class TextTable:
    """A table of text, as it was written.

    Args:
        header: the wanted columns.
        rows: their cells, row by row.
        lines: the line of the file on which each row ends (the header is line 1), or the number of
            the row in a Parquet file or sheet.
        typed: formats of the columns that held numbers or dates as such.
    """

    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    typed: Mapping[str, Format]


def read_table_file(
    path: Path,
    columns: Sequence[str] | None = None,
    form: Format = DEFAULT,
    keys: Keys = CONFIG,
    *,
    max_mb: int = MOST_MB,
) -> TextTable:
    """Read some columns, or all, of a CSV, `.csv.gz`, `.parquet` or `.xlsx` table as text.

    Missing cells of a Parquet table or sheet become empty text; blank lines of a CSV and blank
    rows of a sheet are skipped. A formula yields the value that was saved with it.

    Raises:
        DataError: the file is missing, empty, cut short, not a table, or as CSV larger than
            `max_mb` MB, a column or the sheet is missing, a formula has no value, or a key of the
            format does not apply to such a file.
    """
    if path.is_dir():
        raise DataError(f"{path}: is a folder, not a table; name the file in {keys.file}")
    if not path.exists():
        raise DataError(f"{path}: no such file; put the table there or change {keys.file}")
    for key, others in (
        ("sheet", path.suffix != ".xlsx"),
        ("skip_rows", path.suffix == ".parquet"),
    ):
        if getattr(form, key) and others:
            wrong = f"{keys.format}.{key} does not apply to it; remove that key from {keys.place}"
            raise DataError(f"{path}: {wrong}")
    wanted = None if columns is None else list(dict.fromkeys(columns))
    damaged = EOFError, zlib.error, BadWorkbookError
    try:
        if path.suffix == ".parquet":
            table = _read_parquet(path, wanted, form, keys)
        elif path.suffix == ".xlsx":
            table = _read_sheet(path, wanted, form, keys)
        else:
            _refuse_larger(path, max_mb)
            table = _read_csv(path, wanted, form, keys)
    except UnicodeError:
        raise _undecoded(path, form, keys) from None
    except (*damaged, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise DataError(f"{path}: cannot be read: {error.strerror}") from None
        # Readers of gzip and Parquet raise an OSError without a number.
        cause = "" if keys.secret else f" ({' '.join(str(error)[:200].split())})"
        raise DataError(
            f"{path}: is damaged, cut short or not a {path.suffix} file{cause}; {_again(path)}, or"
            " give it the suffix of its format"
        ) from None
    if not table.rows:
        raise DataError(f"{path}: has a header but no rows; {_again(path)}")
    return table


def _refuse_larger(path: Path, max_mb: int) -> None:
    """Refuse a CSV table that is too large, and report damage of gzip before faults of rows."""
    with open_table(path) as table:
        while block := table.read(BLOCK):
            if len(block) == BLOCK and block.isspace():
                raise DataError(f"{path}: holds {BLOCK:,} blank characters in a row; delete them")
            if table.tell() > max_mb * 10**6:
                raise DataError(
                    f"{path}: is larger than {max_mb:,} MB as CSV; leave out the rows and columns"
                    " that no run needs, or save it as Parquet"
                )


def _read_csv(path: Path, columns: list[str] | None, form: Format, keys: Keys) -> TextTable:
    lines, kept = [], []
    with csv_rows(path, form) as rows:
        _, header = next(rows, (0, []))
        if not header:
            raise DataError(f"{path}: holds no table; {_again(path)}")
        _refuse_another_header(path, columns, header, form, keys)
        columns = header if columns is None else columns
        refuse_columns(path, columns, header, keys)
        places = [header.index(name) for name in columns]
        for line, row in rows:
            if len(row) != len(header):
                raise DataError(
                    f"{path}, row {line}: has {counted(len(row), 'cell')}, but the header has"
                    f" {len(header)}. Quote cells that hold {form.delimiter!r} or a line break,"
                    " write numbers with a decimal point (16.8), or, if the file is cut short"
                    f" here, {_again(path)}"
                )
            lines.append(line)
            kept.append([row[place] for place in places])
    return TextTable(header=columns, rows=kept, lines=lines, typed={})


@contextmanager
def csv_rows(path: Path, form: Format) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """Yield the rows of a CSV file with the lines they end on, without blank lines.

    Raises:
        DataError: the file is not CSV.
        UnicodeError: the file is in another encoding.
    """
    limit = csv.field_size_limit(LONGEST_CELL)
    try:
        with _text(path, form) as text:
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


@contextmanager
def _text(path: Path, form: Format) -> Iterator[io.TextIOWrapper]:
    encoding = "utf-8-sig" if form.encoding == "utf-8" else form.encoding
    with open_table(path) as binary, io.TextIOWrapper(binary, encoding, newline="") as text:
        yield text


def open_table(path: Path) -> IO[bytes]:
    """Open a CSV file, gzip or not, for reading its bytes."""
    return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _read_parquet(path: Path, columns: list[str] | None, form: Format, keys: Keys) -> TextTable:
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
        schema = pq.read_schema(path)
        columns = schema.names if columns is None else columns
        refuse_columns(path, columns, schema.names, keys)
        facts = pq.read_metadata(path).metadata or {}
        kept = facts.get(b"ARROW:schema")
        written = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(kept))) if kept else schema
        for name, values in zip(columns, pq.read_table(path, columns=columns), strict=True):
            kind = written.field(name).type
            if pa.types.is_dictionary(kind):  # Parquet itself does not keep its time zone
                values = values.cast(kind.value_type)
            kind = values.type
            if pa.types.is_nested(kind):
                raise DataError(
                    f"{path}: column {name} holds {kind}, not text, numbers or dates; write one"
                    " value in each cell"
                )
            if pa.types.is_integer(kind):  # may be a date such as 20210104
                typed[name] = PLAIN.model_copy(update={"date": form.date})
            elif pa.types.is_primitive(kind) or pa.types.is_decimal(kind):
                typed[name] = PLAIN
            if pa.types.is_floating(kind):
                values = pc.if_else(pc.is_nan(values), None, values)
            texts.append(values.cast(pa.string()).fill_null("").to_pylist())
    except pa.ArrowException as error:
        raise BadWorkbookError(str(error)) from None
    rows = [list(row) for row in zip(*texts, strict=True)]
    return TextTable(header=columns, rows=rows, lines=[*range(1, len(rows) + 1)], typed=typed)


def _read_sheet(path: Path, columns: list[str] | None, form: Format, keys: Keys) -> TextTable:
    (_, header), *rows = read_sheet(path, form, keys.format)
    if columns is not None and not {*columns} <= {*header.texts}:
        for line, titled in rows[:MOST_TITLES]:
            if {*columns} <= {*titled.texts}:
                raise _unlike(path, f"its header is in row {line}", {"skip_rows": line - 1}, keys)
    columns = header.texts if columns is None else columns
    refuse_columns(path, columns, header.texts, keys)
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
    _refuse_stray(path, header, rows)
    typed = {}
    for name, place in zip(columns, places, strict=True):
        dates = [row.dates[place] or (None if row.texts[place] else False) for _, row in rows]
        if None not in dates and True in dates:
            typed[name] = PLAIN
    return TextTable(
        header=columns,
        rows=[[row.texts[place] for place in places] for _, row in rows],
        lines=[line for line, _ in rows],
        typed=typed,
    )


def _refuse_stray(path: Path, header: SheetRow, rows: Sequence[tuple[int, SheetRow]]) -> None:
    """Refuse a row of a sheet with texts only in columns without a name, such as a note."""
    named = {place for place, name in enumerate(header.texts) if name}
    for line, row in rows:
        held = [place for place, text in enumerate(row.texts) if text]
        if held and named.isdisjoint(held):
            raise DataError(
                f"{path}: cell {row.letters[held[0]]}{line} holds"
                f" {shortened(row.texts[held[0]])!r} in a row and a column outside the table;"
                " delete it, or move it to another sheet"
            )


def likely_encoding(data: bytes) -> str:
    """Return the encoding of a CSV table that its bytes show, or else `cp1252`."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _undecoded(path: Path, form: Format, keys: Keys) -> DataError:
    """Return the error for a wrong encoding, and a wrong delimiter if the first line shows one."""
    with open_table(path) as binary:
        data = binary.read()
    start = data.partition(b"\n")[0]
    if start.startswith(_WORKBOOKS):
        return DataError(f"{path}: is a workbook, not CSV; save it as a file that ends in .xlsx")
    semicolons = _SEMICOLONS if b";" in start and b"," not in start else {}
    likely = likely_encoding(data)
    likely = likely if likely != form.encoding else "utf-8"
    wanted: dict[str, str | int] = {"encoding": likely, **semicolons}
    return _unlike(path, f"is not {form.encoding.upper()} text", wanted, keys)


def _refuse_another_header(
    path: Path, columns: Sequence[str] | None, header: list[str], form: Format, keys: Keys
) -> None:
    """Refuse a table whose header is below titles, or has another delimiter."""
    wanted = {*(columns or ())}
    if wanted <= {*header} and (wanted or len(header) > 1):
        return
    with _text(path, form) as text:
        lines = [
            line.rstrip("\r\n") for line in itertools.islice(text, form.skip_rows + MOST_TITLES)
        ]
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
                raise _unlike(path, what, changed, keys)
        if not wanted:
            return


def _unlike(path: Path, what: str, changed: Mapping[str, str | int], keys: Keys) -> DataError:
    """Return the error for a table in another format, with the keys that read it."""
    block = ", ".join(f"{key}: {json.dumps(value)}" for key, value in changed.items())
    saved = (
        ""
        if "skip_rows" in changed
        else "Save it as UTF-8 CSV with commas between cells and decimal points; or set"
    )
    look = "; or let dpol look at the table: dpol new dataset TABLE" if keys == CONFIG else ""
    return DataError(
        f"{path}: {what}. {saved or 'Set'} in {keys.place}: {keys.format}: {{{block}}}{look}"
    )


def _again(path: Path) -> str:
    """Say how to get an intact copy of a table; dpol can fetch its own again."""
    if path.with_name(path.name + ".provenance.json").exists():
        return "delete it and run again to fetch it again"
    return "get an intact copy of it"


def refuse_columns(
    path: Path | str, wanted: Sequence[str], present: Sequence[str], keys: Keys = CONFIG
) -> None:
    """Refuse a table that lacks wanted columns, or has several with one name.

    Raises:
        DataError: a column is missing or ambiguous; the text names it and the key to change.
    """
    if missing := [name for name in wanted if name not in present]:
        if keys == CONFIG:
            refuse_periods_as_columns(path, present)
        held = f"it has {', '.join(map(shortened, present))}"
        # Without a header, the first line holds cells.
        numbers = any(name.strip()[:1].isdigit() for name in present)
        if keys.secret and (numbers or not {*wanted} & {*present}):
            held = "its header has no such column, or is missing"
        raise DataError(
            f"{path}: no column named {', '.join(missing)}; {held}."
            f" Name the right ones under {keys.columns} in {keys.place}"
        )
    if twice := [name for name in dict.fromkeys(wanted) if present.count(name) > 1]:
        raise DataError(f"{path}: several columns named {', '.join(twice)}; rename all but one")


def refuse_periods_as_columns(path: Path | str, present: Sequence[str]) -> None:
    """Refuse a table read in another layout whose columns are named after periods.

    Raises:
        DataError: at least three columns are named by dates; the text gives the layout and the
            format of dates to set.
    """
    dates = [name for name in present if {*date_formats([name])} - {YEARS}]
    if len(dates) > 2 and (known := date_formats(dates)):
        raise DataError(
            f"{path}: its columns are periods ({dates[0]}, {dates[1]}, ...). Set dataset.format:"
            f" {{layout: wide-periods, date: {known[0]}}}, or let dpol look at the table: dpol new"
            " dataset TABLE"
        )
