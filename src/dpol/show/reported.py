"""Numbers of Table 2 of "Prediction with Expert Advice under Local Differential Privacy".

They are stored next to this module for display; no computation uses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from dpol.show.papers import EXPERTS, REPORTED

PAPER = f"“{EXPERTS}”, Table 2"
"""The table of the paper, as cited."""
PAPER_EXPERTS: Mapping[str, int] = {"NM": 24, "PA": 146, "CA": 293}
PAPER_SMALLEST = 4.3, 14.6
"""Range of the paper's "minimum number of beds" (section 4)."""
BEST_LINEAR = "best-linear-model"
_WEEKS, _FIRST, _LAST = 148, pd.Timestamp("2020-08-09"), pd.Timestamp("2023-06-04")


def load_reported() -> pd.DataFrame:
    """Return the paper's mean gains by stream, algorithm and mu, with half-widths where given."""
    return pd.read_csv(REPORTED)


def has_papers_periods(summary: pd.DataFrame) -> pd.Series:
    """Return a mask of the rows of a summary that cover the paper's periods."""
    ends = (summary["first_period"] == _FIRST) & (summary["last_period"] == _LAST)
    return ends & (summary["n_rounds"] == _WEEKS)


def describe_smallest(labels: Iterable[str]) -> Iterator[str]:
    """State the paper's numbers of beds if any stream has the label of one of its states."""
    if not PAPER_EXPERTS.keys().isdisjoint(labels):
        low, high = PAPER_SMALLEST
        yield (
            f"The paper reports {low} to {high} beds in its {_WEEKS} weeks of"
            f" {', '.join(PAPER_EXPERTS)}."
        )


def describe_reported(experts: Mapping[str, tuple[int, str | None]], simulated: bool) -> list[str]:
    """Explain the paper's numbers.

    Args:
        experts: Number of experts here and label in the paper, by title of the paper's streams.
        simulated: Whether the data of any of these streams are simulated.
    """
    if not experts:
        return []
    notes = [f"[paper: …]: the paper’s number, not computed here: {PAPER}."]
    for title, (ours, label) in experts.items():
        theirs = PAPER_EXPERTS.get(label or "")
        if theirs is not None and theirs != ours:
            notes.append(f"{title} has {ours} experts here and {theirs} in the paper.")
    if simulated:
        notes.append("The paper's numbers come from real data, ours from simulated data.")
    return notes
