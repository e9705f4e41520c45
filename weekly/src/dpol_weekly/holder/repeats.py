"""Rows that an output may take: no period twice unless it is corrected, and one quantity.

A column that is a count in one release and a capacity in another would be published in full.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.names import folded
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.counts import Count
from dpol_weekly.holder.draws import Place
from dpol_weekly.holder.entries import (
    Output,
    agreements,
    columns_used,
    deployment_of,
    deployments,
    entities_of,
    output_at,
    periods_of,
    released_for,
    versions,
)
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.holder.settings import ColumnUse

LONGEST_GAP = 8
"""The most periods between two releases of an entity, without a question."""


def places(ledger: Ledger, counts: Sequence[Count]) -> list[Place]:
    """The places of counts in the ledger; registers entities that are new."""
    numbers = entities_of(ledger, (count.entity for count in counts))
    keys = [(numbers[count.entity], count.period) for count in counts]
    return [
        Place(count=count, entity=entity, version=version)
        for count, (entity, _), version in zip(counts, keys, versions(ledger, keys), strict=True)
    ]


def unreleased(
    ledger: Ledger,
    output: Output,
    deployment: Deployment,
    rows: Sequence[Place],
    *,
    correct: Set[str],
    gap: bool,
) -> list[Place]:
    """The rows that an output does not hold yet, and those to be corrected.

    Args:
        ledger: the ledger.
        output: to which they go.
        deployment: for which it is released.
        rows: in the order of their periods.
        correct: the periods to release again, or later than their turn.
        gap: nothing was counted in the many periods before a row.

    Raises:
        DataError: a row was released for the deployment in another output, or is of a period before
            the last one released and is not to be corrected, or long after it; or what is to be
            corrected is not in the table.
    """
    released = periods_of(ledger, output)
    elsewhere = released_for(ledger, deployment.name)
    last = {entity: max(periods) for entity, periods in released.items()}
    kept, corrected = [], set()
    for row in rows:
        where, period = row.count.where, row.count.period
        if period in released.get(row.entity, ()):
            if period in correct:
                corrected.add(period)
                kept.append(row)
            continue
        if (row.entity, period) in elsewhere:
            raise DataError(
                f"{where}: this entity and period was released for the deployment"
                f" {deployment.name} in another output; go on with the entities and the output of"
                " then, and give others a file of their own with the same ledger"
            )
        before = last.get(row.entity)
        if before and period < before:
            if period not in correct:
                raise DataError(
                    f"{where}: this period was not released, and a later one was; correct the date,"
                    f" leave the row out, or add --correct {period} to release it now"
                )
            corrected.add(period)
        if before and not gap:  # its date may be mistyped
            first, second = (
                deployment.number_on(datetime.date.fromisoformat(day)) for day in (before, period)
            )
            if second - first > LONGEST_GAP:
                raise DataError(
                    f"{where}: its entity released no period after that from {before},"
                    f" {second - first} periods earlier; correct the date, add the periods between,"
                    " or add --gap if nobody counted in them"
                )
        last[row.entity] = max(before or period, period)
        kept.append(row)
    if missing := sorted(correct - corrected):
        raise DataError(
            f"--correct: the table has no row of {missing[0]} to be corrected; give the start of a"
            " period that is in it, and was released before"
        )
    return kept


def with_beds_of_then(ledger: Ledger, deployment: Deployment, rows: Sequence[Place]) -> list[Place]:
    """Rows that have the beds agreed for their periods; an amendment may have other ones.

    Raises:
        DataError: a row is of a period before an amendment, and the agreement of then is not known.
    """
    before = {it.sha256(): it for it in agreements(ledger)} if deployment.amends else {}
    agreed_then = []
    for row in rows:
        agreed = deployment
        while agreed.amends and row.count.period < agreed.amends.since.isoformat():
            if agreed.amends.agreement not in before:
                raise DataError(
                    f"{row.count.where}: its period is before {agreed.amends.since}, and this"
                    " ledger does not know the agreement of then; release it with the file of that"
                    " agreement, or leave the row out"
                )
            agreed = before[agreed.amends.agreement]
        entity = agreed.entities.get(row.count.entity, deployment.entities[row.count.entity])
        count = replace(row.count, capacity=entity.beds or row.count.capacity)
        agreed_then.append(replace(row, count=count))
    return agreed_then


def check_output(ledger: Ledger, path: Path, deployment: Deployment) -> None:
    """Refuse to mix deployments, columns or sensitivities in an output.

    Raises:
        DataError: the ledger knows the deployment with other periods, or the output is of another
            one, or has another count sensitivity.
    """
    for before in deployments(ledger):
        if before.name == deployment.name and before.periods != deployment.periods:
            raise DataError(
                f"{ledger.path}: knows the deployment {before.name} with periods of"
                f" {before.periods.days} days from {before.periods.first} on; keep these, or give"
                " the new deployment another name"
            )
    output = output_at(ledger, path)
    held = deployment_of(ledger, output) if output else None
    if held is None:
        return
    if held.name != deployment.name:
        raise DataError(
            f"{path}: was released for the deployment {held.name}; give its file again, or choose"
            " another output"
        )
    if held.count_sensitivity != deployment.count_sensitivity:
        raise DataError(
            f"{path}: was released with another count sensitivity; agree on the same as then, or"
            " choose another output"
        )


def refuse_mixed_columns(ledger: Ledger, use: ColumnUse) -> None:
    """Refuse a capacity that is or was a count, and the reverse.

    Raises:
        DataError: such a column is to be read.
    """
    with_noise = {*map(folded, columns_used(ledger, "counts")), *map(folded, use.counts)}
    in_clear = {*map(folded, columns_used(ledger, "capacities"))}
    for name in use.capacities:
        if folded(name) in with_noise:
            raise DataError(
                f"columns.capacity: column {name} is, or was, released with noise, as a count of"
                " people; as a capacity every cell of it would be published as it is; name the"
                " column that holds the beds"
            )
    for name in use.counts:
        if folded(name) in in_clear:
            raise DataError(
                f"columns.count: column {name} was published as a capacity, without noise; noise"
                " does not hide it any more; count another column"
            )
