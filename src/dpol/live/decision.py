"""A decision: whom to choose for a period, what it rests on, and how it is written."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError


@dataclass(frozen=True)
class Outlook:
    """The outlook of one entity in a decision.

    Args:
        entity: its identifier.
        title: a name to show.
        rank: 1 for the best; None for who is not in the choice, and where the algorithm does not
            rank.
        named: whether the decision names it.
        share: predicted true share in the period; None where the algorithm predicts none.
        low: lower end of the 90% interval of the true share; None likewise.
        high: its upper end.
        noisy_share: what it reported last, noise included; None before its first report.
        noise: standard deviation of the noise on that.
        last_report: start of the period that it reported last, YYYY-MM-DD.
        reports: how many periods it has reported.
        missing: whether it was to report for the last period, and did not.
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
    last_report: str | None
    reports: int
    missing: bool


@dataclass(frozen=True)
class Spent:
    """The most that the releases behind a decision cost one person, in Gaussian DP.

    Args:
        mu: of a person of the unit.
        unit_weeks: the unit: one person in at most so many periods in a row.
        mu_of_stay: of a person of the longest stay.
        longest_stay: in periods.
        corrections: releases that superseded another one; they are counted.
    """

    mu: float
    unit_weeks: int
    mu_of_stay: float
    longest_stay: int
    corrections: int


@dataclass(frozen=True)
class Decision:
    """The choice of entities for a period, and all that is needed to check it.

    Args:
        deployment: its name.
        deployment_sha256: of its content.
        period: start of the period that is decided, YYYY-MM-DD.
        last_period: start of the last period whose reports were read, the one before.
        named: identifiers of who is chosen, best first.
        outlooks: of all entities, in the order of the deployment.
        spent: what the releases cost a person.
        algorithm: as in the deployment.
        randomness: seed and keys that the random numbers of the algorithm were drawn from.
        dpol: version of dpol.
        releases: how many releases were read, superseded ones included.
        last_received: number in the log of the last report that was read.
        log_sha256: of all that was read.
    """

    deployment: str
    deployment_sha256: str
    period: str
    last_period: str
    named: tuple[str, ...]
    outlooks: tuple[Outlook, ...]
    spent: Spent
    algorithm: str | Mapping[str, Any]
    randomness: Mapping[str, Any]
    dpol: str
    releases: int
    last_received: int
    log_sha256: str

    @property
    def missing(self) -> tuple[str, ...]:
        """Identifiers of who was to report for the last period, and did not."""
        return tuple(it.entity for it in self.outlooks if it.missing)

    def as_json(self) -> str:
        """The decision as text; equal decisions give equal bytes."""
        facts = dataclasses.asdict(self) | {"missing": self.missing}
        return json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def as_csv(self) -> str:
        """A table with a row for each entity."""
        text = io.StringIO(newline="")
        rows = [dataclasses.asdict(it) for it in self.outlooks]
        writer = csv.DictWriter(text, ["period", *rows[0]], lineterminator="\n")
        writer.writeheader()
        writer.writerows({"period": self.period, **row} for row in rows)
        return text.getvalue()


def read_decision(path: Path) -> Decision:
    """A decision that was written as JSON.

    Raises:
        DataError: the file cannot be read, or is not a decision.
    """
    try:
        facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        del facts["missing"]
        facts["named"], facts["spent"] = tuple(facts["named"]), Spent(**facts["spent"])
        facts["outlooks"] = tuple(Outlook(**it) for it in facts["outlooks"])
        return Decision(**facts)
    except OSError as error:
        raise DataError(
            f"{path}: there is no such decision ({error.strerror}); make it with dpol decide"
        ) from None
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path}: is not a decision of dpol ({error}); put it back as it was, or move it away"
            " and decide again"
        ) from None
