"""Audits and the one driver that runs them: those of the ledger, and those of `dpol check`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
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
    """

    mechanism: str
    variant: str
    code: str
    inputs: str
    adjacency: str
    unit: str
    requested: float
    recorded: float

    @property
    def claimed(self) -> float:
        """The parameter that outputs must keep: the smaller of requested and recorded."""
        return min(self.requested, self.recorded)

    def row(self, statistic: str, result: AuditResult) -> Row:
        """Return the row of an audit by a statistic of the outputs, with the verdict."""
        row = vars(self) | vars(result) | {"statistic": statistic}
        asked = {"requested": row.pop("requested"), "recorded": self.recorded}
        return row | {"verdict": verdict_on(lower_bound=result.lower_bound, **asked)}


def replicates_of(settings: Audits) -> tuple[range, range]:
    """Return the numbers of the replicates on the two inputs, which share no noise."""
    return range(settings.runs), range(settings.runs, 2 * settings.runs)


@dataclass(frozen=True, eq=False, kw_only=True)
class Audit:
    """A subject, its runs, and what bounds its parameter by them.

    Args:
        subject: subject of the audit.
        statistic: the statistic of the outputs, in words.
        runs: arguments of `bound`: outputs of runs, or statistics of them.
        bound: maps the runs, the claim (`claimed`) and the `confidence` to a result.
    """

    subject: Subject
    statistic: str
    runs: Sequence[Any]
    bound: Callable[..., AuditResult]


def verdicts(audits: Iterable[Audit], confidence: float) -> Iterator[Row]:
    """Run audits in their order, each at this confidence; yield rows with bound and verdict."""
    for audit in audits:
        result = audit.bound(*audit.runs, claimed=audit.subject.claimed, confidence=confidence)
        yield audit.subject.row(audit.statistic, result)


def by_computation(subject: Subject, epsilon: float) -> Audit:
    """Audit by the exact epsilon of the worst pair of inputs."""

    def bound(lower_bound: float, *, claimed: float, confidence: float) -> AuditResult:
        return AuditResult(parameter="epsilon", claimed=claimed, lower_bound=lower_bound)

    words = "epsilon of the worst pair"
    return Audit(subject=subject, statistic=words, runs=(epsilon,), bound=bound)


def by_event(
    subject: Subject,
    event: str,
    statistics: Iterable[Sequence[Floats]],
    parameter: Parameter = "mu",
    delta: float = 0.0,
) -> Audit:
    """Audit by an event of statistics (R,) or (R, k) of the outputs on each of two inputs."""
    runs = [np.column_stack(columns) for columns in zip(*statistics, strict=True)]
    bound = partial(audit_runs, parameter=parameter, delta=delta)
    return Audit(subject=subject, statistic=event, runs=runs, bound=bound)


def combinations(outputs: Sequence[Floats], direction: Floats) -> list[Floats]:
    """Return two statistics (R, 2) of outputs (R, d) on each of two inputs.

    One is their combination in a given direction (d,), the other one is in a fitted direction.
    """
    fitted = zip(outputs, with_fitted_direction(*outputs), strict=True)
    return [np.column_stack([each @ direction, best]) for each, best in fitted]


def gaussian_audits(
    subject: Subject,
    outputs: Sequence[Floats],
    *,
    direction: Floats,
    changes: Floats,
    actions: Sequence[Floats] | None = None,
) -> Iterator[Audit]:
    """Audit Gaussian outputs in two ways: by an event, and by their covariance.

    Args:
        subject: subject of the audit, with a claim about mu.
        outputs: (R, ...) outputs on each of the two inputs.
        direction: (...) direction of a linear statistic; another one is fitted.
        changes: (k, ...) changes of the outputs by each change of the input.
        actions: (R,) a statistic of the actions on each of the two inputs.
    """
    flat = [output.reshape(len(output), -1) for output in outputs]
    statistics: list[Sequence[Floats]] = [combinations(flat, direction.ravel())]
    event = "an event of a linear combination of all outputs"
    if actions is not None:
        statistics.append(actions)
        event += ", or of the actions"
    yield by_event(subject, event, statistics)
    yield Audit(
        subject=subject,
        statistic=f"covariance of all outputs, {len(changes)} changes",
        runs=(flat, changes.reshape(len(changes), -1)),
        bound=audit_covariance,
    )
