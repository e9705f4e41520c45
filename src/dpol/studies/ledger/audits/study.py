"""Audits: attacks on mechanisms, which compare their outputs with their privacy claims."""

from __future__ import annotations

from dpol.studies.ledger.audits.settings import AuditPoint, Audits
from dpol.studies.study import Facts, Job, Study

_AUDITORS = {
    "noises": ("noisy-gains", "tree", "sums", "stays", "streams"),
    "actions": ("rw-adabatch", "reactions", "labels"),
}
"""Names of auditors, by what they attack. Their settings change together: two share the time."""


def jobs(settings: Audits, facts: Facts) -> dict[str, Job[AuditPoint]]:
    """Return a job for the auditors of noises, and one for those of actions and messages."""
    return {
        place: Job(
            points=tuple(AuditPoint(auditor=name, audits=settings) for name in names),
            seconds=4.0 * len(names),
        )
        for place, names in _AUDITORS.items()
    }


STUDY = Study(
    name="audits",
    title="Audits of privacy",
    settings=Audits,
    package="dpol.studies.ledger.audits",
    results=("audits",),
    jobs=jobs,
)
