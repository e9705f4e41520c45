"""Marks for verdicts in tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Mark:
    """Kind of a verdict.

    Args:
        kind: one or two words; the filter of a page has a button for each kind.
        tone: determines colour and sign.
    """

    kind: str
    tone: Literal["good", "open", "bad"]
