"""Reading raw tables as text, exactly as they were published, but with a row for each count."""

from __future__ import annotations

import codecs
import csv
import datetime
import gzip
import io
import re
import warnings
import zipfile
import zlib
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, TypeAlias, TypeVar, cast

import pandas as pd

from dpol.core.errors import DataError, Key, keyed
from dpol.core.files import atomic_path, packed_file
from dpol.core.words import counted, did_you_mean, listed, shortened
from dpol.data.tables.bad_cells import Texts
from dpol.data.tables.parse import LOOK, date_formats, parse_date
from dpol.data.tables.setting_types import Period, columns_of
from dpol.data.tables.settings import CapacityTable, Columns
from dpol.data.tables.table_format import DEFAULT, EITHER, Format

MOST_MB = 2_000
"""Largest CSV table, unpacked, in MB (10^6 bytes)."""
LONGEST_CELL = 10_000_000
"""Largest number of characters of a cell."""
MOST_CELLS = 10_000_000
"""Largest number of cells of a sheet, and of the columns that are read of a file: some GB."""
MOST_NOTES = 5  # rows in a message
AnyRow = TypeVar("AnyRow")
Choice: TypeAlias = Callable[[list[str]], list[str]]
"""Returns the columns to read of those that a table has; raises DataError if some are missing."""
COLUMNS = Key(("dataset", "columns"))
"""The block that names the columns of a table of counts."""
WORKBOOKS = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
"""The first bytes of `.xlsx`, `.ods` and `.zip`, and of `.xls`."""
UTF_16 = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE
AGAIN = "get an intact copy of it; if dpol fetched it, delete it and run again"
"""Remedy for a file that is damaged."""
_LAST = re.compile(r"[^0-9]*([0-9]{1,2})(?:\.0)?")
_MONTH = DEFAULT.model_copy(update={"date": "Mon YYYY"})
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that a terminal may obey, or that turn the direction of the text after them."""


@dataclass(frozen=True, kw_only=True)
class RawTable:
    """A table of text, without leading and trailing blanks.

    Args:
        file: path of the file.
        cells: the wanted columns; the index is the line of the file on which a row ends (the header
            is line 1), or the number of the row in a Parquet file or sheet.
        formats: the format of numbers and dates in each column.
        changed: what was not read as it is, in words: repeated headers, control characters.
        repeated: the rows that are equal to an earlier one in every column of the file; none if
            not all columns are read.
    """

    file: str
    cells: pd.DataFrame
    formats: Mapping[str, Format]
    changed: tuple[str, ...] = ()
    repeated: frozenset[int] = frozenset()


def raw_table(file: str, cells: pd.DataFrame, form: Format = DEFAULT) -> RawTable:
    """Make a `RawTable` from cells of text, with its index.

    A column's own cells may decide its format: all are dates such as 2021-01-31, as those that a
    program stored as dates, or one shows the decimal sign.
    """
    cells, changed = cells.apply(lambda column: column.str.strip()), list[str]()
    for name, column in cells.items():
        if any(map(_CONTROL.search, column.unique())):
            cells[name] = column.replace(_CONTROL, "?", regex=True)
            changed.append(f"control characters in column {name} read as ?")
    formats = {str(name): _of_column(column.unique(), form) for name, column in cells.items()}
    return RawTable(
        file=file, cells=cells, formats=formats, changed=tuple(changed),
        repeated=frozenset(cells.index[cells.duplicated()]),
    )  # fmt: skip


def _of_column(cells: Iterable[str], form: Format) -> Format:
    held = [text for text in cells if text]
    if held and all(parse_date(text, DEFAULT) for text in held):
        form = form.model_copy(update={"date": DEFAULT.date})
    return form.of_column(held)


# ---- files --------------------------------------------------------------------------------------


def read_raw_table(
    path: Path | str,
    columns: Sequence[str] | None = None,
    form: Format = DEFAULT,
    *,
    others: Sequence[str] | None = (),
) -> RawTable:
    """Read some columns, or all, of a CSV, `.csv.gz`, `.parquet` or `.xlsx` table as text.

    Those of `others`, None for all further ones, are read too where they are there and have a name
    of their own. Missing cells of a Parquet table or sheet become empty text;
    blank lines of a CSV table and blank rows of a sheet are left out. A formula yields the value
    that was saved with it, or empty text.

    Raises:
        DataError: the file is missing, empty, damaged, no table, or as CSV larger than `MOST_MB`
            or `MOST_CELLS`; a column or the sheet is missing; a CSV row has more or fewer cells
            than the header; or a key of the format does not apply to such a file.
    """
    path = Path(path)
    if not path.is_file():
        remedy = keyed("put the table there or change {dataset.source.file}")
        raise DataError(f"{path}: no such file; ", remedy)
    idle = {".parquet": ("sheet", "skip_rows", "skip_last"), ".xlsx": ()}
    for key in idle.get(path.suffix, ("sheet",)):
        if getattr(form, key):
            place = Key(("dataset", "format", key))
            raise DataError(f"{path}: ", place, " does not apply to it; remove that key")
    read = {".parquet": _read_parquet, ".xlsx": _read_sheet}.get(path.suffix, _read_csv)
    try:
        cells = read(path, form, partial(refuse_columns, path, columns, others=others))
    except UnicodeError:
        raise _undecoded(path, form) from None
    except (EOFError, OSError, zlib.error) as error:
        cause = " ".join(str(error)[:200].split())
        raise DataError(
            f"{path}: cannot be read as a {path.suffix} file: {cause}. If it is damaged or cut"
            f" short, {AGAIN}; or give it the suffix of its format"
        ) from None
    if cells.empty:
        raise DataError(f"{path}: has a header but no rows; {AGAIN}")
    return raw_table(str(path), cells, form)


def _read_csv(path: Path, form: Format, choose: Choice) -> pd.DataFrame:
    """Read a CSV table; pandas would fill a short row with empty cells and say nothing."""
    with open_bytes(path) as table:  # first, since a cut gzip file must not look like a bad row
        while table.read(1 << 20):
            if table.tell() > MOST_MB * 10**6:
                raise _too_large(path, f"{MOST_MB:,} MB as CSV")
    csv.field_size_limit(LONGEST_CELL)
    lines, known = array("q"), dict[str, str]()
    encoding = form.encoding.replace("utf-8", "utf-8-sig")
    with io.TextIOWrapper(open_bytes(path), encoding, newline="") as text:
        for _ in range(form.skip_rows):
            text.readline()
        reader = csv.reader(text, delimiter=form.delimiter, strict=True, skipinitialspace=True)
        try:
            header = [name.strip() for name in next(filter(None, reader), [])]
            while len(header) > 1 and not header[-1]:  # Excel writes delimiters after a table
                header.pop()
            numbered = ((form.skip_rows + reader.line_num, row) for row in reader if any(row))
            first = next(numbered, (0, [""]))
            if len(first[1]) == len(header) + 1 and first[1][0] == "1":
                header.insert(0, "")  # R writes the names of rows without a name of their column
            wanted = choose(header)
            columns = {header.index(name): list[str]() for name in wanted}
            broken: DataError | None = None
            every = chain([first] if any(first[1]) else [], numbered)
            for line, row in _without_last(every, form.skip_last):
                while len(row) > len(header) and not row[-1].strip():
                    row.pop()
                if len(row) != len(header) and broken is None:
                    broken = DataError(
                        f"{path}, row {line}: has {counted(len(row), 'cell')}, but the header has"
                        f" {len(header)}. Quote cells that hold {form.delimiter!r} or a line break;"
                        f" or, if the file is cut short here, {AGAIN}; or, if notes stand below"
                        " the table, say how many such rows there are: ",
                        Key(("dataset", "format", "skip_last")),
                    )
                if broken and (len(row) > 1 or len(header) < 3):  # else a note below the table
                    raise broken
                row += [""] * (len(header) - len(row))
                lines.append(line)
                for place, texts in columns.items():
                    texts.append(known.setdefault(row[place], row[place]))
                if len(lines) * max(len(columns), 1) > MOST_CELLS:
                    raise _too_large(path, f"{MOST_CELLS:,} cells up to row {line:,}")
        except csv.Error as error:
            line = form.skip_rows + reader.line_num
            raise DataError(f"{path}, row {line}: is not CSV: {error}; {AGAIN}") from None
    return pd.DataFrame(dict(zip(wanted, columns.values(), strict=True)), [*lines], dtype=str)


def _without_last(rows: Iterable[AnyRow], number: int) -> Iterator[AnyRow]:
    """Yield all rows but the last ones."""
    held = deque[AnyRow]()
    for row in rows:
        held.append(row)
        if len(held) > number:
            yield held.popleft()


def _too_large(path: Path, most: str) -> DataError:
    return DataError(
        f"{path}: has more than {most}; leave out rows and columns that no run needs, in a sheet"
        " also formatted cells without text"
    )


def open_bytes(path: Path) -> IO[bytes]:
    """Open a CSV table, gzip or not, for reading its bytes."""
    return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _undecoded(path: Path, form: Format) -> DataError:
    with open_bytes(path) as table:
        start = table.read(4)
    if start.startswith(WORKBOOKS):
        kind = "is a workbook or an archive, not CSV"
        return DataError(f"{path}: {kind}; save it as a file that ends in .xlsx, or unpack it")
    remedy = keyed(
        "Set {dataset.format.encoding}, such as to utf-8, utf-16 or cp1252, or {look}", look=LOOK
    )
    return DataError(f"{path}: is not {form.encoding.upper()} text. ", remedy)


def _read_parquet(path: Path, form: Format, choose: Choice) -> pd.DataFrame:
    """Read a Parquet table without columns of lists and the like.

    pandas would hide columns that were stored as an index.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    texts = dict[str, list[str]]()
    try:
        wanted = choose([it.name for it in pq.read_schema(path) if not pa.types.is_nested(it.type)])
        if pq.read_metadata(path).num_rows * len(wanted) > MOST_CELLS:
            most = MOST_CELLS // len(wanted)
            raise _too_large(path, f"{most:,} rows of {counted(len(wanted), 'column')}")
        for name, values in zip(wanted, pq.read_table(path, columns=wanted), strict=True):
            if pa.types.is_dictionary(values.type):
                values = values.cast(values.type.value_type)
            kind = values.type
            if pa.types.is_floating(kind):
                values = pc.if_else(pc.is_nan(values), None, values)
            texts[name] = values.cast(pa.string()).fill_null("").to_pylist()
            if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
                texts[name] = [_in_sign(text, form) for text in texts[name]]
    except pa.ArrowException as error:
        raise OSError(str(error)) from None
    cells = pd.DataFrame(texts, dtype=str)
    return cells.set_axis(cells.index + 1)


def _read_sheet(path: Path, form: Format, choose: Choice) -> pd.DataFrame:
    """Read a sheet; what stands in rows and columns outside its table is no part of it."""
    cells = sheet_cells(path, form)
    header, cells = cells.iloc[0].tolist(), cells.iloc[1:]
    wanted = choose(header)
    inside = (cells[[k for k, name in zip(cells, header, strict=True) if name]] != "").any(axis=1)
    return cells[inside].set_axis(header, axis="columns")[wanted]


def sheet_cells(path: Path, form: Format) -> pd.DataFrame:
    """Read a sheet from its header on; rows have their numbers, columns count from 0.

    Blank rows and columns are left out. pandas would fill the sheet up to its farthest cell, such
    as a note in XFD20000.

    Raises:
        OSError: the workbook is damaged.
        DataError: the sheet is missing or not named, has more than `MOST_CELLS` cells, or holds no
            table.
    """
    import openpyxl

    rows, read = dict[int, dict[int, str]](), 0
    try:
        with warnings.catch_warnings():  # they are about styles, which are not read
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
            names = [sheet.title for sheet in book.worksheets]
            shown = [it.title for it in book.worksheets if it.sheet_state == "visible"]
            name = shown[0] if form.sheet is None and len(shown) == 1 else form.sheet
            if name not in names:
                known = f"{', '.join(map(repr, shown))}{did_you_mean(name or '', names)}"
                raise DataError(
                    f"{path}: ",
                    keyed("{dataset.format.sheet} must be one of "),
                    f"{known}; if each holds a place or a time, copy them into one sheet, with a"
                    " column for what their names say",
                )
            book[name].reset_dimensions()  # some programs write wrong ones
            for number, row in enumerate(book[name].iter_rows(values_only=True), start=1):
                read += len(row)
                if read > MOST_CELLS:
                    raise _too_large(path, f"{MOST_CELLS:,} cells up to row {number:,}")
                texts = {k: text for k, value in enumerate(row) if (text := _text(value, form))}
                if texts:
                    rows[number] = texts
            book.close()
    except (KeyError, SyntaxError, ValueError, zipfile.BadZipFile) as error:
        raise OSError(str(error)) from None
    below = ((number, row) for number, row in rows.items() if number > form.skip_rows)
    rows = dict(_without_last(below, form.skip_last))
    if not rows:
        remedy = keyed(
            "name another sheet in {dataset.format.sheet}, or lower {dataset.format.skip_rows}"
        )
        raise DataError(f"{path}: sheet {name!r} holds no table; ", remedy)
    columns = sorted({column for row in rows.values() for column in row})
    cells = [[row.get(column, "") for column in columns] for row in rows.values()]
    return pd.DataFrame(cells, [*rows], columns, dtype=str)


def _text(cell: Any, form: Format) -> str:
    """Return the text of a cell of a sheet, with numbers as `form` reads them."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, (int, float)):
        return _in_sign(repr(int(cell) if float(cell).is_integer() else cell), form)
    if isinstance(cell, (datetime.date, datetime.time)):
        return cell.isoformat()
    return str(cell).strip()


def _in_sign(number: str, form: Format) -> str:
    """Write a number that has a decimal point as `form` reads it."""
    # 1.125 may also mean 1125; 1.1250 may not.
    return (number + "0" if EITHER.fullmatch(number) else number).replace(".", form.decimal_sign)


def write_raw_table(cells: pd.DataFrame, path: Path | str) -> None:
    """Write a table of text as `.csv.gz`, with equal bytes for equal tables."""
    with atomic_path(path) as temporary, packed_file(temporary) as packed:
        packed.write(cells.to_csv(index=False, lineterminator="\n").encode())


# ---- columns ------------------------------------------------------------------------------------


def refuse_columns(
    path: Path | str,
    wanted: Sequence[str] | None,
    present: Sequence[str],
    key: Key = COLUMNS,
    *,
    others: Sequence[str] | None = (),
) -> list[str]:
    """Return the wanted columns, by default all, of a table that has each once.

    The result also has those of `others`, None for all further ones, that have a name of their own.

    Raises:
        DataError: a column is missing or ambiguous; the text names it and the key to change.
    """
    named = [name for name in present if name.strip() and present.count(name) == 1]
    more = [name for name in named if others is None or name in others]
    wanted = present if wanted is None else [*dict.fromkeys([*wanted, *more])]
    if not any(present):
        raise DataError(f"{path}: holds no table; {AGAIN}")
    if missing := [name for name in wanted if name not in present]:
        raise DataError(
            f"{path}: no column named {', '.join(missing)}; it has"
            f" {', '.join(map(shortened, present))}. Name the right ones in ",
            key,
            f", or {LOOK}",
        )
    if twice := [name for name in dict.fromkeys(wanted) if present.count(name) > 1]:
        raise DataError(
            f"{path}: several columns named {', '.join(twice)}; rename all but one. If two rows of"
            " names stand above the numbers, such as dates in merged cells, join them into one row"
        )
    return [*wanted]


def refuse_unnamed(path: Path | str, present: Sequence[str]) -> None:
    """Refuse a column without a name in a table whose columns name entities or experts."""
    if blank := [number for number, name in enumerate(present, 1) if not name.strip()]:
        raise DataError(
            f"{path}: column {blank[0]} has no name; name it, or remove the column if it only"
            " numbers the rows"
        )


# ---- layouts ------------------------------------------------------------------------------------


def without_notes(raw: RawTable, form: Format) -> RawTable:
    """Return a table without rows that tell no count, and say so: a header again, units, notes.

    Such a row has one text alone, and no date, or, since dates have digits, no digit.
    """
    cells = raw.cells
    header = (cells == [str(name).strip() for name in cells]).all(axis=1)
    alone = cells[((cells != "").sum(axis=1) < 2) & (cells.shape[1] > 2)].max(axis=1)
    alone = alone[[not (parse_date(it, form) or date_formats([it])) for it in alone]]
    undated = cells.index if form.layout != "wide-periods" else cells.index[:0]
    for _, column in cells.items():
        undated = undated[~column[undated].str.contains("[0-9]")]
    notes = cells.index[~header & cells.index.isin([*alone.index, *undated])]
    said = [f"row {row} repeats the header, and is left out" for row in cells.index[header]]
    if len(notes):
        said.append(f"no date or number, left out: row {listed(map(str, notes), MOST_NOTES)}")
    kept = cells[~header & ~cells.index.isin(notes)]
    return replace(raw, cells=kept, changed=(*said, *raw.changed))


def period_texts(raw: RawTable, period: Period) -> tuple[Texts, Format]:
    """Return the text that names the period of each row, and its format."""
    if isinstance(period, str):
        return raw.cells[period], raw.formats[period]
    texts = year_and(*(raw.cells[name] for name in columns_of(period)))
    return texts, DEFAULT.model_copy(update={"date": period.date})


def year_and(year: Texts, part: Texts) -> Texts:
    """Join years with months or weeks: 2021.0 and 5.0, Week 5 or May become 2021-5.

    Programs store whole numbers as 5.0 if a cell of the column is empty.
    """
    short = dict[str, str]()
    for text in part.unique():
        day, number = parse_date(f"{text} 2000", _MONTH), _LAST.fullmatch(text)
        short[text] = str(day.month) if day else number[1] if number else text
    joined: Texts = year.str.removesuffix(".0") + "-" + part.map(short).astype("str")
    return joined.rename(f"{year.name}-{part.name}")


def read_capacities(columns: Columns) -> RawTable | None:
    """Read the second table as a long table; None if the columns name no second table."""
    second = columns.capacity
    if not isinstance(second, CapacityTable):
        return None
    kept = columns_of(second.period) if second.period else []
    if second.format.layout == "long":
        return read_raw_table(second.file, [second.entity, second.capacity, *kept], second.format)
    raw = read_raw_table(second.file, form=second.format)
    return to_long(raw, second.format, kept, name=second.entity, number=second.capacity)


def to_long(
    raw: RawTable, form: Format, kept: Sequence[str], *, name: str, number: str
) -> RawTable:
    """Convert a wide table to the long layout; each row keeps its number in the file.

    Args:
        raw: a table with a column per entity, or per period.
        form: its format.
        kept: the columns to keep; all others are melted.
        name: the new column for the names of the melted columns.
        number: the new column for their cells.

    Raises:
        DataError: a column is missing or has no name.
    """
    present = list(raw.cells.columns)
    refuse_columns(raw.file, kept, present)
    refuse_unnamed(raw.file, present)
    long = raw.cells.melt(kept, var_name=name, value_name=number, ignore_index=False)
    long = long.sort_index(kind="stable").astype(str)
    return replace(raw_table(raw.file, long, form), changed=raw.changed, repeated=raw.repeated)
