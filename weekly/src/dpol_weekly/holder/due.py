"""Find the counts that are due: each period once unless it is corrected, and one quantity.

A column that is a count in one release and a capacity in another would be published in full.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.names import folded
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.counts import Count
from dpol_weekly.holder.entries import agreements, released_for, seen_from
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.holder.request import Request
from dpol_weekly.records import alike


def due(
    ledger: Ledger,
    request: Request,
    counts: Sequence[Count],
    base: Path,
    *,
    closed: str,
    done: Collection[tuple[str, str]] = (),
) -> tuple[list[Count], list[Count]]:
    """Return the counts to release, and those that are late and wait to be asked for.

    No count is looked at: what is due follows from the calendar, the ledger and the request.

    Args:
        ledger: the ledger.
        request: the holder's request.
        counts: counts of the table in the order of their periods.
        base: path of the releases.
        closed: nothing up to this day is released, see `closed_until`.
        done: entities and periods of a run that was killed: it has corrected them already.

    Raises:
        DataError: a row was released for the agreement at another path; or a correction is not in
            the table, or not allowed.
    """
    deployment, correct = request.deployment, request.correct
    here, released = seen_from(ledger, base), released_for(ledger, deployment.name)
    last = dict[str, str]()
    for entity, period in (key for key, paths in released.items() if here in paths):
        last[entity] = max(last.get(entity, ""), period)
    kept, late, corrected, why_not = [], list[Count](), set[str](), dict[str, str]()
    for count in counts:
        entity, period = key = alike(count.entity), count.period
        paths = released.get(key, [])
        again = deployment.second_day(datetime.date.fromisoformat(period))
        if period <= closed:
            why_not[period] = (
                f"the ledger was begun after {closed}, or with another secret up to it"
            )
        elif here in paths:
            if again and again <= request.day and len(paths) == 1:
                kept.append(count)
            elif period in correct and key in done:
                corrected.add(period)
            elif period in correct and deployment.corrections:
                corrected.add(period)
                kept.append(count)
            else:
                why_not[period] = (
                    f"it was released, and the agreement {deployment.name} says corrections: false,"
                    " so that no coordinator takes it again"
                )
        elif paths:
            raise DataError(
                f"{count.where}: this entity and period was released for the deployment"
                f" {deployment.name} in another output; keep that output for these entities, and"
                " give other entities a file of their own with the same ledger"
            )
        elif period < last.get(entity, "") and period not in correct:
            late.append(count)
        else:
            if period < last.get(entity, ""):
                corrected.add(period)
            last[entity] = max(last.get(entity, period), period)
            kept.append(count)
    for period in sorted(correct - corrected - {count.period for count in kept}):
        if period in why_not:
            raise DataError(
                f"--correct {period}: {why_not[period]}; nothing was spent, leave --correct out"
            )
        raise DataError(
            f"--correct: the table has no row of {period} to be corrected; give the start of a"
            " period that is in it, and was released before"
        )
    return [*_with_beds_of_then(ledger, deployment, kept)], late


def refuse_renamed(
    ledger: Ledger, request: Request, table: Sequence[Count], new: Sequence[Count]
) -> None:
    """Refuse a period that was released under another name, unless the people are others.

    Two entities of an agreement count different people if both have rows for one period: in the
    table, or in the ledger, as the holder has confirmed then. No count is looked at. So whoever
    sees that a run is missing learns none, and no other way to write a count helps. Entities of
    other agreements need no such check, because their rows add up.

    Args:
        ledger: the ledger, before it releases the counts.
        request: the holder's request; it may confirm that the people are others.
        table: all counts of the holder's table.
        new: counts to release.

    Raises:
        DataError: a period was released under another name, and nothing is confirmed.
    """
    known, held = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for entity, period in released_for(ledger, request.deployment.name):
        known[entity].add(period)
    for count in table:
        held[alike(count.entity)].add(count.period)
    for count in new:
        own = alike(count.entity)
        for other in known.keys() - {own}:
            together = held[own] & held[other] or known.get(own, set()) & known[other]
            if count.period in known[other] and not (together or request.split):
                raise DataError(
                    f"{count.where}: {count.period} was released already, for {other}. If that is"
                    f" another name of {count.entity}, its people would pay twice: keep that name."
                    " If these are other people, add --split once"
                )


def _with_beds_of_then(
    ledger: Ledger, deployment: Deployment, counts: Sequence[Count]
) -> Iterator[Count]:
    """Yield the counts with the beds agreed for their periods; an amendment may change beds.

    Raises:
        DataError: a row is older than an amendment, and the ledger lacks the earlier agreement.
    """
    before = {agreement.sha256(): agreement for agreement in agreements(ledger)}
    for count in counts:
        then = deployment
        while then.amends and count.period < then.amends.since.isoformat():
            if then.amends.agreement not in before:
                raise DataError(
                    f"{count.where}: its period is before {then.amends.since}, and this ledger does"
                    " not know the agreement of then; release it with the file of that agreement,"
                    " or leave the row out"
                )
            then = before[then.amends.agreement]
        entity = then.entities.get(count.entity, deployment.entities[count.entity])
        yield replace(count, capacity=entity.beds or count.capacity)


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
