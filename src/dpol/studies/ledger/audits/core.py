"""Shared parts of audits: their subjects and their tests, whose results are rows of one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpol.core.randomness import Floats
from dpol.privacy.auditing import (
    AuditResult,
    Parameter,
    audit_covariance,
    audit_runs,
    verdict_on,
    with_fitted_direction,
)
from dpol.studies.ledger.audits.settings import Audits

Row = dict[str, Any]
"""A row of the table of audits (docs/reference/tables.md)."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The subject of an audit.

    Args:
        mechanism: name of the mechanism.
        variant: its calibration, or which of its claims is audited.
        code: the code that runs.
        inputs: the inputs that it runs on.
        adjacency: which inputs must be hard to tell apart.
        unit: whose data differ between them.
        requested: the parameter that the settings ask for, whatever the mechanism says.
        recorded: the parameter that the mechanism's record claims.
        covered: whether the guarantee covers these inputs. If not, outputs that exceed it break
            nothing.
    """

    mechanism: str
    variant: str
    code: str
    inputs: str
    adjacency: str
    unit: str
    requested: float
    recorded: float
    covered: bool = True

    @property
    def claimed(self) -> float:
        """The parameter that outputs must keep: the smaller of requested and recorded."""
        return min(self.requested, self.recorded)

    def row(self, statistic: str, result: AuditResult) -> Row:
        """Return the row of an audit by a statistic of the outputs, with the verdict."""
        row = vars(self) | vars(result) | {"statistic": statistic}
        claims = {name: row.pop(name) for name in ("requested", "covered")}
        bound = {name: row[name] for name in ("lower_bound", "recorded")}
        return row | {"verdict": verdict_on(**bound, **claims)}


def replicates_of(settings: Audits) -> tuple[range, range]:
    """Return the numbers of the replicates on the two inputs, which share no noise."""
    return range(settings.runs), range(settings.runs, 2 * settings.runs)


def by_computation(subject: Subject, epsilon: float) -> Row:
    """Audit by the exact epsilon of the worst pair of inputs."""
    result = AuditResult(parameter="epsilon", claimed=subject.claimed, lower_bound=epsilon)
    return subject.row("epsilon of the worst pair", result)


def by_event(
    subject: Subject,
    event: str,
    statistics: Iterable[Sequence[Floats]],
    settings: Audits,
    parameter: Parameter = "mu",
    delta: float = 0.0,
) -> Row:
    """Audit by an event of statistics (R,) or (R, k) of the outputs on each of two inputs."""
    first, second = (np.column_stack(columns) for columns in zip(*statistics, strict=True))
    result = audit_runs(
        first,
        second,
        parameter=parameter,
        claimed=subject.claimed,
        confidence=settings.confidence,
        delta=delta,
    )
    return subject.row(event, result)


def by_covariance(
    subject: Subject, of: str, outputs: Sequence[Floats], changes: Floats, settings: Audits
) -> Row:
    """Audit by the covariance of outputs (R, p) on each input, for `changes` (k, p)."""
    result = audit_covariance(
        outputs, changes, claimed=subject.claimed, confidence=settings.confidence
    )
    return subject.row(f"covariance of {of}, {len(changes)} changes", result)


def gaussian_audits(
    subject: Subject,
    outputs: Sequence[Floats],
    *,
    direction: Floats,
    changes: Floats,
    settings: Audits,
    actions: Sequence[Floats] | None = None,
) -> Iterator[Row]:
    """Audit Gaussian outputs in two ways: by an event, and by their covariance.

    Args:
        subject: subject of the audit, with a claim about mu.
        outputs: (R, ...) outputs on each of the two inputs.
        direction: (...) direction of a linear statistic; another one is fitted.
        changes: (k, ...) changes of the outputs by each change of the input.
        settings: settings with the confidence.
        actions: (R,) a statistic of the actions on each of the two inputs.
    """
    flat = [output.reshape(len(output), -1) for output in outputs]
    statistics = [[output @ direction.ravel() for output in flat], with_fitted_direction(*flat)]
    event = "an event of a linear combination of all outputs"
    if actions is not None:
        statistics.append(actions)
        event += ", or of the actions"
    yield by_event(subject, event, statistics, settings)
    yield by_covariance(subject, "all outputs", flat, changes.reshape(len(changes), -1), settings)
