"""Audits: attacks on mechanisms, which compare their outputs with their privacy claims."""

from __future__ import annotations

from typing import get_args

from dpol.studies.ledger.audits.settings import Attacked, AuditPoint, Audits
from dpol.studies.study import Facts, Job, Study


def jobs(settings: Audits, facts: Facts) -> dict[str, Job[AuditPoint]]:
    """Return a job for the audits of noises, and one for those of actions and messages."""
    return {kind: Job(points=((kind, settings),), seconds=12.0) for kind in get_args(Attacked)}


STUDY = Study(
    name="audits",
    title="Audits of privacy",
    settings=Audits,
    package="dpol.studies.ledger.audits",
    results=("audits",),
    jobs=jobs,
)
