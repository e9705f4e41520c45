"""Find the counts that are due by the calendar of an agreement; and one quantity only.

A column that is a count in one release and a capacity in another would be published in full.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dpol.core.errors import DataError
from dpol.core.names import folded
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.counts import Count, Table
from dpol_weekly.holder.entries import agreements, released_for
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.holder.request import Request
from dpol_weekly.records import alike


@dataclass(frozen=True, kw_only=True)
class Due:
    """What the calendar wants of a table.

    Args:
        new: the counts to release, by period and entity.
        again: number of these that were released before.
        skipped: number of places and periods that were released, and are not due again.
        impossible: places and periods that are due, and why they cannot be released.
    """

    new: Sequence[Count]
    again: int
    skipped: int
    impossible: Mapping[tuple[str, str], str]


def due(
    ledger: Ledger,
    request: Request,
    table: Table,
    label: str,
    *,
    closed: str,
) -> Due:
    """Return what is due: each place and period of the calendar from its first release on.

    No count is looked at: what is due follows from the calendar and the ledger. A
    place begins with the first period that its table can hold.

    Args:
        ledger: the ledger.
        request: the holder's request.
        table: the table; its rows decide only where the holder's file says that zeros are written.
        label: how the files of the releases begin.
        closed: nothing up to this day is released, see `closed_until`.

    Raises:
        DataError: a period was released under another label.
    """
    deployment = request.deployment
    released = released_for(ledger, deployment.name)
    wanted, impossible = list[tuple[str, str]](), dict(table.unread)
    skipped = 0
    for name, calendar in table.calendar.items():
        known = {period for entity, period in released if entity == alike(name)}
        there = [it for it in calendar if (name, it) in table.counts and it > closed]
        start = min(known) if known else (there or calendar[-1:] or [""])[0]
        for period in calendar:
            labels = released.get((alike(name), period), [])
            second = deployment.second_day(datetime.date.fromisoformat(period))
            if labels and label not in labels:
                raise DataError(
                    f"{name}, {period}: was released in the files {labels[0]}-*.json; keep these"
                    " entities together, and give other entities a file of their own with the same"
                    " ledger"
                )
            is_due = period >= start if not labels else len(labels) == 1 and _over(second, request)
            if not is_due or (period <= closed and not labels):
                impossible.pop((name, period), None)
                skipped += bool(labels)
            elif period <= closed:
                impossible[name, period] = "it was released with another secret"
            else:
                wanted.append((name, period))
    new = [table.counts[it] for it in wanted if it not in impossible]
    before = {agreement.sha256(): agreement for agreement in agreements(ledger)}
    with_beds = list[Count]()
    for count in sorted(new, key=lambda it: (it.period, it.entity)):
        try:
            with_beds.append(_with_beds_of_then(before, deployment, count))
        except LookupError:
            impossible[count.entity, count.period] = "this ledger lacks the agreement of then"
    again = sum((alike(it.entity), it.period) in released for it in with_beds)
    return Due(new=with_beds, again=again, skipped=skipped, impossible=impossible)


def _over(second: datetime.date | None, request: Request) -> bool:
    return second is not None and second <= request.day


def refuse_renamed(ledger: Ledger, request: Request, table: Table, new: Sequence[Count]) -> None:
    """Refuse a period that was released under another name, unless the people are others.

    Two entities of an agreement count different people if both take part in one period: in one
    file of the holder, or in the ledger, as the holder has confirmed then. No count is looked at.
    So whoever sees that a run is missing learns none, and no other way to write a count helps.
    Entities of other agreements need no such check, because their rows add up.

    Args:
        ledger: the ledger, before it releases the counts.
        request: the holder's request; it may confirm that the people are others.
        table: the holder's table.
        new: counts to release.

    Raises:
        DataError: a period was released under another name, and nothing is confirmed.
    """
    known = defaultdict[str, set[str]](set)
    for entity, period in released_for(ledger, request.deployment.name):
        known[entity].add(period)
    held = {alike(name): {*calendar} for name, calendar in table.calendar.items()}
    for count in new:
        own = alike(count.entity)
        for other in known.keys() - {own}:
            together = held[own] & held.get(other, set()) or known.get(own, set()) & known[other]
            if count.period in known[other] and not (together or request.split):
                raise DataError(
                    f"{count.where}: {count.period} was released already, for {other}. If that is"
                    f" another name of {count.entity}, its people would pay twice: keep that name."
                    " If these are other people, add --split once"
                )


def _with_beds_of_then(
    before: Mapping[str, Deployment], deployment: Deployment, count: Count
) -> Count:
    """Return a count with the beds agreed for its period; an amendment may change beds.

    Raises:
        KeyError: the period is older than an amendment, and the ledger lacks the agreement before.
    """
    then = deployment
    while then.amends and count.period < then.amends.since.isoformat():
        then = before[then.amends.agreement]
    entity = then.entities.get(count.entity, deployment.entities[count.entity])
    return replace(count, capacity=entity.beds or count.capacity)


def refuse_mixed_columns(ledger: Ledger, count: str, published: str | None) -> None:
    """Refuse a capacity column that is or was a count column, and the reverse.

    Args:
        ledger: the ledger; it knows the columns of earlier runs.
        count: the column that gets noise.
        published: the column of capacities that is published; None: there is none.

    Raises:
        DataError: a column has both roles.
    """
    runs = ledger.execute("SELECT DISTINCT count_column, capacity_column FROM run").fetchall()
    if published and folded(published) in {folded(count), *(folded(it) for it, _ in runs)}:
        raise DataError(
            f"columns.capacity: column {published} is, or was, released with noise, as a count of"
            " people, and a capacity is published without noise; name the column that holds the"
            " beds"
        )
    if folded(count) in {folded(it) for _, it in runs if it}:
        raise DataError(
            f"columns.count: column {count} was published as a capacity, without noise; noise does"
            " not hide it any more; count another column"
        )
