"""A holder's table: one form, as CSV or a workbook, read as text without pandas.

A header in the first line, then a row for each place and period. The holder's file says how dates
and decimals are written, so a cell is read by that file alone, never by other cells: whether a
table is refused tells nothing of its counts. Messages end up in logs, so none repeats a cell.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
import warnings
import zipfile
from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from dpol.core.errors import DataError
from dpol.core.settings import Settings
from dpol.core.words import counted

Delimiter = Literal[",", ";", "\t"]
Dates = Literal["YYYY-MM-DD", "D.M.YYYY", "D/M/YYYY", "M/D/YYYY", "YYYY-Www"]
DELIMITERS: tuple[Delimiter, ...] = get_args(Delimiter)
DATES: tuple[Dates, ...] = get_args(Dates)
"""The forms of dates. A month or a year is none: a period lasts a number of days."""
_FIRST, _LAST = datetime.date(1900, 1, 1), datetime.date(2100, 12, 31)
_MIDNIGHT = r"(?:[T ]00:00(?::00(?:\.0+)?)?)?"
_PARTS = {
    "YYYY": "(?P<year>[0-9]{4})", "ww": "(?P<week>[0-9]{2})",
    "MM": "(?P<month>[0-9]{2})", "DD": "(?P<day>[0-9]{2})",
    "M": "(?P<month>[0-9]{1,2})", "D": "(?P<day>[0-9]{1,2})",
}  # fmt: skip
_BETWEEN = " \u00a0\u202f'\u2019"
"""Signs between thousands that are never decimal signs."""
_DIGITS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,40})?")


class Format(Settings):
    """How a table is written. Numbers and dates that a sheet stores as such are read as they are.

    An exporter writes 1012 also as 1,012 or 1e+05, and 0.5 as .5: all of it is read.
    """

    decimal: Literal[".", ","] = "."
    """The decimal sign; the other sign, in groups of three digits, separates thousands."""
    delimiter: Delimiter = ","
    """The sign between the cells of a CSV table; Excel writes `";"` beside decimal commas."""
    date: Dates = "YYYY-MM-DD"
    """How dates are written, if not as 2021-01-31; `YYYY-Www` is 2021-W05, from its Monday on."""
    encoding: Literal["utf-8", "cp1252", "utf-16"] = "utf-8"
    """The encoding of a CSV table; `cp1252` is Excel's in Western Europe and America."""
    sheet: str | None = None
    """The sheet of a workbook; without it, the first one."""


DEFAULT = Format()


def parse_count(text: str, form: Format) -> str | None:
    """Return the number of at least 0 that a cell holds, as plain decimal text; None if it is none.

    >>> [parse_count(text, Format(decimal=",")) for text in ("1.012,5", "1012", ",5", "1e+05")]
    ['1012.5', '1012', '0.5', '100000']
    """
    if not _number(form.decimal).fullmatch(text):
        return None
    bare = re.sub(f"[{_BETWEEN}{'.,'.replace(form.decimal, '')}]", "", text)
    plain = f"{Decimal(bare.replace(',', '.')):f}"
    return plain if _DIGITS.fullmatch(plain) else None


@cache
def _number(sign: str) -> re.Pattern[str]:
    between = f"[{_BETWEEN}{'.,'.replace(sign, '')}]"
    whole = rf"[1-9][0-9]{{0,2}}(?P<sign>{between})[0-9]{{3}}(?:(?P=sign)[0-9]{{3}})*|[0-9]+"
    return re.compile(
        rf"(?:(?:{whole})(?:[{sign}][0-9]*)?|[{sign}][0-9]+)(?:[eE][+-]?[0-9]{{1,2}})?"
    )


def parse_date(text: str, form: Format) -> datetime.date | None:
    """Return the date of a text, alone or with midnight; None if it has none from 1900 to 2100.

    Another time of day, and one with an offset, may be another day elsewhere.
    """
    match = _date(form.date).fullmatch(text) or _date("YYYY-MM-DD").fullmatch(text)
    if not match:
        return None
    parts = {part: int(text) for part, text in match.groupdict().items()}
    try:
        if "week" in parts:
            date = datetime.date.fromisocalendar(parts["year"], parts["week"], 1)
        else:
            date = datetime.date(**parts)
    except ValueError:
        return None
    return date if _FIRST <= date <= _LAST else None


@cache
def _date(pattern: str) -> re.Pattern[str]:
    return re.compile(
        re.sub("YYYY|MM?|DD?|ww", lambda part: _PARTS[part[0]], re.escape(pattern)) + _MIDNIGHT
    )


def read_table(
    path: Path, columns: Sequence[str] | None, form: Format
) -> list[tuple[int, dict[str, str]]]:
    """Read some columns, or all, of a `.csv` or `.xlsx` table; rows without any text are skipped.

    Returns the rows: the line of the file on which each ends (the header is line 1), and its cells
    by column, without surrounding blanks.

    Raises:
        DataError: the file is missing, empty, damaged or not a table, or a column or the sheet is
            missing.
    """
    try:
        lines = _sheet(path, form) if path.suffix == ".xlsx" else _csv(path, form)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check table") from None
    if not lines:
        raise DataError(f"{path}: holds no table; get an intact copy of it")
    (_, header), *rows = lines
    columns = header if columns is None else list(dict.fromkeys(columns))
    _refuse_columns(path, columns, header)
    places = {name: header.index(name) for name in columns}
    found = [(line, {name: row[place] for name, place in places.items()}) for line, row in rows]
    kept = [(line, cells) for line, cells in found if any(cells.values())]
    if not kept:
        raise DataError(f"{path}: has a header but no rows; get an intact copy of it")
    return kept


def _csv(path: Path, form: Format) -> list[tuple[int, list[str]]]:
    """Return the lines of a CSV table with their numbers; blank ones are skipped."""
    try:
        text = path.read_bytes().decode("utf-8-sig" if form.encoding == "utf-8" else form.encoding)
    except UnicodeError:
        raise DataError(
            f"{path}: is not {form.encoding.upper()} text; save it as CSV UTF-8 or .xlsx, or set"
            " format.encoding in hospital.yaml"
        ) from None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=form.delimiter, strict=True)
    found: list[tuple[int, list[str]]] = []
    try:
        for row in filter(None, reader):
            if found and len(row) != len(found[0][1]):
                raise DataError(
                    f"{path}, row {reader.line_num}: has {counted(len(row), 'cell')}, but the"
                    f" header has {len(found[0][1])}. Quote cells that hold {form.delimiter!r} or a"
                    " line break, or, if the file is cut short here, get an intact copy of it"
                )
            found.append((reader.line_num, [cell.strip() for cell in row]))
    except csv.Error as error:
        raise DataError(
            f"{path}, row {reader.line_num}: is not CSV: {error}; get an intact copy of it"
        ) from None
    return found


def _sheet(path: Path, form: Format) -> list[tuple[int, list[str]]]:
    """Return the rows of a sheet with their numbers, as wide as the header."""
    import openpyxl  # slow, and most tables are CSV

    try:
        with warnings.catch_warnings():  # they are about styles, which are not read
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
            sheets = {sheet.title: sheet for sheet in book.worksheets}
            if form.sheet and form.sheet not in sheets:
                raise DataError(f"{path}: format.sheet must be one of {', '.join(sheets)}")
            sheet = sheets[form.sheet] if form.sheet else book.worksheets[0]
            sheet.reset_dimensions()  # some programs write wrong ones
            rows = enumerate(sheet.iter_rows(values_only=True), start=1)
            texts = [(line, [_text(cell, form) for cell in row]) for line, row in rows]
            book.close()
    except (KeyError, IndexError, SyntaxError, ValueError, EOFError, zipfile.BadZipFile):
        raise DataError(
            f"{path}: is damaged, cut short or not a .xlsx file; get an intact copy of it"
        ) from None
    texts = [(line, row) for line, row in texts if any(row)]
    width = len(texts[0][1]) if texts else 0
    return [(line, (row + [""] * width)[:width]) for line, row in texts]


def _text(cell: Any, form: Format) -> str:
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return f"{Decimal(repr(cell)):f}".replace(".", form.decimal)
    return cell.isoformat() if isinstance(cell, datetime.date) else str(cell).strip()


def _refuse_columns(path: Path, wanted: Sequence[str], present: Sequence[str]) -> None:
    """Refuse a table that lacks wanted columns, or has several with one name."""
    if missing := [name for name in wanted if name not in present]:
        raise DataError(
            f"{path}: its first line has no column named {', '.join(missing)}; name the right ones"
            " under columns in hospital.yaml, or the delimiter under format"
        )
    if twice := [name for name in dict.fromkeys(wanted) if present.count(name) > 1]:
        raise DataError(f"{path}: several columns named {', '.join(twice)}; rename all but one")
