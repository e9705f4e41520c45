"""The total gains of each cell: an algorithm on a stream with a noise at a level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dpol.core.randomness import Floats

CELL = ["stream", "algorithm", "noise", "mu"]
"""Columns that name a cell."""


def gains_by_cell(totals: pd.DataFrame) -> Mapping[Any, Floats]:
    """Return the (R,) total gains of each cell, in the order of the replicates.

    Args:
        totals: table of the main study.
    """
    return {
        key: own.sort_values("replicate")["total_gain"].to_numpy()
        for key, own in totals.groupby(CELL, sort=False, observed=True)
    }
