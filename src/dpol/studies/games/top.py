"""Several experts in each round: those with the largest predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.intervals import half_width
from dpol.data.stream import GainStream
from dpol.studies.games.runs import Played
from dpol.studies.games.settings import Games

COLUMNS = [
    *("stream", "algorithm", "noise", "level", "mu", "names", "mean_gain", "ci_half_width"),
    *("confidence", "ci_comparisons", "replicates"),
    *("chance_gain", "best_static_gain", "foresight_gain", "gain_share"),
]
"""Columns of the table, also where no algorithm has predictions."""


def top_rows(
    cells: Sequence[Played], streams: Mapping[str, GainStream], main: Games
) -> pd.DataFrame:
    """One row per stream, algorithm with predictions, noise and mu (docs/reference/tables.md).

    The gain of a round is the sum of the shares of the experts named. The intervals of all rows
    hold together.
    """
    scored = [cell for cell in cells if cell.top is not None]
    rows: list[dict[str, Any]] = []
    for cell in scored:
        assert cell.top is not None
        gains = streams[cell.stream].gains
        names, totals = min(main.names, gains.shape[1]), cell.top.sum(axis=1)
        chance = names * gains.mean(axis=1).sum()
        foresight = np.partition(gains, -names, axis=1)[:, -names:].sum()
        fixed = np.partition(gains.sum(axis=0), -names)[-names:].sum()
        possible = foresight - chance if foresight > chance else np.nan
        half = half_width(totals, main.report.confidence, len(scored))
        rows.append(
            {
                "stream": cell.stream,
                "algorithm": cell.label,
                "noise": cell.noise,
                "level": main.labels[cell.mu],
                "mu": cell.mu,
                "names": names,
                "mean_gain": float(totals.mean()),
                "ci_half_width": float(half),
                "confidence": main.report.confidence,
                "ci_comparisons": len(scored),
                "replicates": len(totals),
                "chance_gain": float(chance),
                "best_static_gain": float(fixed),
                "foresight_gain": float(foresight),
                "gain_share": float((totals.mean() - chance) / possible),
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS)
