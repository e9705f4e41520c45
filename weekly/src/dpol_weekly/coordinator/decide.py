"""Decide for a period: `dpol.choose` plays all earlier reports by the coordinator's rule."""

from __future__ import annotations

import datetime
import re
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpol import __version__
from dpol.core.errors import DataError
from dpol.core.files import locked, read_json, write_json, write_text
from dpol.core.words import counted
from dpol.experts.choose import choose
from dpol.show.pages import load_template
from dpol_weekly.coordinator.log import Log, open_log
from dpol_weekly.coordinator.settings import FILE

if TYPE_CHECKING:
    import pandas as pd

LONGEST_GAP = 8
"""A decision is for a period at most this many periods after the last report."""
_PERIOD = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


def decide(
    folder: Path, period: datetime.date | None = None, today: datetime.date | None = None
) -> dict[str, Any]:
    """Decide for a period and write `decisions/PERIOD.json` in the folder.

    The page `index.html` shows the decision for the latest period.

    Returns what is written: the `deployment` and the hash of the `agreement`; the decided `period`
    and the one before, `last_period`; the label of the `rule`; the entities `named`, best first,
    and those `missing` from the last period; `outlooks`; `coordination`, the coordinator's choices;
    the version of `dpol`; the number of `reports` that counted; and `log_head`, which fixes what
    was read. Besides, `today` and the period that is `current` then.

    An outlook has the `entity` and its `title`; whether it is `named`, its `rank` (1 is the best),
    and its `score` where the rule has one; its `last_report`, with `noisy_count`, `capacity` and
    the standard deviation of the `noise`; and how many periods in a row it has been `silent`. None
    stands for what there is not.

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
    today = today or datetime.date.today()
    with open_log(folder) as log:
        decision = _decided(log, number_of(log, period))
        with locked(folder / "decisions"):
            # A killed run may have left half of a file, under a hidden name.
            files = (folder / "decisions").glob("*.json")
            known = {it.stem: it for it in files if _PERIOD.fullmatch(it.stem)}
            for made in {decision["period"], max(known, default="")} & known.keys():
                _refuse_other_log(log, known[made])
            decision = _written(folder / "decisions" / f"{decision['period']}.json", decision)
            current = log.deployment.period_of(log.deployment.number_on(today))
            shown = decision | {"today": today.isoformat(), "current": current.isoformat()}
            if decision["period"] >= max(known, default=""):
                write_text(folder / "index.html", decision_page(shown))
    return shown


def decision_page(decision: dict[str, Any]) -> str:
    """Return a decision as a page, one file of HTML that a coordinator opens or sends."""
    page = load_template("decision.html.j2", "dpol_weekly.coordinator")
    return page.render(decision, gain=decision["coordination"]["question"], counted=counted)


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


def _written(path: Path, decision: dict[str, Any]) -> dict[str, Any]:
    """Write a decision unless an equal one is there, and return the one that is there now.

    Raises:
        DataError: another decision is there; it stays.
    """
    if not path.exists():
        write_json(path, decision)
        return decision
    before = read_facts(path)
    decision = decision | {"log_head": before["log_head"]}
    if other := [key for key, it in decision.items() if before.get(key) != it]:
        raise DataError(
            f"{path}: is decided already, with other {', '.join(other)}, and stays; what came since"
            " counts from the next decision on"
        )
    return decision


def read_facts(path: Path) -> dict[str, Any]:
    """Return what the file of a decision holds.

    Raises:
        DataError: the file cannot be read, or is not a decision.
    """
    try:
        facts = read_json(path)
    except (OSError, ValueError):
        facts = None
    if not isinstance(facts, dict) or not isinstance(facts.get("log_head"), str):
        raise DataError(
            f"{path}: is not a decision of dpol; put it back as it was, or move it away and decide"
            " again"
        )
    return facts


def _decided(log: Log, number: int) -> dict[str, Any]:
    """Return the decision for a period, from the reports before it."""
    deployment, coordination = log.deployment, log.coordination
    question, entities = coordination.question, deployment.entities
    days = [deployment.period_of(it) for it in range(number + 1)]
    frame, deviation = _reports(log, days[:-1]), deployment.count_noise().standard_deviation
    counts, capacities = frame[["count", "capacity"]].to_numpy().T.reshape(2, number, len(entities))
    there = ~np.isnan(counts)
    # Who is chosen takes part, has reported, and is large enough in all reports.
    good = there.any(axis=0) & ~(capacities < (question.min_capacity or 0.0)).any(axis=0)
    among = [
        name
        for (name, entity), it in zip(entities.items(), good.tolist(), strict=True)
        if it and entity.takes_part(days[-1]) and name not in coordination.cannot_be_chosen
    ]
    if not among:
        raise DataError(
            f"{log.path}: no entity may be chosen for {days[-1]} that takes part, has reported"
            " before, and has reported capacities large enough; collect reports, lower"
            " min_capacity, or shorten cannot_be_chosen"
        )
    released = frame[frame["place"].isin(among)].assign(deviation=deviation)
    try:
        choice = choose(
            coordination.rule,
            released.drop(columns="capacity") if question.of == "count" else released,
            period=days[-1].isoformat(),
            name=deployment.name,
            gain_range=question.bound,
            n_rounds=coordination.rounds,
            file=str(log.path),
        )
    except ValueError as error:
        raise DataError(f"{log.path}: {error}; see rule in {FILE}") from None
    ranked = [choice.place, *(it for it in choice.ranking if it != choice.place)]
    named, outlooks = ranked[: coordination.names], []
    ranks = {name: rank for rank, name in enumerate(ranked, start=1)}
    for place, (name, entity) in enumerate(entities.items()):
        seen = np.flatnonzero(there[:, place])[-1:].tolist()
        unheard = days[seen[-1] + 1 if seen else 0 : -1]
        last = dict.fromkeys(("last_report", "noisy_count", "capacity", "noise"))
        for at in seen:
            cells = float(counts[at, place]), float(capacities[at, place]), deviation
            last = dict(zip(last, (days[at].isoformat(), *cells), strict=True))
        outlooks.append(
            {
                "entity": name,
                "title": coordination.titles.get(name, name),
                "named": name in named,
                "rank": ranks.get(name),
                "score": choice.ranking.get(name),
                **last,
                "silent": len([*takewhile(entity.takes_part, reversed(unheard))]),
            }
        )
    return {
        "deployment": deployment.name,
        "agreement": deployment.sha256(),
        "period": choice.period,
        "last_period": days[-2].isoformat(),
        "rule": choice.rule,
        "named": named,
        "missing": [it["entity"] for it in outlooks if it["silent"]],
        "outlooks": outlooks,
        "coordination": coordination.model_dump(mode="json"),
        "dpol": __version__,
        "reports": int(there.sum()),
        "log_head": log.head,
    }


def _reports(log: Log, days: list[datetime.date]) -> pd.DataFrame:
    """Return a row for each period and entity, in the order of the agreement.

    NaN where nothing was reported, or only what was set aside; the last row after a second release.
    """
    import pandas as pd

    names = ["place", "period", "count", "capacity"]
    grid = pd.MultiIndex.from_product([map(str, days), log.deployment.entities])
    rows = log.releases(
        "period <= ? AND set_aside IS NULL",
        max(map(str, days), default=""),
        columns="entity, period, noisy_count, capacity",
    )
    found = pd.DataFrame(map(tuple, rows), columns=names).drop_duplicates(names[:2], keep="last")
    found = found.set_index(["period", "place"]).astype(float).reindex(grid)
    return found.reset_index(names=["period", "place"])
