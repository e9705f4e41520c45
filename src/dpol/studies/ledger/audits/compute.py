"""All audits of the study."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain

from dpol.studies.ledger.audits.core import Audit, Row
from dpol.studies.ledger.audits.experts import audit_adabatch, audit_noises
from dpol.studies.ledger.audits.labels import audit_messages
from dpol.studies.ledger.audits.settings import Attacked, AuditPoint, Audits
from dpol.studies.study import Inputs

POINT = AuditPoint
AUDITS: Mapping[Attacked, tuple[Callable[[Audits, int], Iterator[Audit]], ...]] = {
    "noises": (audit_noises,),
    "actions": (audit_adabatch, audit_messages),
}
"""Functions from settings and root seed to audits, by what they attack."""
SAMPLED = 30
"""Number of sampled bounds of the study, which share the error that the settings allow."""


def run(point: AuditPoint, inputs: Inputs) -> dict[str, list[Row]]:
    """Return the rows of the audits of one kind, a key of `AUDITS`."""
    kind, settings = point
    confidence = 1 - (1 - settings.confidence) / SAMPLED
    audits = chain.from_iterable(of_kind(settings, inputs.seed) for of_kind in AUDITS[kind])
    return {"audits": [audit(confidence) for audit in audits]}
