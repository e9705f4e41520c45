"""All audits of the study."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pandas as pd

from dpol.core.logs import progress
from dpol.studies.audits.adabatch import audit_adabatch
from dpol.studies.audits.core import AUDIT_COLUMNS, Audited
from dpol.studies.audits.experts import audit_noises, audit_trees
from dpol.studies.audits.labels import audit_messages
from dpol.studies.audits.lazy import audit_lazies
from dpol.studies.audits.settings import Audits

Auditor = Callable[[Audits, int], Iterator[Audited]]

AUDITS: Mapping[str, Auditor] = {
    "noisy gains": audit_noises,
    "tree": audit_trees,
    "RW-AdaBatch": audit_adabatch,
    "L2P": audit_lazies,
    "labels": audit_messages,
}
"""Every audit of the study: from settings and root seed, an iterator of what was found."""
SAMPLED = 27
"""Number of sampled bounds of the study; they share the error that the settings allow."""


def study_audit(settings: Audits, *, seed: int) -> pd.DataFrame:
    """One row per audit of `AUDITS` (columns `AUDIT_COLUMNS`).

    All sampled bounds hold together with the confidence of the settings (Bonferroni).
    """
    each = settings.model_copy(update={"confidence": 1 - (1 - settings.confidence) / SAMPLED})
    audits = progress(list(AUDITS.values()), "audits")
    found = (audited for audit in audits for audited in audit(each, seed))
    table = pd.DataFrame([it.as_row() for it in found], columns=list(AUDIT_COLUMNS))
    sampled = int((table["method"] != "exact").sum())
    assert sampled == SAMPLED, f"{sampled} sampled bounds share the error of {SAMPLED}"
    return table
