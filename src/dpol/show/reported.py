"""Numbers of Table 2 of "Prediction with Expert Advice under Local Differential Privacy".

They are stored next to this module for display; no computation uses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from dpol.show.papers import REPORTED

PAPER_STATES: Mapping[str, tuple[str, int]] = {
    "NM": ("New Mexico", 24),
    "PA": ("Pennsylvania", 146),
    "CA": ("California", 293),
}
"""Name and number of hospitals of each state in the paper, by label."""
PAPER_SMALLEST = 4.3, 14.6
"""Range of the paper's "minimum number of beds" (section 4)."""
BEST_LINEAR = "best-linear-model"
PAPER_WEEKS, PAPER_FIRST, PAPER_LAST = 148, pd.Timestamp("2020-08-09"), pd.Timestamp("2023-06-04")
"""Number of the paper's weeks, and the Sundays on which the first and the last begin."""


def load_reported() -> pd.DataFrame:
    """Return the paper's mean gains by stream, algorithm and mu, with half-widths where given."""
    return pd.read_csv(REPORTED)


def has_papers_periods(summary: pd.DataFrame) -> pd.Series:
    """Return a mask of the rows of a summary that cover the paper's periods."""
    ends = (summary["first_period"] == PAPER_FIRST) & (summary["last_period"] == PAPER_LAST)
    return ends & (summary["n_rounds"] == PAPER_WEEKS)


def describe_smallest(labels: Iterable[str]) -> Iterator[str]:
    """State the paper's numbers of beds if any stream has the label of one of its states."""
    if not PAPER_STATES.keys().isdisjoint(labels):
        low, high = PAPER_SMALLEST
        yield (
            f"The paper reports {low} to {high} beds in its {PAPER_WEEKS} weeks of"
            f" {', '.join(PAPER_STATES)}."
        )
