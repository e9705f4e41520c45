"""Repeats that would spend the privacy of the same people twice, by intent or by accident."""

from __future__ import annotations

import datetime
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.names import folded
from dpol.core.rounding import rounded_up
from dpol_weekly.holder import entries
from dpol_weekly.holder.agreed import Agreed, AgreedTerms
from dpol_weekly.holder.clock import refuse_gap
from dpol_weekly.holder.entries import Place, Released
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.holder.request import Choices, Request
from dpol_weekly.noise import Count, decimal_text

_NEAR = 7  # Days, where the length of a period is not known.
History = Mapping[int, Sequence[Released]]
"""All releases of entities, by number."""


def places(
    ledger: Ledger, table: Path, rows: Iterable[tuple[int, str, str]], choices: Choices
) -> list[Place]:
    """The places of a table's rows in the ledger; registers names that are new.

    Args:
        ledger: the ledger.
        table: where the rows were read.
        rows: line, name and period.
        choices: what names that are much alike mean.

    Raises:
        DataError: a name is much like another one, and `choices` does not say what that means.
    """
    numbers: dict[str, tuple[int, int]] = {}
    lines: dict[str, int] = {}
    seen: dict[int, Counter[str]] = {}
    found: list[Place] = []
    for line, text, period in rows:
        if text not in numbers:
            numbers[text] = entries.name_of(ledger, text) or _new_name(
                ledger, f"{table}, line {line}", text, lines, choices
            )
            lines[text] = line
        name, entity = numbers[text]
        if entity not in seen:
            seen[entity] = Counter(one.period for one in entries.releases_of(ledger, entity))
        seen[entity][period] += 1
        found.append(Place(line, name, entity, period, seen[entity][period]))
    return found


def refuse_repeats(ledger: Ledger, request: Request, rows: Sequence[Place]) -> None:
    """Refuse what would spend privacy again, unless the request says that it is meant.

    Raises:
        DataError: a row was released before, is too near to one that was, or has another noise
            than the entity's last. Where a deployment allows no corrections, no request may say
            that the first of these is meant.
    """
    entities = {row.entity for row in rows}
    released = {entity: entries.releases_of(ledger, entity) for entity in entities}
    _refuse_again(ledger, request, rows)
    if not request.choices.again:
        _refuse_second_releases(ledger, request, rows, released)
    if not request.choices.change_noise:
        _refuse_other_noise(request, rows, released)
    _refuse_near_periods(request, rows, released)


def unreleased(
    ledger: Ledger,
    output: entries.Output | None,
    request: Request,
    agreed: Agreed,
    rows: Sequence[tuple[Place, Count]],
) -> list[tuple[Place, Count]]:
    """The rows that an output does not hold yet, and those to be corrected.

    Raises:
        DataError: a row is of a period before the last one released, and corrections are not
            allowed, or long after it; or what is to be corrected was never released, or is not in
            the table.
    """
    table = request.table
    released = entries.periods_of(ledger, output) if output else {}
    kept, corrected = [], set()
    for place, row in rows:
        before = released.get(place.entity, set())
        if place.period in before:
            if place.period not in agreed.correct:
                continue
            corrected.add(place.period)
        elif before and place.period < max(before) and not agreed.corrections:
            raise DataError(
                f"{table}, line {place.line}: this period was not released, and a later one was;"
                f" the deployment {agreed.terms.name} does not allow that; leave the row out, or"
                " agree on corrections: true"
            )
        kept.append((place, row))
    if missing := sorted(agreed.correct - corrected):
        raise DataError(
            f"{table}: no row of {missing[0]} was released before, so none can be corrected; give"
            " --correct the start of a period that was released and is in the table"
        )
    if not request.choices.gap:
        refuse_gap(table, agreed, [place for place, _ in kept], released)
    return kept


def check_deployment(
    ledger: Ledger, path: Path, output: entries.Output | None, terms: AgreedTerms | None
) -> None:
    """Refuse to mix deployments, or what is released for one with what is not.

    Raises:
        DataError: the ledger knows the deployment with other periods, or the output is of another
            one, or of none.
    """
    for known in entries.deployments(ledger):
        if (
            terms
            and known.name == terms.name
            and (known.first, known.days) != (terms.first, terms.days)
        ):
            raise DataError(
                f"{ledger.path}: knows the deployment {terms.name} with periods of {known.days}"
                f" days from {known.first} on; keep these, or give the new deployment another name"
            )
    # What was taken in from a lost ledger is of any: its record does not say.
    if output and not all(run.imported for run in entries.runs_of(ledger, output)):
        of = entries.deployment_of(ledger, output)
        name = of and of.name
        if name != (terms and terms.name):
            was = (
                f"for the deployment {name}; give its file" if of else "without a deployment; do so"
            )
            raise DataError(f"{path}: was released {was} again, or choose another output")


def _new_name(
    ledger: Ledger, where: str, text: str, lines: dict[str, int], choices: Choices
) -> tuple[int, int]:
    fold = folded(text)
    alike = entries.names_folded(ledger, fold)
    entities = {entity for _, entity in alike}
    if alike and not (choices.new_entity or choices.same_entity):
        other = alike[0][0]
        there = f"on line {lines[other]}" if other in lines else repr(other)
        raise DataError(
            f"{where}: the name differs from the one {there} only in its spelling (Unicode form,"
            " case, spaces, zeros, punctuation, look-alike letters); write it as there, or add"
            " --same-entity if both are one entity, --new-entity if not"
        )
    if len(entities) > 1 and choices.same_entity:
        raise DataError(
            f"{where}: the name is like those of {len(entities)} entities; write it as it was"
            " released before"
        )
    same = entities.pop() if choices.same_entity and entities else None
    return entries.add_name(ledger, text, fold, same)


def _refuse_again(ledger: Ledger, request: Request, rows: Sequence[Place]) -> None:
    if request.agreed is None or request.agreed.corrections:
        return
    name = request.agreed.terms.name
    before = entries.released_for(ledger, name)
    if twice := [row for row in rows if (row.entity, row.period) in before]:
        raise DataError(
            f"{request.table}, line {twice[0].line}: this entity and period was released for the"
            f" deployment {name} in another output, and the deployment allows no corrections; go"
            " on with that output, or agree on corrections: true"
        )


def _refuse_second_releases(
    ledger: Ledger, request: Request, rows: Sequence[Place], released: History
) -> None:
    meant = request.agreed.correct if request.agreed else ()
    twice = [row for row in rows if row.version > 1 and row.period not in meant]
    if not twice:
        return
    before = [[one for one in released[row.entity] if one.period == row.period] for row in twice]
    most = max(
        sum(Fraction(one.mu) ** 2 for one in ones)
        + (row.version - len(ones)) * Fraction(request.noise.mu) ** 2
        for row, ones in zip(twice, before, strict=True)
    )
    if not before[0]:
        where = "another line, under another name,"
    elif (ledger.path.parent / before[0][0].path).resolve() == request.output.resolve():
        where = str(request.output)
    else:
        where = f"{before[0][0].path} (another output of this ledger)"
    raise DataError(
        f"{request.table}, line {twice[0].line}: {where} holds this entity and period already"
        f" ({len(twice)} of {len(rows)} rows are such); releasing them again spends their budget"
        f" twice, mu becomes {rounded_up(math.sqrt(most), 4)}: leave them out, or add --again if"
        " you mean it"
    )


def _refuse_other_noise(request: Request, rows: Sequence[Place], released: History) -> None:
    mu, sensitivity = request.noise.mu, request.noise.count_sensitivity
    for row in rows:
        for last in released[row.entity][-1:]:
            if (Decimal(last.mu), Decimal(last.count_sensitivity)) != (mu, sensitivity):
                raise DataError(
                    f"{request.table}, line {row.line}: the last release of this entity had mu"
                    f" {last.mu} and count sensitivity {last.count_sensitivity}, this one would"
                    f" have mu {decimal_text(mu)} and {decimal_text(sensitivity)}; give the same,"
                    " or add --change-noise"
                )


def _refuse_near_periods(request: Request, rows: Sequence[Place], released: History) -> None:
    days = request.choices.period_days or request.days or _NEAR
    lines = {(row.entity, row.period): row.line for row in reversed(rows)}
    # A period of another length is another period, and counts in all that it overlaps.
    before = (
        (entity, one.period)
        for entity, ones in released.items()
        for one in ones
        if one.days in (None, request.days) or request.days is None
    )
    near = [
        lines.get(two) or lines[one]
        for one, two in itertools.pairwise(sorted({*lines, *before}))
        if one[0] == two[0]
        and _day(two[1]) - _day(one[1]) < days
        and (one in lines or two in lines)
    ]
    if near:
        raise DataError(
            f"{request.table}, line {min(near)}: this date is less than {days} days from another"
            " period of the same entity, in the table or released before"
            f" ({len(near)} of {len(rows)} rows are such); write the date as it was released, or"
            " give the true length of a period with --period-days"
        )


def _day(period: str) -> int:
    return datetime.date.fromisoformat(period).toordinal()
