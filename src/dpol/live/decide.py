"""Deciding for a period: all that was reported before it is played again."""

from __future__ import annotations

import datetime
import math
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dpol import __version__
from dpol.core.errors import DataError
from dpol.core.files import write_text
from dpol.live.decision import Decision, Outlook, Spent, read_decision
from dpol.live.deployment import algorithm_of
from dpol.live.game import Choice
from dpol.live.log import Log, open_log
from dpol.live.page import EARLIER, write_page
from dpol.live.panel import Panel, read_panel
from dpol.live.replay import games_before
from dpol.release.chains import growth
from dpol.release.deployment import Deployment

LONGEST_GAP = 8
"""A decision is for a period so many after the last report, at most."""
_CLOSE = 1e-9


def decide(folder: Path, period: datetime.date | None = None) -> Decision:
    """Decide for a period, and write that to `decisions/PERIOD.json` and `.csv` in the folder.

    The page `index.html` shows the decision for the latest period.

    Args:
        folder: of the coordinator.
        period: its start, at most `LONGEST_GAP` periods after the last report; None: the first one
            after it.

    Raises:
        DataError: as `open_log`; no decision can be made; or the period was decided already, from
            other reports.
        OutputError: the decision cannot be written.
    """
    with open_log(folder) as log:
        decision = _decided(log, number_of(log, period))
        _write(log, folder, decision)
    newest, *earlier = _decisions(folder)
    write_page(folder, newest, earlier)
    return decision


def _decisions(folder: Path) -> list[Decision]:
    """The latest decisions, the newest period first: as many as the page shows."""
    # A killed run may have left half of a file, under a hidden name.
    files = sorted((folder / "decisions").glob("[!.]*.json"), reverse=True)
    return [read_decision(path) for path in files[: EARLIER + 1]]


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
        number = number_of(log, period)
        path = _path(folder, log.deployment.period_of(number).isoformat())
        before = read_decision(path)
        again = _decided(log, number, before.last_received)
    if before.log_sha256 != again.log_sha256:
        raise DataError(f"{path}: the log is not what this was made from: put it back as it was")
    if before.dpol != again.dpol:
        again = Decision(**{**vars(again), "dpol": before.dpol})
    if place := _difference(asdict(before), asdict(again)):
        raise DataError(f"{path}: does not hold the decision that the log gives now: {place}")
    return before


def number_of(log: Log, period: datetime.date | None = None) -> int:
    """The number of a period to decide for; None: the first one after the last reported.

    Raises:
        DataError: nothing was collected, or no period begins at that date.
    """
    last: str | None = log.connection.execute("SELECT MAX(period) FROM release").fetchone()[0]
    if last is None:
        raise DataError(f"{log.path}: nothing was collected yet; a decision needs reports")
    newest = log.deployment.number_of(datetime.date.fromisoformat(last)) or 0
    if period is None:
        return newest + 1
    number = log.deployment.number_of(period)
    if number is None:
        it = log.deployment.periods
        raise DataError(
            f"no period starts at {period}: every {it.days} days from {it.first} on; give one"
            " of these with --period, or none"
        )
    if number > newest + LONGEST_GAP:
        latest = log.deployment.period_of(newest + LONGEST_GAP)
        raise DataError(
            f"{period} is {number - newest} periods after the last report, of {last}, too many"
            f" for a prediction; collect newer reports, or give --period {latest} at most"
        )
    return number


def _path(folder: Path, period: str) -> Path:
    return folder / "decisions" / f"{period}.json"


def _write(log: Log, folder: Path, decision: Decision) -> None:
    """Write a decision, unless it is there; one that differs is never overwritten."""
    path, text = _path(folder, decision.period), decision.as_json()
    if path.exists() and path.read_text(encoding="utf-8") != text:
        before = read_decision(path)
        if before.log_sha256 != decision.log_sha256:
            late = [
                f"{row.entity} for {row.period}"
                for report, row in log.releases("period < ?", decision.period)
                if report > before.last_received
            ]
            came = f"came since: {', '.join(late)}" if late else "the log has other rows than then"
            raise DataError(
                f"{path}: is decided already, and stays: {came}; what came late counts from the"
                " next decision on"
            )
        raise DataError(
            f"{path}: is decided already, with another file of the deployment, version of dpol"
            " or machine, and stays; dpol decide --check says whether both agree"
        )
    for file, content in ((path.with_suffix(".csv"), decision.as_csv()), (path, text)):
        if not file.exists():
            write_text(file, content)


def _decided(log: Log, number: int, last_received: int | None = None) -> Decision:
    """The decision for a period, from reports up to a number in the log; None: from all."""
    deployment, period = log.deployment, log.deployment.period_of(number)
    panel = read_panel(log, number, last_received)
    among = np.array([it.takes_part(period) for it in deployment.entities.values()])
    try:
        (ready,) = games_before(deployment, algorithm_of(deployment), panel, [number])
        choice = ready.choose()
    except ValueError as error:
        raise DataError(f"{log.path}: {error}") from None
    if len(choice.ranked) < min(deployment.names, among.sum()):
        raise DataError(
            f"{log.path}: {deployment.algorithm} does not rank, and the deployment names"
            f" {deployment.names}; name 1, or take another algorithm"
        )
    named = choice.ranked[: deployment.names]
    return Decision(
        deployment=deployment.name,
        deployment_sha256=log.sha256,
        period=period.isoformat(),
        last_period=deployment.period_of(number - 1).isoformat(),
        named=tuple(list(deployment.entities)[place] for place in named),
        outlooks=_outlooks(deployment, panel, choice),
        spent=spent_of(deployment, panel),
        algorithm=deployment.algorithm,
        randomness=_randomness(deployment, number),
        dpol=__version__,
        releases=panel.releases,
        last_received=panel.last_received,
        log_sha256=panel.sha256,
    )


def _randomness(deployment: Deployment, number: int) -> dict[str, Any]:
    """The seed and keys of all random numbers of a decision, see `dpol.core.randomness`."""
    name = deployment.name
    return {
        "seed": deployment.seed,
        "key": [name, number, 0, "decision"],
        "initial_noise": [name, 0, "initial noise"],
    }


def _outlooks(deployment: Deployment, panel: Panel, choice: Choice) -> tuple[Outlook, ...]:
    ranks = {place: rank for rank, place in enumerate(choice.ranked, start=1)}
    reports, end = panel.there.sum(axis=0), len(panel.share) - 1
    outlooks, last_of = [], panel.last
    for place, (name, entity) in enumerate(deployment.entities.items()):
        last = int(last_of[place])
        share, low, high = choice.interval(place)
        outlooks.append(
            Outlook(
                entity=name,
                title=entity.title or name,
                rank=ranks.get(place) if len(ranks) > 1 else None,
                named=ranks.get(place, math.inf) <= deployment.names,
                share=share,
                low=low,
                high=high,
                noisy_share=None if last < 0 else float(panel.share[last, place]),
                noise=None if last < 0 else float(panel.noise[last, place]),
                last_report=None if last < 0 else deployment.period_of(last).isoformat(),
                reports=int(reports[place]),
                missing=last < end and entity.takes_part(deployment.period_of(end)),
            )
        )
    return tuple(outlooks)


def spent_of(deployment: Deployment, panel: Panel) -> Spent:
    """Privacy cost of releases for one person: a period that was released twice counts twice."""
    mu, stay = math.sqrt(panel.spent.max()), deployment.longest_stay
    memories = [(Fraction(a), Fraction(b), weeks) for a, b, weeks in panel.memories]
    return Spent(
        mu=mu,
        unit_weeks=min(weeks for *_, weeks in memories),
        mu_of_stay=mu * growth(memories, stay),
        longest_stay=stay,
        corrections=panel.corrections,
    )


def _difference(before: Any, again: Any, place: str = "") -> str:
    """The first difference of two plain values, numbers up to rounding; empty if there is none."""
    if isinstance(before, dict) and isinstance(again, dict) and before.keys() == again.keys():
        pairs = [(f"{place}.{key}", before[key], again[key]) for key in before]
    elif isinstance(before, list | tuple) and len(before) == len(again):
        both = enumerate(zip(before, again, strict=True))
        pairs = [(f"{place}[{index}]", *pair) for index, pair in both]
    elif isinstance(before, float) and isinstance(again, float):
        return "" if abs(before - again) <= _CLOSE else f"{place[1:]}: {before}, not {again}"
    else:
        return "" if before == again else f"{place[1:]}: {before!r}, not {again!r}"
    return next(filter(None, (_difference(a, b, where) for where, a, b in pairs)), "")
