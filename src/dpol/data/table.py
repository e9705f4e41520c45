"""From a file to typed rows: one function from text to number, and one to date.

The options of `dataset.read` have the names that pandas gives them. Cells that are text are parsed
here, each distinct text once; cells that a Parquet file or a sheet stores as numbers or dates stay
as they are. Rows are what all streams of a run share, so the file is read once.
"""

from __future__ import annotations

import csv
import datetime
import gzip
import hashlib
import json
import re
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from decimal import Decimal
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from typing import Any, TextIO, TypeAlias, cast

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow
import pyarrow.parquet as pq
from numpy.typing import NDArray

from dpol.core.errors import DataError, Key, Text, in_lines, keyed
from dpol.core.files import atomic_path, packed_file, sha256
from dpol.core.randomness import Floats
from dpol.core.schemas import readable, write_frame
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
    plain,
)

LARGEST = 999_999_999
"""Largest valid number; a larger one is taken for a mistake."""
SMALLEST_CAPACITY = 1e-6
"""Smallest capacity above 0: the noise of a whole stream grows with 1 / capacity."""
AGAIN = "get an intact copy of it; if dpol fetched it, delete it and run again"
"""Remedy for a file that is damaged."""
PAIR = ["entity", "period"]
"""Columns that name a cell of the panel."""
Choice: TypeAlias = Callable[[list[str]], list[int]]
"""Returns the places of the columns to read, of those that a table has."""
Cells: TypeAlias = "pd.Series[Any]"
"""The cells of a column, indexed by row of the file: categories of text, numbers and dates."""

_SIGNS = {" ": " \u00a0\u2009\u202f", "'": "'\u2019"}
_ISO = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Columns of a file, as they stand there.

    Args:
        file: path of the file.
        cells: the columns; the index is the number of the row. Rows are counted from the first line
            of the file, blank lines of a CSV and line breaks in its cells not counted; those of a
            Parquet file from 1. A missing cell is an empty text.
        header: names of all columns of the file.
    """

    file: str
    cells: pd.DataFrame
    header: tuple[str, ...]


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
            out (`read`, `dropped`), columns that may hold parts of dates (`parts`), and a date with
            its text and row (`dated`).
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
    of: Columns | None = None,
) -> Table:
    """Read some columns, or all, of a CSV, `.csv.gz`, `.tsv`, `.parquet` or `.xlsx` file.

    Rows without any text are left out.

    Args:
        path: the file.
        read: the options of the reader.
        columns: names of columns that the file must have; all by default.
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
        return _places(path, header, columns, of, _separator(path, read))

    reader = {".parquet": _read_parquet, ".xlsx": _read_sheet}.get(path.suffix, _read_csv)
    try:
        cells = reader(path, read, choose)
    except DataError:
        raise
    except Exception as error:  # a damaged file may make a reader raise anything
        cause = " ".join(f"{type(error).__name__}: {error}"[:200].split())
        remedy = keyed("set {dataset.read.encoding}, such as to cp1252 or utf-16-le; or ")
        raise DataError(
            f"{path}: cannot be read as a {path.suffix} file: {cause}; ",
            remedy if reader is _read_csv else "",
            f"give it the suffix of its format; or, if it is damaged, {AGAIN}",
        ) from None
    return replace(table_of(str(path), cells), header=tuple(names))


def table_of(file: str, cells: pd.DataFrame) -> Table:
    """Make a `Table` of a frame of text, numbers and dates, such as a user's own.

    Raises:
        DataError: there is no row.
    """
    columns = {
        str(name): _as_cells(cells.iloc[:, place]) for place, name in enumerate(cells.columns)
    }
    whole = pd.DataFrame(columns, cells.index)
    kept = whole[~(whole == "").all(axis=1)]
    if kept.empty:
        raise DataError(f"{file}: has a header but no rows; {AGAIN}")
    return Table(file=file, cells=kept, header=tuple(map(str, cells)))


def _as_cells(cells: Cells) -> Cells:
    """Return cells as categories of text, numbers and dates."""
    try:
        codes, unique = pd.factorize(cells)  # missing cells have the code -1
    except (TypeError, NotImplementedError):  # a column of lists, which nobody may have named
        codes, unique = pd.factorize(cells.map(repr))
    return pd.Series(_categories(codes + 1, ["", *map(_plain, unique.tolist())]), cells.index)


def _plain(cell: Any) -> Any:
    """Return a cell as a number, a date with its time, or plain text."""
    match cell:
        case str():  # first, since most cells are
            text = cell
        case np.number() | np.bool_():
            return _plain(cell.item())
        case bool():
            return str(cell).lower()
        case int() | float() | datetime.datetime():
            return cell
        case Decimal():
            return float(cell)
        case pd.Period():
            return cell.to_timestamp()
        case datetime.date():
            return datetime.datetime(cell.year, cell.month, cell.day)
        case bytes():
            text = cell.decode(errors="replace")
        case _:
            text = str(cell)
    return plain(text)


def _places(
    path: Path | str,
    header: list[str],
    columns: Sequence[str] | None,
    of: Columns | None,
    sep: str = ",",
) -> list[int]:
    if not any(header):
        raise DataError(f"{path}: holds no table; {AGAIN}")
    times, names = Counter(header), dict[str, str]()
    apart = f"{{dataset.read.{'sheet_name' if str(path).endswith('.xlsx') else 'sep'}}}"
    if of:
        kind = "excel" if str(path).endswith(".xlsx") else "csv"
        names = {"place": of.entity, "week": of.period, "count": of.count, "kind": kind}
        names |= {"group": of.group or "", "capacity": of.capacity or ""}
    wanted = [*dict.fromkeys(header if columns is None else columns)]
    if len(header) == 1 and (columns is None or wanted != header):
        remedy = keyed(f"Set {apart} or {{dataset.read.skiprows}}")
        if signs := [sign for sign in ";\t|," if sign in header[0] and sign != sep]:
            remedy = "Separate its cells: ", Key(("dataset", "read", "sep"), json.dumps(signs[0]))
        raise DataError(f"{path}: has one column, {header[0]!r}. ", remedy)
    if missing := [name for name in wanted if name not in times]:
        answers = ("entity", "period", "count", "capacity") if of else ()
        role = [it for it in answers if getattr(of, it) == missing[0]][:1]
        reading = f"; or set {{dataset.read.skiprows}}, or {apart}"
        remedy = keyed(
            f"Name the right one in {{column}}{reading * (missing == wanted)}.{{lines}}",
            column=Key(("dataset", "columns", *role)),
            lines=tidy.of_columns(header, missing, names) if names else "",
        )
        raise DataError(
            f"{path}: no column named {', '.join(missing)}{did_you_mean(missing[0], header)}; it"
            f" has {listed(map(shortened, header), 40)}. ",
            remedy,
        )
    if twice := [name for name in wanted if name and times[name] > 1]:
        several = f"{path}: several columns named {', '.join(twice)}; rename all but one"
        level = int(names.get("count") in header)
        raise DataError(several + (tidy.told("headers", **names, level=level) if names else ""))
    places = range(len(header)) if columns is None else map(header.index, wanted)
    return sorted(places)


def _separator(path: Path, read: Read) -> str:
    return read.sep or ("\t" if path.suffix == ".tsv" else ",")


def _opened(path: Path, read: Read) -> TextIO:
    """Open a CSV file as text, behind `skiprows`."""
    encoding = "utf-8-sig" if read.encoding == "utf-8" else read.encoding
    opened = gzip.open if path.suffix == ".gz" else open
    text = cast(TextIO, opened(path, "rt", encoding=encoding, newline=""))
    for _ in range(read.skiprows):
        text.readline()
    return text


def _read_csv(path: Path, read: Read, choose: Choice) -> pd.DataFrame:
    """Read a CSV file with Arrow, since pandas fills up rows that are too short without a word."""
    sep = _separator(path, read)
    with _opened(path, read) as text:
        lines = csv.reader(text, delimiter=sep, skipinitialspace=True)
        first = next((it for it in lines if len(it) > 1 or any(it)), [])
    if "\0" in "".join(first):
        raise ValueError("null characters stand in the header")
    header = [*map(plain, first)]
    places, names = choose(header), [f"f{place}" for place in range(len(header))]
    uneven = list[arrow.InvalidRow]()

    def put_aside(row: arrow.InvalidRow) -> str:
        uneven.append(row)
        return "skip"

    with redirect_stderr(StringIO()):  # Arrow prints there which rows it cannot decode
        table = arrow.read_csv(
            path,
            arrow.ReadOptions(
                encoding=read.encoding, skip_rows=read.skiprows, column_names=names,
                use_threads=False, block_size=1 << 24,
            ),
            arrow.ParseOptions(
                delimiter=sep, newlines_in_values=True, invalid_row_handler=put_aside
            ),
            arrow.ConvertOptions(
                include_columns=[names[place] for place in {*places, len(header) - 1}],
                column_types=dict.fromkeys(names, pa.string()),
            ),
        ).slice(1)  # fmt: skip
    rows = len(table) + len(uneven) - read.skipfooter
    if uneven and uneven[0].number <= read.skiprows + 1 + rows:
        found, width = uneven[0].actual_columns, len(header)
        ends = [
            "{dataset.read.skiprows} if titles stand above the table",
            "{dataset.read.skipfooter} if notes stand below the table",
        ]
        raise DataError(
            f"{path}, row {uneven[0].number}: has {counted(found, 'cell')}, but the header has"
            f" {width}. ",
            keyed(f"Set {', or '.join(ends[:: 1 if found > width else -1])}; or change"),
            keyed(" {dataset.read.sep}; or quote cells that hold"),
            f" {sep!r} or a line break",
        )
    ends = [it.text for it in uneven[-1:]] + table[names[-1]][-1:].to_pylist()
    if any("\n" in end or "\r" in end for end in ends):
        with _opened(path, read) as text:
            (end,) = deque(text, 1)
        if not end.rstrip().endswith('"'):
            raise DataError(f"{path}: has quotation marks that do not end; {AGAIN}")
    cells = pd.DataFrame({header[place]: table[names[place]].to_pandas() for place in places})
    cells.index += read.skiprows + 2
    return cells[: max(rows, 0)]


def _read_parquet(path: Path, read: Read, choose: Choice) -> pd.DataFrame:
    """Read a Parquet table, also the columns that pandas stored as an index."""
    schema = pq.read_schema(path)
    names = [it.name for it in schema if not pa.types.is_nested(it.type)]
    places = choose([*map(plain, names)])
    table = pq.read_table(path, columns=[names[place] for place in places])
    cells: pd.DataFrame = table.to_pandas(ignore_metadata=True, date_as_object=False)
    return cells.set_axis(cells.index + 1).rename(columns=plain)


def _read_sheet(path: Path, read: Read, choose: Choice) -> pd.DataFrame:
    """Read a sheet; what stands in rows and columns outside its table is no part of it."""
    import openpyxl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are about styles, which are not read
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    sheets = {it.title: it for it in book.worksheets}
    shown = [name for name, it in sheets.items() if it.sheet_state == "visible"]
    name = shown[0] if read.sheet_name is None and len(shown) == 1 else read.sheet_name
    if name not in sheets:
        raise DataError(
            f"{path}: ",
            keyed("{dataset.read.sheet_name} must be one of "),
            f"{', '.join(map(repr, shown))}{did_you_mean(name or '', sheets)}.",
            tidy.told("sheets"),
        )
    sheets[name].reset_dimensions()  # some programs write wrong ones
    columns = zip_longest(*sheets[name].iter_rows(values_only=True))  # rows may end early
    grid = pd.DataFrame(dict(enumerate(columns)), dtype=object)
    grid = grid.where(grid.notna(), "").map(_plain).set_axis(grid.index + 1)
    rows = grid[(grid != "").any(axis=1) & (grid.index > read.skiprows)]
    rows = rows[: len(rows) - read.skipfooter]
    if rows.empty:
        raise DataError(
            f"{path}: sheet {name!r} holds no table; change ",
            keyed("{dataset.read.sheet_name} or {dataset.read.skiprows}"),
        )
    header = [*map(_text, rows.iloc[0])]
    filled = (rows.iloc[1:] != "").any().tolist()
    places = [place for place in choose(header) if header[place] or filled[place]]
    return rows.iloc[1:, places].set_axis([header[place] for place in places], axis=1)


def write_raw_table(cells: pd.DataFrame, path: Path | str) -> None:
    """Write a table of text as `.csv.gz`, with equal bytes for equal tables."""
    with atomic_path(path) as temporary, packed_file(temporary) as packed:
        packed.write(cells.to_csv(index=False, lineterminator="\n").encode())


# ---- text to number, text to date ---------------------------------------------------------------


def numbers_of(texts: Iterable[Any], read: Read = DEFAULT) -> Floats:
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
    texts = [*texts]
    values = np.full(len(texts), np.nan)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            values[place] = text if isinstance(text, (int, float)) else np.nan
        elif is_number(text):
            plain = re.sub(f"[{between}]", "", text) if between else text
            values[place] = float(plain.replace(sign, "."))
    return values


def values_of(cells: Cells, read: Read = DEFAULT) -> Floats:
    """Return the number of each cell of a column; NaN where it is none."""
    return np.asarray(numbers_of(cells.cat.categories, read)[cells.cat.codes])


def date_of(cell: Any, form: str | None = None) -> datetime.datetime | None:
    """Return the date, with its time of day, of a text or typed cell; None if it is none.

    Args:
        cell: the cell.
        form: the format of texts, in the signs of `strptime`; 2021-01-31 by default.

    >>> date_of("2021-01-31T12:30:00.000Z"), date_of("31.1.2021", "%d.%m.%Y")
    (datetime.datetime(2021, 1, 31, 12, 30), datetime.datetime(2021, 1, 31, 0, 0))
    """
    try:
        if isinstance(cell, datetime.datetime):
            day = cell
        elif form:
            day = on_monday(_text(cell), form)
        elif _ISO.fullmatch(text := _text(cell)):
            day = datetime.datetime.fromisoformat(text)
        else:
            return None
        return day.replace(tzinfo=None) if EARLIEST <= day.date() <= LATEST else None
    except ValueError:
        return None


def dates_of(cells: Cells, form: str | None = None) -> pd.Series[pd.Timestamp]:
    """Return the date and time of each cell; NaT where it is none."""
    days = np.array([date_of(it, form) for it in cells.cat.categories], "datetime64[us]")
    return pd.Series(days[cells.cat.codes], cells.index)


def texts_of(cells: Cells) -> Cells:
    """Return cells as categories of text: whole numbers without .0, dates as 2021-01-31."""
    coded = _categories(cells.cat.codes, map(_text, cells.cat.categories), "str")
    return pd.Series(coded, cells.index, name=cells.name)


def _categories(codes: Any, texts: Iterable[Any], kind: Any = object) -> pd.Categorical:
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
        lines: lines of pandas that may help, from `dpol.data.tidy.told`.
    """

    texts: Cells
    wanted: Text
    remedy: Text
    lines: str = ""


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
        for text, size in (shown := most[:3]).items():
            row = texts.index[(texts == text).to_numpy()][0]
            held = repr(shortened(str(text))) if text != "" else "nothing"
            lines.append(f"    {held}: {counted(int(size), 'cell')}, first in row {row}")
        if more := len(most) - len(shown):
            lines.append(f"    and {counted(more, 'other text')}")
    said = in_lines([*lines, *dict.fromkeys(bad.remedy for bad in columns)])
    raise DataError(said, *dict.fromkeys(bad.lines for bad in columns))


def bad_dates(texts: Cells, form: str | None, lines: str = "") -> BadCells:
    """Return cells that hold no date as bad ones.

    Args:
        texts: the cells.
        form: the format of dates.
        lines: the lines of pandas that may make dates of them.
    """
    wanted = f"a date {f'of the format {form}' if form else 'like 2021-01-31'}, from 1900 to 2100"
    remedy = keyed(
        "Set {dataset.periods.format}, such as %d.%m.%Y or %G-W%V, or name another column in"
        " {dataset.columns.period}. If rows are no part of the table, such as notes or totals,"
        " leave them out with {dataset.cleaning.drop_where} or {dataset.read.skipfooter}."
    )
    return BadCells(texts, wanted, remedy, lines)


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
    table = read_file(file, dataset.read, dataset.must_have, of=columns)
    facts = provenance_of_table(file, simulated=dataset.simulated)
    return typed_rows(table, dataset, facts, lambda: read_file(file, dataset.read).cells)


def rows_of_frame(frame: pd.DataFrame, dataset: Dataset) -> Rows:
    """Return the typed rows of a user's own frame; what its index names are columns, too."""
    if not isinstance(frame, pd.DataFrame):
        kind = f"the table must be a file or a frame, got a {type(frame).__name__}."
        raise DataError(kind + tidy.told("frame"))
    if frame.columns.nlevels > 1:
        of = dataset.needed_columns
        level = int(of.count in frame.columns.get_level_values(0))
        raise DataError(
            "the frame: several rows of names stand above its numbers."
            + tidy.told("stacked", place=of.entity, week=of.period, level=level)
        )
    frame = frame.reset_index([it for it in frame.index.names if it and it not in frame])
    names = [plain(str(name)) for name in frame.columns]
    whole = table_of("the frame", frame.set_axis(names, axis=1).reset_index(drop=True))
    digest = hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()
    facts = {"file": "frame", "sha256": digest, "simulated": dataset.simulated}
    return rows_of_table(whole, dataset, facts)


def rows_of_table(whole: Table, dataset: Dataset, provenance: Mapping[str, Any]) -> Rows:
    """Return the typed rows of a table of which all columns were read."""
    columns = dataset.needed_columns
    _places(whole.file, list(whole.header), dataset.must_have, columns)
    return typed_rows(whole, dataset, provenance, lambda: whole.cells)


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
    cells = _without_dropped(table, rules)
    moments = dates_of(cells[columns.period], periods.format)
    starts = moments.dt.floor("D")
    if periods.of:
        starts = starts_of_periods(starts, periods.length[0])
    texts, entity = texts_of(cells[columns.period]), texts_of(cells[columns.entity])
    everyone = _categories(np.zeros(len(cells), int), ["all"], "str")
    typed = {
        "group": texts_of(cells[columns.group]) if columns.group else everyone,
        "entity": entity,
        "name": texts_of(cells[columns.name]) if columns.name else entity,
        "moment": moments,
        "period": starts,
        "date": texts.where(moments.isna()),
    }
    for role, name in columns.numbers.items():
        typed |= _number_columns(role, cells[name], dataset.read, rules)
    every = pd.DataFrame(typed, cells.index).reset_index(names="row")
    every["repeated"] = _repeated(every, whole)
    groups = every.groupby("entity", observed=True)["group"].nunique()
    every["moved"] = every["entity"].isin(groups.index[groups > 1])
    row: Any = moments.first_valid_index()
    facts = {
        "file": table.file,
        "provenance": dict(provenance),
        "read": len(table.cells),
        "dropped": len(table.cells) - len(cells),
        "parts": tidy.parts_of_dates(table.header),
        "dated": {}
        if row is None
        else {"text": texts[row], "row": int(row), "date": moments[row].date().isoformat()},
    }
    return Rows(table=every, facts=facts)


def _without_dropped(table: Table, rules: Cleaning) -> pd.DataFrame:
    dropped = np.zeros(len(table.cells), bool)
    for name, texts in rules.drop_where.items():
        there = texts_of(table.cells[name])
        known = there.unique()
        if unknown := [text for text in texts if text not in known]:
            near = did_you_mean(unknown[0], known)
            raise DataError(
                f"{table.file}: no row has {unknown[0]!r} in column {name}{near or '.'} Change ",
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
    codes, unique = cells.cat.codes.to_numpy(), cells.cat.categories
    values = numbers_of(unique, read)
    texts = np.array([it if isinstance(it, str) else None for it in unique], object)

    def marked(markers: Sequence[str]) -> NDArray[np.bool_]:
        numbers = numbers_of(markers, read)
        return np.isin(values, numbers[~np.isnan(numbers)]) | np.isin(texts, markers)

    of_texts = np.select(
        [
            marked(rules.suppressed_markers),
            marked(rules.missing_markers),
            (values >= 0) & (values <= LARGEST),
            (values < 0) & np.isfinite(values),
        ],
        ["suppressed", "missing", "number", "negative"],
        "bad",
    )
    kinds = pd.Categorical(of_texts, _KINDS).take(codes)
    bad = kinds == "bad"
    shown = texts_of(cells).where(bad) if bad.any() else pd.Series(pd.NA, cells.index, "str")
    return {
        role: np.where(kinds.isin(["number", "negative"]), values[codes], np.nan),
        f"{role}_kind": kinds,
        f"{role}_text": shown.astype("str"),
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


def write_rows(rows: Rows, path: Path | str) -> None:
    """Write typed rows as Parquet, with their facts as metadata."""
    table = pa.Table.from_pandas(rows.table, preserve_index=False)
    known = {**(table.schema.metadata or {}), b"dpol.rows": json.dumps(rows.facts).encode()}
    write_frame(table.replace_schema_metadata(known), path)


def load_rows(path: Path | str) -> Rows:
    """Read what `write_rows` wrote.

    Raises:
        DataError: the file is no such table.
    """
    with readable(Path(path)):
        table = pq.read_table(path)
        facts = json.loads((table.schema.metadata or {})[b"dpol.rows"])
        return Rows(table=table.to_pandas(), facts=facts)
