"""Claims for tests, written down without a file of statements."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dpol.studies.claims.core import CLAIM_COLUMNS, Claim, Finding, Statement


def claim_by_hand(
    paper: str,
    place: str,
    statement: str,
    computed: str,
    claimed: float,
    relation: str,
    measured: float,
    **more: Any,
) -> Claim:
    """A claim; `more` is anything else of its statement or finding."""
    words = {name: more.pop(name) for name in Statement.model_fields.keys() & more.keys()}
    fields = {"paper": paper, "place": place, "statement": statement, "computed": computed} | words
    about = Statement(claimed="x", relation=relation, refuted_by="y", found_by="z", **fields)
    return Claim(about, Finding(claimed, measured, **more))


def ledger_of(*claims: Claim) -> pd.DataFrame:
    """The ledger with these claims."""
    return pd.DataFrame([it.as_row() for it in claims], columns=list(CLAIM_COLUMNS))
