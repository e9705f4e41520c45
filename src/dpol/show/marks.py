"""Marks of verdicts in tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Mark:
    """The kind of a verdict.

    Args:
        kind: in a word or two; the filter of a page has a button for each.
        tone: gives it its colour and its sign.
    """

    kind: str
    tone: Literal["good", "open", "bad"]
