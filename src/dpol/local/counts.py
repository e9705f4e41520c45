"""Reading the counts to which a data holder wants to add noise.

Everything is checked before anything is done with it, and no message repeats what a cell holds:
messages end up in logs.
"""

from __future__ import annotations

import csv
import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TextIO

from dpol.core.errors import DataError
from dpol.local.names import check_name

_COUNT = re.compile(r"[0-9]{1,9}(\.[0-9]{0,40})?")
_DATE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(.*)", re.DOTALL)
_MIDNIGHT = re.compile(r"([T ]00:00(:00(\.0+)?)?)?")
_YEARS = range(1900, 2101)
_MOST_ABOVE_CAPACITY = 0.01
_MOST_COLUMNS = 20  # In a message.


@dataclass(frozen=True)
class CountColumns:
    """The columns that are read; all others are left alone.

    Args:
        entity: whose count it is (hospital).
        period: when (week), a date such as 2021-01-31.
        count: persons counted, from 0 to 999999999, such as 12 or 3.4.
        capacity: what the count is a share of (beds), above 0; public.

    Raises:
        DataError: two of the names are equal, or one is a name that the output needs, is not plain
            text, or is a formula for a spreadsheet.
    """

    entity: str
    period: str
    count: str
    capacity: str | None = None

    def __post_init__(self) -> None:
        names = self.names()
        if len(set(names)) < len(names):
            raise DataError("entity, period, count and capacity must be different columns")
        header = self.output_header()
        if twice := [name for name in header if header.count(name) > 1]:
            raise DataError(f"the output has a column {twice[0]} of its own; rename the input's")
        for name in header:
            try:
                check_name(name)
            except ValueError as error:
                raise DataError(f"the name of column {name} {error}") from None

    def names(self) -> list[str]:
        """The columns that are read."""
        return [name for name in (self.entity, self.period, self.count, self.capacity) if name]

    def output_header(self) -> list[str]:
        """The columns that are written."""
        share = [self.capacity, "noisy_share"] if self.capacity else []
        return [self.entity, self.period, "noisy_count", *share, "mu", "count_sensitivity"]


@dataclass(frozen=True, slots=True)
class Count:
    """One count, still raw.

    Args:
        line: where it was read, counted from 1.
        entity: identifier.
        period: date, YYYY-MM-DD.
        count: decimal text.
        capacity: decimal text, or None.
    """

    line: int
    entity: str
    period: str
    count: str = field(repr=False)
    capacity: str | None

    @property
    def key(self) -> tuple[str, str]:
        """Entity and period."""
        return self.entity, self.period


def read_counts(
    path: Path,
    columns: CountColumns,
    *,
    over_capacity: bool = False,
    no_final_newline: bool = False,
) -> list[Count]:
    """All rows of a CSV table in UTF-8, each checked; blank lines are skipped.

    Args:
        path: the table.
        columns: which of its columns are read.
        over_capacity: counts above their capacity are right, however many there are.
        no_final_newline: the table is complete although its last line has no line end.

    Raises:
        DataError: the file cannot be read, may be cut short, has no rows, a row breaks a rule, an
            entity has two rows for one period, or too many counts are above their capacity.
    """
    counts: list[Count] = []
    lines: dict[tuple[str, str], int] = {}
    for line, cells in _rows(path, columns.names(), no_final_newline=no_final_newline):
        try:
            count = _count(line, cells, columns)
        except ValueError as error:
            raise DataError(f"{path}, line {line}: {error}") from None
        if (first := lines.setdefault(count.key, line)) != line:
            raise DataError(
                f"{path}, line {line}: the same entity and period as line {first}; keep the line"
                " that is right"
            )
        counts.append(count)
    if not counts:
        raise DataError(f"{path}: has a header but no rows; add rows to release")
    if not over_capacity:
        _check_capacities(path, columns, counts)
    return counts


def _check_capacities(path: Path, columns: CountColumns, counts: list[Count]) -> None:
    """Refuse a table in which many counts are above their capacity: 1.230 may mean 1230.

    Whether this refuses depends on raw counts. Nothing is released, and the message reaches the
    holder only; but a holder who then reports late, or not at all, shows that. The guide says so.
    """
    above = sum(
        count.capacity is not None and Decimal(count.count) > Decimal(count.capacity)
        for count in counts
    )
    if above > _MOST_ABOVE_CAPACITY * len(counts):
        raise DataError(
            f"{path}: more than {_MOST_ABOVE_CAPACITY:.0%} of the counts are above their capacity"
            f" (column {columns.capacity}); check that no dot or comma separates thousands, as in"
            " 1.230, and that the columns are the right ones, or add --over-capacity if they are"
        )


class _Lines:
    """The lines of a text; remembers whether the last one that was read has an end."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.ended = True

    def __iter__(self) -> Iterator[str]:
        for line in self.stream:
            self.ended = line.endswith(("\n", "\r"))
            yield line


def _rows(
    path: Path, names: list[str], *, no_final_newline: bool
) -> Iterator[tuple[int, list[str]]]:
    """Line number and the cells of the named columns, in their order, row by row."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            lines = _Lines(stream)
            reader = csv.reader(lines, strict=True)
            header = next(reader, None)
            if header is None:
                raise DataError(f"{path}: is empty; give a CSV table with a header")
            places = [_place(path, name, header) for name in names]
            for row in reader:
                if row and len(row) != len(header):
                    raise DataError(
                        f"{path}, line {reader.line_num}: has {len(row)} cells where the header"
                        f" has {len(header)}; fix the line"
                    )
                if row:
                    yield reader.line_num, [row[place].strip() for place in places]
            if not (lines.ended or no_final_newline):
                raise DataError(
                    f"{path}, line {reader.line_num}: the last line has no line end, so the table"
                    " may be cut short; copy it again, or add --no-final-newline if it is complete"
                )
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not UTF-8 text; save it as CSV in UTF-8") from None
    except csv.Error as error:
        raise DataError(
            f"{path}, line {reader.line_num}: is not CSV ({error}); fix its quotes"
        ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check the path") from None


def _place(path: Path, name: str, header: list[str]) -> int:
    if header.count(name) == 1:
        return header.index(name)
    if name in header:
        raise DataError(f"{path}: has more than one column named {name}; rename all but one")
    for separator, word in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
        if len(header) == 1 and separator in header[0]:
            raise DataError(
                f"{path}: its cells are separated by {word}; save it again with commas between"
                " them, and with dots in decimal numbers"
            )
    raise DataError(f"{path}: has no column named {name} in its first line; {_columns(header)}")


def _columns(header: list[str]) -> str:
    """What to choose from; where the header is missing the first line holds data, and is hidden."""
    if any(re.match(r"\W*\d", cell) for cell in header) or not any(header):
        return "add a first line with the names of the columns"
    shown = ", ".join(cell[:100] for cell in header[:_MOST_COLUMNS])
    more = ", ..." if len(header) > _MOST_COLUMNS else ""
    return f"its columns are {shown}{more}; choose one of these"


def _count(line: int, cells: list[str], columns: CountColumns) -> Count:
    entity, period, count, *more = cells
    capacity = more[0] if more else None
    try:
        check_name(entity)
    except ValueError as error:
        raise ValueError(f"the name in column {columns.entity} {error}") from None
    # Suppressed cells are small counts: rows left out because of their count would tell it.
    if not _COUNT.fullmatch(count):
        raise ValueError(
            f"column {columns.count} must hold a number from 0 to 999999999, such as 12 or 3.4;"
            " put the true count in its place; do not leave out rows because of their count"
        )
    if capacity is not None and not (_COUNT.fullmatch(capacity) and capacity.strip("0.")):
        raise ValueError(
            f"column {columns.capacity} must hold a number above 0, up to 999999999, such as 12 or"
            " 3.4; fix the cell"
        )
    return Count(line, entity, _date(columns.period, period), count, capacity)


def _date(column: str, text: str) -> str:
    """A date as YYYY-MM-DD, without a time of day, which must be midnight.

    Any other time, and one with an offset, may mean another day elsewhere.
    """
    found = _DATE.fullmatch(text)
    try:
        day = datetime.date.fromisoformat(found[1] if found else "")
    except ValueError:
        raise ValueError(
            f"column {column} must hold a date like 2021-01-31; fix the cell"
        ) from None
    if day.year not in _YEARS:
        raise ValueError(f"column {column} must hold a year from 1900 to 2100; fix the cell")
    if found is None or not _MIDNIGHT.fullmatch(found[2]):
        raise ValueError(
            f"column {column} must hold a date alone or with the time 00:00:00, without a time"
            " zone; write the date alone"
        )
    return day.isoformat()
