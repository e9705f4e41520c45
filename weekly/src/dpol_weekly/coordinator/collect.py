"""Collecting what holders report: checked against its record, the deployment and the log.

Reports are taken one by one, and an entity's rows apart from those of others: what is wrong with
one changes nothing for the others.
"""

from __future__ import annotations

import datetime
import sqlite3
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from dpol.core.errors import DataError, OutputError
from dpol.core.near import nearest
from dpol.core.rounding import rounded_up
from dpol.core.words import counted, printable, shortened
from dpol_weekly.coordinator.checks import checked
from dpol_weekly.coordinator.log import Log, Release, open_log
from dpol_weekly.coordinator.settings import FILE
from dpol_weekly.coordinator.spent import mu_of_such_stay, period_budget, weight_of
from dpol_weekly.deployment import Deployment
from dpol_weekly.released import Found, Parts, Report, Row, find_releases, read_report

_KEY = "period", "noisy_count", "capacity", "noisy_share", "mu"
"""The cells that show that a row was collected before."""
_LONGEST_REASON = 200
_SET_ASIDE = "If the earlier report was wrong, set it aside with dpol set-aside"
_CONTINUE = (
    "If its ledger was put back from an older copy, the holder goes on from your export of the log:"
    " dpol export, then dpol privatize ... --continue-from"
)


@dataclass(frozen=True, kw_only=True)
class Collected:
    """The outcome of collecting a report.

    Args:
        file: of the release; or a folder that was looked through.
        taken: how many rows were new.
        known: how many were collected before.
        aside: how many of the known rows were set aside, and stay so.
        corrections: how many of the new rows supersede another one.
        refused: why rows, or all of the report, were refused; empty if nothing was.
        above: what the new rows have spent above the budget, a sentence for each period.
        ignored: how many files of the folder hold no part of a release.
    """

    file: Path
    taken: int = 0
    known: int = 0
    aside: int = 0
    corrections: int = 0
    refused: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    ignored: int = 0


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
        reports: files that `dpol privatize` wrote, and folders that hold some, see `find_releases`.
        folder: of the coordinator; made if it is missing.
        deployment: the deployment's file, the first time, or that of an amendment.
        new_ledgers: entities that may report from another ledger than so far, from now on.
        today: only periods that ended before it are taken; None: the computer's date.

    Raises:
        DataError, OutputError: as `open_log`; or one of `new_ledgers` is not an entity.
    """
    today, may_change = today or datetime.date.today(), set(new_ledgers)
    with open_log(folder, deployment=deployment, new=True) as log:
        if unknown := sorted(may_change - log.deployment.entities.keys()):
            raise DataError(f"{unknown[0]} is not an entity of the deployment; write it as there")
        found = find_releases(reports)
        done = [_collect(log, parts, may_change, today) for parts in found.releases]
        return _in_order(found, done)


def check_reports(
    reports: Sequence[Path], deployment: Path, today: datetime.date | None = None
) -> list[Collected]:
    """Check all that can be checked of reports without a log: a new one takes them, and is gone.

    Args:
        reports: as in `collect`.
        deployment: the file that all hospitals share.
        today: the date; None: the computer's.

    Raises:
        DataError, OutputError: as `collect`.
    """
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / FILE).write_text("corrections: true\n")
        return collect(reports, Path(name), deployment, today=today)


def _in_order(found: Found, done: Sequence[Collected]) -> list[Collected]:
    """The outcomes of all files, in their order, and then of the folders."""
    refused = [Collected(file=file, refused=(why,)) for file, why in found.refused]
    ignored = [Collected(file=folder, ignored=count) for folder, count in found.ignored.items()]
    place = {file: number for number, file in enumerate(found.files)}
    return [*sorted([*done, *refused], key=lambda it: place[it.file]), *ignored]


def set_aside(
    folder: Path, entity: str, reason: str, period: datetime.date | None = None
) -> list[sqlite3.Row]:
    """Let nothing count that the log holds of an entity, or of one period of it; the rows.

    They stay in the log, with the reason, and what they cost is still counted. The same rows stay
    set aside if they are collected again; other ones may be reported for these periods.

    Args:
        folder: of the coordinator.
        entity: its identifier.
        reason: for the log, the decisions and the page.
        period: its start; None: all that was collected so far.

    Raises:
        DataError: as `open_log`; no such row counts, or the reason is not a line of text.
        OutputError: the log cannot be written.
    """
    if not (reason.strip() and reason.isprintable() and len(reason) <= _LONGEST_REASON):
        raise DataError(
            f"the reason must be one line of text, of {_LONGEST_REASON} characters at most"
        )
    with open_log(folder, write=True) as log:
        if entity not in log.deployment.entities:
            told = nearest(entity, log.deployment.entities)
            raise DataError(f"the deployment has no entity {entity!r}{told}")
        start = "" if period is None else period.isoformat()
        counting = "released.set_aside IS NULL AND entity = ? AND ? IN ('', period)"
        rows = list(log.releases(counting, entity, start))
        if not rows:
            when = f" for {start}" if start else ""
            raise DataError(f"{log.path}: holds nothing of {entity}{when} that counts")
        log.add_act(kind="set aside", entity=entity, period=start, reason=reason)
    return rows


def _collect(log: Log, parts: Parts, may_change: set[str], today: datetime.date) -> Collected:
    """One report; entities whose new ledger is taken leave `may_change`."""
    file, left = parts.file, set(may_change)
    try:
        with log.as_a_whole():
            collected = _take(log, parts, left, today)
    except DataError as error:
        return Collected(file=file, refused=(str(error),))
    except (sqlite3.Error, OutputError):
        raise  # of the log, not of the report
    except Exception as error:  # nobody foresaw it, and others must not suffer
        why = f"{file}: cannot be taken ({type(error).__name__}); ask for the release again"
        return Collected(file=file, refused=(why,))
    may_change &= left
    return collected


def _take(log: Log, parts: Parts, may_change: set[str], today: datetime.date) -> Collected:
    """Enter the new rows of a report, as `_collect`."""
    file, report = parts.file, read_report(parts)
    if report.agreement not in log.hashes:
        raise DataError(
            f"{file}: is of another deployment ({printable(shortened(report.deployment))}), or of"
            " an amendment that is not known here; everybody takes the same file: --deployment FILE"
            " names an amendment"
        )
    rows_of: dict[str, list[Row]] = {}
    for row in report.rows:
        rows_of.setdefault(row.cells.entity, []).append(row)
    put_back = _put_back(report, log.ledger_heads(report.ledger, report.output))
    new: list[Release] = []
    refused: list[str] = []
    known = aside = corrections = 0
    periods_of: dict[str, set[str]] = {}
    for entity, rows in rows_of.items():
        logged = list(log.releases("entity = ?", entity))
        before = {tuple(it[name] for name in _KEY): it["set_aside"] for it in logged}
        fresh = dict[tuple[str, ...], Row]()
        for row in rows:
            key = tuple(getattr(row.cells, name) for name in _KEY)
            if key in before:
                known, aside = known + 1, aside + (before[key] is not None)
            else:
                fresh.setdefault(key, row)
        keys = [it.entities[entity].key for it in log.agreements if entity in it.entities]
        why = _another_ledger(report, rows, logged, keys) or put_back
        obstacle = _unsigned(report, log.deployment, entity)
        if not obstacle and entity not in may_change:
            obstacle = why
        if fresh and obstacle:
            refused.append(f"{file}: {counted(len(fresh), 'row')} of {entity}: {obstacle}")
            continue
        origins = {it["period"]: _origin(it) for it in logged if it["set_aside"] is None}
        for row in fresh.values():
            period = row.cells.period
            try:
                release = checked(row, log.agreements, today, f"{report.ledger}/{report.output}")
                if period in origins and not log.coordination.corrections:
                    raise DataError(
                        f"{entity} has reported {period} already, with other numbers"
                        f" ({origins[period]}); ask the holder. If it corrects them, set"
                        f" corrections: true in {FILE}. {_SET_ASIDE}. {_CONTINUE}"
                    )
            except DataError as error:
                refused.append(f"{file}, line {row.line}: {error}")
                continue
            corrections += period in origins
            origins[period] = f"{file.name}, line {row.line}"
            periods_of.setdefault(entity, set()).add(period)
            new.append(release)
        if why and entity in periods_of:
            reason = f"{report.ledger}, collected from {file.name}"
            log.add_act(kind="new ledger", entity=entity, period="", reason=reason)
            may_change.discard(entity)
    if new:
        log.add_report(
            new,
            sha256=report.sha256,
            file=file.name,
            ledger=report.ledger,
            output=report.output,
            key=report.key,
            heads={run.number: run.head for run in report.runs},
        )
    return Collected(
        file=file,
        taken=len(new),
        known=known,
        aside=aside,
        corrections=corrections,
        refused=tuple(refused),
        above=tuple(line for it in periods_of.items() for line in _above(log, *it)),
    )


def _origin(row: sqlite3.Row) -> str:
    return f"{row['file']}, collected on {row['received'][:10]}"


def _unsigned(report: Report, deployment: Deployment, entity: str) -> str:
    """The reason why a report about an entity is nobody's; empty if its holder signed it."""
    agreed = deployment.entities.get(entity)
    if agreed is None or agreed.key in (None, report.key):
        return ""
    how = "is signed with another key than" if report.key else "is not signed with"
    return (
        f"the report {how} the key of {entity} in the agreement; ask the holder, who names the file"
        " of that key in its own file"
    )


def _put_back(report: Report, known: Mapping[int, str]) -> str:
    """The reason why the ledger of a report is an older copy, or was changed; or empty.

    A ledger that took in what is known here (`--continue-from`) goes on from an older copy rightly.

    Args:
        report: with the heads of its ledger's hash chain.
        known: those that earlier reports stated, by the number of their run.
    """
    stated = {run.number: run for run in report.runs}
    others = [it for it in known if it not in stated or stated[it].head != known[it]]
    if not others or any(it.imported for it in report.runs if it.number >= min(others)):
        return ""
    return (
        "the ledger of this report does not go on from what it reported before (run"
        f" {min(others)}): it was put back from an older copy, or changed; ask the holder."
        f" {_SET_ASIDE}. {_CONTINUE}"
    )


def _another_ledger(
    report: Report,
    rows: Sequence[Row],
    logged: Sequence[sqlite3.Row],
    keys: Sequence[str | None],
) -> str:
    """The reason why a report is of another ledger, or of an older copy of it; or empty.

    Args:
        report: that brings the rows.
        rows: those of one entity.
        logged: what the log has of it.
        keys: of it in the agreements, the last one now; one that they name or named binds no
            longer than they do.
    """
    standing = sorted(
        (it for it in logged if it["set_aside"] is None), key=lambda row: row["report"]
    )
    # Those of another ledger that was accepted later are the last ones.
    if standing and standing[-1]["ledger"] != report.ledger:
        first = next(it for it in standing if it["ledger"] == standing[-1]["ledger"])
        entity = first["entity"]
        return (
            f"the ledger of this report is not that of the first one about {entity}"
            f" ({_origin(first)}); ask the holder. If it lost that ledger, collect with"
            f" --new-ledger {entity}. {_SET_ASIDE}"
        )
    bound = standing[-1]["key"] if standing else ""
    if bound and bound not in (report.key, *keys) and report.key not in keys[-1:]:
        return (
            f"the key of this report is not that of the earlier ones ({_origin(standing[-1])}); ask"
            f" the holder. If it lost that key, collect with --new-ledger {standing[-1]['entity']}."
            f" {_SET_ASIDE}"
        )
    there = {(row.cells.period, row.cells.noisy_count) for row in rows}
    for it in standing:
        if it["output"] == report.output and (it["period"], it["noisy_count"]) not in there:
            return (
                f"the table lacks what was reported for {it['period']} ({_origin(it)}); ask the"
                f" holder. {_SET_ASIDE}. {_CONTINUE}"
            )
    return ""


def _above(log: Log, entity: str, periods: set[str]) -> Iterator[str]:
    """Sentences on those of some periods in which an entity is above its part of the budget."""
    stay, budget = log.deployment.longest_stay, period_budget(log.deployment)
    weights: dict[str, list[Fraction]] = {}
    for row in log.releases("entity = ?", entity):
        weight = weight_of(row["mu"], row["a"], row["b"], row["unit_weeks"], stay)
        weights.setdefault(row["period"], []).append(weight)
    for period in sorted(periods):
        if (spent := sum(weights[period], Fraction(0))) > budget:
            yield (
                f"above the budget: {entity} has released {period}"
                f" {counted(len(weights[period]), 'time')}; a stay of"
                f" {counted(stay, 'such period')} has mu"
                f" {rounded_up(mu_of_such_stay(spent, stay), 4)}, and the deployment allows"
                f" {log.deployment.budget_mu:g}; the rows are collected, as they are public already"
            )
