"""Claims for tests, without a file of statements."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dpol.studies.ledger.claims.core import CLAIM_COLUMNS, Claim, Finding, Statement
from dpol.studies.ledger.claims.experts import dissent


def claim_by_hand(
    claimed: float = 1.0, relation: str = "<=", measured: float = 1.0, **more: Any
) -> Claim:
    """Return a claim; `more` sets other fields of its statement or finding."""
    words: dict[str, Any] = {
        "paper": "One",
        "place": "Theorem 1",
        "statement": "is so",
        "computed": "by hand",
        "check": dissent,
    }
    words["over"] = {"n": (2, 3)}
    words |= {name: more.pop(name) for name in Statement.model_fields.keys() & more.keys()}
    about = Statement(relation=relation, **words)
    return Claim(about, Finding(name="x", claimed=claimed, measured=measured, **more))


def ledger_of(*claims: Claim) -> pd.DataFrame:
    """Return the ledger of these claims."""
    return pd.DataFrame([claim.as_row() for claim in claims], columns=list(CLAIM_COLUMNS))
