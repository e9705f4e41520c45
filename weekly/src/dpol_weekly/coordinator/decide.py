"""Decide for a period: `dpol.choose` plays all earlier reports by the coordinator's rule."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpol import __version__
from dpol.core.errors import DataError
from dpol.core.files import locked, write_json
from dpol.experts.choose import Choice, choose
from dpol_weekly.coordinator.decision import Decision, Outlook, read_facts
from dpol_weekly.coordinator.log import Log, open_log
from dpol_weekly.coordinator.page import write_page
from dpol_weekly.coordinator.reports import Reports, read_reports
from dpol_weekly.coordinator.settings import FILE

if TYPE_CHECKING:
    import pandas as pd

LONGEST_GAP = 8
"""A decision is for a period at most this many periods after the last report."""
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
        DataError: as `open_log`; no decision can be made; an earlier decision comes from another
            log; or the period was decided already, from other reports or with other choices.
        OutputError: the decision cannot be written.
    """
    with open_log(folder) as log:
        decision = _decided(log, number_of(log, period))
        with locked(folder / "decisions"):
            # A killed run may have left half of a file, under a hidden name.
            files = (folder / "decisions").glob("*.json")
            known = {it.stem: it for it in files if _PERIOD.fullmatch(it.stem)}
            for made in {decision.period, max(known, default="")} & known.keys():
                _refuse_other_log(log, known[made])
            decision = _write(folder / "decisions" / f"{decision.period}.json", decision)
            if decision.period >= max(known, default=""):
                write_page(folder, decision, today=today or datetime.date.today())
    return decision


def number_of(log: Log, period: datetime.date | None = None) -> int:
    """Return the number of the period to decide for; None: the first one after the last report.

    Raises:
        DataError: nothing was collected, or no period begins at that date.
    """
    if log.newest is None:
        raise DataError(f"{log.path}: nothing was collected yet; a decision needs reports")
    newest = log.deployment.number_on(datetime.date.fromisoformat(log.newest))
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


def _refuse_other_log(log: Log, path: Path) -> None:
    """Refuse to go on from a decision that was made from another log."""
    head = read_facts(path)["log_head"]
    try:
        log.refuse_unknown(head)
    except DataError as error:
        raise DataError(
            f"{path}: was made from another log. {error}; if that is lost for good, move the folder"
            f" {path.parent.name} away and decide again"
        ) from None


def _write(path: Path, decision: Decision) -> Decision:
    """Write a decision unless an equal one is there, and return the one that is there now.

    Raises:
        DataError: another decision is there; it stays.
    """
    facts = decision.facts()
    if not path.exists():
        write_json(path, facts)
        return decision
    before = read_facts(path)
    decision = replace(decision, log_head=before["log_head"])
    if other := [key for key, it in decision.facts().items() if before.get(key) != it]:
        raise DataError(
            f"{path}: is decided already, with other {', '.join(other)}, and stays; what came since"
            " counts from the next decision on"
        )
    return decision


def _decided(log: Log, number: int) -> Decision:
    """Return the decision for a period, from the reports before it."""
    deployment, coordination = log.deployment, log.coordination
    reports, day = read_reports(log, number), deployment.period_of(number)
    among = _may_be_chosen(log, reports, number)
    if not among:
        raise DataError(
            f"{log.path}: no entity may be chosen for {day} that takes part, has reported before,"
            " and has reported capacities large enough; collect reports, lower min_capacity, or"
            " shorten cannot_be_chosen"
        )
    try:
        choice = choose(
            coordination.rule,
            _frame(log, reports, among),
            period=day.isoformat(),
            name=deployment.name,
            gain_range=coordination.question.bound,
            n_rounds=coordination.rounds,
            file=str(log.path),
        )
    except ValueError as error:
        raise DataError(f"{log.path}: {error}; see rule in {FILE}") from None
    ranked = [choice.place, *(it for it in choice.ranking if it != choice.place)]
    return Decision(
        deployment=deployment.name,
        agreement=deployment.sha256(),
        period=day.isoformat(),
        last_period=deployment.period_of(number - 1).isoformat(),
        rule=choice.rule,
        named=tuple(ranked[: coordination.names]),
        outlooks=tuple(_outlooks(log, reports, choice, ranked)),
        coordination=coordination.model_dump(mode="json"),
        dpol=__version__,
        reports=int(reports.there.sum()),
        log_head=log.head,
    )


def _may_be_chosen(log: Log, reports: Reports, number: int) -> list[str]:
    """Return the entities that take part in a period, have reported and may be chosen.

    A chosen entity is large enough in all its reports.
    """
    day, least = log.deployment.period_of(number), log.coordination.question.min_capacity or 0.0
    small = (reports.capacity < least).any(axis=0)
    good: list[bool] = np.asarray(reports.there.any(axis=0) & ~small).tolist()
    return [
        name
        for (name, entity), it in zip(log.deployment.entities.items(), good, strict=True)
        if it and entity.takes_part(day) and name not in log.coordination.cannot_be_chosen
    ]


def _frame(log: Log, reports: Reports, among: Sequence[str]) -> pd.DataFrame:
    """Return the released numbers of some entities as `dpol.choose` reads them."""
    import pandas as pd

    places = [[*log.deployment.entities].index(name) for name in among]
    first = int(reports.there[:, places].any(axis=1).argmax())
    count, capacity = (it[first:, places] for it in (reports.count, reports.capacity))
    days = [log.deployment.period_of(first + it).isoformat() for it in range(len(count))]
    frame = pd.DataFrame(
        {
            "place": np.tile(among, len(days)),
            "period": np.repeat(days, len(among)),
            "count": count.ravel(),
            "capacity": capacity.ravel(),
            "deviation": log.deployment.count_noise().standard_deviation,
        }
    )
    return frame.drop(columns="capacity") if log.coordination.question.of == "count" else frame


def _outlooks(
    log: Log, reports: Reports, choice: Choice, ranked: Sequence[str]
) -> Iterator[Outlook]:
    """Yield the outlooks of all entities."""
    deployment, last_of = log.deployment, reports.last.tolist()
    noise = deployment.count_noise().standard_deviation
    ranks = {name: rank for rank, name in enumerate(ranked, start=1) if name in choice.ranking}
    for place, (name, entity) in enumerate(deployment.entities.items()):
        last = last_of[place]  # -1 where nothing was reported
        unheard = map(deployment.period_of, range(len(reports.count) - 1, last, -1))
        yield Outlook(
            entity=name,
            title=log.coordination.titles.get(name, name),
            named=name in ranked[: log.coordination.names],
            rank=ranks.get(name),
            score=choice.ranking.get(name),
            last_report=None if last < 0 else deployment.period_of(last).isoformat(),
            noisy_count=None if last < 0 else float(reports.count[last, place]),
            noise=None if last < 0 else noise,
            capacity=None if last < 0 else float(reports.capacity[last, place]),
            silent=len([*takewhile(entity.takes_part, unheard)]),
        )
