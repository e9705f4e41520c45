"""Read and check the counts that a data holder wants to release with noise.

Messages end up in logs, so no message repeats the contents of a cell.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal

from dpol.core.errors import DataError
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.request import Request
from dpol_weekly.holder.settings import Hospital
from dpol_weekly.noise import decimal_text
from dpol_weekly.tables import DATES, Format, parse_count, parse_date, read_table


@dataclass(frozen=True, kw_only=True, slots=True)
class Count:
    """One count, still raw.

    Args:
        where: its line, such as `counts.csv, line 3`.
        place: its place, as the holder's own file says that the table names it.
        entity: identifier.
        period: date, YYYY-MM-DD.
        count: decimal text.
        capacity: decimal text.
    """

    where: str
    place: str
    entity: str
    period: str
    count: str = field(repr=False)
    capacity: str


@dataclass(frozen=True, kw_only=True)
class Table:
    """What a holder's table says of its calendar: agreed places and periods that are over.

    Which rows a table has may depend on its counts, so nothing that leaves depends on that, unless
    the holder's file says that zeros are written.

    Args:
        counts: the counts by entity and period, YYYY-MM-DD; where `zero` is `missing`, all.
        calendar: the periods of each entity in which it takes part and that are over, in order.
        unread: why a period of the calendar cannot be in the table, by entity and period.
        strangers: number of rows of places that neither the holder's file nor the agreement names.
    """

    counts: Mapping[tuple[str, str], Count]
    calendar: Mapping[str, Sequence[str]]
    unread: Mapping[tuple[str, str], str]
    strangers: int


def read_counts(request: Request) -> Table:
    """Read a holder's table for the calendar of an agreement, and check each row of that.

    Args:
        request: the holder's request. Capacities of the agreement replace those in the table.

    Raises:
        DataError: the file cannot be read or may be cut short, a row of the calendar breaks a rule,
            or an entity has two rows for one period. Whether it refuses depends on no count.
    """
    hospital, deployment = request.hospital, request.deployment
    path = hospital.table
    calendar = {name: _calendar(deployment, name, request.day) for name in hospital.entities}
    unread = dict(_unread(request, calendar))
    rows, strangers = _rows(hospital, deployment)
    wanted = {(name, day) for name, days in calendar.items() for day in days} - unread.keys()
    counts = dict[tuple[str, str], Count]()
    for where, name, day, cells in rows:
        if (place := (name, day)) not in wanted:
            continue
        if place in counts:
            raise DataError(
                f"{where}: the same entity and period as {counts[place].where}; keep the line that"
                " is right, or name the column of entities in columns.entity"
            )
        counts[place] = _count(hospital, deployment, where, place, cells)
    if not {*path.read_bytes()[-2:]} & {*b"\r\n"}:
        raise DataError(
            f"{path}: the last line has no line end, so the table may be cut short; copy it again,"
            " or, if it is complete, end its last line"
        )
    for place in wanted - counts.keys():
        if hospital.zero == "missing":
            counts[place] = _count(hospital, deployment, f"{path}, without a line", place, None)
        else:
            unread[place] = "the table has no row"
    return Table(counts=counts, calendar=calendar, unread=unread, strangers=strangers)


def _calendar(deployment: Deployment, name: str, today: datetime.date) -> list[str]:
    """Return the periods that are over and in which an entity takes part."""
    days = map(deployment.period_of, range(deployment.number_on(today)))
    return [it.isoformat() for it in days if deployment.entities[name].takes_part(it)]


def _unread(
    request: Request, calendar: Mapping[str, Sequence[str]]
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the places and periods that an export does not reach, and why."""
    hospital, deployment, covers = request.hospital, request.deployment, request.hospital.covers
    running = deployment.number_on(request.day)
    written = "9999-12-31"
    if hospital.zero == "missing":  # rows do not show how old it is
        with suppress(OSError):
            modified = hospital.table.stat().st_mtime
            written = datetime.date.fromtimestamp(modified).isoformat()
    for name, periods in calendar.items():
        for period in periods:
            day = datetime.date.fromisoformat(period)
            back = running - deployment.number_on(day)
            if back > covers if isinstance(covers, int) else covers != "all" and day < covers:
                yield (name, period), "the export does not reach so far back, as covers says"
            elif deployment.last_day(day).isoformat() > written:
                yield (name, period), f"the table was written before its end, on {written}"


def _rows(
    hospital: Hospital, deployment: Deployment
) -> tuple[list[tuple[str, str, str, dict[str, str]]], int]:
    """Return the rows of the holder's places, and the number of rows of strangers.

    A row has its line, entity, period and cells.
    """
    columns, form, found, strangers = hospital.columns, hospital.format, [], 0
    wanted = columns.entity, columns.period, columns.count, hospital.published(deployment)
    names = {text: name for name, text in hospital.entities.items()}
    rows = read_table(hospital.table, [*filter(None, wanted)], form)
    for line, cells in rows:
        where = f"{hospital.table}, line {line}"
        text = next(iter(names)) if columns.entity is None else cells[columns.entity]
        if text not in names:
            strangers += text not in deployment.entities  # else of another file of this holder
            continue
        day = parse_date(cells[columns.period], form.date)
        if day is None:
            raise DataError(
                f"{where}: column {columns.period} must hold a date as format.date says"
                f" ({form.date}), from 1900 to 2100, without a time other than 00:00:00; write it"
                f" so, or set format.date in hospital.yaml to one of {', '.join(DATES)}"
            )
        if form.day == "last":
            day -= datetime.timedelta(days=deployment.periods.days - 1)
        begun, days = deployment.periods.first, deployment.periods.days
        if (day - begun).days % days:
            raise DataError(
                f"{where}: no period {'ends' if form.day == 'last' else 'begins'} on its date in"
                f" the deployment {deployment.name}; they begin every {days} days from {begun} on;"
                " write the start of the period, or set format.day and format.date in hospital.yaml"
            )
        found.append((where, names[text], day.isoformat(), cells))
    return found, strangers


def _count(
    hospital: Hospital,
    deployment: Deployment,
    where: str,
    place: tuple[str, str],
    cells: Mapping[str, str] | None,
) -> Count:
    """Return the count of a row; without cells, or with a blank one that means it, 0."""
    columns, form, (name, period) = hospital.columns, hospital.format, place
    blank = cells is None or (hospital.zero == "blank" and not cells[columns.count])
    count = "0" if blank or cells is None else parse_count(cells[columns.count], form)
    if count is None:
        # Suppressed cells are small: rows left out for their count would tell it.
        more = "put the true count in its place; do not leave out rows because of their count"
        raise _no_number(where, columns.count, "from 0", form, more)
    capacity = deployment.entities[name].beds
    if capacity is None:
        beds = parse_count((cells or {}).get(str(columns.capacity), ""), form)
        if beds is None or not beds.strip("0."):
            raise _no_number(where, str(columns.capacity), "above 0", form, "fix the cell")
        capacity = decimal_text(Decimal(beds))
    return Count(
        where=where,
        place=hospital.entities[name],
        entity=name,
        period=period,
        count=count,
        capacity=capacity,
    )


def _no_number(where: str, column: str, least: str, form: Format, remedy: str) -> DataError:
    return DataError(
        f"{where}: column {column} must hold a number {least}, up to 999999999, such as 12 or"
        f" 3{form.decimal}4 (format.decimal and thousands in hospital.yaml), and is blank,"
        f" suppressed or another text; {remedy}"
    )
