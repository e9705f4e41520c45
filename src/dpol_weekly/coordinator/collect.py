"""Collecting what holders report: checked against its record, the deployment and the log.

Reports are taken one by one, and an entity's rows apart from those of others: what is wrong with
one changes nothing for the others.
"""

from __future__ import annotations

import datetime
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from dpol.core.errors import DataError, OutputError
from dpol.core.rounding import rounded_up
from dpol.core.words import counted
from dpol_weekly.coordinator.checks import checked
from dpol_weekly.coordinator.log import Entry, Log, Released, open_log
from dpol_weekly.coordinator.report import Cells, Report, Row, read_report
from dpol_weekly.coordinator.weights import mu_of_such_stay, period_budget, weight_of
from dpol_weekly.deployment import Deployment


@dataclass(frozen=True, kw_only=True)
class Collected:
    """The outcome of collecting one report.

    Args:
        file: the table.
        taken: rows that were new.
        known: rows that were collected before.
        aside: how many of the known rows were set aside, and stay so.
        corrections: how many of the new rows supersede another one.
        refused: why rows, or all of the report, were refused; empty if nothing was.
        above: what the new rows have spent above the budget, a sentence for each period.
    """

    file: Path
    taken: int = 0
    known: int = 0
    aside: int = 0
    corrections: int = 0
    refused: tuple[str, ...] = ()
    above: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _OfEntity:
    """The outcome for one entity, as in `Collected`.

    Args:
        new: rows to enter.
        accepted: the entity if they need another ledger to be accepted; otherwise empty.
    """

    new: list[Released]
    accepted: str
    known: int
    aside: int
    corrections: int
    refused: list[str]
    above: list[str]


def collect(
    reports: Sequence[Path],
    folder: Path,
    deployment: Path | None = None,
    *,
    new_ledgers: Collection[str] = (),
    today: datetime.date | None = None,
) -> list[Collected]:
    """Take the new rows of reports into the log of a folder; what cannot be taken is refused.

    Args:
        reports: tables that `dpol privatize` wrote, with their records next to them.
        folder: of the coordinator; made if it is missing.
        deployment: the deployment's file, at least the first time.
        new_ledgers: entities that may report from another ledger than so far, from now on.
        today: only periods that ended before it are taken; None: the computer's date.

    Raises:
        DataError, OutputError: as `open_log`; or one of `new_ledgers` is not an entity.
    """
    today, accepted = today or datetime.date.today(), set(new_ledgers)
    with open_log(folder, deployment=deployment, new=True) as log:
        if unknown := sorted(accepted - log.deployment.entities.keys()):
            raise DataError(f"{unknown[0]} is not an entity of the deployment; write it as there")
        return [_collect(log, file, accepted, today) for file in reports]


def _collect(log: Log, file: Path, accepted: set[str], today: datetime.date) -> Collected:
    """One report; entities whose new ledger is taken leave `accepted`."""
    try:
        with log.as_a_whole():
            return _take(log, read_report(file, log.deployment, log.sha256), accepted, today)
    except DataError as error:
        return Collected(file=file, refused=(str(error),))
    except (sqlite3.Error, OutputError):
        raise  # of the log, not of the report
    except Exception as error:  # nobody foresaw it, and others must not suffer
        why = f"{file}: cannot be taken ({type(error).__name__}); ask for table and record again"
        return Collected(file=file, refused=(why,))


def _take(log: Log, report: Report, accepted: set[str], today: datetime.date) -> Collected:
    rows: dict[str, list[Row]] = {}
    for row in report.rows:
        rows.setdefault(row.cells.entity, []).append(row)
    of_entities = [_sorted(log, report, it, accepted, today) for it in rows.values()]
    entered = [row for it in of_entities for row in it.new]
    for it in of_entities:
        if it.accepted:
            log.accept_ledger(it.accepted, f"{report.ledger}, collected from {report.file.name}")
    if entered:
        number = log.add_report(
            sha256=report.sha256, file=report.file.name, ledger=report.ledger, output=report.output
        )
        log.add_releases(number, entered)
    accepted.difference_update(it.accepted for it in of_entities)
    return Collected(
        file=report.file,
        taken=len(entered),
        known=sum(it.known for it in of_entities),
        aside=sum(it.aside for it in of_entities),
        corrections=sum(it.corrections for it in of_entities),
        refused=tuple(line for it in of_entities for line in it.refused),
        above=tuple(line for it in of_entities for line in it.above),
    )


def _sorted(
    log: Log, report: Report, rows: Sequence[Row], accepted: set[str], today: datetime.date
) -> _OfEntity:
    """The rows of one entity, sorted into those that are new, known and refused."""
    entity, logged = rows[0].cells.entity, log.releases("entity = ?", rows[0].cells.entity)
    before = {_key(it.row): it for it in logged}
    known = [before[key] for row in rows if (key := _key(row.cells)) in before]
    fresh = {_key(row.cells): row for row in reversed(rows) if _key(row.cells) not in before}
    why = _other_ledger(report, logged) or _older(report, rows, logged)
    new: list[Released] = []
    if fresh and why and entity not in accepted:
        refused = [f"{report.file}: {counted(len(fresh), 'row')} of {entity}: {why}"]
    else:
        ordered = sorted(fresh.values(), key=lambda row: row.line)
        new, refused = _checked_rows(log.deployment, report, ordered, logged, today)
    counting = {it.row.period for it in logged if it.set_aside is None}
    return _OfEntity(
        new=new,
        accepted=entity if new and why else "",
        known=len(known),
        aside=sum(it.set_aside is not None for it in known),
        corrections=len(new) - len({row.period for row in new} - counting),
        refused=refused,
        above=_above(log.deployment, [*(it.row for it in logged), *new], new),
    )


def _checked_rows(
    deployment: Deployment,
    report: Report,
    rows: Iterable[Row],
    logged: Sequence[Entry],
    today: datetime.date,
) -> tuple[list[Released], list[str]]:
    """Rows of an entity that are new to the log, those that may enter it, and why others do not."""
    new: list[Released] = []
    refused: list[str] = []
    versions = Counter(it.row.period for it in logged)
    counting = {it.row.period: _origin(it) for it in logged if it.set_aside is None}
    for row in rows:
        try:
            release = checked(deployment, report, row, today)
            if release.period in counting and not deployment.corrections:
                raise DataError(_second_version(release, counting[release.period]))
        except DataError as error:
            refused.append(f"{report.file}, line {row.line}: {error}")
            continue
        versions[release.period] += 1
        counting[release.period] = f"{report.file.name}, line {row.line}"
        new.append(release._replace(version=versions[release.period]))
    return new, refused


def _origin(entry: Entry) -> str:
    return f"{entry.file}, collected on {entry.received[:10]}"


def _key(row: Cells | Released) -> tuple[str, ...]:
    """The cells that show that a row was collected before."""
    return row.period, row.noisy_count, row.capacity, row.noisy_share, row.mu


def _second_version(release: Released, first: str) -> str:
    return (
        f"{release.entity} has reported {release.period} already, with other numbers ({first}),"
        f" and the deployment allows no corrections; ask the holder. {_SET_ASIDE}. {_CONTINUE}"
    )


_SET_ASIDE = "If the earlier report was wrong, set it aside with dpol set-aside"
_CONTINUE = (
    "If its ledger was put back from an older copy, the holder goes on from your export of the log:"
    " dpol export, then dpol privatize ... --continue-from"
)


def _other_ledger(report: Report, logged: Sequence[Entry]) -> str:
    """The reason why a report's ledger is not the one that an entity reports from; or empty."""
    standing = sorted((it for it in logged if it.set_aside is None), key=lambda it: it.report)
    # Those of another ledger that was accepted later are the last ones.
    if not standing or standing[-1].ledger == report.ledger:
        return ""
    first = next(it for it in standing if it.ledger == standing[-1].ledger)
    entity = first.row.entity
    return (
        f"the ledger of this report is not that of the first one about {entity}"
        f" ({_origin(first)}); ask the holder. If it lost that ledger, collect with --new-ledger"
        f" {entity}. {_SET_ASIDE}"
    )


def _older(report: Report, rows: Sequence[Row], logged: Sequence[Entry]) -> str:
    """The reason why new rows of an entity are from an older copy of its ledger; or empty."""
    there = {(row.cells.period, row.cells.noisy_count) for row in rows}
    for it in logged:
        same = it.output == report.output and it.set_aside is None
        if same and (it.row.period, it.row.noisy_count) not in there:
            return (
                f"the table lacks what was reported for {it.row.period} ({_origin(it)}); ask the"
                f" holder. {_SET_ASIDE}. {_CONTINUE}"
            )
    return ""


def _above(
    deployment: Deployment, released: Sequence[Released], new: Sequence[Released]
) -> list[str]:
    """Sentences on periods in which new rows of an entity take it above its part of the budget."""
    stay, lines = deployment.longest_stay, []
    for period in sorted({row.period for row in new}):
        same = [row for row in released if row.period == period]
        spent = sum((weight_of(row.terms, stay) for row in same), Fraction(0))
        if spent > period_budget(deployment):
            lines.append(
                f"above the budget: {same[0].entity} has released {period}"
                f" {counted(len(same), 'time')}; a stay of {counted(stay, 'such period')} has mu"
                f" {rounded_up(mu_of_such_stay(spent, stay), 4)}, and the deployment allows"
                f" {deployment.budget_mu:g}; the rows are collected, as they are public already"
            )
    return lines
