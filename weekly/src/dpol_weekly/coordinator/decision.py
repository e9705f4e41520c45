"""A decision: the choice for a period, its reasons, and its files."""

from __future__ import annotations

import dataclasses
import datetime
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from dpol.core.errors import DataError
from dpol.data.question import Gain
from dpol_weekly.coordinator.evidence import SetAside, Spent
from dpol_weekly.coordinator.settings import Coordination


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
        reports: number of reported periods.
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
    reports: int
    silent: int


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The choice of entities for a period, with everything needed to check it.

    Args:
        deployment: name of the agreement.
        deployment_sha256: hash of the agreement.
        period: start of the decided period, YYYY-MM-DD.
        last_period: start of the period before, the last one with reports.
        rule: label of the rule that chose.
        named: identifiers of the chosen entities, best first.
        outlooks: outlooks of all entities, in the order of the agreement.
        spent: privacy cost of the releases for one person.
        coordination: the coordinator's choices.
        dpol: version of dpol.
        releases: number of releases that counted, superseded ones included.
        set_aside: releases that did not count.
        log_head: head of the log's hash chain: it fixes what was read.
    """

    deployment: str
    deployment_sha256: str
    period: str
    last_period: str
    rule: str
    named: tuple[str, ...]
    outlooks: tuple[Outlook, ...]
    spent: Spent
    coordination: Coordination
    dpol: str
    releases: int
    set_aside: tuple[SetAside, ...]
    log_head: str

    @property
    def gain(self) -> Gain:
        """The question of the decision."""
        return self.coordination.question

    @property
    def missing(self) -> tuple[str, ...]:
        """Identifiers of the entities whose report for the last period is missing."""
        return tuple(outlook.entity for outlook in self.outlooks if outlook.silent)

    def period_on(self, day: datetime.date) -> datetime.date:
        """Return the first day of the period that contains a day."""
        start, before = map(datetime.date.fromisoformat, (self.period, self.last_period))
        return start + (day - start) // (start - before) * (start - before)

    def facts(self) -> dict[str, Any]:
        """The contents of the decision as plain values."""
        chosen = self.coordination.model_dump(exclude_none=True)
        return dataclasses.asdict(self) | {"coordination": chosen, "missing": self.missing}

    def as_json(self) -> str:
        """The decision as text; equal decisions give equal bytes."""
        return json.dumps(self.facts(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_decision(path: Path) -> Decision:
    """Read a decision from its JSON file.

    Raises:
        DataError: the file cannot be read, or is not a decision.
    """
    try:
        decision = _DECISION.validate_json(path.read_bytes(), strict=True)
        for period in (decision.period, decision.last_period):
            datetime.date.fromisoformat(period)
        return decision
    except OSError as error:
        raise DataError(
            f"{path}: there is no such decision ({error.strerror}); make it with dpol decide"
        ) from None
    except ValueError:
        raise DataError(
            f"{path}: is not a decision of dpol; put it back as it was, or move it away and decide"
            " again"
        ) from None


_DECISION = TypeAdapter(Decision)
