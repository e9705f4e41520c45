"""The claims ledger in two sentences, with failures counted by root."""

from __future__ import annotations

from typing import get_args

import pandas as pd

from dpol.core.words import counted
from dpol.studies.claims.core import OF_SUBSTANCE, Kind

_ORDER = get_args(Kind)


def of_papers(ledger: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the papers' own statements that need no data."""
    return ledger[~ledger["ours"].astype(bool) & ~ledger["on_data"].astype(bool)]


def roots(ledger: pd.DataFrame) -> pd.DataFrame:
    """Return the first failing row of each root, sorted by `kind` in the order of `Kind`."""
    theirs = of_papers(ledger)
    failing = theirs[theirs["root"].fillna("") != ""].drop_duplicates("root")
    return failing.sort_values("kind", key=lambda kinds: kinds.map(_ORDER.index), kind="stable")


def substance(ledger: pd.DataFrame) -> str:
    """Say how many roots are of substance (false, or lacking a hypothesis), and which.

    >>> rows = {"ours": [False] * 2, "on_data": [False] * 2, "mend": ["x ≤ 1", "2 for 1"]}
    >>> rows |= {"kind": ["false", "constant"], "root": ["Lemma 1", "equation (2)"]}
    >>> substance(pd.DataFrame(rows)).partition(", ")[2]
    '1 slip is of substance (false, or a hypothesis is missing): Lemma 1.'
    >>> others(pd.DataFrame(rows))
    'The other slips are easily put right, as the ledger says: 1 constant.'
    """
    failing = roots(ledger)
    named = failing.loc[failing["kind"].isin(OF_SUBSTANCE), "root"].tolist()
    start = f"Among {counted(len(of_papers(ledger)), 'statement')} of the papers that need no data,"
    if not named:
        return f"{start} none is false or lacks a hypothesis."
    slips = f"{counted(len(named), 'slip')} {'is' if len(named) == 1 else 'are'} of substance"
    return f"{start} {slips} (false, or a hypothesis is missing): {'; '.join(named)}."


def others(ledger: pd.DataFrame) -> str:
    """Count the other slips by kind; empty if there are none."""
    failing = roots(ledger)
    kinds = failing.loc[~failing["kind"].isin(OF_SUBSTANCE), "kind"].value_counts(sort=False)
    counts = ", ".join(counted(count, str(kind)) for kind, count in kinds.items())
    return f"The other slips are easily put right, as the ledger says: {counts}." if counts else ""
