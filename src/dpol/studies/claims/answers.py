"""The answer of the ledger of claims: how many statements of the papers hold."""

from __future__ import annotations

from dpol.core.words import counted
from dpol.studies.claims import STUDY
from dpol.studies.claims.settings import Claims
from dpol.studies.claims.table import count_verdicts
from dpol.studies.page import PAPERS, Answer, PageFacts
from dpol.studies.study import Frames


def answers(frames: Frames, settings: Claims | None, facts: PageFacts) -> list[Answer]:
    """The verdicts on the statements of all papers; the ledger counts those of each."""
    if settings is None:
        nothing = "No statement of the papers was checked: the config has no block"
        return [Answer(question=PAPERS, more=(f"{nothing} {STUDY.name}.",))]
    ledger = frames["claims"]
    ours = ledger["ours"].astype(bool)
    theirs = ledger[~ours]  # those of ours are counted in the ledger
    checks = counted(len(theirs), "check")
    finding = f"Of {checks} of what the papers state, {count_verdicts(theirs)}."
    return [Answer(question=PAPERS, finding=finding, see=("claims",))]
