"""Numbers that dpol shows and did not compute in the run at hand.

They are Table 2 of "Prediction with Expert Advice under Local Differential Privacy", and what
verify/fillings.py recorded beside it. No computation uses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pandas as pd

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

REPORTED = Path(__file__).with_name("reported_average_gain.csv")
"""The numbers of Table 2 of the first paper."""
FILLINGS = Path(__file__).with_name("recorded_fillings.csv")
"""Total gains by what suppressed cells are read as; verify/fillings.py writes them."""


def load_reported() -> pd.DataFrame:
    """Return the paper's mean gains by stream, algorithm and mu, with half-widths where given."""
    return pd.read_csv(REPORTED)


def describe_fillings() -> str:
    """Say how recorded totals depend on what a suppressed cell is read as."""
    every = pd.read_csv(FILLINGS)
    gains = every.pivot_table(
        index=["suppressed_beds", "suppressed_counts"], columns="algorithm", values="mean_gain"
    )
    meta = gains["rw-meta"]
    ratios = meta / gains["tree-ftpl-min-noise"]
    missing, both = meta["missing"], meta.drop("missing").item()
    values, read = (
        f"{', '.join(texts[:-1])} and {texts[-1]}"
        for texts in ([f"{gain:.1f}" for gain in missing], list(map(str, missing.index)))
    )
    return (
        "The paper does not say how it read suppressed cells, and totals depend on it: in"
        f" recorded runs on {every['stream'].iloc[0]} RW-Meta gains {values} at μ = ∞ with"
        f" suppressed counts read as {read}, and {both:.1f} with suppressed beds read as"
        f" {every['suppressed_beds'].iloc[-1]} too. Its ratio to Min Noise lies between"
        f" {ratios.min():.2f} and {ratios.max():.2f}."
    )


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
