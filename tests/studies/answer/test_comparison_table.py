"""The table of the comparison: gains, leads and verdicts follow from the numbers."""

from __future__ import annotations

import pandas as pd
import pytest

from comparison_by_hand import (
    AT_BEST,
    COMPARISON,
    FACTS,
    cells,
    frames,
)
from dpol.show.table import Table, TableCell, to_markdown
from dpol.studies.answer.comparison import comparison_table

# Repeated and with less spread, so that verdicts are decided.
MANY = cells(spread=0.1, times=50)


@pytest.fixture
def made() -> dict[str, pd.DataFrame]:
    """All frames; a test may change them."""
    return frames(MANY)


def build(made: dict[str, pd.DataFrame]) -> Table:
    return comparison_table(made, COMPARISON.pairs, FACTS)


def line(made: dict[str, pd.DataFrame], label: str) -> tuple[TableCell, ...]:
    (section,) = build(made).sections
    return dict(section.groups[0].lines)[label]


# --- The comparison ---


COMPARED = """
| stream | privacy | ours † | the baseline |
| --- | --- | ---: | ---: |
| **New Mexico** (n = 2, T = 2; uniform random 3.00, best fixed expert 5.00, oracle 20.00) |\
 no privacy (μ = ∞) | 18.00 exact | 14.00 exact ours +4.00 exact, above |
|  | μ = 1 | 17.00 ± 0.02 | 12.00 ± 0.02 ours +5.00 ± 0.04, above |
|  | μ = 0.25 | 15.00 ± 0.02 | 8.00 ± 0.02 ours +7.00 ± 0.04, above |
"""


def test_the_comparison(made: dict[str, pd.DataFrame]) -> None:
    """Lines are levels. Intervals: 36 pairs, 39 means."""
    table = build(made)
    text = to_markdown(table)
    assert COMPARED in text
    assert "Ours: bayes, capacity noise. The baseline: meta, isotropic noise." in text
    assert "over 75 intervals of the numbers behind this table" in text
    assert table.numbers is made["comparison"]


def test_rivals_stand_beside_the_baseline() -> None:
    made = frames(MANY, AT_BEST)

    def rivals() -> tuple[TableCell, ...]:
        (section,) = comparison_table(made, AT_BEST.pairs, FACTS).sections
        return dict(section.groups[0].lines)["μ = 1"][2:4]

    assert rivals() == (
        TableCell("13.00 ± 0.02", ("ours +4.00 ± 0.04, above",)),
        TableCell("15.00 ± 0.04", ("ours +2.00 ± 0.05, above", "ridge-a")),
    )
    # Below the worse form it is below the rival, whose numbers are still those of the better one.
    frame = made["comparison"]
    worse = frame["kind"].eq("rival") & frame["other_algorithm"].eq("ridge-b")
    frame.loc[worse, "verdict"] = "below"
    assert rivals()[1].notes == ("ours +2.00 ± 0.05, below", "ridge-a")
    named = "The tuned baseline: ridge-a, isotropic noise; ridge-b, isotropic noise."
    assert named in to_markdown(comparison_table(made, AT_BEST.pairs, FACTS))


def test_half_widths_and_verdicts_stand_beside_their_numbers(
    made: dict[str, pd.DataFrame],
) -> None:
    frame = made["comparison"]
    halves = ["ci_half_width", "other_ci_half_width", "difference_half_width"]
    baseline = (frame["kind"] == "baseline") & (frame["mu"] == 1.0)
    frame.loc[baseline, [*halves, "verdict"]] = [0.111, 0.222, 0.333, "undecided"]
    ours, other = line(made, "μ = 1")
    assert ours == TableCell("17.00 ± 0.11")
    assert other == TableCell("12.00 ± 0.22", ("ours +5.00 ± 0.33, undecided",))
