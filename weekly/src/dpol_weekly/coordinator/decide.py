"""Decide for a period: `dpol.choose` plays all earlier reports by the coordinator's rule."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpol import __version__
from dpol.core.errors import DataError
from dpol.core.files import locked, write_text
from dpol.experts.choose import Choice, choose
from dpol_weekly.coordinator.decision import Decision, Outlook, read_decision
from dpol_weekly.coordinator.evidence import Reports, read_evidence
from dpol_weekly.coordinator.log import Log, open_log
from dpol_weekly.coordinator.page import EARLIER, write_page
from dpol_weekly.coordinator.settings import FILE, Coordination
from dpol_weekly.deployment import Deployment

if TYPE_CHECKING:
    import pandas as pd

LONGEST_GAP = 8
"""A decision is for a period at most this many periods after the last report."""
_CLOSE = 1e-9
_PERIOD = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


def decide(
    folder: Path, period: datetime.date | None = None, today: datetime.date | None = None
) -> Decision:
    """Decide for a period and write `decisions/PERIOD.json` in the folder.

    The page `index.html` shows the decision for the latest period.

    Args:
        folder: the coordinator's folder.
        period: start of the period, at most `LONGEST_GAP` periods after the last report; None: the
            first period after the last report.
        today: the date that the page shows; None: the computer's.

    Raises:
        ConfigError: as `open_log`.
        DataError: as `open_log`; no decision can be made; earlier decisions come from another log;
            or the period was decided already, from other reports or with other choices.
        OutputError: the decision cannot be written.
    """
    with open_log(folder) as log:
        number = number_of(log, period)
        decision = _decided(log, number, log.coordination)
        with locked(folder / "decisions"):
            written = _written(log, folder / "decisions")
            decision = _write(log, _path(folder, decision.period), decision)
            shown = {each.period: each for each in [*written, decision]}
            latest = sorted(shown.values(), key=lambda it: it.period, reverse=True)
            write_page(folder, *latest, today=today or datetime.date.today())
    return decision


def check(folder: Path, period: datetime.date | None = None) -> Decision:
    """Repeat a decision from the log as it was then, and compare.

    Args:
        folder: the coordinator's folder.
        period: as for `decide`.

    Raises:
        DataError: as `open_log`; there is no such decision, it comes from another log, or the
            repeated decision differs.
    """
    with open_log(folder) as log:
        period = period or log.deployment.period_of(number_of(log))
        path = _path(folder, period.isoformat())
        before = read_decision(path)
        again = _decided(_log_of(log, path, before), _number(log, before), before.coordination)
    if place := _difference(asdict(before), asdict(replace(again, dpol=before.dpol))):
        raise DataError(
            f"{path}: does not hold the decision that the log gives: {place}; put the file back as"
            " it was, or move it away and decide again"
        )
    if path.read_bytes() != before.as_json().encode():
        raise DataError(
            f"{path}: is not written as dpol decide writes it: something was added, left out or"
            " given twice; put the file back as it was, or move it away and decide again"
        )
    return before


def number_of(log: Log, period: datetime.date | None = None) -> int:
    """Return the number of the period to decide for; None: the first one after the last report.

    Raises:
        DataError: nothing was collected, or no period begins at that date.
    """
    counting = (it["period"] for it in log.releases() if it["set_aside"] is None)
    newest: int = max(counting, default=-1)
    if newest < 0:
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
    """Return the number of the period of a decision, however old its last report is."""
    return log.deployment.number_of(datetime.date.fromisoformat(decision.period)) or 0


def _path(folder: Path, period: str) -> Path:
    return folder / "decisions" / f"{period}.json"


def _written(log: Log, folder: Path) -> list[Decision]:
    """Return the latest decisions, as many as the page shows.

    Raises:
        DataError: one is damaged, or was made from another log.
    """
    # A killed run may have left half of a file, under a hidden name.
    files = sorted(file for file in folder.glob("*.json") if _PERIOD.fullmatch(file.stem))
    read = {path: read_decision(path) for path in files[-1 - EARLIER :]}
    for path, decision in read.items():
        _log_of(log, path, decision)
    return list(read.values())


def _log_of(log: Log, path: Path, decision: Decision) -> Log:
    """Return the log as it was when a decision was made."""
    try:
        return log.at(decision.log_head)
    except DataError as error:
        raise DataError(
            f"{path}: was made from another log. {error}; if that is lost for good, move the folder"
            f" {path.parent.name} away and decide again"
        ) from None


def _write(log: Log, path: Path, decision: Decision) -> Decision:
    """Write a decision unless an equal one is there, and return the one that is there now.

    Raises:
        DataError: another decision is there; it stays.
    """
    if not path.exists():
        write_text(path, decision.as_json())
        return decision
    before = read_decision(path)
    _log_of(log, path, before)
    if before == replace(decision, log_head=before.log_head):
        return before
    why = "from other reports, or another agreement or version of dpol"
    if before.coordination != decision.coordination:
        was, now = (made.coordination.model_dump() for made in (before, decision))
        keys = ", ".join(key for key in was if was[key] != now[key])
        why = f"with other choices in {FILE} ({keys})"
    raise DataError(
        f"{path}: is decided already, {why}, and stays; what came since counts from the next"
        " decision on"
    )


def _decided(log: Log, number: int, coordination: Coordination) -> Decision:
    """Return the decision for a period, from the reports before it."""
    deployment, evidence = log.deployment, read_evidence(log, number)
    reports, day = evidence.reports, deployment.period_of(number)
    among = may_be_chosen(deployment, coordination, reports, number)
    if (count := int(reports.there.any(axis=0).sum())) < 2:
        raise DataError(
            f"{log.path}: two entities must have reported before a decision, not {count}"
        )
    if not among:
        raise DataError(
            f"{log.path}: no entity may be chosen that takes part, has reported, and has reported"
            " capacities large enough; lower min_capacity, or shorten cannot_be_chosen"
        )
    bound = coordination.question.bound
    try:
        choice = choose(
            coordination.rule,
            _frame(deployment, reports, among, capacities=bound is None),
            period=day.isoformat(),
            name=deployment.name,
            gain_range=bound,
            n_rounds=coordination.rounds,
            file=str(log.path),
        )
    except ValueError as error:
        raise DataError(f"{log.path}: {error}; see rule in {FILE}") from None
    ranked = [choice.place, *(it for it in choice.ranking if it != choice.place)]
    if coordination.names > 1 and len(among) > 1 and not choice.ranking:
        raise DataError(
            f"{log.path}: {choice.rule} judges one place only; write names: 1 in {FILE}"
        )
    named = tuple(ranked[: coordination.names])
    return Decision(
        deployment=deployment.name,
        deployment_sha256=deployment.sha256(),
        period=day.isoformat(),
        last_period=deployment.period_of(number - 1).isoformat(),
        rule=choice.rule,
        named=named,
        outlooks=tuple(_outlooks(deployment, coordination, reports, choice, ranked)),
        spent=evidence.spent,
        coordination=coordination,
        dpol=__version__,
        releases=evidence.releases,
        set_aside=evidence.set_aside,
        log_head=log.head,
    )


def may_be_chosen(
    deployment: Deployment, coordination: Coordination, reports: Reports, number: int
) -> list[str]:
    """Return the entities that take part in a period, have reported and may be chosen.

    A chosen entity is large enough in all its reports.
    """
    day, least = deployment.period_of(number), coordination.question.min_capacity or 0.0
    small = [bool(own.any()) for own in (reports.capacity < least).T]
    return [
        name
        for place, (name, entity) in enumerate(deployment.entities.items())
        if entity.takes_part(day)
        and name not in coordination.cannot_be_chosen
        and reports.there[:, place].any()
        and not small[place]
    ]


def _frame(
    deployment: Deployment, reports: Reports, among: Sequence[str], *, capacities: bool
) -> pd.DataFrame:
    """Return the released numbers of some entities as `dpol.choose` reads them."""
    import pandas as pd

    places = [[*deployment.entities].index(name) for name in among]
    first = int(reports.there[:, places].any(axis=1).argmax())
    count, capacity = (it[first:, places] for it in (reports.count, reports.capacity))
    days = [deployment.period_of(first + it).isoformat() for it in range(len(count))]
    frame = {
        "place": np.tile(among, len(days)),
        "period": np.repeat(days, len(among)),
        "count": count.ravel(),
        "deviation": deployment.count_noise().standard_deviation,
    }
    return pd.DataFrame(frame | ({"capacity": capacity.ravel()} if capacities else {}))


def _outlooks(
    deployment: Deployment,
    coordination: Coordination,
    reports: Reports,
    choice: Choice,
    ranked: Sequence[str],
) -> Iterator[Outlook]:
    """Yield the outlooks of all entities."""
    there, last_of = reports.there, reports.last.tolist()
    noise = deployment.count_noise().standard_deviation
    for place, (name, entity) in enumerate(deployment.entities.items()):
        last = last_of[place]  # -1 where nothing was reported, so that each number is NaN
        unheard = map(deployment.period_of, range(len(there) - 1, last, -1))
        yield Outlook(
            entity=name,
            title=coordination.titles.get(name, name),
            named=name in ranked[: coordination.names],
            rank=ranked.index(name) + 1 if name in choice.ranking else None,
            score=choice.ranking.get(name),
            noisy_count=_known(reports.count[last, place]),
            noise=None if last < 0 else noise,
            capacity=_known(reports.capacity[last, place]),
            last_report=None if last < 0 else deployment.period_of(last).isoformat(),
            reports=int(there[:, place].sum()),
            silent=len([*takewhile(entity.takes_part, unheard)]),
        )


def _known(number: float) -> float | None:
    """Return a number of an array; None for NaN."""
    return None if math.isnan(number) else float(number)


def _difference(before: Any, again: Any, place: str = "") -> str:
    """Return the first difference of two plain values, up to rounding; empty if there is none."""
    if isinstance(before, list | tuple) and isinstance(again, list | tuple):
        before, again = dict(enumerate(before)), dict(enumerate(again))
    if isinstance(before, dict) and isinstance(again, dict) and before.keys() == again.keys():
        parts = (_difference(before[key], again[key], f"{place}.{key}") for key in before)
        return next(filter(None, parts), "")
    numbers = isinstance(before, float) and isinstance(again, float)
    same = abs(before - again) <= _CLOSE if numbers else before == again
    return "" if same else f"{place[1:]}: {before!r}, not {again!r}"
