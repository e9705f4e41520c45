"""Collect the reports of holders, checked against the agreement and what was accepted before.

Reports are taken one by one, and each place's rows on their own: a fault in one changes nothing for
the others.
"""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.words import counted
from dpol_weekly.coordinator.checks import check_row
from dpol_weekly.coordinator.log import Cells, Log, Place, keep, open_log
from dpol_weekly.released.read import ASK, Report, files_of, find_release, read_release
from dpol_weekly.released.row import Released

LISTED = 20
"""Number of files, or of refusals of one file, that are told one by one."""
_SET_ASIDE = "If the earlier row was wrong, set it aside with dpol set-aside"


@dataclass(kw_only=True)
class Collected:
    """The outcome of collecting a file.

    Args:
        file: the file.
        taken: the new rows.
        known: number of rows that were collected before, or refused and told before.
        again: number of new rows that are second releases.
        refused: why rows, or the whole report, were refused; empty if nothing new was.
        ignored: whether the file was found in a folder and is no release.
    """

    file: Path
    taken: list[tuple[str, ...]] = field(default_factory=list)
    known: int = 0
    again: int = 0
    refused: list[str] = field(default_factory=list)
    ignored: bool = False


def collect(
    reports: Sequence[Path],
    folder: Path,
    deployment: Path | None = None,
    *,
    keys: Mapping[str, str] | None = None,
    today: datetime.date | None = None,
) -> list[Collected]:
    """Accept the new rows of reports into a folder, and refuse the others.

    Args:
        reports: files that `dpol privatize` wrote, or folders with such files; see `files_of`.
        folder: the coordinator's folder; made if it is missing.
        deployment: the file of the agreement, the first time or after an amendment.
        keys: the keys that entities have read out, for their first reports and for new keys; None:
            any key of a first report.
        today: only periods that ended before this date are taken; None: the computer's date.

    Raises:
        ConfigError, DataError, OutputError: as `open_log`.
    """
    today = today or datetime.date.today()
    with open_log(folder, deployment) as log:
        return [_collect(log, file, inside, keys, today) for file, inside in files_of(reports)]


def set_aside(
    folder: Path, entity: str, reason: str, period: datetime.date | None = None
) -> list[Place]:
    """Exclude what was accepted of an entity, or of one of its periods.

    The rows stay in the list, with the reason, and their privacy cost still counts. They stay set
    aside if they are collected again; other rows may be reported for these periods. After all of an
    entity was set aside, its key is asked for again.

    Args:
        folder: the coordinator's folder.
        entity: identifier of the entity.
        reason: shown in the list.
        period: start of the period; None: everything collected so far.

    Returns:
        The entity and the period of the rows.

    Raises:
        DataError: as `open_log`; or no row of the entity counts.
        OutputError: the list cannot be written.
    """
    with open_log(folder) as log:
        day = None if period is None else period.isoformat()
        done = [it for it in log.rows if it[0] == entity and day in (None, it[1]) and log.rows[it]]
        if not done:
            raise DataError(f"nothing of {entity} counts then; see dpol export {folder}")
        log.add("set aside", entity=entity, period=day, reason=reason)
        return sorted(done)


def _collect(
    log: Log, file: Path, inside: bool, keys: Mapping[str, str] | None, today: datetime.date
) -> Collected:
    """Collect one file, found `inside` a folder or named."""
    done = Collected(file=file)
    try:
        report = find_release(file) if inside else read_release(file)
        if report is None:
            return Collected(file=file, ignored=True)
        if report.agreement not in log.hashes:
            raise DataError(
                f"{file}: is of another agreement ({report.agreement}). If that one amends the last"
                " one, name its file with --deployment; otherwise ask the holder"
            )
        bound, refused = _sort_rows(log, report, done, keys, today)
    except Exception as error:  # one that nobody foresaw, too: others must not suffer
        known = isinstance(error, DataError)
        why = str(error) if known else f"{file}: cannot be taken ({type(error).__name__}); {ASK}"
        return Collected(file=file, refused=[why])
    if done.taken or refused or any(log.keys.get(it) != report.key for it in bound):
        log.add(
            "release",
            file=file.name,
            sha256=keep(log.folder, report.key, report.data),
            key=report.key,
            entities=bound,
            taken=done.taken,
            refused=refused,
        )
    if (more := len(done.refused) - LISTED) > 0:
        done.refused[LISTED:] = [f"{file}: {more:,} more rows or entities are refused"]
    return done


def _sort_rows(
    log: Log,
    report: Report,
    done: Collected,
    keys: Mapping[str, str] | None,
    today: datetime.date,
) -> tuple[list[str], list[list[str]]]:
    """Sort the rows of a report into known, new and refused ones, in `done`.

    Returns the entities that report with this key, and the refused rows with the reason, those that
    are told for the first time.
    """
    places, refused = defaultdict[Place, list[Cells]](list), list[list[str]]()
    for row in report.rows:
        places[row[:2]].append(row[2:])
    wrong = {it: _wrong_key(log, report, it, keys) for it in dict.fromkeys(it for it, _ in places)}

    def refuse(place: Place, cells: Cells, why: str) -> None:
        told = *place, *cells, why
        if told in log.told:
            done.known += 1
        else:
            refused.append([*told])
            done.refused.append(f"{report.file}, {place[0]} for {place[1]}: {why}")

    deployment, strange = log.deployment, Counter[str]()
    for place, found in places.items():
        entity, held, good = place[0], log.rows.get(place, []), list[Cells]()
        for cells in found:
            if cells in log.aside.get(place, ()) or (wrong[entity] and cells in held):
                done.known += 1  # an old file, with the key of then
            elif wrong[entity]:
                strange[entity] += 1
            else:
                try:
                    if cells not in held:
                        check_row(Released(*place, *cells), log.agreements, today)
                    good.append(cells)
                except DataError as error:
                    refuse(place, cells, str(error))
        for number, cells in enumerate(good):
            second = deployment.second_day(datetime.date.fromisoformat(place[1]))
            if good[: len(held)] != held[: len(good)]:
                why = f"was reported already, with other numbers; ask the holder. {_SET_ASIDE}"
            elif number < len(held):
                done.known += 1
                continue
            elif number and (second is None or number > 1):
                why = f"the agreement allows no further release of it; ask the holder. {_SET_ASIDE}"
            elif number and second is not None and second > today:
                why = f"its second release is due on {second}; collect again then"
            else:
                done.taken.append((*place, *cells))
                done.again += bool(number)
                continue
            refuse(place, cells, why)
    for it, number in strange.items():
        done.refused.append(f"{report.file}: {counted(number, 'row')} of {it}: {wrong[it]}")
    return [it for it, why in wrong.items() if not why and it in deployment.entities], refused


def _wrong_key(log: Log, report: Report, entity: str, keys: Mapping[str, str] | None) -> str:
    """Return why an entity does not report with the key of a report; empty if it may."""
    wanted = (keys or {}).get(entity) or log.keys.get(entity)
    anybody = keys is None and not wanted
    if anybody or entity not in log.deployment.entities or report.key == wanted:
        return ""  # each row of no entity says so
    return (
        f"the report is signed with the key {report.key}, and {wanted or 'no key'} is known of"
        f" {entity}. Have it read its key out (it is in its hospital.yaml), and collect again with"
        f" --known-keys FILE, in which a line says {entity}: KEY"
    )
