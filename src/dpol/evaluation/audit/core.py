"""What audits share: their settings, their rows, and the test of Gaussian outputs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpol.config import Audit
from dpol.privacy.audit import AuditResult, audit_runs, with_fitted_direction
from dpol.randomness import Floats

AUDIT_COLUMNS = (
    "mechanism",
    "calibration",
    "adjacency",
    "unit",
    "parameter",
    "delta",
    "claimed",
    "lower_bound",
    "confidence",
    "runs",
    "method",
    "verdict",
)
"""Columns of the table of audits (docs/reference/tables.md)."""


@dataclass(frozen=True)
class Audited:
    """What was audited, and the result."""

    mechanism: str
    calibration: str
    adjacency: str
    unit: str
    result: AuditResult

    def as_row(self) -> dict[str, Any]:
        """One value for each of `AUDIT_COLUMNS`."""
        result = self.result
        values = {
            "mechanism": self.mechanism,
            "calibration": self.calibration,
            "adjacency": self.adjacency,
            "unit": self.unit,
            "method": result.method,
            "verdict": result.verdict,
            **dataclasses.asdict(result),
        }
        return {column: values[column] for column in AUDIT_COLUMNS}


def replicates_of(settings: Audit) -> tuple[range, range]:
    """Numbers of the replicates on the two inputs: no noise is used on both."""
    return range(settings.runs), range(settings.runs, 2 * settings.runs)


def audit_gaussian(
    first: Floats, second: Floats, direction: Floats, claimed: float, settings: Audit
) -> AuditResult:
    """By the better of two linear statistics: the claim's likelihood ratio, and a fitted one."""
    first, second = (it.reshape(len(it), -1) for it in (first, second))
    fitted = with_fitted_direction(first, second)
    statistics = [
        np.column_stack([it @ direction.ravel(), own])
        for it, own in zip((first, second), fitted, strict=True)
    ]
    return audit_runs(*statistics, parameter="mu", claimed=claimed, confidence=settings.confidence)
