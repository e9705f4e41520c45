"""Deciding for a period: all that was reported before it is played again."""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpol import __version__
from dpol.core.errors import DataError
from dpol.core.files import locked, write_text
from dpol_weekly.coordinator.chances import chances_of
from dpol_weekly.coordinator.choices import choices_before, may_be_chosen
from dpol_weekly.coordinator.decision import (
    Decision,
    Outlook,
    as_ranges,
    from_ranges,
    read_decision,
)
from dpol_weekly.coordinator.evidence import Evidence, Reports, read_evidence
from dpol_weekly.coordinator.game import Choice
from dpol_weekly.coordinator.log import Log, open_log
from dpol_weekly.coordinator.page import EARLIER, write_page
from dpol_weekly.coordinator.past import WEEKS, History, expected_share, history_of, scores_of
from dpol_weekly.coordinator.settings import FILE, Coordination, changed
from dpol_weekly.deployment import Deployment

LONGEST_GAP = 8
"""A decision is for a period so many after the last report, at most."""
_CLOSE = 1e-9
_PERIOD = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


def decide(
    folder: Path,
    period: datetime.date | None = None,
    *,
    as_of: datetime.date | None = None,
    **changes: Any,
) -> Decision:
    """Decide for a period, and write that to `decisions/PERIOD.json` and `.csv` in the folder.

    The page `index.html` shows the decision for the latest period.

    Args:
        folder: of the coordinator.
        period: its start, at most `LONGEST_GAP` periods after the last report; None: the first one
            after it.
        as_of: the log is taken as it was at the end of that day, in universal time.
        changes: of the coordinator's own choices, for this decision.

    Raises:
        ConfigError: as `open_log` and `changed`.
        DataError: as `open_log`; no decision can be made; or the period was decided already, from
            other reports or with other choices.
        OutputError: the decision cannot be written.
    """
    with open_log(folder, as_of=as_of) as log:
        number = number_of(log, period)
        coordination = changed(log.coordination, log.deployment, **changes)
        decision, history = _decided(log, number, read_evidence(log, number), coordination)
        with locked(folder / "decisions"):
            written = _written(folder / "decisions")
            _write(log, _path(folder, decision.period), decision)
    shown = {it.period: it for it in [*written, decision]}
    newest, *earlier = sorted(shown.values(), key=lambda it: it.period, reverse=True)
    if newest is not decision:
        with open_log(folder) as log:
            _, history = _again(log, newest)
    write_page(folder, newest, history, earlier)
    return decision


def check(folder: Path, period: datetime.date | None = None) -> Decision:
    """Make a decision again from its own inputs, and compare.

    Args:
        folder: of the coordinator.
        period: as for `decide`.

    Raises:
        DataError: as `open_log`; there is no such decision, the log has lost or changed what it
            was made from, or it is not what comes out.
    """
    with open_log(folder) as log:
        period = period or log.deployment.period_of(number_of(log))
        path = _path(folder, period.isoformat())
        before = read_decision(path)
        again, _ = _again(log, before)
    if before.log_sha256 != again.log_sha256:
        raise DataError(f"{path}: the log is not what this was made from: put it back as it was")
    again = replace(again, dpol=before.dpol)
    if place := _difference(asdict(before), asdict(again)):
        raise DataError(f"{path}: does not hold the decision that the log gives now: {place}")
    table = path.with_suffix(".csv")
    if not _holds(table, before.as_csv()):
        raise DataError(f"{table}: is not the table of {path.name}; dpol decide writes it again")
    return before


def _again(log: Log, before: Decision) -> tuple[Decision, History]:
    """A decision as it comes out now, from what it read."""
    number = _number(log, before)
    then = _as_agreed(log, before.deployment_sha256)
    versions = from_ranges(before.read, list(then.deployment.entities), number)
    evidence = read_evidence(then, number, versions=versions, set_aside=before.set_aside)
    return _decided(then, number, evidence, before.coordination)


def number_of(log: Log, period: datetime.date | None = None) -> int:
    """The number of a period to decide for; None: the first one after the last reported.

    Raises:
        DataError: nothing was collected, or no period begins at that date.
    """
    newest: int | None = log.connection.execute(
        "SELECT MAX(period) FROM release WHERE number NOT IN (SELECT number FROM released"
        " WHERE entity IN (SELECT entity FROM act) AND set_aside IS NOT NULL)"
    ).fetchone()[0]
    if newest is None:
        raise DataError(f"{log.path}: nothing was collected yet; a decision needs reports")
    if period is None:
        return newest + 1
    number = log.deployment.number_of(period)
    if number is None:
        grid = log.deployment.periods
        raise DataError(
            f"no period starts at {period}: every {grid.days} days from {grid.first} on; give one"
            " of these with --period, or none"
        )
    if number > newest + LONGEST_GAP:
        last, latest = map(log.deployment.period_of, (newest, newest + LONGEST_GAP))
        raise DataError(
            f"{period} is {number - newest} periods after the last report, of {last}, too many"
            f" for a prediction; collect newer reports, or give --period {latest} at most"
        )
    return number


def _number(log: Log, decision: Decision) -> int:
    """The number of its period, however long ago the last report is that still counts."""
    return log.deployment.number_of(datetime.date.fromisoformat(decision.period)) or 0


def _path(folder: Path, period: str) -> Path:
    return folder / "decisions" / f"{period}.json"


def _written(folder: Path) -> list[Decision]:
    """The latest decisions, as many as the page shows; tables that differ are written again."""
    # A killed run may have left half of a file, under a hidden name.
    files = sorted(it for it in folder.glob("*.json") if _PERIOD.fullmatch(it.stem))
    read = {path: read_decision(path) for path in files[-1 - EARLIER :]}
    for path, decision in read.items():
        _write_table(path, decision)
    return list(read.values())


def _write_table(path: Path, decision: Decision) -> None:
    """Write the table of a decision, unless it is there as it should be."""
    table, text = path.with_suffix(".csv"), decision.as_csv()
    if not _holds(table, text):
        write_text(table, text)


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()


def _write(log: Log, path: Path, decision: Decision) -> None:
    """Write a decision, unless it is there; one that differs is never overwritten."""
    if not path.exists():
        # Its table first: a decision that is there has one.
        _write_table(path, decision)
        write_text(path, decision.as_json())
        return
    before = read_decision(path)
    _write_table(path, before)
    if before.log_sha256 != decision.log_sha256:
        raise DataError(
            f"{path}: is decided already, and stays: {_since(log, before, decision)}; that"
            " counts from the next decision on"
        )
    if before.coordination != decision.coordination:
        was, now = (it.coordination.model_dump() for it in (before, decision))
        keys = ", ".join(key for key in was if was[key] != now[key])
        raise DataError(
            f"{path}: is decided already, and stays; it was decided with other choices ({keys})."
            f" What {FILE} or the command says now counts from the next period on"
        )
    if before != decision:
        raise DataError(
            f"{path}: is decided already, with another version of dpol or machine, and stays; dpol"
            " decide --check says whether both agree"
        )


def _as_agreed(log: Log, sha256: str) -> Log:
    """The log under the agreement that held when a decision was made."""
    if sha256 not in log.hashes:
        raise DataError(f"{log.path}: lacks the agreement that this decision rests on")
    return replace(log, agreements=log.agreements[: log.hashes.index(sha256) + 1])


def _since(log: Log, before: Decision, now: Decision) -> str:
    """The difference between what two decisions for one period read."""
    deployment, names = log.deployment, list(log.deployment.entities)
    then, here = (from_ranges(it.read, names, _number(log, it)) for it in (before, now))
    came = [
        f"{names[place]} for {deployment.period_of(period)}"
        for period, place in np.argwhere(here > then).tolist()
    ]
    told = [f"came since: {', '.join(came)}"] if came else []
    told += [
        f"set aside since: {it.entity} for {it.period}"
        for it in now.set_aside
        if it not in before.set_aside
    ]
    return ", ".join(told) or "the log has other rows than then"


def _decided(
    log: Log, number: int, evidence: Evidence, coordination: Coordination
) -> tuple[Decision, History]:
    """The decision for a period, from the reports before it, and its last periods."""
    deployment, period = log.deployment, log.deployment.period_of(number).isoformat()
    reports, bound = evidence.reports, coordination.question.bound
    try:
        (choice,) = choices_before(deployment, coordination, reports, [number])
    except ValueError as error:
        raise DataError(f"{log.path}: {error}") from None
    laws = [] if choice.law is None else [*choice.past[1 - WEEKS :], (number, choice.law)]
    expected = expected_share(
        [(law, may_be_chosen(deployment, coordination, it, reports)) for it, law in laws],
        coordination.names,
    )
    # Asked for counts, the algorithm has played with counts / bound.
    played, unit = (reports, 1.0) if bound is None else (reports.as_counts(bound), bound)
    names = list(deployment.entities)
    decision = Decision(
        deployment=deployment.name,
        deployment_sha256=deployment.sha256(),
        period=period,
        last_period=deployment.period_of(number - 1).isoformat(),
        named=tuple(names[place] for place in choice.ranked[: coordination.names]),
        outlooks=_outlooks(deployment, coordination, reports, choice),
        scores=scores_of(played, choice.past, unit, expected),
        spent=evidence.spent,
        coordination=coordination,
        # The keys of all random numbers, see `dpol.core.randomness`.
        randomness={
            "key": [deployment.name, number, 0, "decision"],
            "initial_noise": [deployment.name, 0, "initial noise"],
        },
        dpol=__version__,
        releases=evidence.releases,
        read=as_ranges(evidence.versions, names),
        set_aside=evidence.set_aside,
        log_sha256=evidence.sha256,
    )
    return decision, history_of(deployment, played, choice.past, unit)


def _outlooks(
    deployment: Deployment, coordination: Coordination, reports: Reports, choice: Choice
) -> tuple[Outlook, ...]:
    """The outlooks of all entities; asked for counts, the choice is one of counts / bound."""
    bound, law = coordination.question.bound, choice.law
    ranks = {place: rank for rank, place in enumerate(choice.ranked, start=1)}
    chances: dict[int, float] = {}
    if law is not None:
        places = list(choice.ranked)
        likely = chances_of(law.share[places], law.apart[places], coordination.names)
        chances = dict(zip(places, likely.tolist(), strict=True))
    there, last_of = reports.there, reports.last
    outlooks = []
    for place, (name, entity) in enumerate(deployment.entities.items()):
        last = int(last_of[place])
        report = reports.cells[last, place] if last >= 0 else None
        capacity = None if report is None else float(report["capacity"])
        share, low, high = (None, None, None) if law is None else law.interval(place)
        if bound is not None:
            share, low, high = (
                None if end is None or capacity is None else end * bound / capacity
                for end in (share, low, high)
            )
        silent = 0
        for number in range(len(there) - 1, last, -1):
            if not entity.takes_part(deployment.period_of(number)):
                break
            silent += 1
        outlooks.append(
            Outlook(
                entity=name,
                title=coordination.titles.get(name, name),
                rank=ranks.get(place) if len(ranks) > 1 else None,
                named=ranks.get(place, math.inf) <= coordination.names,
                chance=chances.get(place),
                share=share,
                low=low,
                high=high,
                noisy_share=None if report is None else float(report["share"]),
                noise=None if report is None else float(report["noise"]),
                capacity=capacity,
                last_report=None if report is None else deployment.period_of(last).isoformat(),
                reports=int(there[:, place].sum()),
                silent=silent,
            )
        )
    return tuple(outlooks)


def _difference(before: Any, again: Any, place: str = "") -> str:
    """The first difference of two plain values, numbers up to rounding; empty if there is none."""
    if isinstance(before, list | tuple) and isinstance(again, list | tuple):
        before, again = dict(enumerate(before)), dict(enumerate(again))
    if isinstance(before, dict) and isinstance(again, dict) and before.keys() == again.keys():
        parts = (_difference(before[key], again[key], f"{place}.{key}") for key in before)
        return next(filter(None, parts), "")
    numbers = isinstance(before, float) and isinstance(again, float)
    same = abs(before - again) <= _CLOSE if numbers else before == again
    return "" if same else f"{place[1:]}: {before!r}, not {again!r}"
