"""A holder's table: CSV of one form, read as text, line by line.

A header, then a row for each place and period, up to the end or a blank line. The holder's file
says how dates and numbers are written, so a cell is read by that file alone, never by other cells:
whether a table is refused tells nothing of its counts. Messages end up in logs, so none repeats a
cell.
"""

from __future__ import annotations

import csv
import datetime
import re
from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, Field

from dpol.core.errors import DataError
from dpol.core.settings import Settings

_DAYS = ["YYYY-MM-DD", "D.M.YYYY", "D/M/YYYY", "M/D/YYYY", "D-M-YYYY", "YYYY/M/D", "YYYYMMDD"]
_DAYS += ["D.M.YY", "D/M/YY", "M/D/YY"]
DATES = [*_DAYS, *(f"{it} time" for it in _DAYS), "YYYY-Www", "YYYYWw", "YYYYww"]
"""Forms of dates, also with a time of day behind them, and of weeks of ISO, which begin on Monday.
A period lasts a number of days, so no month is one."""
_PARTS = {"Y": "year", "M": "month", "D": "day", "w": "week"}
_FIRST, _LAST = datetime.date(1900, 1, 1), datetime.date(2100, 12, 31)
_MIDNIGHT = re.compile(r"([T ]00:00(:00(\.0+)?)?| 12:00(:00)? AM)$")
BETWEEN = {".": ".", ",": ",", " ": " \u00a0\u202f", "'": "'\u2019"}
"""Signs between thousands, and how they are written."""
_DIGITS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,40})?")


def _known(form: str) -> str:
    if form not in DATES:
        raise ValueError(f"must be one of {', '.join(DATES)}")
    return form


class Format(Settings):
    """How a table is written.

    An exporter writes 1012 also as 1.012e+03, and 0.5 as .5: all of it is read.
    """

    decimal: Literal[".", ","]
    """The decimal sign."""
    thousands: Literal["none", ".", ",", " ", "'"]
    """The sign between groups of three digits, or none. A blank also stands for narrow ones."""
    delimiter: Literal[",", ";", "\t", "|"] = ","
    """The sign between the cells of a CSV table; Excel writes `";"` beside decimal commas."""
    date: Annotated[str, AfterValidator(_known)] = "YYYY-MM-DD"
    """How dates are written: one of `DATES`. Midnight may follow any day."""
    encoding: Literal["utf-8", "cp1252", "utf-16"] = "utf-8"
    """The encoding of a CSV table; `cp1252` is Excel's in Western Europe and America."""
    day: Literal["first", "last"] = "first"
    """The day of a period that its date names; a week names its first."""
    header: Annotated[int, Field(ge=1, le=1000)] = 1
    """Number of the line that names the columns; lines above it are skipped."""


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


def parse_date(text: str, form: str) -> datetime.date | None:
    """Return the date of a text in a form of `DATES`; None if it has none from 1900 to 2100.

    A time of day other than midnight, which may be another day elsewhere, is read only where the
    form says so.

    >>> str(parse_date("1/14/2024 12:00:00 AM", "M/D/YYYY")), str(parse_date("2024W1", "YYYYWw"))
    ('2024-01-14', '2024-01-01')
    """
    day = form.removesuffix(" time")
    bare = _MIDNIGHT.sub("", text) if form == day else re.split("[T ]", text, maxsplit=1)[0]
    found = re.fullmatch(re.sub(r"([YMDw])\1*", _digits, re.escape(day)), bare)
    if found is None:
        return None
    part = {name: int(digits) for name, digits in found.groupdict().items()}
    part["year"] += 0 if "YYYY" in day else 2000
    try:
        week = "w" in day and datetime.date.fromisocalendar(part["year"], part["week"], 1)
        date = week or datetime.date(**part)
    except ValueError:
        return None
    return date if _FIRST <= date <= _LAST else None


def _digits(part: re.Match[str]) -> str:
    """Return the pattern of a part of a date: one letter stands for one digit or two."""
    number = len(part[0])
    return f"(?P<{_PARTS[part[1]]}>[0-9]{{{number if number > 1 else '1,2'}}})"


class Lines(NamedTuple):
    """The lines of a table, the number of columns, and how many lines are below a blank one.

    A line has its number in the file, its cells by column, and its number of cells.
    """

    lines: list[tuple[int, dict[str, str], int]]
    width: int
    below: int


def read_table(path: Path, columns: Sequence[str], form: Format, *, may_be_empty: bool) -> Lines:
    """Read some columns of a CSV table, each line by itself.

    No line refuses the table: a column that a line does not reach is an empty cell, and bytes that
    are no text stay in their cell. Cells have no surrounding blanks.

    Args:
        path: the file.
        columns: names of the columns.
        form: how the table is written.
        may_be_empty: whether a file without a header is a table without lines.

    Raises:
        DataError: the file cannot be read, or its header lacks a column or has it twice.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check table") from None
    text = data.decode("utf-8-sig" if form.encoding == "utf-8" else form.encoding, "replace")
    rows = [_cells(line, form) for line in re.split("\r\n|\n|\r", text)]
    header, found = [*rows[form.header - 1 : form.header], []][0], rows[form.header :]
    if may_be_empty and not any(header):
        return Lines([], 0, 0)
    if wrong := [name for name in columns if header.count(name) != 1]:
        raise DataError(
            f"{path}: its line {form.header} must name {', '.join(wrong)} once; get an intact copy,"
            " or name the right ones under columns in hospital.yaml, or the line of the header, the"
            " delimiter or the encoding under format"
        )
    places, lines = {name: header.index(name) for name in columns}, list[Any]()
    for number, row in enumerate(found, start=form.header + 1):
        if not any(row):
            below = sum(map(any, found[number - form.header :]))
            return Lines(lines, len(header), below)
        cells = {name: (row[at : at + 1] or [""])[0] for name, at in places.items()}
        lines.append((number, cells, len(row)))
    return Lines(lines, len(header), 0)


def _cells(line: str, form: Format) -> list[str]:
    """Return the cells of a line; one that names nothing if it is no CSV (128 KiB in a cell)."""
    try:
        row = next(csv.reader([line], delimiter=form.delimiter), [])
    except csv.Error:
        return ["\ufffd"]
    return [cell.strip() for cell in row]
