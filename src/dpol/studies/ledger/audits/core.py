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
Audit = Callable[[float], Row]
"""Maps the confidence of its bound to the row of an audit, with the verdict."""


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

    def audited(self, statistic: str, bound: Callable[..., AuditResult]) -> Audit:
        """Return the audit by a statistic of the outputs, in words.

        `bound` maps the claim (`claimed`) and the `confidence` to a bound on the parameter.
        """

        def audit(confidence: float) -> Row:
            result = bound(claimed=self.claimed, confidence=confidence)
            row = vars(self) | vars(result) | {"statistic": statistic}
            asked = {"requested": row.pop("requested"), "recorded": self.recorded}
            return row | {"verdict": verdict_on(lower_bound=result.lower_bound, **asked)}

        return audit


def replicates_of(settings: Audits) -> tuple[range, range]:
    """Return the numbers of the replicates on the two inputs, which share no noise."""
    return range(settings.runs), range(settings.runs, 2 * settings.runs)


def by_computation(subject: Subject, epsilon: float) -> Audit:
    """Audit by the exact epsilon of the worst pair of inputs."""

    def bound(claimed: float, confidence: float) -> AuditResult:
        return AuditResult(parameter="epsilon", claimed=claimed, lower_bound=epsilon)

    return subject.audited("epsilon of the worst pair", bound)


def by_event(
    subject: Subject,
    event: str,
    statistics: Iterable[Sequence[Floats]],
    parameter: Parameter = "mu",
    delta: float = 0.0,
) -> Audit:
    """Audit by an event of statistics (R,) or (R, k) of the outputs on each of two inputs."""
    runs = (np.column_stack(columns) for columns in zip(*statistics, strict=True))
    return subject.audited(event, partial(audit_runs, *runs, parameter=parameter, delta=delta))


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
    covariance = partial(audit_covariance, flat, changes.reshape(len(changes), -1))
    yield subject.audited(f"covariance of all outputs, {len(changes)} changes", covariance)
