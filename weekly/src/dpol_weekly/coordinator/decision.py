"""A decision: the choice for a period, its reasons, and its files."""

from __future__ import annotations

import csv
import dataclasses
import datetime
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from dpol.core.errors import DataError
from dpol.core.safe_text import spreadsheet_text
from dpol.data.question import Gain
from dpol_weekly.coordinator.evidence import SetAside, Spent
from dpol_weekly.coordinator.settings import Coordination


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """The outlook of one entity in a decision.

    Args:
        entity: its identifier.
        title: a name to show.
        rank: 1 for the best; None for an entity outside the choice.
        named: whether the decision names it.
        share: predicted true share in the period; None if it is one of people, and no capacity
            is known.
        low: lower end of the 90% interval of the true share; None likewise.
        high: upper end of that interval.
        noisy_share: last reported share, noise included; None before the first report.
        noise: standard deviation of the noise on that share.
        capacity: last reported capacity; None before the first report.
        last_report: start of the last reported period, YYYY-MM-DD.
        reports: number of reported periods.
        silent: number of periods in a row, up to the last one, with a missing report.
        doubt: why the last report may hold a typing error, in words; empty if nothing shows one.
        recent: noisy shares of the last periods, the newest last; None without a report.
    """

    entity: str
    title: str
    rank: int | None
    named: bool
    share: float | None
    low: float | None
    high: float | None
    noisy_share: float | None
    noise: float | None
    capacity: float | None
    last_report: str | None
    reports: int
    silent: int
    doubt: str
    recent: tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The choice of entities for a period, with everything needed to check it.

    Args:
        deployment: name of the agreement.
        deployment_sha256: hash of the agreement.
        period: start of the decided period, YYYY-MM-DD.
        last_period: start of the period before, the last one with reports.
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

    @property
    def all_named(self) -> bool:
        """True if every entity that may be chosen is named."""
        return all(outlook.named for outlook in self.outlooks if outlook.rank is not None)

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

    def as_csv(self) -> str:
        """A table with a row for each entity; no title is a formula for a spreadsheet."""
        text = io.StringIO(newline="")
        rows = [{"period": self.period, **vars(one)} for one in self.outlooks]
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for cells in rows:
            texts = {key: spreadsheet_text(cells[key]) for key in ("entity", "title")}
            writer.writerow(cells | texts | {"recent": " ".join(map(str, cells["recent"]))})
        return text.getvalue()


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
