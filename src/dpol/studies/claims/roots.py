"""Failures of the claims ledger, counted by root."""

from __future__ import annotations

from typing import get_args

import pandas as pd

from dpol.studies.claims.core import Kind

_ORDER = get_args(Kind)


def roots(ledger: pd.DataFrame) -> pd.DataFrame:
    """Return the first failing row of each root, sorted by `kind` in the order of `Kind`.

    Only the papers' own statements that need no data are counted.
    """
    theirs = ledger[~ledger["ours"].astype(bool) & ~ledger["on_data"].astype(bool)]
    failing = theirs[theirs["root"].fillna("") != ""].drop_duplicates("root")
    return failing.sort_values("kind", key=lambda kinds: kinds.map(_ORDER.index), kind="stable")
