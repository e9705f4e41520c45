"""A decision: the choice for a period, and what each entity has reported."""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError
from dpol.core.files import read_json


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What a decision knows of one entity.

    Args:
        entity: its identifier.
        title: a name to show.
        named: whether the decision names it.
        rank: 1 for the best; None outside the choice, or of a rule that judges one place only.
        score: by which the rule ranks it; None likewise.
        noisy_count: last reported count, noise included; None before the first report.
        noise: standard deviation of the noise on it, in people; None likewise.
        capacity: last reported capacity; None likewise.
        last_report: start of the last reported period, YYYY-MM-DD; None likewise.
        silent: number of periods in a row, up to the last one, with a missing report.
    """

    entity: str
    title: str
    named: bool
    rank: int | None
    score: float | None
    noisy_count: float | None
    noise: float | None
    capacity: float | None
    last_report: str | None
    silent: int


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The choice of entities for a period.

    Args:
        deployment: name of the agreement.
        agreement: hash of the agreement.
        period: start of the decided period, YYYY-MM-DD.
        last_period: start of the period before, the last one with reports.
        rule: label of the rule that chose.
        named: identifiers of the chosen entities, best first.
        outlooks: outlooks of all entities, in the order of the agreement.
        coordination: the coordinator's choices.
        dpol: version of dpol.
        reports: number of reports that counted.
        log_head: head of the log's hash chain: it fixes what was read.
    """

    deployment: str
    agreement: str
    period: str
    last_period: str
    rule: str
    named: tuple[str, ...]
    outlooks: tuple[Outlook, ...]
    coordination: Mapping[str, Any]
    dpol: str
    reports: int
    log_head: str

    @property
    def missing(self) -> tuple[str, ...]:
        """Identifiers of the entities whose report for the last period is missing."""
        return tuple(outlook.entity for outlook in self.outlooks if outlook.silent)

    def period_on(self, day: datetime.date) -> datetime.date:
        """Return the first day of the period that contains a day."""
        start, before = map(datetime.date.fromisoformat, (self.period, self.last_period))
        return start + (day - start) // (start - before) * (start - before)

    def facts(self) -> dict[str, Any]:
        """The contents of the decision as plain values, as its file has them."""
        whole: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        return whole | {"missing": [*self.missing]}


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
