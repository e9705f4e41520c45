"""Reading the counts that a data holder wants to noise.

Everything is checked before anything is done with it, and no message repeats what a cell holds:
messages end up in logs.
"""

from __future__ import annotations

import csv
import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dpol.errors import DataError

_COUNT = re.compile(r"[0-9]{1,9}(\.[0-9]{0,40})?")
_DATE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})([T ].*)?")


@dataclass(frozen=True)
class CountColumns:
    """The columns that are read; all others are left alone.

    Args:
        entity: whose count it is (hospital).
        period: when (week), a date such as 2021-01-31.
        count: persons counted, from 0 to 999999999, such as 12 or 3.4.
        capacity: what the count is a share of (beds), above 0; public.

    Raises:
        DataError: two of the names are equal, or one is a name that the output needs.
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


def read_counts(path: Path, columns: CountColumns) -> list[Count]:
    """All rows of a CSV table in UTF-8, each checked; blank lines are skipped.

    Raises:
        DataError: the file cannot be read, has no rows, a row breaks a rule, or an entity has
            two rows for one period.
    """
    counts: list[Count] = []
    lines: dict[tuple[str, str], int] = {}
    for line, cells in _rows(path, columns.names()):
        try:
            count = _count(line, cells, columns)
        except ValueError as error:
            raise DataError(
                f"{path}, line {line}: {error}; mend the line or leave it out"
            ) from None
        if (first := lines.setdefault(count.key, line)) != line:
            raise DataError(
                f"{path}, line {line}: the same entity and period as line {first}; keep one of them"
            )
        counts.append(count)
    if not counts:
        raise DataError(f"{path}: has a header but no rows; add rows to release")
    return counts


def _rows(path: Path, names: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Line number and the cells of the named columns, in their order, row by row."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, strict=True)
            header = next(reader, None)
            if header is None:
                raise DataError(f"{path}: is empty; give a CSV table with a header")
            places = [_place(path, name, header) for name in names]
            for row in reader:
                if row and len(row) != len(header):
                    raise DataError(
                        f"{path}, line {reader.line_num}: has {len(row)} cells where the header"
                        f" has {len(header)}; mend the line"
                    )
                if row:
                    yield reader.line_num, [row[place].strip() for place in places]
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not UTF-8 text; save it as CSV in UTF-8") from None
    except csv.Error as error:
        raise DataError(
            f"{path}, line {reader.line_num}: is not CSV ({error}); mend its quotes"
        ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check the path") from None


def _place(path: Path, name: str, header: list[str]) -> int:
    # The header is not shown: where it is missing, the first line holds data.
    if header.count(name) != 1:
        how_many = "no column" if name not in header else "more than one column"
        raise DataError(f"{path}: has {how_many} named {name} in its first line; name it rightly")
    return header.index(name)


def _count(line: int, cells: list[str], columns: CountColumns) -> Count:
    entity, period, count, *more = cells
    capacity = more[0] if more else None
    if not entity or not entity.isprintable():
        raise ValueError(f"column {columns.entity} must name the entity in plain text")
    if not _COUNT.fullmatch(count):
        raise ValueError(
            f"column {columns.count} must hold a number from 0 to 999999999, such as 12 or 3.4"
        )
    if capacity is not None and not (_COUNT.fullmatch(capacity) and capacity.strip("0.")):
        raise ValueError(
            f"column {columns.capacity} must hold a number above 0, up to 999999999, such as 12 or"
            " 3.4"
        )
    return Count(line, entity, _date(columns.period, period), count, capacity)


def _date(column: str, text: str) -> str:
    """A date as YYYY-MM-DD; a time of day after it is left out."""
    found = _DATE.fullmatch(text)
    try:
        return datetime.date.fromisoformat(found[1] if found else "").isoformat()
    except ValueError:
        raise ValueError(f"column {column} must hold a date like 2021-01-31") from None
