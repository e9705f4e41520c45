"""Share forecasts of hospitals as hypotheses: in which one is a random patient of this week?

The forecasts use the counts of earlier weeks, which are taken as published; what the messages
protect is the hospital of each patient of the current week.
"""

from __future__ import annotations

import numpy as np

from dpol.core.randomness import Floats
from dpol.studies.labels.hypotheses import HypothesisClass

WINDOWS: dict[str, int | None] = {"last-week": 1, "average-4": 4, "average-12": 12, "all": None}
"""Forecasts by moving averages of shares, and how many weeks they look back."""
FORECASTS = (*WINDOWS, "capacity")
"""The hypotheses, in their order."""


def shares(counts: Floats, otherwise: Floats) -> Floats:
    """Every row over its sum; `otherwise` where the sum is 0. Both (W, n)."""
    total = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(counts, total, out=otherwise.copy(), where=total > 0))


def forecast_class(
    counts: Floats, capacity: Floats, *, blend: float = 0.01, label: str = "forecasts"
) -> HypothesisClass:
    """Forecasts of every week's shares of patients: feature = week, label = hospital.

    Args:
        counts: (W, n) patients.
        capacity: (W, n) beds, positive; their shares are the last hypothesis, stand in for the
            past that week 0 does not have, and have a part in all others, so that no hospital
            is ever ruled out.
        blend: that part.
        label: name of the class.

    Raises:
        ValueError: blend is not in (0, 1).
    """
    if not 0 < blend < 1:
        raise ValueError(f"blend must lie in (0, 1), got {blend}")
    beds = shares(capacity, capacity)
    past = shares(counts, beds)
    masses = np.empty((len(counts), len(FORECASTS), counts.shape[1]))
    masses[:, -1] = beds
    for j, window in enumerate(WINDOWS.values()):
        masses[0, j] = beds[0]
        for week in range(1, len(counts)):
            first = 0 if window is None else max(0, week - window)
            average = past[first:week].mean(axis=0)
            masses[week, j] = (1 - blend) * average + blend * beds[week]
    return HypothesisClass(masses, label)
