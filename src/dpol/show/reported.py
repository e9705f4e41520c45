"""The paper's Table 2, stored next to this module; no computation of ours uses its numbers.

The paper is "Prediction with Expert Advice under Local Differential Privacy".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from dpol.show.papers import EXPERTS, REPORTED

PAPER = f"“{EXPERTS}”, Table 2"
"""Table of the paper with the numbers."""
PAPER_EXPERTS: Mapping[str, int] = {"NM": 24, "PA": 146, "CA": 293}
PAPER_SMALLEST = 4.3, 14.6
"""The range of its "minimum number of beds" (section 4)."""
BEST_LINEAR = "best-linear-model"
_WEEKS, _FIRST, _LAST = 148, pd.Timestamp("2020-08-09"), pd.Timestamp("2023-06-04")


def load_reported() -> pd.DataFrame:
    """The paper's mean gains by stream, algorithm and mu; half widths where it gives them."""
    return pd.read_csv(REPORTED)


def has_papers_periods(summary: pd.DataFrame) -> pd.Series:
    """Mask of the rows of a summary that are of the paper's periods."""
    ends = (summary["first_period"] == _FIRST) & (summary["last_period"] == _LAST)
    return ends & (summary["n_rounds"] == _WEEKS)


def describe_smallest(labels: Iterable[str]) -> Iterator[str]:
    """The paper's numbers of beds, if any stream has the label of one of its states."""
    if not PAPER_EXPERTS.keys().isdisjoint(labels):
        low, high = PAPER_SMALLEST
        yield (
            f"The paper reports {low} to {high} beds in its {_WEEKS} weeks of"
            f" {', '.join(PAPER_EXPERTS)}."
        )


def describe_reported(experts: Mapping[str, tuple[int, str | None]], simulated: bool) -> list[str]:
    """Note on the paper's numbers.

    Args:
        experts: streams (by title) with numbers of the paper: experts here, label in the paper.
        simulated: whether the data of any of them are simulated.
    """
    if not experts:
        return []
    found = [f"[paper: …]: reported by the paper, not computed here: {PAPER}."]
    for title, (ours, label) in experts.items():
        theirs = PAPER_EXPERTS.get(label or "")
        if theirs is not None and theirs != ours:
            found.append(f"{title} has {ours} experts here and {theirs} in the paper.")
    if simulated:
        found.append("The paper's numbers come from real data, ours from simulated data.")
    return found
