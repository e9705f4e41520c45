"""Audits: attacks on mechanisms, which compare their outputs with their privacy claims."""

from __future__ import annotations

from dpol.studies.ledger.audits.points import AuditPoint
from dpol.studies.ledger.audits.settings import Audits
from dpol.studies.study import Facts, Point, Study

_AUDITORS = (
    *("noisy-gains", "tree", "sums", "stays", "streams"),
    *("rw-adabatch", "reactions", "labels"),
)


def points(settings: Audits, facts: Facts) -> dict[str, Point[AuditPoint]]:
    """Return a point for each auditor."""
    return {
        name: Point(settings=AuditPoint(auditor=name, audits=settings), seconds=4.0)
        for name in _AUDITORS
    }


STUDY = Study(
    name="audits",
    title="Audits of privacy",
    settings=Audits,
    package="dpol.studies.ledger.audits",
    results=("audits",),
    points=points,
)
