"""From a file to typed rows: one function from text to number, and one to date.

The options of `dataset.read` have the names that pandas gives them. Cells that are text are parsed
here, each distinct text once; cells that a Parquet file or a sheet stores as numbers or dates stay
as they are. Rows are what all streams of a run share, so the file is read once.
"""

from __future__ import annotations

import codecs
import csv
import datetime
import gzip
import io
import itertools
import json
import re
import sys
import unicodedata
import warnings
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.errors import DataError, Key, Text, in_lines, keyed
from dpol.core.files import atomic_path, packed_file, sha256
from dpol.core.randomness import Floats
from dpol.core.shipped import way_back
from dpol.core.words import counted, did_you_mean, listed, shortened
from dpol.data import tidy
from dpol.data.query import record_of
from dpol.data.settings import (
    DEFAULT,
    EARLIEST,
    LATEST,
    Cleaning,
    Columns,
    Dataset,
    LocalSource,
    Read,
    on_monday,
)

LARGEST = 999_999_999
"""Largest valid number; a larger one is taken for a mistake."""
SMALLEST_CAPACITY = 1e-6
"""Smallest capacity above 0: the noise of a whole stream grows with 1 / capacity."""
MOST_MB = 2_000
"""Largest size of a packed CSV table, unpacked, in MB (10^6 bytes)."""
MOST_CELLS = 50_000_000
"""Largest number of cells of a sheet."""
MOST_TEXTS = 3
"""Number of texts of a column that a message shows."""
AGAIN = "get an intact copy of it; if dpol fetched it, delete it and run again"
"""Remedy for a file that is damaged."""
PAIR = ["entity", "period"]
"""Columns that name a cell of the panel."""
Choice: TypeAlias = Callable[[list[str]], list[int]]
"""Returns the places of the columns to read, of those that a table has."""
Cells: TypeAlias = "pd.Series[Any]"
"""The cells of a column, indexed by row of the file: categories of text, numbers or dates."""

_SINGLE = re.compile("utf-8|ascii|cp125|iso8859|koi8")
"""Encodings in which separators, quotes and line ends are single bytes, and no part of others."""
_PACKED = {
    b"PK\x03\x04": ".xlsx for a workbook",
    b"\xd0\xcf\x11\xe0": ".xlsx, once saved as one",
    b"\x1f\x8b": ".csv.gz",
    b"PAR1": ".parquet",
}
"""How files that are no CSV begin, and the suffix that they should have."""
_END = '\0"'
"""A row behind the last one, which would be part of it if a quotation mark did not end."""
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SIGNS = {" ": " \u00a0\u202f", "'": "'\u2019"}
_ISO = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)[0-9]*"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_BROKEN = (
    OSError, EOFError, KeyError, OverflowError, SyntaxError, ValueError, zipfile.BadZipFile,
    zlib.error, csv.Error,
)  # fmt: skip
"""What readers raise for damaged files."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Columns of a file, as they stand there.

    Args:
        file: path of the file.
        cells: the columns; the index is the line of the file on which a row ends (the header is
            line 1), or the number of the row in a Parquet file or sheet. Text is categories, with
            empty text for missing cells.
        changed: what was not read as it is, in words.
        header: names of all columns of the file.
    """

    file: str
    cells: pd.DataFrame
    changed: tuple[str, ...] = ()
    header: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Typed rows of a table, which all streams share.

    Args:
        table: the rows, in the order of the file. Columns: row (of the file), group, entity, name,
            moment (date and time of day), period (its first day), date (the text of a date that is
            none), whether the row is equal to an earlier one in all columns of the file
            (`repeated`), and for each of `Columns.numbers` its value (of negative and published
            numbers, else nan), `_kind` (`number`, `missing`, `suppressed`, `negative` or `bad`) and
            `_text` of a bad cell.
        facts: the file, its provenance, the numbers of its rows and of those that `drop_where` left
            out (`read`, `dropped`), what was not read as it is (`changed`), columns that may hold
            parts of dates (`parts`), and a date with its text and row (`dated`).
    """

    table: pd.DataFrame
    facts: Mapping[str, Any]

    @property
    def file(self) -> str:
        """Path of the file, for messages."""
        return str(self.facts["file"])


# ---- files --------------------------------------------------------------------------------------


def read_file(
    path: Path | str,
    read: Read = DEFAULT,
    columns: Sequence[str] | None = None,
    *,
    others: Sequence[str] = (),
    of: Columns | None = None,
) -> Table:
    """Read some columns, or all, of a CSV, `.csv.gz`, `.tsv`, `.parquet` or `.xlsx` file.

    Those of `others` are read too where they are there. Rows without any text are left out.

    Args:
        path: the file.
        read: the options of the reader.
        columns: names of columns that the file must have; all by default.
        others: names of columns that it may have.
        of: what the columns mean, for the lines of pandas that a message shows.

    Raises:
        DataError: the file is missing, empty, damaged or no table; a column or the sheet is
            missing; or a row of a CSV has more or fewer cells than the header.
    """
    path = Path(path)
    if not path.is_file():
        remedy = keyed("put the table there or change {dataset.source.file}")
        raise DataError(f"{path}: no such file; ", remedy)

    names = list[str]()

    def choose(header: list[str]) -> list[int]:
        names.extend(header)
        return _places(path, header, columns, others, of)

    reader = {".parquet": _read_parquet, ".xlsx": _read_sheet}.get(path.suffix, _read_csv)
    try:
        cells = reader(path, read, choose)
    except UnicodeError:
        raise _undecoded(path, read) from None
    except _BROKEN as error:
        cause = " ".join(str(error)[:200].split())
        raise DataError(
            f"{path}: cannot be read as a {path.suffix} file: {cause}. Change ",
            Key(("dataset", "read")),
            f"; or, if it is damaged, {AGAIN}; or give it the suffix of its format",
        ) from None
    return replace(table_of(str(path), cells), header=tuple(names))


def table_of(file: str, cells: pd.DataFrame) -> Table:
    """Make a `Table` of a frame of text, numbers and dates, such as a user's own.

    Raises:
        DataError: there is no row.
    """
    columns, changed = dict[str, Any](), list[str]()
    for place, name in enumerate(cells.columns):
        columns[str(name)], control = _as_cells(cells.iloc[:, place])
        if control:
            changed.append(f"control characters in column {name} read as ?")
    whole = pd.DataFrame(columns, cells.index)
    blank = np.ones(len(whole), bool)
    for name in whole.columns if len(whole) else ():
        column = whole[name]
        blank &= (column == "" if _is_text(column) else column.isna()).to_numpy(bool)
    if blank.all():
        raise DataError(f"{file}: has a header but no rows; {AGAIN}")
    kept = whole[~blank] if blank.any() else whole
    return Table(file=file, cells=kept, changed=tuple(changed), header=tuple(map(str, cells)))


def _as_cells(cells: Cells) -> tuple[Cells, bool]:
    """Return cells as numbers, dates, or categories of stripped text; and if some had controls."""
    kind = cells.dtype
    if isinstance(kind, np.dtype) and kind.kind in "iuf":
        return cells, False
    if isinstance(kind, pd.DatetimeTZDtype):
        return cells.dt.tz_localize(None), False
    if isinstance(kind, np.dtype) and kind.kind == "M":
        return cells, False
    if isinstance(kind, pd.PeriodDtype):
        return pd.Series(cells.dt.to_timestamp(), cells.index), False
    codes, unique = _coded(cells)
    plain = [_plain(it) for it in unique]
    clean = [_CONTROL.sub("?", it) if isinstance(it, str) else it for it in plain]
    return pd.Series(_categories(codes + 1, ["", *clean]), cells.index), clean != plain


def _plain(cell: Any) -> Any:
    """Return a cell as stripped text in NFC, a number, or a date with its time."""
    if isinstance(cell, (bool, np.bool_)):
        return str(cell).lower()
    if isinstance(cell, (int, float, datetime.datetime)):
        return cell
    if isinstance(cell, datetime.date):
        return datetime.datetime(cell.year, cell.month, cell.day)
    return unicodedata.normalize("NFC", str(cell).strip())


def _is_text(cells: Cells) -> bool:
    return isinstance(cells.dtype, pd.CategoricalDtype)


def _places(
    path: Path | str,
    header: list[str],
    columns: Sequence[str] | None,
    others: Sequence[str],
    of: Columns | None,
) -> list[int]:
    if not any(header):
        raise DataError(f"{path}: holds no table; {AGAIN}")
    there = [name for name in others if header.count(name) == 1]
    wanted = header if columns is None else [*dict.fromkeys([*columns, *there])]
    if missing := [name for name in wanted if name not in header]:
        raise DataError(
            f"{path}: no column named {', '.join(missing)}{did_you_mean(missing[0], header)}; it"
            f" has {listed(map(shortened, header), 40)}. ",
            _mend_columns(header, missing, of),
        )
    named = [name for name in dict.fromkeys(wanted) if name]
    if twice := [name for name in named if header.count(name) > 1]:
        raise DataError(
            f"{path}: several columns named {', '.join(twice)}; rename all but one"
            + (tidy.of_columns([], twice, of.entity, of.period, of.count) if of else "")
        )
    places = range(len(header)) if columns is None else map(header.index, wanted)
    return sorted(places)


def _mend_columns(header: list[str], missing: Sequence[str], of: Columns | None) -> Text:
    if seps := [sep for sep in ";\t|," if len(header) == 1 and sep in header[0]]:
        return keyed("Set {dataset.read.sep} to {sep}", sep=repr(seps[0]))
    lines = tidy.of_columns(header, missing, of.entity, of.period, of.count) if of else ""
    return (
        "Name the right ones in ", Key(("dataset", "columns")),
        keyed("; or set {dataset.read.sep}, or {dataset.read.skiprows} to the rows above the"),
        " header.", lines,
    )  # fmt: skip


def _bytes_of(path: Path) -> IO[bytes]:
    return cast(IO[bytes], (gzip.open if path.suffix == ".gz" else open)(path, "rb"))


def _opened(path: Path, read: Read) -> IO[str]:
    """Open a CSV file as text, behind `skiprows`."""
    with _bytes_of(path) as content:
        marked = content.read(3) == codecs.BOM_UTF8
    encoding = "utf-8-sig" if marked and read.encoding == "utf-8" else read.encoding
    text = io.TextIOWrapper(_bytes_of(path), encoding, newline="")
    for _ in range(read.skiprows):
        text.readline()
    return text


def _read_csv(path: Path, read: Read, choose: Choice) -> pd.DataFrame:
    """Read a CSV file, of which each row has the header's number of cells.

    Arrow reads it if a line is a row, and Python's reader otherwise, which is slow.
    """
    sep = read.sep or ("\t" if path.suffix == ".tsv" else ",")
    even, rows = _scan(path, sep.encode(), read.skiprows)
    csv.field_size_limit(10_000_000)
    with _opened(path, read) as text:
        header = [name.strip() for name in next(filter(any, _csv(text, sep)), [])]
    if "\0" in "".join(header):
        raise _undecoded(path, read)
    places = choose(header)
    named = {header[place]: place for place in places}
    if even and _SINGLE.match(read.encoding) and sep.isascii() and not read.skipfooter:
        cells = _by_arrow(path, read, sep, named)
        if cells and {len(it) for it in cells.values()} == {rows}:
            return pd.DataFrame(cells, pd.RangeIndex(read.skiprows + 2, read.skiprows + 2 + rows))
    return _by_row(path, read, sep, named, len(header))


def _scan(path: Path, sep: bytes, skiprows: int) -> tuple[bool, int]:
    """Return whether all line ends are alike and quotes begin cells, and how many lines end.

    Those at the end of the file, and all that is skipped, do not count.
    """
    late = re.compile(b'[\\r\\n%b] +"' % re.escape(sep))
    even, quotes, size, lines, last = True, 0, 0, 0, b""
    with _bytes_of(path) as content:
        for _ in range(skiprows):
            content.readline()
        while block := content.read(1 << 22) + content.readline():
            size += len(block)
            if path.suffix == ".gz" and size > MOST_MB * 10**6:
                raise DataError(
                    f"{path}: has more than {MOST_MB:,} MB as CSV; leave out rows and columns that"
                    " no run needs"
                )
            if here := block.count(b'"'):
                quotes, even = quotes + here, even and not late.search(block)
            even = even and (b"\r" not in block or block.count(b"\r") == block.count(b"\r\n"))
            lines, last = lines + block.count(b"\n"), block
    ended = last[len(last.rstrip(b"\r\n")) :].count(b"\n")
    return even and quotes % 2 == 0, lines - ended


def _by_arrow(
    path: Path, read: Read, sep: str, places: Mapping[str, int]
) -> dict[str, pd.Categorical] | None:
    """Return the cells below the header; None if a row is short or long, or Arrow cannot say."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    names = [f"f{place}" for place in places.values()]
    try:
        table = arrow.read_csv(
            path,
            arrow.ReadOptions(
                encoding=read.encoding, skip_rows=read.skiprows, block_size=1 << 24,
                autogenerate_column_names=True,
            ),
            arrow.ParseOptions(delimiter=sep),
            arrow.ConvertOptions(
                include_columns=names, column_types=dict.fromkeys(names, pa.string())
            ),
        ).slice(1)  # fmt: skip
    except pa.ArrowException:
        return None
    found = {}
    for name, place in zip(places, names, strict=True):
        coded = table[place].dictionary_encode().combine_chunks()
        found[name] = _categories(coded.indices.to_numpy(), coded.dictionary.to_pylist())
        table = table.drop_columns(place)
    return found


def _csv(text: Iterable[str], sep: str) -> Any:
    return csv.reader(text, delimiter=sep, skipinitialspace=True)


def _by_row(
    path: Path, read: Read, sep: str, places: Mapping[str, int], width: int
) -> pd.DataFrame:
    """Return the cells below the header, indexed by the line on which a row ends.

    Raises:
        DataError: a row has more or fewer cells than the header, or a quotation mark does not end.
    """
    rows, lines, held = deque[tuple[int, list[str]]](), list[int](), list[list[str]]()
    with _opened(path, read) as text:
        reader = _csv(itertools.chain(text, [_END]), sep)
        for cells in reader:
            if cells == [_END]:
                break
            if len(cells) > 1 or any(map(str.strip, cells)):
                rows.append((read.skiprows + reader.line_num, cells))
            if len(rows) <= read.skipfooter:
                continue
            line, row = rows.popleft()
            if len(row) != width:
                raise DataError(
                    f"{path}, row {line}: has {counted(len(row), 'cell')}, but the header has"
                    f" {width}. Quote cells that hold {sep!r} or a line break; or set ",
                    keyed("{dataset.read.sep}, {dataset.read.skiprows} or, if notes stand below"),
                    keyed(" the table, {dataset.read.skipfooter}"),
                )
            lines.append(line)
            held.append([sys.intern(row[place]) for place in places.values()])
        else:
            raise DataError(f"{path}: has quotation marks that do not end; {AGAIN}")
    return pd.DataFrame(held[1:], lines[1:], [*places], dtype=object)


def _undecoded(path: Path, read: Read) -> DataError:
    with _bytes_of(path) as content:
        start = content.read(4)
    for begin, suffix in _PACKED.items():
        if start.startswith(begin):
            return DataError(f"{path}: is no CSV text; give it the suffix of its format, {suffix}")
    likely = {0: "utf-16-be", 1: "utf-16-le"}.get(start.find(b"\0"), "cp1252 or utf-16")
    remedy = keyed("Set {dataset.read.encoding}, such as to {likely}", likely=likely)
    return DataError(f"{path}: is not {read.encoding.upper()} text. ", remedy)


def _read_parquet(path: Path, read: Read, choose: Choice) -> pd.DataFrame:
    """Read a Parquet table; pandas would hide columns that were stored as an index."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = dict[str, Any]()
    try:
        schema = pq.read_schema(path)
        names = [it.name for it in schema if not pa.types.is_nested(it.type)]
        wanted = [names[place] for place in choose(names)]
        table = pq.read_table(path, columns=wanted)
    except pa.ArrowException as error:
        raise OSError(str(error)) from None
    for name, values in zip(wanted, table.columns, strict=True):
        kind = values.type
        if pa.types.is_decimal(kind) or (pa.types.is_integer(kind) and values.null_count):
            values = values.cast(pa.float64())
        elif pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            values = values.cast(pa.timestamp("us"), safe=False)
        elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            values = values.cast(pa.string())
        columns[name] = values.to_pandas()
    cells = pd.DataFrame(columns)
    return cells.set_axis(cells.index + 1)


@contextmanager
def _damaged_book() -> Iterator[None]:
    """Raise OSError for what openpyxl raises, which for a damaged workbook may be anything."""
    try:
        yield
    except _BROKEN:
        raise
    except Exception as error:
        raise OSError(f"{type(error).__name__}: {error}") from None


def _read_sheet(path: Path, read: Read, choose: Choice) -> pd.DataFrame:
    """Read a sheet; what stands in rows and columns outside its table is no part of it."""
    import openpyxl

    rows = dict[int, tuple[Any, ...]]()
    with _damaged_book(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are about styles, which are not read
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    names = [it.title for it in book.worksheets]
    shown = [it.title for it in book.worksheets if it.sheet_state == "visible"]
    name = shown[0] if read.sheet_name is None and len(shown) == 1 else read.sheet_name
    if name not in names:
        raise DataError(
            f"{path}: ",
            keyed("{dataset.read.sheet_name} must be one of "),
            f"{', '.join(map(repr, shown))}{did_you_mean(name or '', names)}.",
            tidy.told("sheets"),
        )
    cells = 0
    with _damaged_book():
        book[name].reset_dimensions()  # some programs write wrong ones
        for number, row in enumerate(book[name].iter_rows(values_only=True), start=1):
            cells += len(row)
            if cells > MOST_CELLS:
                raise OSError(f"has more than {MOST_CELLS:,} cells up to row {number:,}")
            if number > read.skiprows and any(it is not None and str(it).strip() for it in row):
                rows[number] = row
        book.close()
    numbers = [*rows][: len(rows) - read.skipfooter]
    if not numbers:
        raise DataError(
            f"{path}: sheet {name!r} holds no table; change ",
            keyed("{dataset.read.sheet_name} or {dataset.read.skiprows}"),
        )
    header = ["" if it is None else str(_plain(it)) for it in rows[numbers[0]]]
    places = [place for place in choose(header) if header[place]]
    columns = {
        header[place]: [(*rows[n], *[None] * len(header))[place] for n in numbers[1:]]
        for place in places
    }
    cells_of = {name: _typed(values) for name, values in columns.items()}
    return pd.DataFrame(cells_of, numbers[1:])


def _typed(values: list[Any]) -> Any:
    """Return the cells of a column of a sheet as numbers if all are, else as they are."""
    held = [it for it in values if it is not None]
    if held and all(isinstance(it, (int, float)) and not isinstance(it, bool) for it in held):
        return np.array([np.nan if it is None else it for it in values], float)
    return np.array(["" if it is None else it for it in values], object)


def write_raw_table(cells: pd.DataFrame, path: Path | str) -> None:
    """Write a table of text as `.csv.gz`, with equal bytes for equal tables."""
    with atomic_path(path) as temporary, packed_file(temporary) as packed:
        packed.write(cells.to_csv(index=False, lineterminator="\n").encode())


# ---- text to number, text to date ---------------------------------------------------------------


def numbers_of(texts: Sequence[Any], read: Read = DEFAULT) -> Floats:
    """Return the number of each text, or of each typed cell; NaN if it is none.

    Thousands signs stand between groups of three digits only.

    >>> numbers_of(["1.5", "1e3", "<5", "1,230", 7]).tolist()
    [1.5, 1000.0, nan, nan, 7.0]
    >>> numbers_of(["1.230,5", "1.23", 1.5], Read(decimal=",", thousands=".")).tolist()
    [1230.5, nan, 1.5]
    """
    between, sign = _SIGNS.get(read.thousands or "", read.thousands or ""), read.decimal
    groups = rf"[1-9][0-9]{{0,2}}(?:[{between}][0-9]{{3}})+|" if between else ""
    digits = rf"(?:{groups}[0-9]+)(?:[{sign}][0-9]*)?|[{sign}][0-9]+"
    is_number = re.compile(rf"[+-]?(?:{digits})(?:[eE][+-]?[0-9]+)?").fullmatch
    values = np.full(len(texts), np.nan)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            values[place] = text if isinstance(text, (int, float)) else np.nan
        elif is_number(text):
            plain = re.sub(f"[{between}]", "", text) if between else text
            values[place] = float(plain.replace(sign, "."))
            if values[place] == 0 and re.match("[^eE]*[1-9]", plain):  # rounded to 0
                values[place] = np.nan
    return values


def values_of(cells: Cells, read: Read = DEFAULT) -> Floats:
    """Return the number of each cell of a column; NaN where it is none."""
    if not _is_text(cells):
        return cells.to_numpy(float)
    codes, unique = _coded(cells)
    return np.asarray(numbers_of(unique, read)[codes])


def date_of(cell: Any, form: str | None = None) -> datetime.datetime | None:
    """Return the date, with its time of day, of a text or typed cell; None if it is none.

    Args:
        cell: the cell.
        form: the format of texts, in the signs of `strptime`; 2021-01-31 by default.

    >>> date_of("2021-01-31T12:30:00.000Z"), date_of("31.1.2021", "%d.%m.%Y")
    (datetime.datetime(2021, 1, 31, 12, 30), datetime.datetime(2021, 1, 31, 0, 0))
    """
    day: datetime.datetime | None = None
    if isinstance(cell, datetime.datetime):
        day = cell.replace(tzinfo=None)
    elif form is None:
        found = _ISO.fullmatch(cell) if isinstance(cell, str) else None
        try:
            day = found and datetime.datetime.fromisoformat(f"{found[1]} {found[2] or '00:00'}")
        except ValueError:
            return None
    else:
        whole = isinstance(cell, float) and cell.is_integer()
        try:
            day = on_monday(str(int(cell)) if whole else str(cell), form).replace(tzinfo=None)
        except ValueError:
            return None
    return day if day and EARLIEST <= day.date() <= LATEST else None


def dates_of(cells: Cells, form: str | None = None) -> pd.Series[pd.Timestamp]:
    """Return the date and time of each cell; NaT where it is none."""
    if isinstance(cells.dtype, np.dtype) and cells.dtype.kind == "M":
        return cells.astype("datetime64[us]").where(
            cells.between(pd.Timestamp(EARLIEST), pd.Timestamp(LATEST) + pd.Timedelta(days=1))
        )
    codes, texts = _coded(cells)
    days = np.array([date_of(it, form) for it in texts], "datetime64[us]")
    return pd.Series(days[codes], cells.index)


def _coded(cells: Cells) -> tuple[NDArray[Any], list[Any]]:
    """Return the distinct cells, and the place of each cell among them."""
    if _is_text(cells):
        return cells.cat.codes.to_numpy(np.intp), cells.cat.categories.tolist()
    codes, unique = pd.factorize(cells)
    return codes, [*unique.tolist(), ""]  # missing cells have the code -1


def texts_of(cells: Cells) -> Cells:
    """Return cells as categories of text: whole numbers without .0, dates as 2021-01-31."""
    codes, unique = _coded(cells)
    coded = _categories(codes, map(_text, unique), "str")
    return pd.Series(coded, cells.index, name=cells.name)


def _categories(codes: NDArray[Any], texts: Iterable[Any], kind: Any = object) -> pd.Categorical:
    """Return the texts at the codes, as categories without repeated ones."""
    again, unique = pd.factorize(pd.Series([*texts], dtype=object))
    return pd.Categorical.from_codes(again[codes], pd.Index(unique, dtype=kind))


def _text(cell: Any) -> str:
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(cell, float):
        return "" if np.isnan(cell) else str(int(cell)) if cell.is_integer() else repr(cell)
    return str(cell)


@dataclass(frozen=True)
class BadCells:
    """The cells of a column that do not hold what they should.

    Args:
        texts: the bad cells, possibly none, named like the column and indexed by row of the file.
        wanted: what the cells should hold.
        remedy: what the user can do.
    """

    texts: Cells
    wanted: Text
    remedy: Text = ""


def refuse_cells(file: str, columns: Sequence[BadCells]) -> None:
    """Refuse a table for all its bad cells at once; without bad cells, do nothing.

    Raises:
        DataError: a cell is bad; the text lists, for each column, the commonest texts, each with
            its number of cells and first row.
    """
    columns = [bad for bad in columns if len(bad.texts)]
    if not columns:
        return
    number = counted(sum(len(bad.texts) for bad in columns), "cell")
    lines: list[Text] = [f"{file}: {number} cannot be used"]
    for bad in columns:
        lines.append((f"  column {bad.texts.name}, which needs ", bad.wanted, ":"))
        texts = bad.texts.astype(object)
        most = texts.value_counts(sort=True)
        for text, size in most[:MOST_TEXTS].items():
            row = texts.index[(texts == text).to_numpy()][0]
            held = repr(shortened(str(text))) if text != "" else "nothing"
            lines.append(f"    {held}: {counted(int(size), 'cell')}, first in row {row}")
        if len(most) > MOST_TEXTS:
            lines.append(f"    and {counted(len(most) - MOST_TEXTS, 'other text')}")
    raise DataError(in_lines([*lines, *dict.fromkeys(bad.remedy for bad in columns if bad.remedy)]))


def bad_numbers(texts: Cells, *, least: float) -> BadCells:
    """Return cells that hold no number of a count (`least` 0) or a capacity, as bad ones."""
    wanted = "a number from 0" if least == 0 else f"0 or a number from {least:f}"
    remedy = keyed(
        "Name texts that mean a missing number in {dataset.cleaning.missing_markers}, and those for"
        " one too small to publish in {dataset.cleaning.suppressed_markers}; say which signs stand"
        " in numbers in {dataset.read.decimal} and {dataset.read.thousands}; or leave rows out with"
        " {dataset.cleaning.drop_where}.{line}",
        line=tidy.told("signs", count=texts.name),
    )  # fmt: skip
    return BadCells(texts, f"{wanted} to {LARGEST:,}", remedy)


def bad_dates(texts: Cells, form: str | None, key: Key, lines: str = "") -> BadCells:
    """Return cells that hold no date as bad ones.

    Args:
        texts: the cells.
        form: the format of dates.
        key: the key of the config that names the column.
        lines: the lines of pandas that may make dates of them.
    """
    wanted = f"a date {f'of the format {form}' if form else 'like 2021-01-31'}, from 1900 to 2100"
    remedy = keyed(
        "Set {dataset.periods.format}, such as %d.%m.%Y or %G-W%V, or name another column in {key}."
        " If rows are no part of the table, such as notes or totals, leave them out with"
        " {dataset.cleaning.drop_where} or {dataset.read.skipfooter}.{lines}",
        key=key, lines=lines,
    )  # fmt: skip
    return BadCells(texts, wanted, remedy)


# ---- typed rows ---------------------------------------------------------------------------------


def read_rows(file: Path | str, dataset: Dataset) -> Rows:
    """Read the typed rows of a file; see `typed_rows`.

    Raises:
        DataError: the file cannot be read, or is not the one whose SHA-256 the source gives.
    """
    source, columns = dataset.source, dataset.needed_columns
    pinned = source.sha256 if isinstance(source, LocalSource) and Path(file).exists() else None
    if pinned and (digest := sha256(file)) != pinned:
        raise DataError(
            f"{file}: has SHA-256 {digest} instead of {pinned}, so it was changed;"
            f" {way_back(str(file)) or AGAIN}; or, if the change is meant, remove ",
            keyed("{dataset.source.sha256}"),
        )
    named = [*columns.needed, *dataset.cleaning.drop_where]
    table = read_file(file, dataset.read, named, others=columns.may_lack, of=columns)
    facts = provenance_of_table(file, simulated=dataset.simulated)
    return typed_rows(table, dataset, facts, lambda: read_file(file, dataset.read).cells)


def rows_of_frame(frame: pd.DataFrame, dataset: Dataset) -> Rows:
    """Return the typed rows of a user's own frame."""
    import hashlib

    if not isinstance(frame, pd.DataFrame):
        kind = f"the table must be a file or a frame, got a {type(frame).__name__}."
        raise DataError(kind + tidy.told("frame"))
    if frame.columns.nlevels > 1:
        of = dataset.needed_columns
        raise DataError(
            "the frame: several rows of names stand above its numbers."
            + tidy.told("stacked", place=of.entity, week=of.period)
        )
    names = [str(name).strip() for name in frame.columns]
    whole = table_of("the frame", frame.set_axis(names, axis=1).reset_index(drop=True))
    digest = hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()
    facts = {"file": "frame", "sha256": digest, "simulated": dataset.simulated}
    return rows_of_table(whole, dataset, facts)


def rows_of_table(whole: Table, dataset: Dataset, provenance: Mapping[str, Any]) -> Rows:
    """Return the typed rows of a table of which all columns were read."""
    columns, header = dataset.needed_columns, list(whole.header)
    named = [*columns.needed, *dataset.cleaning.drop_where]
    places = _places(whole.file, header, named, columns.may_lack, columns)
    table = replace(whole, cells=whole.cells[[header[place] for place in places]])
    return typed_rows(table, dataset, provenance, lambda: whole.cells)


def typed_rows(
    table: Table,
    dataset: Dataset,
    provenance: Mapping[str, Any],
    whole: Callable[[], pd.DataFrame],
) -> Rows:
    """Return the typed rows of a table. Bad cells stay, since a stream may not need their rows.

    Args:
        table: the columns of the dataset, and those of `drop_where`.
        dataset: its columns, markers, lengths of periods and `drop_where` are used.
        provenance: provenance of the table.
        whole: reads all columns, to tell whether rows are equal in all of them.

    Raises:
        DataError: no row holds a text of `drop_where`.
    """
    columns, rules, periods = dataset.needed_columns, dataset.cleaning, dataset.periods
    cells, changed = _without_dropped(table, rules), [*table.changed]
    for what, days in (("count", columns.count_days), ("capacity", columns.capacity_days)):
        if days and (lacks := [it for it in (days.sum, days.coverage) if it not in cells]):
            read = f"read as {rules.suppressed_value:g} (cleaning.suppressed_value)"
            how = read if what == "count" else "taken as missing"
            changed.append(
                f"no column {', '.join(lacks)}: suppressed values of {what}, whose sums would tell"
                f" most of them, are {how}"
            )
    moments = dates_of(cells[columns.period], periods.format)
    starts = moments.dt.floor("D")
    if periods.months:
        starts = starts_of_months(starts, periods.months)
    if periods.of:
        starts = starts_of_periods(starts, periods.length[0])
    undated, everyone = moments.isna(), _categories(np.zeros(len(cells), int), ["all"], "str")
    every = pd.DataFrame(
        {
            "row": np.asarray(cells.index, np.int64),
            "group": texts_of(cells[columns.group]).array if columns.group else everyone,
            "entity": texts_of(cells[columns.entity]).array,
            "name": texts_of(cells[columns.name or columns.entity]).array,
            "moment": moments.array,
            "period": starts.array,
            "date": texts_of(cells[columns.period]).where(undated).array,
        }
    )
    for role, name in columns.numbers.items():
        if name in cells:
            every = every.assign(**_number_columns(role, cells[name], dataset.read, rules))
    every["repeated"] = _repeated(every, whole)
    groups = every.groupby("entity", observed=True)["group"].nunique()
    every["moved"] = every["entity"].isin(groups.index[groups > 1])
    dated = np.flatnonzero(~undated.to_numpy())
    facts = {
        "file": table.file,
        "provenance": dict(provenance),
        "read": len(table.cells),
        "dropped": len(table.cells) - len(cells),
        "changed": changed,
        "parts": tidy.parts_of_dates(table.header),
        "dated": _dated(cells, columns, moments, int(dated[0])) if len(dated) else {},
    }
    return Rows(table=every, facts=facts)


def _dated(
    cells: pd.DataFrame, columns: Columns, moments: pd.Series[pd.Timestamp], place: int
) -> dict[str, Any]:
    text = texts_of(cells[columns.period].iloc[[place]]).iloc[0]
    row = int(cells.index[place])
    return {"text": str(text), "row": row, "date": moments.iloc[place].date().isoformat()}


def _without_dropped(table: Table, rules: Cleaning) -> pd.DataFrame:
    dropped = np.zeros(len(table.cells), bool)
    for name, texts in rules.drop_where.items():
        there = texts_of(table.cells[name])
        for text in texts:
            if not (there == text).any():
                near = did_you_mean(text, there.cat.categories)
                raise DataError(
                    f"{table.file}: no row has {text!r} in column {name}{near or '.'} Change ",
                    Key(("dataset", "cleaning", "drop_where")),
                )
        dropped |= there.isin(texts).to_numpy()
    if dropped.all():
        raise DataError(
            f"{table.file}: each of its {counted(len(dropped), 'row')} is left out. Change ",
            Key(("dataset", "cleaning", "drop_where")),
        )
    return table.cells[~dropped] if dropped.any() else table.cells


_KINDS = ["number", "missing", "suppressed", "negative", "bad"]


def _number_columns(role: str, cells: Cells, read: Read, rules: Cleaning) -> dict[str, Any]:
    """Return the value, kind and bad text of each cell; a negative number keeps its value."""
    if _is_text(cells):
        codes, unique = _coded(cells)
        values, signs = numbers_of(unique, read), read
    else:
        values, signs, unique = cells.to_numpy(float), DEFAULT, []
        codes = np.arange(len(values))
    texts = np.array([it if isinstance(it, str) else None for it in unique], object)

    def marked(markers: Sequence[str]) -> NDArray[np.bool_]:
        numbers = numbers_of(markers, signs)
        found = np.isin(values, numbers[~np.isnan(numbers)])
        if _is_text(cells):
            return found | np.isin(texts.astype(str), markers)
        return found | (np.isnan(values) & ("" in markers))

    kinds = np.select(
        [
            marked(rules.suppressed_markers),
            marked(rules.missing_markers),
            (values >= 0) & (values <= LARGEST),
            (values < 0) & np.isfinite(values),
        ],
        [2, 1, 0, 3],
        4,
    )
    bad = (kinds == 4)[codes]
    shown = texts_of(cells).where(bad) if bad.any() else pd.Series(pd.NA, cells.index, "str")
    held = np.where((kinds == 0) | (kinds == 3), values, np.nan)[codes]
    return {
        role: held,
        f"{role}_kind": pd.Categorical.from_codes(kinds[codes], pd.Index(_KINDS)),
        f"{role}_text": shown.astype("str").array,
    }


def _repeated(rows: pd.DataFrame, whole: Callable[[], pd.DataFrame]) -> NDArray[np.bool_]:
    """Return which rows are equal to an earlier one in all columns of the file."""
    found = np.zeros(len(rows), bool)
    twice = rows.duplicated(["entity", "moment"], keep=False)
    here = rows[twice]
    here = here[here.drop(columns="row").duplicated(keep=False)]
    if len(here):
        cells = whole().loc[here["row"]]
        found[here.index] = cells.duplicated().to_numpy()
    return found


def starts_of_months(days: pd.Series[pd.Timestamp], months: int) -> pd.Series[pd.Timestamp]:
    """Return the first day of each period if all days are the last of a month, and so end periods.

    >>> quarters = pd.Series(pd.to_datetime(["2021-03-31", "2021-06-30"]))
    >>> starts_of_months(quarters, 3).dt.month.tolist()
    [1, 4]
    """
    if not days.dt.is_month_end.where(days.notna(), True).all():
        return days
    return days + pd.Timedelta(days=1) - pd.DateOffset(months=months)


def starts_of_periods(days: pd.Series[pd.Timestamp], length: int) -> pd.Series[pd.Timestamp]:
    """Return the first day of the period of each day.

    Periods begin on the first day there is, and every `length` days; or on another day, if twice as
    many rows have that.

    >>> weekly = pd.Series(pd.to_datetime(["2023-01-03", "2023-01-09", "2023-01-09", "2023-01-16"]))
    >>> starts_of_periods(weekly, 7).dt.day.tolist()
    [2, 9, 9, 16]
    """
    if days.isna().all():
        return days
    number = days.dropna().astype("datetime64[s]").astype("int64") // 86_400
    places = number % length
    counts, first = places.value_counts(), int(number.min()) % length
    begin = int(counts.index[0]) if counts.max() >= 2 * counts[first] else first
    after = (number - begin) % length
    return days - pd.to_timedelta(after.reindex(days.index), unit="D")


def provenance_of_table(raw_file: Path | str, *, simulated: bool) -> dict[str, Any]:
    """Return the provenance of a raw table: its checksum, and the record of its download."""
    raw_file = Path(raw_file)
    digest = sha256(raw_file)
    facts: dict[str, Any] = {"file": raw_file.name, "sha256": digest, "simulated": simulated}
    # The record does not hold for a table that was replaced by hand.
    if (recorded := record_of(raw_file)).get("sha256") == digest:
        facts["fetched"] = recorded
    return facts


# ---- rows as a file -----------------------------------------------------------------------------

_FACTS = b"dpol.rows"


def write_rows(rows: Rows, path: Path | str) -> None:
    """Write typed rows as Parquet, with their facts as metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(rows.table, preserve_index=False)
    known = {**(table.schema.metadata or {}), _FACTS: json.dumps(rows.facts).encode()}
    with atomic_path(path) as temporary:
        pq.write_table(table.replace_schema_metadata(known), temporary)


def load_rows(path: Path | str) -> Rows:
    """Read what `write_rows` wrote.

    Raises:
        DataError: the file is no such table.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        facts = json.loads((table.schema.metadata or {})[_FACTS])
        return Rows(table=table.to_pandas(), facts=facts)
    except (OSError, LookupError, ValueError, pa.ArrowException) as error:
        raise DataError(f"{path}: no typed rows ({error}); delete it and run again") from None
