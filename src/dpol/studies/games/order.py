"""Whether the columns of the first paper's Table 2 have its order, by paired differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dpol.core.intervals import half_width
from dpol.studies.games.names import (
    BEST_LINEAR,
    CELL,
    META,
    MIN_NOISE,
    MIN_REGRET,
    TABLE_2,
    gains_by_cell,
)
from dpol.studies.verdicts import verdict_between

ORDER = (BEST_LINEAR, META, MIN_NOISE, MIN_REGRET)
"""Columns from the largest gain to the smallest, in every state of the paper and at every level."""


def column_pairs(summary: pd.DataFrame, totals: pd.DataFrame) -> pd.DataFrame:
    """Return the difference in total gain of each two columns, on each stream and at each level.

    The gain of a column is that of the algorithm with the largest mean. Differences are paired by
    replicate, and their intervals hold jointly. Each follows from the intervals of all pairs of
    algorithms of the two columns, so it allows for the choice of the largest.

    Args:
        summary: table of the main study.
        totals: table of the main study.

    Returns:
        Columns `stream`, `mu`, `column`, `other` (a later one of `ORDER`), `difference`, its
        interval from `lower` to `upper`, and `verdict`, one of those on a difference.
    """
    rows = summary[(summary["exhibit"] == TABLE_2) & ~summary["variant"]]
    gains = gains_by_cell(totals)
    pairs: list[tuple[Any, ...]] = []
    for level, own in rows.groupby(["stream", "mu"], sort=False):
        samples = {
            column: np.stack([gains[it] for it in cells[CELL].itertuples(index=False, name=None)])
            for column, cells in own.groupby("column", sort=False)
        }
        played = [column for column in ORDER if column in samples]
        pairs += [
            (*level, column, other, samples[column][:, np.newaxis] - samples[other])
            for place, column in enumerate(played)
            for other in played[place + 1 :]
        ]
    comparisons = sum(apart[..., 0].size for *_, apart in pairs)
    compared = []
    for *key, apart in pairs:
        mean = apart.mean(axis=-1)
        half = half_width(np.moveaxis(apart, -1, 0), rows["confidence"].iloc[0], comparisons)
        # The largest mean of the first minus the largest of the second.
        difference, lower, upper = (
            float(it.min(axis=1).max()) for it in (mean, mean - half, mean + half)
        )
        compared.append((*key, difference, lower, upper, verdict_between(lower, upper)))
    columns = ["stream", "mu", "column", "other", "difference", "lower", "upper", "verdict"]
    return pd.DataFrame(compared, columns=columns)
