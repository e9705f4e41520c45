"""All rows of the ledger."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from dpol.core.logs import progress
from dpol.studies.claims import (
    distributions,
    distributions_risk,
    distributions_weights,
    lazy,
    lazy_presets,
    lazy_regret,
    local_batches,
    local_experts,
    local_meta,
)
from dpol.studies.claims.core import CLAIM_COLUMNS, Claim, Row

ROWS: tuple[Row, ...] = (
    *local_experts.ROWS,
    *local_batches.ROWS,
    *local_meta.ROWS,
    *lazy.ROWS,
    *lazy_presets.ROWS,
    *lazy_regret.ROWS,
    *distributions.ROWS,
    *distributions_weights.ROWS,
    *distributions_risk.ROWS,
)
"""What makes the rows of the ledger, paper by paper."""


def claims(*, seed: int) -> Iterator[Claim]:
    """All claims of the ledger, checked."""
    for row in progress(ROWS, "claims"):
        yield from row(seed)


def study_claims(*, seed: int) -> pd.DataFrame:
    """One row per statement (columns `CLAIM_COLUMNS`; their meaning: docs/reference/tables.md).

    Args:
        seed: root seed of what is sampled; less than a minute on one core for any.
    """
    return pd.DataFrame([it.as_row() for it in claims(seed=seed)], columns=list(CLAIM_COLUMNS))
