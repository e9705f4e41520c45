"""A holder's table: CSV of one form, read as text.

A header in the first line, then a row for each place and period. The holder's file says how dates
and decimals are written, so a cell is read by that file alone, never by other cells: whether a
table is refused tells nothing of its counts. Messages end up in logs, so none repeats a cell.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from dpol.core.errors import DataError
from dpol.core.settings import Settings
from dpol.core.words import counted

Dates = Literal["YYYY-MM-DD", "D.M.YYYY", "D/M/YYYY", "M/D/YYYY", "YYYY-Www", "MMWR"]
DATES: tuple[Dates, ...] = get_args(Dates)
WEEKS = "YYYY-Www", "MMWR"
"""The forms of dates, and those of weeks. A period lasts a number of days, so no month is one."""
_FIRST, _LAST = datetime.date(1900, 1, 1), datetime.date(2100, 12, 31)
_MIDNIGHT = re.compile(r"[T ]00:00(:00(\.0+)?)?$")
_WRITTEN = {
    "D.M.YYYY": "%d.%m.%Y",
    "D/M/YYYY": "%d/%m/%Y",
    "M/D/YYYY": "%m/%d/%Y",
}
BETWEEN = {".": ".", ",": ",", " ": " \u00a0\u202f", "'": "'\u2019"}
"""Signs between thousands, and how they are written."""
_DIGITS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,40})?")


class Format(Settings):
    """How a table is written.

    An exporter writes 1012 also as 1.012e+03, and 0.5 as .5: all of it is read.
    """

    decimal: Literal[".", ","]
    """The decimal sign."""
    thousands: Literal["none", ".", ",", " ", "'"]
    """The sign between groups of three digits, or none. A blank also stands for narrow ones."""
    delimiter: Literal[",", ";", "\t"] = ","
    """The sign between the cells of a CSV table; Excel writes `";"` beside decimal commas."""
    date: Dates = "YYYY-MM-DD"
    """How dates are written, if not as 2021-01-31.

    2021-W05 begins on Monday as `YYYY-Www`, and on Sunday as `MMWR`, a week of US public health.
    """
    encoding: Literal["utf-8", "cp1252", "utf-16"] = "utf-8"
    """The encoding of a CSV table; `cp1252` is Excel's in Western Europe and America."""
    day: Literal["first", "last"] = "first"
    """The day of a period that its date names; a week names its first."""


def parse_count(text: str, form: Format) -> str | None:
    """Return the number of at least 0 that a cell holds, as plain decimal text; None if it is none.

    >>> form = Format(decimal=",", thousands=".")
    >>> [parse_count(text, form) for text in ("1.012,5", "1012", ",5", "1e+05", "13.57")]
    ['1012.5', '1012', '0.5', '100000', None]
    """
    if not _number(form.decimal, form.thousands).fullmatch(text):
        return None
    bare = re.sub(f"[{BETWEEN[form.thousands]}]", "", text) if form.thousands != "none" else text
    plain = f"{Decimal(bare.replace(',', '.')):f}"
    return plain if _DIGITS.fullmatch(plain) else None


@cache
def _number(sign: str, thousands: str) -> re.Pattern[str]:
    whole = "[0-9]+"
    if thousands != "none":
        between = f"[{BETWEEN[thousands]}]"
        whole += rf"|[1-9][0-9]{{0,2}}(?P<sign>{between})[0-9]{{3}}(?:(?P=sign)[0-9]{{3}})*"
    return re.compile(
        rf"(?:(?:{whole})(?:[{sign}][0-9]*)?|[{sign}][0-9]+)(?:[eE][+-]?[0-9]{{1,2}})?"
    )


def parse_date(text: str, form: Dates) -> datetime.date | None:
    """Return the date of a text, alone or with midnight; None if it has none from 1900 to 2100.

    Another time of day, and one with an offset, may be another day elsewhere.
    """
    day, week = _MIDNIGHT.sub("", text), re.fullmatch("([0-9]{4})-W([0-9]{2})", text)
    try:
        if week and form in WEEKS:
            year, number = map(int, week.groups())
            monday = datetime.date.fromisocalendar
            date = mmwr_week(year, number) if form == "MMWR" else monday(year, number, 1)
        elif re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", day):
            date = datetime.date.fromisoformat(day)
        else:
            date = datetime.datetime.strptime(day, _WRITTEN[form]).date()
    except (KeyError, ValueError):
        return None
    return date if _FIRST <= date <= _LAST else None


def mmwr_week(year: int, week: int) -> datetime.date:
    """Return the Sunday of a week of US public health: week 1 has 4 January.

    Raises:
        ValueError: the year has no such week.

    >>> str(mmwr_week(2024, 1)), str(mmwr_week(2025, 53))
    ('2023-12-31', '2025-12-28')
    """
    first, following = (
        day - datetime.timedelta(days=day.isoweekday() % 7)
        for day in (datetime.date(year, 1, 4), datetime.date(year + 1, 1, 4))
    )
    start = first + datetime.timedelta(days=7 * (week - 1))
    if not first <= start < following:
        raise ValueError(f"{year} has no week {week}")
    return start


def read_table(
    path: Path, columns: Sequence[str], form: Format
) -> list[tuple[int, dict[str, str]]]:
    """Read some columns of a CSV table; rows without any text are skipped.

    Returns for each row the line of the file on which it ends (the header is line 1), and its cells
    by column, without surrounding blanks.

    Raises:
        DataError: the file is missing, empty, damaged or not a table, or a column is missing.
    """
    try:
        lines = _csv(path, form)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check table") from None
    if not lines:
        raise DataError(f"{path}: holds no table; get an intact copy of it")
    (_, header), *rows = lines
    if missing := [name for name in columns if name not in header]:
        raise DataError(
            f"{path}: its first line has no column named {', '.join(missing)}; name the right ones"
            " under columns in hospital.yaml, or the delimiter under format"
        )
    if twice := [name for name in columns if header.count(name) > 1]:
        told = counted(len({*twice}), "column")
        raise DataError(f"{path}: {told} of its first line is there twice; rename all but one")
    places = {name: header.index(name) for name in columns}
    found = [(line, {name: row[place] for name, place in places.items()}) for line, row in rows]
    return [(line, cells) for line, cells in found if any(cells.values())]


def _csv(path: Path, form: Format) -> list[tuple[int, list[str]]]:
    """Return the lines of a CSV table with their numbers; blank ones are skipped."""
    try:
        text = path.read_bytes().decode("utf-8-sig" if form.encoding == "utf-8" else form.encoding)
    except UnicodeError:
        raise DataError(
            f"{path}: is not {form.encoding.upper()} text; save it as CSV UTF-8, or set"
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
                    " line break, or name the right delimiter under format; or, if the file is cut"
                    " short here, get an intact copy of it"
                )
            found.append((reader.line_num, [cell.strip() for cell in row]))
    except csv.Error as error:
        raise DataError(
            f"{path}, row {reader.line_num}: is not CSV: {error}; get an intact copy of it"
        ) from None
    return found
