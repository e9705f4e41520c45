"""A point of the audits."""

from __future__ import annotations

from dataclasses import dataclass

from dpol.studies.ledger.audits.settings import Audits


@dataclass(frozen=True, kw_only=True)
class AuditPoint:
    """All audits of one auditor.

    Args:
        auditor: name of the auditor.
        audits: settings that all audits share.
    """

    auditor: str
    audits: Audits
