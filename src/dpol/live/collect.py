"""Collecting what holders report: checked against its record, the deployment and the log."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError
from dpol.live.log import Log, Released, open_log
from dpol.live.report import Report, chain_rows, read_report
from dpol.release.chains import ChainTerms
from dpol.release.deployment import Deployment
from dpol.release.memory import stated_terms
from dpol.release.noise import CountNoise, decimal_text


@dataclass(frozen=True)
class Collected:
    """The outcome of collecting one report.

    Args:
        file: the table.
        taken: rows that were new.
        known: rows that were collected before.
        corrections: how many of the new rows supersede another one.
        refused: why rows, or all of the report, were refused; empty if nothing was.
    """

    file: Path
    taken: int = 0
    known: int = 0
    corrections: int = 0
    refused: tuple[str, ...] = ()


@dataclass
class _Taken:
    """Rows of a report on their way into the log."""

    new: list[Released] = field(default_factory=list)
    known: int = 0
    corrections: int = 0
    refused: list[str] = field(default_factory=list)


def collect(
    reports: Sequence[Path], folder: Path, deployment: Path | None = None
) -> list[Collected]:
    """Take the new rows of reports into the log of a folder; what cannot be taken is refused.

    Args:
        reports: tables that `dpol privatize` wrote, with their records next to them.
        folder: of the coordinator; made if it is missing.
        deployment: the deployment's file, at least the first time.

    Raises:
        DataError, OutputError: as `open_log`.
    """
    with open_log(folder, deployment=deployment, new=True) as log:
        return [_collect(log, file) for file in reports]


def _collect(log: Log, file: Path) -> Collected:
    try:
        report = read_report(file, log.deployment, log.sha256)
        taken = _sort(log, report)
        if taken.new:
            _refuse_older(log, report)
            origin = report.ledger, report.output, report.mechanism
            log.add_releases(log.add_report(report.sha256, file.name, *origin), taken.new)
        count, refused = len(taken.new), tuple(taken.refused)
        return Collected(file, count, taken.known, taken.corrections, refused)
    except DataError as error:
        return Collected(file, refused=(str(error),))


def _sort(log: Log, report: Report) -> _Taken:
    """The rows of a report that are new, those that are known, and those that are refused."""
    taken, chains = _Taken(), chain_rows(report)
    known: dict[tuple[str, str], list[Released]] = {}
    for entity in {cells[0] for _, cells in report.rows}:
        for _, row in log.releases("entity = ?", entity):
            known.setdefault((row.entity, row.period), []).append(row)
    for number, (line, cells) in enumerate(report.rows, start=1):
        entity, period, capacity, noisy, share, mu, _ = cells
        part, place = chains.of(number, entity)
        versions = known.setdefault((entity, period), [])
        same = (noisy, capacity, share, mu)
        if any((it.noisy_count, it.capacity, it.noisy_share, it.mu) == same for it in versions):
            taken.known += 1
            continue
        try:
            row = _checked(log.deployment, report, cells, part, place)
            if versions and not log.deployment.corrections:
                raise DataError(
                    f"{entity} has reported {period} already, with other numbers, and the"
                    " deployment allows no corrections; if the holder's ledger was put back from"
                    " an older copy, the period was released twice"
                )
        except DataError as error:
            taken.refused.append(f"{report.file}, line {line}: {error}")
            continue
        taken.corrections += bool(versions)
        versions.append(row._replace(version=len(versions) + 1))
        taken.new.append(versions[-1])
    return taken


def _checked(
    deployment: Deployment,
    report: Report,
    cells: list[str],
    part: Mapping[str, Any] | None,
    place: int,
) -> Released:
    """A row as it goes into the log.

    Raises:
        DataError: the row breaks a rule; the text says which.
    """
    entity, period, capacity, noisy, share, mu, sensitivity = cells
    check_key(deployment, entity, period)
    own = deployment.entities[entity].capacity
    try:
        noise = CountNoise(Decimal(mu), Decimal(sensitivity))
        beds, count = float(capacity), float(noisy)
        if not (Decimal(noisy).is_finite() and 0 < beds < 1e9):
            raise DataError("the noisy count or the capacity is out of range; ask for it again")
        terms, chain = _terms(noise, part, report)
    except (InvalidOperation, ValueError, LookupError, TypeError) as error:
        raise DataError(f"a cell, or the record of its noise, is not a number ({error})") from None
    if f"{count / beds:.9g}" != share:
        raise DataError("the noisy share is not the noisy count over the capacity; ask again")
    if own != "reported" and beds != own:
        raise DataError(f"its capacity is {capacity}, and the deployment says {own:g}")
    check_noise(deployment, noise, terms)
    return Released(
        entity=entity,
        period=period,
        version=1,
        noisy_count=noisy,
        capacity=capacity,
        noisy_share=share,
        chain=chain,
        place=place,
        mu=mu,
        count_sensitivity=sensitivity,
        a=terms.a,
        b=terms.b,
        unit_weeks=terms.unit_weeks,
        scale=terms.scale,
        decimals=terms.decimals,
    )


def check_key(deployment: Deployment, entity: str, period: str) -> None:
    """Raise DataError if an entity is not to report for a period."""
    if entity not in deployment.entities:
        raise DataError(f"{entity} is not an entity of the deployment; ask who it is")
    try:
        day = datetime.date.fromisoformat(period)
    except ValueError:
        day = None
    if day is None or day.isoformat() != period or deployment.number_of(day) is None:
        it = deployment.periods
        raise DataError(
            f"no period of the deployment starts at {period!r}; they start every {it.days} days"
            f" from {it.first} on"
        )
    if not deployment.entities[entity].takes_part(day):
        raise DataError(f"{entity} does not take part in {period}, says the deployment")


def check_noise(deployment: Deployment, noise: CountNoise, terms: ChainTerms) -> None:
    """Raise DataError if the noise of a row is not what was agreed."""
    if noise.mu > Decimal(str(deployment.mu)):
        raise DataError(f"mu is {noise.mu}, larger than agreed ({deployment.mu:g})")
    if noise.count_sensitivity != Decimal(str(deployment.count_sensitivity)):
        raise DataError(
            f"the count sensitivity is {noise.count_sensitivity}, and"
            f" {deployment.count_sensitivity:g} was agreed"
        )
    if terms.unit_weeks < deployment.unit_weeks:
        raise DataError(
            f"its noise protects stays of {terms.unit_weeks} periods, and {deployment.unit_weeks}"
            " were agreed"
        )
    if terms.a != terms.b and deployment.noise.memory == "none":
        raise DataError("its noise has a memory, and independent noise was agreed")


def _terms(
    noise: CountNoise, part: Mapping[str, Any] | None, report: Report
) -> tuple[ChainTerms, str]:
    """The public terms of the noise of a row, and the name of its chain; empty if it has none."""
    if part is None:
        return independent_terms(noise), ""
    return stated_terms(noise, part), f"{report.ledger}/{report.output}/{part['first_row']}"


@cache
def independent_terms(noise: CountNoise) -> ChainTerms:
    """The public terms of independent noise."""
    return ChainTerms("0", "0", 1, 1, decimal_text(noise.mu), noise.decimals, noise.scale)


def _refuse_older(log: Log, report: Report) -> None:
    """Refuse a report with new rows that lacks some which its own output has reported before."""
    there = {(cells[0], cells[1], cells[3]) for _, cells in report.rows}
    found = log.connection.execute(
        "SELECT entity, period, noisy_count FROM report JOIN release ON report = report.number"
        " WHERE ledger = ? AND output = ? ORDER BY release.number",
        (report.ledger, report.output),
    )
    for row in found:
        if row not in there:
            raise DataError(
                f"{report.file}: lacks what {row[0]} has reported for {row[1]}, and has new rows:"
                " the holder's ledger was put back from an older copy, and its last periods may"
                " have been released twice; the holder continues from dpol export, with dpol"
                " privatize --continue-from"
            )
