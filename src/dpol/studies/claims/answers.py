"""The answer of the claims ledger: which slips of the papers are of substance."""

from __future__ import annotations

from dpol.studies.claims import STUDY
from dpol.studies.claims.headline import others, substance
from dpol.studies.claims.settings import Claims
from dpol.studies.page import PAPERS, Answer, PageFacts
from dpol.studies.study import Frames


def answers(frames: Frames, settings: Claims | None, facts: PageFacts) -> list[Answer]:
    """Count the slips of all papers by root, without findings on data and statements of ours."""
    if settings is None:
        nothing = "No statement of the papers was checked: the config has no block"
        return [Answer(question=PAPERS, more=(f"{nothing} {STUDY.name}.",))]
    ledger = frames["claims"]
    more = tuple(filter(None, (others(ledger),)))
    return [Answer(question=PAPERS, finding=substance(ledger), more=more, see=("claims",))]
