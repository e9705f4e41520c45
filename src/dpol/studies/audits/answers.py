"""The answer of the audits: how many privacy claims the attacks refute."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from dpol.privacy.auditing.bounds import exceeds
from dpol.show.words import joint_confidence, proved
from dpol.studies.audits import STUDY
from dpol.studies.audits.core import OUTSIDE
from dpol.studies.audits.settings import Audits
from dpol.studies.page import PRIVACY, Answer, PageFacts
from dpol.studies.study import Frames


def answers(frames: Frames, settings: Audits | None, facts: PageFacts) -> list[Answer]:
    """Count the claims that stand, and name each one refuted or outside the promise."""
    if settings is None:
        nothing = f"Nothing was audited: the config has no block {STUDY.name}."
        return [Answer(question=PRIVACY, more=(nothing,))]
    audits = frames["audits"]
    verdicts = audits["verdict"]
    refuted, outside = audits[verdicts == "violated"], audits[verdicts == OUTSIDE]
    claims = len(audits) - len(outside)
    standing = (
        f"Audits: the attacks do not refute {claims - len(refuted)} of {claims} claims."
        f" Confidence of all bounds together: {joint_confidence(audits['confidence'])}."
    )
    each = [_refuted(row) for row in refuted.to_dict("records")]
    each += [_outside(row) for row in outside.to_dict("records")]
    return [Answer(question=PRIVACY, more=(standing, *each), see=("audits",))]


def _refuted(audit: Mapping[Hashable, Any]) -> str:
    recorded, claimed = audit["recorded"], audit["claimed"]
    admitted = f" (its record says {recorded:.4g})" if exceeds(recorded, claimed) else ""
    return f"Refuted: {_of(audit)} where {claimed:.4g} is claimed{admitted}."


def _outside(audit: Mapping[Hashable, Any]) -> str:
    return f"Outside the promise, which is {audit['claimed']:.4g}: {_of(audit)}."


def _of(audit: Mapping[Hashable, Any]) -> str:
    return f"{audit['mechanism']}, {audit['variant']}: {proved(audit, digits=4)}"
