"""Collect the reports of holders, checked against their records, the agreement and the log.

Reports are taken one by one, and each entity's rows on their own: a fault in one changes nothing
for the others.
"""

from __future__ import annotations

import datetime
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpol.core.errors import DataError, OutputError
from dpol.core.words import counted
from dpol_weekly.coordinator.checks import check_row
from dpol_weekly.coordinator.log import Log, open_log
from dpol_weekly.deployment import short
from dpol_weekly.released.read import Report, files_of, find_release, read_release
from dpol_weekly.released.row import Released

LISTED = 20
"""Number of files, or of refusals of one file, that are told one by one."""
_LONGEST_REASON = 200
_NEW_KEY = "have it read the new one out, and collect with that key in --known-keys FILE"
_SET_ASIDE = "If the earlier report was wrong, set it aside with dpol set-aside"


@dataclass(frozen=True, kw_only=True)
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
    refused: tuple[str, ...] = ()
    ignored: bool = False
    other: str = ""
    head: str


@dataclass(frozen=True, kw_only=True)
class Trusted:
    """What the coordinator has confirmed.

    Args:
        keys: the keys that entities have read out; None: any key of a first report.
        new_ledgers: entities that may report from a new ledger, once, with the key that they have
            read out or with their last one.
    """

    keys: Mapping[str, str] | None
    new_ledgers: set[str]


@dataclass(kw_only=True)
class _Rows:
    """The rows of a report, sorted by what happens to them.

    Args:
        known: number of rows that the log already holds, or that were set aside.
        fresh: new rows.
        corrections: number of these that supersede another row.
        refused: why the other rows are not taken.
        moved: entities whose new rows come, with permission, from another ledger or key.
    """

    known: int = 0
    fresh: list[Released]
    corrections: int = 0
    refused: list[str]
    moved: list[str]


_Standing = Mapping[tuple[str, ...], sqlite3.Row]
"""The rows of an entity in the log that count, by period, count and capacity."""


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
    today = today or datetime.date.today()
    trusted = Trusted(keys=keys, new_ledgers={*new_ledgers})
    done = list[Collected]()
    with open_log(folder, deployment=deployment, new=True) as log:
        for name in trusted.new_ledgers - log.deployment.entities.keys():
            raise DataError(f"{name} is not an entity of the deployment; write it as there")
        for file, inside in files_of(reports):
            done.append(_collect(log, file, inside, trusted, today))
    return done


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
        deployment = log.deployment
        if entity not in deployment.entities:
            raise DataError(f"{entity} is not an entity of the deployment; write it as there")
        number = None if period is None else deployment.number_of(period)
        where = "set_aside IS NULL AND entity = ? AND period = IFNULL(?, period)"
        rows = log.releases(where, entity, number).fetchall()
        if number is None and (period or not rows):
            when = f" for {period}" if period else ""
            raise DataError(f"the log holds nothing of {entity}{when} that counts; see dpol export")
        log.add_act(kind="set aside", entity=entity, period=number, reason=reason)
        done = [(deployment.period_of(row["period"]).isoformat(), row["version"]) for row in rows]
        return done, log.head


def _collect(
    log: Log, file: Path, inside: bool, trusted: Trusted, today: datetime.date
) -> Collected:
    """Collect one file, found `inside` a folder or named; new ledgers in it leave `trusted`."""
    try:
        report = find_release(file) if inside else read_release(file)
        if report is None:
            return Collected(file=file, ignored=True, head=log.head)
        rows = _sorted_rows(report, log, trusted, today)
    except (sqlite3.Error, OutputError):
        raise  # of the log, not of the report
    except DataError as error:
        return Collected(file=file, refused=(escaped(str(error)),), head=log.head)
    except Exception as error:  # nobody foresaw it, and others must not suffer
        why = f"{file}: cannot be taken ({type(error).__name__}); ask for the release again"
        return Collected(file=file, refused=(escaped(why),), head=log.head)
    if rows is None:
        return Collected(file=file, other=report.agreement, head=log.head)
    trusted.new_ledgers.difference_update(rows.moved)
    return _entered(log, report, rows)


def _entered(log: Log, report: Report, rows: _Rows) -> Collected:
    """Enter the new rows of a report, and return the outcome."""
    name = escaped(report.file.name)
    for entity in rows.moved:
        reason = f"{report.ledger}, collected from {name}"
        log.add_act(kind="new ledger", entity=entity, reason=reason)
    if rows.fresh:
        log.add_report(report, name, rows.fresh)
    refused = [*map(escaped, rows.refused[:LISTED])]
    if (more := len(rows.refused) - LISTED) > 0:
        refused.append(f"{escaped(str(report.file))}: {more:,} more rows or entities are refused")
    return Collected(
        file=report.file,
        taken=len(rows.fresh),
        known=rows.known,
        corrections=rows.corrections,
        refused=tuple(refused),
        head=log.head,
    )


def _sorted_rows(report: Report, log: Log, trusted: Trusted, today: datetime.date) -> _Rows | None:
    """Sort the rows of a report into known, new and refused ones; None: it is of another log."""
    if report.agreement not in log.hashes:
        if not log.knows(report.output):
            return None
        raise DataError(
            f"{report.file}: goes on from reports of this log, and is of an agreement"
            f" ({short(report.agreement)}) that is not known here. If it amends the last one, name"
            " its file with --deployment; otherwise ask the holder which file it has taken"
        )
    rows = _Rows(fresh=[], refused=[], moved=[])
    day_of = log.deployment.period_of
    of_entity: dict[str, dict[tuple[str, ...], tuple[int, Released]]] = {}
    for place, row in enumerate(report.rows, start=1):
        of_entity.setdefault(row.entity, {}).setdefault(row[1:], (place, row))
    for entity, own in of_entity.items():
        logged: dict[tuple[str, ...], sqlite3.Row] = {
            (day_of(it["period"]).isoformat(), it["noisy_count"], it["capacity"]): it
            for it in log.releases("entity = ?", entity)
        }
        new = {key: row for key, row in own.items() if key not in logged}
        rows.known += len(own) - len(new)
        if not new:
            continue
        standing = {key: it for key, it in logged.items() if it["set_aside"] is None}
        obstacle, moves = _obstacle(report, entity, own, standing, log, trusted)
        if obstacle:
            told = f"{report.file}: {counted(len(new), 'row')} of {entity}: {obstacle}"
            rows.refused.append(told)
            continue
        origins = {period: _origin(it) for (period, *_), it in standing.items()}
        versions = Counter(period for period, *_ in standing)
        taken = len(rows.fresh)
        faulty = defaultdict[str, list[tuple[Released, str]]](list)
        for (period, *_), (place, row) in new.items():
            try:
                check_row(row, log.agreements, today)
                if versions[period] >= log.deployment.scheduled and not log.deployment.corrections:
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
            again = log.deployment.corrections or log.deployment.second_release
            before = faulty.pop(period, []) if again else []
            rows.corrections += bool(before) or period in origins
            origins[period] = f"{report.file.name}, row {place}"
            versions[period] += 1 + len(before)
            rows.fresh += [*(it for it, _ in before), row]
        aside = {day_of(number).isoformat() for number in log.set_aside(entity)}
        for period, left in faulty.items():
            if period in aside:
                rows.known += len(left)
            else:
                rows.refused += [told for _, told in left]
        if moves and len(rows.fresh) > taken:
            rows.moved.append(entity)
    return rows


def escaped(text: str) -> str:
    r"""Return a text that can be stored and shown: bytes that are not UTF-8 become their codes.

    >>> escaped("\udcfcbersicht.zip")
    '\\udcfcbersicht.zip'
    """
    return text.encode("utf-8", "backslashreplace").decode()


def _origin(row: sqlite3.Row) -> str:
    return f"{row['file']}, collected on {row['received'][:10]}"


def _obstacle(
    report: Report,
    entity: str,
    rows: Collection[tuple[str, ...]],
    standing: _Standing,
    log: Log,
    trusted: Trusted,
) -> tuple[str, bool]:
    """Return why rows of an entity are not taken, or "", and whether a new ledger is let in.

    Args:
        report: the report that brings the rows.
        entity: the entity of the rows.
        rows: its rows in the report, by period, count and capacity.
        standing: its rows in the log that count, likewise.
        log: the log.
        trusted: what the coordinator has confirmed.
    """
    agreed = log.deployment.entities.get(entity)
    if agreed is None:
        return "", False  # each row says so
    if agreed.key not in (None, report.key):
        return (
            f"the report is not signed with the key of {entity} in the agreement; ask the holder to"
            " name the file of that key in its own file"
        ), False
    known = (trusted.keys or {}).get(entity)
    if not standing:
        if agreed.key or trusted.keys is None or known == report.key:
            return "", False
        if known:
            wrong = f"it is signed with the key {report.key}, and the known one is {known}"
            return f"{wrong}; ask {entity}", False
        return (
            f"it is the first report of {entity}, and nobody has confirmed its key, {report.key}."
            f" Have {entity} read its key out (it is in its hospital.yaml), and collect again with"
            f" --known-keys FILE, in which a line says {entity}: KEY"
        ), False
    why = _another_ledger(report, entity, rows, standing, log)
    if not why or entity not in trusted.new_ledgers:
        return why, False
    wanted = agreed.key or known or _newest(standing)["key"]
    if report.key == wanted:
        return "", True
    return (
        f"its new ledger is signed with the key {report.key}, and not with {wanted}; ask {entity}."
        f" If it lost its old key too, {_NEW_KEY}"
    ), False


def _newest(standing: _Standing) -> sqlite3.Row:
    """Return a row of the last report: rows of a ledger that was accepted later come last."""
    return max(standing.values(), key=lambda it: int(it["report"]))


def _another_ledger(
    report: Report,
    entity: str,
    rows: Collection[tuple[str, ...]],
    standing: _Standing,
    log: Log,
) -> str:
    """Return why a report is of another ledger, or of an older copy; empty if it is of neither.

    A key that an agreement of the log names binds as long as it is named.
    """
    last, lost = _newest(standing), f"collect with --new-ledger {entity}. {_SET_ASIDE}"
    if last["ledger"] != report.ledger:
        of_last = [row for row in standing.values() if row["ledger"] == last["ledger"]]
        first = min(of_last, key=lambda it: int(it["report"]))
        return (
            f"this report comes from another ledger than the first one about {entity}"
            f" ({_origin(first)}); ask the holder. If it lost that ledger, {lost}"
        )
    keys = [
        agreement.entities[entity].key
        for agreement in log.agreements
        if entity in agreement.entities
    ]
    if last["key"] not in (report.key, *keys) and report.key not in keys[-1:]:
        return (
            f"this report has another key than the earlier ones ({_origin(last)}); ask the holder."
            f" If it lost that key, {_NEW_KEY}, and --new-ledger {entity}. {_SET_ASIDE}"
        )
    for key, it in standing.items():
        if it["output"] == report.output and key not in rows:
            return (
                f"it lacks what was reported for {key[0]} ({_origin(it)}): its ledger was put back"
                " from an older copy, or changed; ask the holder, who begins a new one then, and"
                f" collect that with --new-ledger {entity}. {_SET_ASIDE}"
            )
    return ""
