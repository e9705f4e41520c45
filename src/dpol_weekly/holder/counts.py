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
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from dpol.core.errors import DataError
from dpol_weekly.deployment import Deployment

_COUNT = re.compile(r"[0-9]{1,9}(\.[0-9]{0,40})?")
# A date, or its midnight: another time, and one with an offset, may be another day elsewhere.
_DATE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})([T ]00:00(:00(\.0+)?)?)?")
_MOST_ABOVE_CAPACITY = 0.01
_MOST_COLUMNS = 20  # In a message.


@dataclass(frozen=True, kw_only=True, slots=True)
class Count:
    """One count, still raw.

    Args:
        where: it was read, such as `counts.csv, line 3`.
        entity: identifier.
        period: date, YYYY-MM-DD.
        count: decimal text.
        capacity: decimal text.
    """

    where: str
    entity: str
    period: str
    count: str = field(repr=False)
    capacity: str


def read_counts(
    path: Path,
    deployment: Deployment,
    entity: str | None = None,
    *,
    over_capacity: bool = False,
    no_final_newline: bool = False,
) -> list[Count]:
    """The rows of a CSV table in UTF-8 for a deployment, each checked; blank lines are skipped.

    Args:
        path: the table.
        deployment: its columns are read; its capacities replace those of the table.
        entity: the only one whose rows are released; None: all of the deployment.
        over_capacity: counts above the capacity are right.
        no_final_newline: the table is complete although its last line has no line end.

    Raises:
        DataError: the file cannot be read, may be cut short, has no rows, a row breaks a rule, an
            entity has two rows for one period, or too many counts are above their capacity.
    """
    text = _text(path)
    counts = list(_counts(path, text, deployment, entity))
    if not (no_final_newline or text.endswith(("\n", "\r"))):
        raise DataError(
            f"{path}: the last line has no line end, so the table may be cut short; copy it again,"
            " or add --no-final-newline if it is complete"
        )
    if not counts:
        of = f" of {entity}" if entity else ""
        raise DataError(f"{path}: has a header but no rows{of}; add rows to release")
    # Whether this refuses depends on raw counts. Nothing is released, and the message reaches the
    # holder only; but a holder who then reports late, or not at all, shows that. The guide says so.
    above = sum(Decimal(count.count) > Decimal(count.capacity) for count in counts)
    if above > _MOST_ABOVE_CAPACITY * len(counts) and not over_capacity:
        raise DataError(
            f"{path}: more than {_MOST_ABOVE_CAPACITY:.0%} of the counts are above their capacity;"
            " check that no dot or comma separates thousands, as in 1.230, and that the columns"
            " are the right ones, or add --over-capacity if they are"
        )
    return counts


def in_time(
    counts: list[Count], deployment: Deployment, today: datetime.date | None = None
) -> list[Count]:
    """The counts of periods in which their entity takes part, in the order of their periods.

    Args:
        counts: of a table.
        deployment: says who takes part, and how long a period is.
        today: the date; None: that of the machine.

    Raises:
        DataError: a period is not over, or no count is of a period in which its entity takes part.
    """
    today, kept = today or datetime.date.today(), []
    for count in counts:
        day = datetime.date.fromisoformat(count.period)
        if not deployment.entities[count.entity].takes_part(day):
            continue
        last = day + datetime.timedelta(days=deployment.periods.days - 1)
        if last >= today:
            raise DataError(
                f"{count.where}: its period is not over, the last day of it is {last} (today is"
                f" {today}); correct the date, or leave the row out until then"
            )
        kept.append(count)
    if not kept:
        raise DataError(
            f"{counts[0].where}, and further lines: no row lies within the dates in which its"
            f" entity takes part in the deployment {deployment.name}; check the dates, or agree on"
            " others"
        )
    return sorted(kept, key=lambda count: count.period)


def reads_capacity(deployment: Deployment, entity: str | None) -> bool:
    """True if cells of the column of capacities are published: of one entity, or of any."""
    entities = [deployment.entities[entity]] if entity else deployment.entities.values()
    return any(it.beds is None for it in entities)


def _counts(path: Path, text: str, deployment: Deployment, entity: str | None) -> Iterator[Count]:
    names = deployment.columns.names()
    lines: dict[tuple[str, str], int] = {}
    for line, cells in _rows(
        path, text, names if reads_capacity(deployment, entity) else names[:3]
    ):
        where, name = f"{path}, line {line}", cells[0]
        if name not in deployment.entities:
            raise DataError(
                f"{where}: its entity is not in the deployment {deployment.name}; write the"
                " identifier as its file does, or leave the row out"
            )
        if entity not in (None, name):
            continue
        count = _count(where, cells, deployment)
        if (first := lines.setdefault((name, count.period), line)) != line:
            raise DataError(
                f"{where}: the same entity and period as line {first}; keep the line that is right"
            )
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


def _count(where: str, cells: list[str], deployment: Deployment) -> Count:
    name, period, count, *more = cells
    columns = deployment.columns
    capacity = deployment.entities[name].beds or more[0]
    day = _date(period)
    if day is None:
        raise DataError(
            f"{where}: column {columns.period} must hold a date like 2021-01-31, from 1900 to"
            " 2100, alone or with the time 00:00:00, without a time zone; write the date alone"
        )
    if deployment.number_of(day) is None:
        first, days = deployment.periods.first, deployment.periods.days
        raise DataError(
            f"{where}: no period begins on its date in the deployment {deployment.name}, whose"
            f" periods begin on {first} and every {days} days from then on; write the start of"
            " the period, or leave the row out"
        )
    # Suppressed cells are small counts: rows left out because of their count would tell it.
    if not _COUNT.fullmatch(count):
        raise DataError(
            f"{where}: column {columns.count} must hold a number from 0 to 999999999, such as 12"
            " or 3.4; put the true count in its place; do not leave out rows because of their count"
        )
    if not (_COUNT.fullmatch(capacity) and capacity.strip("0.")):
        raise DataError(
            f"{where}: column {columns.capacity} must hold a number above 0, up to 999999999, such"
            " as 12 or 3.4; fix the cell"
        )
    return Count(where=where, entity=name, period=day.isoformat(), count=count, capacity=capacity)


def _date(text: str) -> datetime.date | None:
    found = _DATE.fullmatch(text)
    with suppress(ValueError):
        if found and 1900 <= (day := datetime.date.fromisoformat(found[1])).year <= 2100:
            return day
    return None
