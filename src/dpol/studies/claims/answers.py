"""The answer of the ledger of claims: how many statements of the papers hold."""

from __future__ import annotations

import pandas as pd

from dpol.core.words import counted
from dpol.studies.claims import STUDY
from dpol.studies.claims.settings import Claims
from dpol.studies.claims.table import count_verdicts
from dpol.studies.page import PAPERS, Answer, PageFacts
from dpol.studies.study import Frames


def answers(frames: Frames, settings: Claims | None, facts: PageFacts) -> list[Answer]:
    """The verdicts on the statements of all papers, of each paper, and on statements of ours."""
    if settings is None:
        nothing = "No statement of the papers was checked: the config has no block"
        return [Answer(question=PAPERS, more=(f"{nothing} {STUDY.name}.",))]
    ledger = frames["claims"]
    ours = ledger["ours"].astype(bool)
    theirs = ledger[~ours]
    more = [
        f"“{paper}”: of {_checks(rows)}, {count_verdicts(rows)}."
        for paper, rows in theirs.groupby("paper", sort=False)
    ]
    if ours.any():
        rows = ledger[ours]
        more.append(f"Not counted: {_checks(rows)} of ours (†): {count_verdicts(rows)}.")
    finding = f"Of {_checks(theirs)} of what the papers state, {count_verdicts(theirs)}."
    return [Answer(question=PAPERS, finding=finding, more=tuple(more), see=("claims",))]


def _checks(rows: pd.DataFrame) -> str:
    return counted(len(rows), "check")
