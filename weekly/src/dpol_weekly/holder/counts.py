"""Read and check the counts that a data holder wants to release with noise.

Messages end up in logs, so no message repeats the contents of a cell.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
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


def read_counts(request: Request) -> list[Count]:
    """Read the rows of a holder's table for an agreement, and check each.

    Args:
        request: the holder's request. Capacities of the agreement replace those in the table.

    Raises:
        DataError: the file cannot be read, may be cut short, has no rows, a row breaks a rule, or
            an entity has two rows for one period. Whether it refuses depends on no count.
    """
    path = request.hospital.table
    counts = list(_counts(request.hospital, request.deployment))
    packed = path.suffix == ".xlsx"  # Its reader notices.
    if not (request.no_final_newline or packed or {*path.read_bytes()[-2:]} & {*b"\r\n"}):
        raise DataError(
            f"{path}: the last line has no line end, so the table may be cut short; copy it again,"
            " or add --no-final-newline if it is complete"
        )
    if not counts:
        raise DataError(
            f"{path}: holds no row of {', '.join(request.hospital.entities)}; add rows to release"
        )
    return counts


def in_time(counts: list[Count], deployment: Deployment, today: datetime.date) -> list[Count]:
    """Return the counts in periods when their entity takes part, by period and entity.

    The order of the table's rows goes no further: a table may be sorted by its counts.

    Args:
        counts: counts of a table.
        deployment: the agreement: who takes part, and how long a period is.
        today: today's date.

    Raises:
        DataError: a period is not over.
    """
    kept = []
    for count in counts:
        day = datetime.date.fromisoformat(count.period)
        if not deployment.entities[count.entity].takes_part(day):
            continue
        last = deployment.last_day(day)
        if last >= today:
            raise DataError(
                f"{count.where}: its period is not over, the last day of it is {last} (today is"
                f" {today}); correct the date, or leave the row out until then"
            )
        kept.append(count)
    return sorted(kept, key=lambda count: (count.period, count.entity))


def _counts(hospital: Hospital, deployment: Deployment) -> Iterator[Count]:
    columns, form = hospital.columns, hospital.format
    wanted = columns.entity, columns.period, columns.count, hospital.published(deployment)
    names = {text: name for name, text in hospital.entities.items()}
    places: dict[tuple[str, str], str] = {}
    for line, cells in read_table(hospital.table, [*filter(None, wanted)], form):
        where = f"{hospital.table}, line {line}"
        text = next(iter(names)) if columns.entity is None else cells[columns.entity]
        if text not in names:
            if text in deployment.entities:
                continue  # of another file of this holder
            raise DataError(
                f"{where}: its entity is neither in the file of this holder nor in the deployment"
                f" {deployment.name}; name it in entities, or leave such rows out of the table"
            )
        day = parse_date(cells[columns.period], form)
        if day is None:
            raise DataError(
                f"{where}: column {columns.period} must hold a date as format.date says"
                f" ({form.date}), from 1900 to 2100, without a time other than 00:00:00; write it"
                f" so, or set format.date in hospital.yaml to one of {', '.join(DATES)}"
            )
        entity = deployment.entities[names[text]]
        if deployment.number_of(day) is None:
            begun, days = deployment.periods.first, deployment.periods.days
            raise DataError(
                f"{where}: no period begins on its date in the deployment {deployment.name}; they"
                f" begin every {days} days from {begun} on; write the start of the period"
            )
        if (first := places.setdefault((text, day.isoformat()), where)) != where:
            raise DataError(
                f"{where}: the same entity and period as {first}; keep the line that is right, or"
                " name the column of entities in columns.entity"
            )
        count, capacity = parse_count(cells[columns.count], form), entity.beds
        if count is None:
            # Suppressed cells are small: rows left out for their count would tell it.
            more = "put the true count in its place; do not leave out rows because of their count"
            raise _no_number(where, columns.count, "from 0", form, more)
        if capacity is None:
            beds = parse_count(cells[str(columns.capacity)], form)
            if beds is None or not beds.strip("0."):
                raise _no_number(where, str(columns.capacity), "above 0", form, "fix the cell")
            capacity = decimal_text(Decimal(beds))
        yield Count(
            where=where,
            place=text,
            entity=names[text],
            period=day.isoformat(),
            count=count,
            capacity=capacity,
        )


def _no_number(where: str, column: str, least: str, form: Format, remedy: str) -> DataError:
    return DataError(
        f"{where}: column {column} must hold a number {least}, up to 999999999, such as 12 or"
        f" 3{form.decimal}4 (format.decimal in hospital.yaml), and is blank, suppressed or another"
        f" text; {remedy}"
    )
