"""Read and check the counts that a data holder wants to release with noise.

Messages end up in logs, so no message repeats the contents of a cell.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from dpol.core.errors import DataError
from dpol.core.words import counted, listed
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.settings import Hospital
from dpol_weekly.noise import decimal_text
from dpol_weekly.tables import parse_count, parse_date, read_table

Place = tuple[str, str]
"""An entity, and the first day of a period, YYYY-MM-DD."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Count:
    """One count, still raw: its line, the count and the capacity, as decimal text."""

    where: str
    count: str = field(repr=False)
    capacity: str


@dataclass(frozen=True, kw_only=True)
class Table:
    """What a holder's table says of its calendar: agreed places and periods that are over.

    Which rows a table has may depend on its counts, so nothing that leaves depends on that, unless
    the holder's file says that zeros are written.

    Args:
        counts: the counts; where `zero` is `missing`, of all that the table covers.
        calendar: the periods of each entity in which it takes part and that are over, in order.
        unread: why a period of the calendar cannot be in the table.
        warnings: what the holder alone should see; it may tell something of a count.
    """

    counts: Mapping[Place, Count]
    calendar: Mapping[str, Sequence[str]]
    unread: Mapping[Place, str]
    warnings: Sequence[str]


def read_counts(
    hospital: Hospital,
    deployment: Deployment,
    *,
    today: datetime.date,
    through: datetime.date | None = None,
    first: bool = False,
) -> Table:
    """Read a holder's table for the calendar of an agreement, and check each row of that.

    A line of no place of the holder, or without a date, refuses nothing: whether it is there may
    depend on one patient.

    Args:
        hospital: the table, and how it is written.
        deployment: the agreement. Its capacities replace those in the table.
        today: today's date.
        through: last day that the table covers; None: as `covers` says.
        first: refuse a place without any row, as its name may be wrong; nothing was released yet.

    Raises:
        DataError: the file cannot be read, a row of the calendar breaks a rule, an entity has two
            rows for one period, or nothing says what an absent row means. Whether it refuses
            depends on no count.
    """
    path, missing = hospital.table, hospital.zero == "missing"
    if through is None and hospital.covers:
        through = today - datetime.timedelta(days=hospital.covers == "yesterday")
    if through is None and missing:
        raise DataError(
            f"{path}: an absent row is a count of 0 only up to the last day that the export covers:"
            " let the export job say it with --through DATE, or write covers: today or covers:"
            " yesterday into hospital.yaml"
        )
    columns, form, odd = hospital.columns, hospital.format, Counter[str]()
    needed = columns.entity, columns.period, columns.count, hospital.published(deployment)
    begun, length = deployment.periods.first, deployment.periods.days
    days = [*map(deployment.period_of, range(deployment.number_on(today)))]  # those that are over
    calendar = {
        name: [str(it) for it in days if deployment.entities[name].takes_part(it)]
        for name in hospital.entities
    }
    unread = dict(_unread(hospital, deployment, calendar, today, through))
    wanted = {(name, day) for name, days in calendar.items() for day in days} - unread.keys()
    names = {text: name for name, text in hospital.entities.items()}
    table = read_table(path, [*filter(None, needed)], form, may_be_empty=missing)
    counts, silent = dict[Place, Count](), dict.fromkeys(calendar)
    for number, cells, width in table.lines:
        where = f"{path}, line {number}"
        text = next(iter(names)) if columns.entity is None else cells[columns.entity]
        if text not in names:
            odd["of places that are neither in your file nor in the agreement"] += (
                text not in deployment.entities  # else of another file of this holder
            )
            continue
        day = parse_date(cells[columns.period], form.date)
        if day is None:
            odd[f"without a date that format.date ({form.date}) reads"] += 1
            continue
        silent.pop(names[text], None)
        if form.day == "last":
            day -= datetime.timedelta(days=length - 1)
        if (day - begun).days % length:
            raise DataError(
                f"{where}: no period {'ends' if form.day == 'last' else 'begins'} on its date; they"
                f" begin every {length} days from {begun} on; write the start of the period, or set"
                " format.day and format.date in hospital.yaml"
            )
        if width != table.width:
            raise DataError(
                f"{where}: has {counted(width, 'cell')}, but the header has {table.width}. Quote"
                f" cells that hold {form.delimiter!r}, or if the file is cut short here, get an"
                " intact copy of it"
            )
        place = names[text], day.isoformat()
        if place in counts:
            raise DataError(
                f"{where}: the same entity and period as {counts[place].where}; keep the line that"
                " is right, or name the column of entities in columns.entity"
            )
        if place in wanted:
            counts[place] = _count(hospital, deployment, where, place[0], cells)
    odd["below a blank line"] = table.below
    told = [f"{counted(n, 'line')} left out, {why}" for why, n in odd.items() if n]
    if silent:
        lost = f"the table has no row of {listed(silent)}"
        if first:
            raise DataError(
                f"{path}: {lost}: write under entities in hospital.yaml the text that the table has"
                " for each, or begin with a table that has one"
            )
        told.append(f"{lost}. If the table writes another text, correct entities")
    covered = {day for _, day in wanted}
    if missing and (empty := sorted(covered - {day for _, day in counts})):
        told.append(
            f"The table has no row at all for {listed(empty[-5:])}: zeros are released. If these"
            " weeks were not counted, write their dates under unknown in hospital.yaml"
        )
    for place in wanted - counts.keys():
        if missing:
            counts[place] = _count(hospital, deployment, f"{path}, without a line", place[0], None)
        else:
            unread[place] = "the table has no row"
    if any(Decimal(it.count) > Decimal(it.capacity) for it in counts.values()):
        told.append("Some count is above its capacity, and is released like any other")
    return Table(counts=counts, calendar=calendar, unread=unread, warnings=told)


def _unread(
    hospital: Hospital,
    deployment: Deployment,
    calendar: Mapping[str, Sequence[str]],
    today: datetime.date,
    through: datetime.date | None,
) -> Iterator[tuple[Place, str]]:
    """Yield the places and periods that an export does not reach, and why."""
    running = deployment.number_on(today)
    end = running if through is None else deployment.number_on(through + datetime.timedelta(days=1))
    for name, periods in calendar.items():
        for period in periods:
            number = deployment.number_on(datetime.date.fromisoformat(period))
            if hospital.reaches != "all" and number < running - hospital.reaches:
                yield (name, period), "the export does not reach so far back, as reaches says"
            elif number >= end:
                yield (name, period), f"the export covers nothing after {through}"


def _count(
    hospital: Hospital,
    deployment: Deployment,
    where: str,
    name: str,
    cells: Mapping[str, str] | None,
) -> Count:
    """Return the count of a row; without cells, or with a cell that means it, 0."""
    columns, form = hospital.columns, hospital.format
    zero = "" if hospital.zero == "blank" else hospital.zero
    cell = zero if cells is None else cells[columns.count]
    count = "0" if cell == zero else parse_count(cell, form)
    wrong, least, beds = columns.count, "from 0", deployment.entities[name].beds
    if count is not None and beds is None:
        wrong, least = str(columns.capacity), "above 0"
        told = parse_count((cells or {}).get(wrong, ""), form)
        beds = decimal_text(Decimal(told)) if told and told.strip("0.") else None
    if count is None or beds is None:
        # Suppressed cells are small: rows left out for their count would tell it.
        raise DataError(
            f"{where}: column {wrong} must hold a number {least}, up to 999999999, such as 12 or"
            f" 3{form.decimal}4 (format.decimal and thousands in hospital.yaml), and is blank,"
            " suppressed or another text; put the true number in its place, or name the text that"
            " means 0 in zero; do not leave out rows because of their count"
        )
    return Count(where=where, count=count, capacity=beds)
