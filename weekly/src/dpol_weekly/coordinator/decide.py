"""Decide for a period: `dpol.choose` on the exported table. A written decision can be checked."""

from __future__ import annotations

import datetime
import hashlib
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from dpol import __version__
from dpol.core.errors import DataError
from dpol.core.files import locked, read_json, write_json, write_text
from dpol.core.words import counted
from dpol.experts.choose import choose
from dpol.show.pages import load_template
from dpol_weekly.coordinator.export import Reports, read_reports
from dpol_weekly.coordinator.log import lines_of, path_of
from dpol_weekly.coordinator.settings import Coordination, read_coordination
from dpol_weekly.released.read import read_release


def decide(folder: Path, today: datetime.date | None = None) -> dict[str, Any]:
    """Decide for the period after the last report; write `decisions/PERIOD.json` and `index.html`.

    A period that was decided stays decided: what came since counts from the next one on.

    Returns what is written: the `deployment` and the hash of the `agreement`; the decided `period`
    and the one before, `last_period`; the label of the `rule`; the entities `named`, best first,
    and those `missing` from the last period; `outlooks`; `coordination`, the coordinator's choices;
    the version of `dpol`; the number of `reports` that counted; and the `line` of the list of
    accepted releases up to which it was read, with its `head`. Besides, `today` and the period that
    is `current` then.

    An outlook has the `entity` and its `title`; whether it is `named`, its `rank` (1 is the best),
    and its `score` where the rule has one; its `last_report`, with `noisy_count`, `capacity` and
    the standard deviation of the `noise`; and how many periods in a row it has been `silent`. None
    stands for what there is not.

    Args:
        folder: the coordinator's folder.
        today: the date that the page shows; None: the computer's.

    Raises:
        ConfigError: `coordinator.yaml` breaks a rule.
        DataError: no decision can be made, or a file of a decision is none.
        OutputError: the decision cannot be written.
    """
    today = today or datetime.date.today()
    reports = read_reports(folder)
    made = reports.deployment
    day = made.period_of(len(reports.counts))  # the first one after the last report
    current = {"today": str(today), "current": str(made.period_of(made.number_on(today)))}
    path = folder / "decisions" / f"{day}.json"
    with locked(path):
        if path.exists():
            decision = read_decision(path)
        else:
            decision = _decided(reports, read_coordination(folder), day)
            write_json(path, decision)
        write_text(folder / "index.html", decision_page(decision | current))
    return decision | current


def check(folder: Path, period: datetime.date) -> int:
    """Decide again from what a decision was made of, and compare.

    The releases that were accepted up to its line are read again, with their signatures.

    Returns:
        The number of releases that it rests on.

    Raises:
        DataError: there is no such decision, it is another one than its releases give, a release
            is missing or was changed, or the list of accepted releases was changed.
    """
    path = folder / "decisions" / f"{period}.json"
    told = read_decision(path)
    checked = 0
    for number, head, facts in lines_of(folder, told["line"]):
        if facts["kind"] == "release":
            file = path_of(folder, facts["key"], facts["sha256"])
            report = read_release(file)
            sound = hashlib.sha256(report.data).hexdigest() == facts["sha256"]
            rows = {(*it,) for it in facts["taken"]} <= {(*it,) for it in report.rows}
            if not (sound and rows and report.key == facts["key"]):
                raise DataError(
                    f"{file}: is not the release of line {number}; put the last backup of {folder}"
                    " back"
                )
            checked += 1
        if number == told["line"] and head != told["head"]:
            raise DataError(f"{path}: was made from another list of releases than that in {folder}")
    reports = read_reports(folder, told["line"])
    again = _decided(reports, Coordination.model_validate(told["coordination"]), period)
    if other := [key for key in again if key != "dpol" and _alike(again[key]) != _alike(told[key])]:
        raise DataError(
            f"{path}: is not what its releases give; this differs: {', '.join(other)}. It was made"
            f" by dpol {told['dpol']}, and this is {__version__}"
        )
    return checked


def _alike(value: Any) -> Any:
    """Leave scores out, whose last digits depend on the processor; ranks stay."""
    if isinstance(value, list):
        return [_alike(it) for it in value]
    return {k: it for k, it in value.items() if k != "score"} if isinstance(value, dict) else value


def decision_page(decision: dict[str, Any]) -> str:
    """Return a decision as a page, one file of HTML that a coordinator opens or sends."""
    page = load_template("decision.html.j2", "dpol_weekly.coordinator")
    return page.render(decision, gain=decision["coordination"]["question"], counted=counted)


def read_decision(path: Path) -> dict[str, Any]:
    """Return what the file of a decision holds.

    Raises:
        DataError: the file cannot be read, or is not a decision.
    """
    try:
        facts = read_json(path)
    except (OSError, ValueError):
        facts = None
    if not isinstance(facts, dict) or not isinstance(facts.get("line"), int):
        raise DataError(
            f"{path}: is not there, or no decision of dpol; put it back as it was, or move it away"
            " and decide again"
        )
    return facts


def _decided(reports: Reports, coordination: Coordination, period: datetime.date) -> dict[str, Any]:
    """Return the decision for a period, from the reports before it."""
    made, there = reports.deployment, ~np.isnan(reports.counts)
    number = made.number_on(period)
    deviation = made.count_noise().standard_deviation
    choice = choose(
        coordination.rule,
        reports.table(coordination, period),
        period=period.isoformat(),
        name=made.name,
        gain_range=coordination.question.bound,
        file="the accepted releases",
    )
    ranked = [choice.place, *(it for it in choice.ranking if it != choice.place)]
    named, outlooks = ranked[: coordination.names], []
    ranks = {name: rank for rank, name in enumerate(ranked, start=1)}
    days = [*map(made.period_of, range(number))]
    for place, (name, entity) in enumerate(made.entities.items()):
        last = dict.fromkeys(("last_report", "noisy_count", "capacity", "noise"))
        seen = np.flatnonzero(there[:, place])[-1:].tolist()
        for at in seen:
            cells = float(reports.counts[at, place]), float(reports.capacities[at, place])
            last = dict(zip(last, (str(days[at]), *cells, deviation), strict=True))
        unheard = days[seen[-1] + 1 if seen else 0 :]
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
        "deployment": made.name,
        "agreement": made.sha256(),
        "period": choice.period,
        "last_period": str(days[-1]),
        "rule": choice.rule,
        "named": named,
        "missing": [it["entity"] for it in outlooks if it["silent"]],
        "outlooks": outlooks,
        "coordination": coordination.model_dump(mode="json"),
        "dpol": __version__,
        "reports": int(there.sum()),
        "line": reports.line,
        "head": reports.head,
    }
