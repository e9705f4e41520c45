"""Read and check the counts that a data holder wants to release with noise.

Messages end up in logs, so no message repeats the contents of a cell.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from dpol.core.errors import DataError
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.readings import date_formats, number_formats
from dpol_weekly.holder.settings import Hospital
from dpol_weekly.noise import decimal_text
from dpol_weekly.tables.cells import parse_date, parse_decimal
from dpol_weekly.tables.files import TextTable, read_table_file

_COUNT = re.compile(r"[0-9]{1,9}(\.[0-9]{0,40})?")


@dataclass(frozen=True, kw_only=True, slots=True)
class Count:
    """One count, still raw.

    Args:
        where: its place, such as `counts.csv, line 3`.
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
    hospital: Hospital, deployment: Deployment, *, no_final_newline: bool = False
) -> list[Count]:
    """Read the rows of a holder's table for an agreement, and check each.

    Args:
        hospital: the holder's table.
        deployment: the agreement; its capacities replace those in the table.
        no_final_newline: the table is complete although its last line has no line end.

    Raises:
        DataError: the file cannot be read, may be cut short, has no rows, a row breaks a rule, or
            an entity has two rows for one period. Whether it refuses depends on no count.
    """
    path = hospital.table
    counts = list(_counts(hospital, deployment))
    packed = path.suffix in (".gz", ".xlsx", ".parquet")  # Their readers notice.
    if not (no_final_newline or packed or {*path.read_bytes()[-2:]} & {*b"\r\n"}):
        raise DataError(
            f"{path}: the last line has no line end, so the table may be cut short; copy it again,"
            " or add --no-final-newline if it is complete"
        )
    if not counts:
        raise DataError(f"{path}: holds no row of {', '.join(hospital.texts)}; add rows to release")
    return counts


def in_time(
    counts: list[Count], deployment: Deployment, today: datetime.date | None = None
) -> list[Count]:
    """Return the counts in periods when their entity takes part, by period and entity.

    The order of the table's rows goes no further: a table may be sorted by its counts.

    Args:
        counts: counts of a table.
        deployment: the agreement: who takes part, and how long a period is.
        today: today's date; None: the computer's.

    Raises:
        DataError: a period is not over, or no count belongs to a period of its entity.
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
            f"{counts[0].where}, and further lines: no row is within the dates of its entity in"
            f" the deployment {deployment.name}; check the dates, or agree on others"
        )
    return sorted(kept, key=lambda count: (count.period, count.entity))


def _counts(hospital: Hospital, deployment: Deployment) -> Iterator[Count]:
    columns, table = hospital.columns, _table(hospital, deployment)
    places: dict[tuple[str, str], str] = {}
    held = {name: [row[place] for row in table.rows] for place, name in enumerate(table.header)}
    forms = {
        name: table.typed.get(name) or hospital.format.of_column(cells)
        for name, cells in held.items()
    }
    for column, cell in _cells(hospital, deployment, table):
        day = parse_date(cell.period, forms[columns.period])
        if day is None:
            raise _no_date(cell.where, columns.period, held[columns.period])
        entity = deployment.entities[cell.entity]
        if not cell.count and hospital.wide and not entity.takes_part(day):
            continue
        if deployment.number_of(day) is None:
            begun, days = deployment.periods.first, deployment.periods.days
            raise DataError(
                f"{cell.where}: no period begins on its date in the deployment {deployment.name},"
                f" whose periods begin on {begun} and every {days} days from then on; write the"
                " start of the period, or leave the row out"
            )
        if (first := places.setdefault((cell.entity, day.isoformat()), cell.where)) != cell.where:
            raise DataError(
                f"{cell.where}: the same entity and period as {first}; keep the line that is"
                " right, or name the column of entities in columns.entity"
            )
        count = parse_decimal(cell.count, forms[column])
        # Suppressed cells are small counts: rows left out because of their count would tell it.
        if count is None or not _COUNT.fullmatch(count):
            more = "put the true count in its place; do not leave out rows because of their count"
            raise _no_number(cell.where, column, "from 0", held[column], more)
        capacity = entity.beds
        if capacity is None:
            name = str(columns.capacity)
            capacity = parse_decimal(cell.capacity, forms[name])
            if capacity is None or not (_COUNT.fullmatch(capacity) and capacity.strip("0.")):
                raise _no_number(cell.where, name, "above 0", held[name], "fix the cell")
            capacity = decimal_text(Decimal(capacity))
        yield replace(cell, period=day.isoformat(), count=count, capacity=capacity)


def _table(hospital: Hospital, deployment: Deployment) -> TextTable:
    """Return the columns to read, without the rows to leave out and without surrounding blanks."""
    use = hospital.use(deployment)
    names = [*use.keys, *use.counts, *use.capacities, *hospital.drop_where]
    plain = read_table_file(hospital.table, names, hospital.format)
    rows, lines = [], []
    dropped = [(plain.header.index(name), texts) for name, texts in hospital.drop_where.items()]
    for line, row in zip(plain.lines, plain.rows, strict=True):
        cells = [cell.strip() for cell in row]
        if not any(cells[place] in texts for place, texts in dropped):
            rows.append(cells)
            lines.append(line)
    return TextTable(header=plain.header, rows=rows, lines=lines, typed=plain.typed)


def _cells(
    hospital: Hospital, deployment: Deployment, table: TextTable
) -> Iterator[tuple[str, Count]]:
    """Yield the counts of the holder's entities as they are written, with their columns."""
    columns, wide = hospital.columns, hospital.wide
    place_of = {name: place for place, name in enumerate(table.header)}
    names = {text: name for name, text in hospital.texts.items()}
    capacity = place_of.get(str(columns.capacity))
    for line, row in zip(table.lines, table.rows, strict=True):
        where = f"{hospital.table}, line {line}"
        if wide:
            members = [(name, text) for text, name in names.items()]
        elif columns.entity is None:
            members = [(next(iter(hospital.texts)), columns.count)]
        else:
            text = row[place_of[columns.entity]]
            members = [(names[text], columns.count)] if text in names else []
            if not members and text not in deployment.entities:
                raise DataError(
                    f"{where}: its entity is neither in the file of this holder nor in the"
                    f" deployment {deployment.name}; name it in entities, or leave out such rows"
                    " with drop_where"
                )
        for name, column in members:
            cell = Count(
                where=f"{where}, column {column}" if wide else where,
                entity=name,
                period=row[place_of[columns.period]],
                count=row[place_of[column]],
                capacity="" if capacity is None else row[capacity],
            )
            yield column, cell


def _no_date(where: str, column: str, cells: Sequence[str]) -> DataError:
    fitting = [f"date: {date}" for date in date_formats({*cells})]
    remedy = (
        "write days as 2021-01-31 and weeks as 2021-W05, or leave out such rows with drop_where"
    )
    return DataError(
        f"{where}: column {column} must hold a date as format.date says, from 1900 to 2100, alone"
        f" or with the time 00:00:00, without a time zone; {_set(fitting) if fitting else remedy}"
    )


def _no_number(
    where: str, column: str, least: str, cells: Collection[str], remedy: str
) -> DataError:
    choices = [
        ", ".join(f"{key}: {json.dumps(sign)}" for key, sign in keys.items())
        for keys in number_formats({*cells})
        if keys
    ]
    return DataError(
        f"{where}: column {column} must hold a number {least}, up to 999999999, such as 12 or 3.4;"
        f" {_set(choices) if choices else remedy}"
    )


def _set(choices: Sequence[str]) -> str:
    """Return the remedy that sets keys of the format, with a choice if several may be right."""
    each = " or ".join(f"{{{keys}}}" for keys in choices)
    which = ", whichever the table means" if len(choices) > 1 else ""
    return f"set format: {each} in hospital.yaml{which}"
