"""Reading the counts to which a data holder wants to add noise.

Everything is checked before anything is done with it, and no message repeats what a cell holds:
messages end up in logs.
"""

from __future__ import annotations

import csv
import datetime
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.names import fault_of
from dpol_weekly.holder.agreed import Agreed
from dpol_weekly.holder.request import Choices, CountColumns
from dpol_weekly.noise import Count

_COUNT = re.compile(r"[0-9]{1,9}(\.[0-9]{0,40})?")
# A date, or its midnight: another time, and one with an offset, may be another day elsewhere.
_DATE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})([T ]00:00(:00(\.0+)?)?)?")
_MOST_ABOVE_CAPACITY = 0.01
_MOST_COLUMNS = 20  # In a message.


def read_counts(
    path: Path, columns: CountColumns, choices: Choices, agreed: Agreed | None = None
) -> list[Count]:
    """All rows of a CSV table in UTF-8, each checked; blank lines are skipped.

    Args:
        path: the table.
        columns: which of its columns are read.
        choices: whether counts may be above their capacity, and whether the last line may lack
            its end.
        agreed: whose rows are read, for a deployment; its capacities replace those of the table.

    Raises:
        DataError: the file cannot be read, may be cut short, has no rows, a row breaks a rule, an
            entity has two rows for one period, or too many counts are above their capacity.
    """
    text = _text(path)
    counts = list(_counts(path, text, columns, agreed))
    if not (choices.no_final_newline or text.endswith(("\n", "\r"))):
        raise DataError(
            f"{path}: the last line has no line end, so the table may be cut short; copy it again,"
            " or add --no-final-newline if it is complete"
        )
    if not counts:
        of = f" of {', '.join(agreed.members)}" if agreed and len(agreed.members) == 1 else ""
        raise DataError(f"{path}: has a header but no rows{of}; add rows to release")
    lines: dict[tuple[str, str], int] = {}
    for count in counts:
        if (first := lines.setdefault((count.entity, count.period), count.line)) != count.line:
            raise DataError(
                f"{path}, line {count.line}: the same entity and period as line {first}; keep the"
                " line that is right"
            )
    # Whether this refuses depends on raw counts. Nothing is released, and the message reaches the
    # holder only; but a holder who then reports late, or not at all, shows that. The guide says so.
    above = sum(Decimal(it.count) > Decimal(it.capacity or "Infinity") for it in counts)
    if above > _MOST_ABOVE_CAPACITY * len(counts) and not choices.over_capacity:
        raise DataError(
            f"{path}: more than {_MOST_ABOVE_CAPACITY:.0%} of the counts are above their capacity"
            f" (column {columns.capacity}); check that no dot or comma separates thousands, as in"
            " 1.230, and that the columns are the right ones, or add --over-capacity if they are"
        )
    return counts


def _counts(path: Path, text: str, columns: CountColumns, agreed: Agreed | None) -> Iterator[Count]:
    read = columns if not agreed or agreed.reads_capacity else replace(columns, capacity=None)
    for line, cells in _rows(path, text, read.names()):
        where = f"{path}, line {line}"
        if kept := agreed.cells(where, cells) if agreed else cells:
            count = _count(where, line, kept, columns)
            if agreed:
                agreed.check_period(where, count.period)
            yield count


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            return stream.read()
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not UTF-8 text; save it as CSV in UTF-8") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check the path") from None


def _rows(path: Path, text: str, names: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Line number and the cells of the named columns, in their order, row by row."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, None)
        if header is None:
            raise DataError(f"{path}: is empty; give a CSV table with a header")
        places = [_place(path, name, header, names) for name in names]
        for row in filter(None, reader):
            if len(row) != len(header):
                raise DataError(
                    f"{path}, line {reader.line_num}: has {len(row)} cells where the header has"
                    f" {len(header)}; fix the line"
                )
            yield reader.line_num, [row[place].strip() for place in places]
    except csv.Error as error:
        raise DataError(
            f"{path}, line {reader.line_num}: is not CSV ({error}); fix its quotes"
        ) from None


def _place(path: Path, name: str, header: list[str], names: list[str]) -> int:
    if header.count(name) == 1:
        return header.index(name)
    if name in header:
        raise DataError(f"{path}: has more than one column named {name}; rename all but one")
    cut = re.split(r"[;\t|]", ",".join(header))
    if name in cut or (len(header) == 1 and len(cut) > 1):
        raise DataError(
            f"{path}: its cells are separated by semicolons, tabs or bars; save it again with"
            " commas between them, dots in decimal numbers and nothing between thousands. Excel"
            " takes these signs from the region of the system: choose English (United States)."
            " LibreOffice asks for them when it saves CSV"
        )
    # Where the header is missing the first line holds data, which no message may show.
    if not set(names) & set(header) or any(re.match(r"\W*\d", cell) for cell in header):
        remedy = f"add a first line with the columns {', '.join(names)}, or rename these so"
    else:
        more = ["..."] if len(header) > _MOST_COLUMNS else []
        shown = ", ".join([*(cell[:100] for cell in header[:_MOST_COLUMNS]), *more])
        remedy = f"its columns are {shown}; choose one of these"
    raise DataError(f"{path}: has no column named {name} in its first line; {remedy}")


def _count(where: str, line: int, cells: list[str], columns: CountColumns) -> Count:
    entity, period, count, *more = cells
    capacity = more[0] if more else None
    if fault := fault_of(entity):
        raise DataError(f"{where}: the name in column {columns.entity} {fault}")
    day = _date(period)
    if day is None:
        raise DataError(
            f"{where}: column {columns.period} must hold a date like 2021-01-31, from 1900 to"
            " 2100, alone or with the time 00:00:00, without a time zone; write the date alone"
        )
    # Suppressed cells are small counts: rows left out because of their count would tell it.
    if not _COUNT.fullmatch(count):
        raise DataError(
            f"{where}: column {columns.count} must hold a number from 0 to 999999999, such as 12"
            " or 3.4; put the true count in its place; do not leave out rows because of their count"
        )
    if capacity is not None and not (_COUNT.fullmatch(capacity) and capacity.strip("0.")):
        raise DataError(
            f"{where}: column {columns.capacity} must hold a number above 0, up to 999999999, such"
            " as 12 or 3.4; fix the cell"
        )
    return Count(line, entity, day, count, capacity)


def _date(text: str) -> str | None:
    found = _DATE.fullmatch(text)
    with suppress(ValueError):
        if found and 1900 <= datetime.date.fromisoformat(found[1]).year <= 2100:
            return found[1]
    return None
