"""Numbers that dpol shows and did not compute in the run at hand.

They are Table 2 of "Prediction with Expert Advice under Local Differential Privacy", and what
config/robustness.yaml computes beside it. No computation uses them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

PAPER_STATES: Mapping[str, tuple[str, int]] = {
    "NM": ("New Mexico", 24),
    "PA": ("Pennsylvania", 146),
    "CA": ("California", 293),
}
"""Name and number of hospitals of each state in the paper, by label."""
PAPER_WEEKS, PAPER_FIRST, PAPER_LAST = 148, datetime(2020, 8, 9), datetime(2023, 6, 4)
"""Number of the paper's weeks, and the Sundays on which the first and the last begin."""

REPORTED = Path(__file__).with_name("reported_table_2.csv")
"""The numbers of Table 2 of the first paper."""
FILLINGS = Path(__file__).with_name("recorded_fillings.csv")
"""Total gains by what is done about cells that nobody measured (config/robustness.yaml)."""


def load_reported() -> pd.DataFrame:
    """Return the paper's mean gains by stream, algorithm and mu, with half-widths where given."""
    import pandas as pd

    return pd.read_csv(REPORTED)


def describe_fillings() -> str:
    """Say how recorded totals depend on cells that nobody measured."""
    import pandas as pd

    runs = pd.read_csv(FILLINGS).query("algorithm == 'rw-meta' and noise == 'isotropic'")
    runs = runs[runs["mu"] == math.inf]
    least, most = runs["mean_gain"].min(), runs["mean_gain"].max()
    return (
        "The paper does not say how it read suppressed cells and beds of 0, and totals depend on"
        f" it: {len(runs)} ways give RW-Meta {least:.1f} to {most:.1f} on Central Texas at μ = ∞"
        " (recorded runs)."
    )


def recorded_readings(row: pd.Series) -> pd.DataFrame:
    """Return the recorded rows of all readings of a table, if one of them is that of a stream.

    A stream is known by its hospitals and the gains of its references.

    Args:
        row: a row of the summary or of the standings, of a single stream.
    """
    import pandas as pd

    every = pd.read_csv(FILLINGS)
    facts = ["n_experts", "uniform_gain", "oracle_gain"]
    found = np.isclose(every[facts], row[facts].astype(float), rtol=1e-6, atol=0).all(axis=1)
    return every if found.any() else every.iloc[:0]


def has_papers_periods(summary: pd.DataFrame) -> pd.Series:
    """Return a mask of the rows of a summary that cover the paper's periods."""
    ends = (summary["first_period"] == PAPER_FIRST) & (summary["last_period"] == PAPER_LAST)
    return ends & (summary["n_rounds"] == PAPER_WEEKS)
