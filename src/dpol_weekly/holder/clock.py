"""The clock: periods that are over, that an entity takes part in, and that follow one another."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path

from dpol.core.errors import DataError
from dpol_weekly.holder.agreed import Agreed
from dpol_weekly.holder.entries import Place
from dpol_weekly.holder.request import Request
from dpol_weekly.noise import Count

LONGEST_GAP = 8
"""The most periods between two releases of an entity, without a question."""


def in_time(request: Request, counts: Sequence[Count]) -> list[Count]:
    """The counts of periods in which their entity takes part, as a deployment says.

    Raises:
        DataError: no count is, or a date lies in the future, or a period of a deployment is not
            over.
    """
    agreed, today = request.agreed, request.today or datetime.date.today()
    kept = []
    for count in counts:
        day = datetime.date.fromisoformat(count.period)
        if agreed and not agreed.members[count.entity].takes_part(day):
            continue
        last = day + datetime.timedelta(days=agreed.terms.days - 1) if agreed else day
        if day > today or (agreed and last >= today):
            wrong = "its date lies in the future"
            if agreed:
                wrong = f"its period is not over, the last day of it is {last}"
            raise DataError(
                f"{request.table}, line {count.line}: {wrong} (today is {today}); correct the"
                " date, or leave the row out until then"
            )
        kept.append(count)
    if agreed and not kept:
        raise DataError(
            f"{request.table}: no row lies within the dates in which its entity takes part in the"
            f" deployment {agreed.terms.name}; check the dates, or agree on others"
        )
    return kept


def refuse_gap(
    table: Path, agreed: Agreed, rows: Sequence[Place], released: Mapping[int, set[str]]
) -> None:
    """Refuse a period long after the last one of its entity: its date may be mistyped.

    Args:
        table: where the rows were read.
        agreed: what the deployment says.
        rows: to be released, in the order of their periods.
        released: the periods that each entity has released.

    Raises:
        DataError: more than `LONGEST_GAP` periods lie from one to the next.
    """
    last = {entity: max(periods) for entity, periods in released.items()}
    for row in rows:
        before = last.get(row.entity, row.period)
        number_of = agreed.terms.number_of
        gap = number_of(row.period)[0] - number_of(before)[0]
        if gap > LONGEST_GAP:
            raise DataError(
                f"{table}, line {row.line}: its entity released no period after that from {before},"
                f" {gap} periods earlier; correct the date, add the periods between, or add --gap"
                " if nobody counted in them"
            )
        last[row.entity] = max(before, row.period)
