"""Privacy levels: their order, and which rows of the summary keep theirs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any


def ordered_levels(levels: Iterable[float]) -> list[float]:
    """Return the privacy levels, from no privacy to the strictest."""
    return sorted(levels, reverse=True)


def headline_level(levels: Iterable[float]) -> float:
    """Return the level that headlines name: the middle one with noise, or `inf` without any."""
    noisy = [mu for mu in ordered_levels(levels) if mu < math.inf] or [math.inf]
    return noisy[len(noisy) // 2]


def keeps_level(guaranteed: Any, mu: Any) -> Any:
    """Return whether guaranteed mu, of numbers or columns, are at most their levels."""
    return guaranteed <= mu * (1 + 1e-9)
