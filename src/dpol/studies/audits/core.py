"""What audits share: what is audited, their rows, and the tests of Gaussian outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpol.core.randomness import Floats
from dpol.privacy.audit import AuditResult, audit_runs, exceeds, with_fitted_direction
from dpol.privacy.audit_laws import audit_covariance
from dpol.studies.audits.settings import Audits

AUDIT_COLUMNS = (
    "mechanism",
    "variant",
    "code",
    "inputs",
    "statistic",
    "adjacency",
    "unit",
    "parameter",
    "delta",
    "claimed",
    "recorded",
    "lower_bound",
    "confidence",
    "runs",
    "method",
    "verdict",
)
"""Columns of the table of audits (docs/reference/tables.md)."""
FIT = "share of an event of all outcomes, against its probability by the law"
"""The statistic of audits that compare outcomes with a computed law."""


@dataclass(frozen=True)
class Subject:
    """What is audited.

    Args:
        mechanism: its name.
        variant: how it is calibrated, or which of its claims is audited.
        code: the code that runs.
        inputs: what it runs on.
        adjacency: which inputs must be hard to tell apart.
        unit: whose data differ between them.
        asked: the parameter that was asked for; the mechanism has no say in it.
        recorded: the parameter that the mechanism's record promises.
    """

    mechanism: str
    variant: str
    code: str
    inputs: str
    adjacency: str
    unit: str
    asked: float
    recorded: float

    @property
    def claimed(self) -> float:
        """What the outputs are held to: what was asked, or less where the record promises less."""
        return min(self.asked, self.recorded)


@dataclass(frozen=True)
class Audited:
    """What was audited, by which statistic, and the result."""

    subject: Subject
    statistic: str
    result: AuditResult

    @property
    def verdict(self) -> str:
        """`violated` if the outputs exceed the claim, or the record admits more than was asked."""
        if exceeds(self.subject.recorded, self.subject.asked):
            return "violated"
        return self.result.verdict

    def as_row(self) -> dict[str, Any]:
        """One value for each of `AUDIT_COLUMNS`."""
        values = {
            **vars(self.subject),
            **vars(self.result),
            "statistic": self.statistic,
            "verdict": self.verdict,
        }
        return {column: values[column] for column in AUDIT_COLUMNS}


def replicates_of(settings: Audits) -> tuple[range, range]:
    """Numbers of the replicates on the two inputs: no noise is used on both."""
    return range(settings.runs), range(settings.runs, 2 * settings.runs)


def moves(sizes: Floats) -> Floats:
    """How one person's move, arrival or departure changes the gains of a round: (m, n).

    Args:
        sizes: (n,) how far one person can move each gain.

    >>> moves(np.array([1.0, 0.5])).tolist()
    [[1.0, 0.0], [0.0, 0.5], [1.0, -0.5]]
    """
    alone = np.diag(sizes)
    first, second = np.triu_indices(len(sizes), k=1)
    return np.concatenate([alone, alone[first] - alone[second]])


def gaussian_audits(
    subject: Subject,
    outputs: Sequence[Floats],
    *,
    direction: Floats,
    changes: Floats,
    settings: Audits,
    actions: Sequence[Floats] | None = None,
) -> Iterator[Audited]:
    """The two audits of Gaussian outputs: by an event, and by their covariance.

    Args:
        subject: what is audited, with a claim about mu.
        outputs: (R, ...) outputs on each of the two inputs.
        direction: (...) of a linear statistic; another one is fitted.
        changes: (k, ...) how one change moves the outputs, for every change.
        settings: gives the confidence.
        actions: (R,) a statistic of the actions on each of the two inputs.
    """
    first, second = (it.reshape(len(it), -1) for it in outputs)
    directed = (it @ direction.ravel() for it in (first, second))
    fitted = with_fitted_direction(first, second)
    further = actions or [np.empty((len(it), 0)) for it in (first, second)]
    event = audit_runs(
        *(np.column_stack(it) for it in zip(directed, fitted, further, strict=True)),
        parameter="mu",
        claimed=subject.claimed,
        confidence=settings.confidence,
    )
    named = "" if actions is None else ", or of the actions"
    yield Audited(subject, f"an event of a linear combination of all outputs{named}", event)
    covariance = audit_covariance(
        (first, second),
        changes.reshape(len(changes), -1),
        claimed=subject.claimed,
        confidence=settings.confidence,
    )
    yield Audited(subject, f"covariance of all outputs, {len(changes)} changes", covariance)
