"""Collect the reports of holders, checked against their records, the agreement and the log.

Reports are taken one by one, and each entity's rows on their own: a fault in one changes nothing
for the others.
"""

from __future__ import annotations

import datetime
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dpol.core.errors import DataError, OutputError
from dpol.core.words import counted
from dpol_weekly.coordinator.checks import check_row
from dpol_weekly.coordinator.log import Log, open_log
from dpol_weekly.deployment import short
from dpol_weekly.released.read import ASK, Report, files_of, find_release, read_release
from dpol_weekly.released.row import Released

LISTED = 20
"""Number of files, or of refusals of one file, that are told one by one."""
_LONGEST_REASON = 200
_NEW_KEY = "have it read the new one out, and collect with that key in --known-keys FILE"
_Cells = tuple[str, ...]
"""Period, noisy count and capacity of a row."""
_Standing = Mapping[_Cells, sqlite3.Row]
"""The rows of an entity in the log that count."""
_SET_ASIDE = "If the earlier report was wrong, set it aside with dpol set-aside"


@dataclass(kw_only=True)
class Collected:
    """The outcome of collecting a file.

    Args:
        file: the file.
        taken: number of new rows.
        known: number of rows that were collected before.
        corrections: number of new rows that supersede another row.
        refused: why rows, or the whole report, were refused; empty if nothing was.
        ignored: whether the file was found in a folder and is no release.
        other: the hash of its agreement, if that is not one of this log; else empty.
        head: head of the log's hash chain afterwards.
    """

    file: Path
    taken: int = 0
    known: int = 0
    corrections: int = 0
    refused: list[str] = field(default_factory=list)
    ignored: bool = False
    other: str = ""
    head: str = ""


def collect(
    reports: Sequence[Path],
    folder: Path,
    deployment: Path | None = None,
    *,
    keys: Mapping[str, str] | None = None,
    new_ledgers: Collection[str] = (),
    today: datetime.date | None = None,
) -> list[Collected]:
    """Take the new rows of reports into the log of a folder, and refuse the others.

    Args:
        reports: files that `dpol privatize` wrote, or folders with such files; see `files_of`.
        folder: the coordinator's folder; made if it is missing.
        deployment: the file of the agreement, the first time or after an amendment.
        keys: the keys that entities have read out, for their first reports and for new ledgers,
            where the agreement has none; None: any key of a first report.
        new_ledgers: entities that may report from a new ledger from now on, with the key that they
            have read out, or with their last one.
        today: only periods that ended before this date are taken; None: the computer's date.

    Raises:
        DataError, OutputError: as `open_log`; or `new_ledgers` name no entity.
    """
    today, awaited = today or datetime.date.today(), {*new_ledgers}
    with open_log(folder, deployment=deployment, new=True) as log:
        for name in awaited - log.deployment.entities.keys():
            raise DataError(f"{name} is not an entity of the deployment; write it as there")
        return [
            _collect(log, file, inside, keys, awaited, today) for file, inside in files_of(reports)
        ]


def set_aside(
    folder: Path, entity: str, reason: str, period: datetime.date | None = None
) -> tuple[list[tuple[str, int]], str]:
    """Exclude what the log holds of an entity, or of one of its periods.

    The rows stay in the log, with the reason, and their privacy cost still counts. They stay set
    aside if they are collected again; other rows may be reported for these periods. Of a period,
    rows that are refused are known from then on.

    Args:
        folder: the coordinator's folder.
        entity: identifier of the entity.
        reason: shown in the log, the decisions and the page.
        period: start of the period; None: everything collected so far.

    Returns:
        The period and the version of each row that the log holds, and the head of its hash chain.

    Raises:
        DataError: as `open_log`; no row of the entity counts, no such period begins, or the reason
            is not a line of text.
        OutputError: the log cannot be written.
    """
    if not (reason.strip() and reason.isprintable() and len(reason) <= _LONGEST_REASON):
        raise DataError(f"write the reason as one line of text, up to {_LONGEST_REASON} characters")
    with open_log(folder, write=True) as log:
        if entity not in log.deployment.entities:
            raise DataError(f"{entity} is not an entity of the deployment; write it as there")
        of_one = None if period is None else period.isoformat()
        where = "set_aside IS NULL AND entity = ? AND period = IFNULL(?, period)"
        done = [(row["period"], row["version"]) for row in log.releases(where, entity, of_one)]
        if not done if period is None else log.deployment.number_of(period) is None:
            when = f" for {period}" if period else ""
            raise DataError(f"the log holds nothing of {entity}{when} that counts; see dpol export")
        log.add_act(kind="set aside", entity=entity, period=of_one, reason=reason)
        return done, log.head


def _collect(
    log: Log,
    file: Path,
    inside: bool,
    keys: Mapping[str, str] | None,
    awaited: set[str],
    today: datetime.date,
) -> Collected:
    """Collect one file, found `inside` a folder or named; new ledgers in it leave `awaited`."""
    done = Collected(file=file)
    try:
        report = find_release(file) if inside else read_release(file)
        if report is None:
            return Collected(file=file, ignored=True, head=log.head)
        if report.agreement not in log.hashes and not log.knows(report.output):
            return Collected(file=file, other=report.agreement, head=log.head)
        fresh, moved = _sorted_rows(report, done, log, keys, awaited, today)
    except (sqlite3.Error, OutputError):
        raise  # of the log, not of the report
    except DataError as error:
        return Collected(file=file, refused=[escaped(str(error))], head=log.head)
    except Exception as error:  # nobody foresaw it, and others must not suffer
        why = f"{file}: cannot be taken ({type(error).__name__}); {ASK}"
        return Collected(file=file, refused=[escaped(why)], head=log.head)
    name = escaped(file.name)
    for entity in moved:
        awaited.remove(entity)
        reason = f"{report.ledger}, collected from {name}"
        log.add_act(kind="new ledger", entity=entity, reason=reason)
    if fresh:
        log.add_report(report, name, fresh)
    if (more := len(done.refused) - LISTED) > 0:
        done.refused[LISTED:] = [f"{file}: {more:,} more rows or entities are refused"]
    done.refused = [*map(escaped, done.refused)]
    done.taken, done.head = len(fresh), log.head
    return done


def _sorted_rows(
    report: Report,
    done: Collected,
    log: Log,
    keys: Mapping[str, str] | None,
    awaited: Collection[str],
    today: datetime.date,
) -> tuple[list[Released], list[str]]:
    """Sort the rows of a report into known, new and refused ones, and count them in `done`.

    Returns the new rows, and the entities whose rows come, with permission, from another ledger or
    key.

    Raises:
        DataError: it goes on from reports of the log, under an agreement that is not known here.
    """
    if report.agreement not in log.hashes:
        raise DataError(
            f"{report.file}: goes on from reports of this log, and is of an agreement"
            f" ({short(report.agreement)}) that is not known here. If it amends the last one, name"
            " its file with --deployment; otherwise ask the holder which file it has taken"
        )
    deployment, moved = log.deployment, list[str]()
    fresh = list[Released]()
    of_entity = defaultdict[str, dict[_Cells, int]](dict)
    for place, row in enumerate(report.rows, start=1):
        of_entity[row.entity].setdefault(row[1:], place)
    for entity, own in of_entity.items():
        logged: dict[_Cells, sqlite3.Row] = {
            (row["period"], row["noisy_count"], row["capacity"]): row
            for row in log.releases("entity = ?", entity)
        }
        new = {cells: place for cells, place in own.items() if cells not in logged}
        done.known += len(own) - len(new)
        if not new:
            continue
        standing = {cells: row for cells, row in logged.items() if row["set_aside"] is None}
        elsewhere = _another_ledger(report, entity, own, standing, log) if standing else ""
        moves = bool(elsewhere) and entity in awaited
        obstacle = "" if moves else elsewhere
        if wrong := _wrong_key(report, entity, standing, log, keys, moves) or obstacle:
            told = f"{report.file}: {counted(len(new), 'row')} of {entity}: {wrong}"
            done.refused.append(told)
            continue
        origins = {period: _origin(row) for (period, *_), row in standing.items()}
        versions = Counter(period for period, *_ in standing)
        faulty = defaultdict[str, list[tuple[Released, str]]](list)
        taken = len(fresh)
        for (period, *cells), place in new.items():
            row = Released(entity, period, *cells)
            try:
                check_row(row, log.agreements, today)
                if versions[period] >= deployment.scheduled:
                    raise DataError(
                        f"{entity} has reported {period} already, with other numbers"
                        f" ({origins[period]}), and the agreement allows no"
                        f"{' further' if versions[period] > 1 else ''} corrections; ask the holder."
                        f" {_SET_ASIDE}"
                    )
            except DataError as error:
                faulty[period].append((row, f"{report.file}, row {place}: {error}"))
                continue
            # A faulty row that is corrected later in the file was released, and costs privacy.
            before = [it for it, _ in faulty.pop(period, [])] if deployment.second_release else []
            done.corrections += bool(before) or period in origins
            origins[period] = f"{report.file.name}, row {place}"
            versions[period] += 1 + len(before)
            fresh += [*before, row]
        aside = log.set_aside(entity)
        for period, left in faulty.items():
            if period in aside:
                done.known += len(left)
            else:
                done.refused += [told for _, told in left]
        if moves and len(fresh) > taken:
            moved.append(entity)
    return fresh, moved


def _wrong_key(
    report: Report,
    entity: str,
    standing: _Standing,
    log: Log,
    keys: Mapping[str, str] | None,
    moves: bool,
) -> str:
    """Return why an entity does not report with the key of a report; empty if it may.

    Args:
        report: the report.
        entity: the entity.
        standing: its rows in the log that count.
        log: the log.
        keys: the keys that entities have read out; None: any key of a first report.
        moves: whether it may report from another ledger from now on.
    """
    agreed, known = log.deployment.entities.get(entity), (keys or {}).get(entity)
    if agreed is None:
        return ""  # each row says so
    if agreed.key:
        wrong = (
            f"the report is not signed with the key of {entity} in the agreement; ask the holder to"
            " name the file of that key in its own file"
        )
        return wrong if agreed.key != report.key else ""
    if standing:
        wanted = known or _newest(standing)["key"]
        wrong = (
            f"its new ledger is signed with the key {report.key}, and not with {wanted}; ask"
            f" {entity}. If it lost its old key too, {_NEW_KEY}"
        )
        return wrong if moves and report.key != wanted else ""
    if keys is None or known == report.key:
        return ""
    if known:
        return f"it is signed with the key {report.key}, and the known one is {known}; ask {entity}"
    return (
        f"it is the first report of {entity}, and nobody has confirmed its key, {report.key}. Have"
        f" {entity} read its key out (it is in its hospital.yaml), and collect again with"
        f" --known-keys FILE, in which a line says {entity}: KEY"
    )


def _another_ledger(
    report: Report, entity: str, own: Collection[_Cells], standing: _Standing, log: Log
) -> str:
    """Return why a report is of another ledger, or of an older copy; empty if it is of neither.

    A key that an agreement of the log names binds as long as it is named.
    """
    last, lost = _newest(standing), f"collect with --new-ledger {entity}. {_SET_ASIDE}"
    if last["ledger"] != report.ledger:
        of_last = [row for row in standing.values() if row["ledger"] == last["ledger"]]
        return (
            "this report comes from another ledger than the first one about"
            f" {entity} ({_origin(min(of_last, key=_number))}); ask the holder. If it lost that"
            f" ledger, {lost}"
        )
    named = [it.entities[entity].key for it in log.agreements if entity in it.entities]
    if last["key"] not in (report.key, *named) and report.key != named[-1]:
        return (
            f"this report has another key than the earlier ones ({_origin(last)}); ask the holder."
            f" If it lost that key, {_NEW_KEY}, and --new-ledger {entity}. {_SET_ASIDE}"
        )
    for cells, row in standing.items():
        if row["output"] == report.output and cells not in own:
            return (
                f"it lacks what was reported for {cells[0]} ({_origin(row)}): its ledger was put"
                " back from an older copy, or changed; ask the holder, who begins a new one then,"
                f" and {lost}"
            )
    return ""


def _number(row: sqlite3.Row) -> int:
    return int(row["report"])


def _newest(standing: _Standing) -> sqlite3.Row:
    """Return a row of the last report: rows of a ledger that was accepted later come last."""
    return max(standing.values(), key=_number)


def _origin(row: sqlite3.Row) -> str:
    return f"{row['file']}, collected on {row['received'][:10]}"


def escaped(text: str) -> str:
    r"""Return a text that can be stored and shown: bytes that are not UTF-8 become their codes.

    >>> escaped("\udcfcbersicht.zip")
    '\\udcfcbersicht.zip'
    """
    return text.encode("utf-8", "backslashreplace").decode()
