"""Numbers that dpol shows and did not compute in the run at hand.

They are Table 2 of "Prediction with Expert Advice under Local Differential Privacy". No computation
uses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

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


def load_reported() -> pd.DataFrame:
    """Return the paper's mean gains by stream, algorithm and mu, with half-widths where given."""
    import pandas as pd

    return pd.read_csv(REPORTED)


def reported_ratios(algorithm: str, other: str) -> pd.Series:
    """Return the ratios of two columns of the paper's table, by stream and mu."""
    rows = load_reported()
    gains = rows.pivot(index=["stream", "mu"], columns="algorithm", values="mean_gain")
    return gains[algorithm] / gains[other]


def has_papers_periods(summary: pd.DataFrame) -> pd.Series:
    """Return a mask of the rows of a summary that cover the paper's periods."""
    ends = (summary["first_period"] == PAPER_FIRST) & (summary["last_period"] == PAPER_LAST)
    return ends & (summary["n_rounds"] == PAPER_WEEKS)
