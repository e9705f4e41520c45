"""Names in the games: the first paper's algorithms and exhibits, references, and cells.

Jobs that draw read these and import no algorithm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from dpol.core.randomness import Floats

PAPER_NOISE = "isotropic"
"""Noise behind the first paper's numbers."""
FTPL = "rw-ftpl"
"""The first paper's RW-FTPL."""
META, MIN_NOISE, MIN_REGRET = "rw-meta", "tree-ftpl-min-noise", "tree-ftpl-min-regret"
PAPERS = META, MIN_NOISE, MIN_REGRET
"""The single algorithms of the paper, by label; `dpol.show.entries` has the paper's names."""
LINEAR, BEST_LINEAR = "ridge", "best-linear-model"
"""The family of the paper's linear models, and the column of the best of them."""
TABLE_2 = "paper 1, Table 2"
"""The exhibit of the games that Table 2 shows; Figure 2 draws them too."""
BEST_FIXED = "best-fixed-expert"
"""Label of the best fixed expert in hindsight, in the curves of cumulative gain."""
UNIFORM = "uniform-random"
"""Label of an expert drawn uniformly in every round, in the same curves."""
ORACLE = "oracle"
"""Label of the best expert of every round, in the same curves."""
REFERENCE_TOTALS = {UNIFORM: "uniform_gain", BEST_FIXED: "best_fixed_gain", ORACLE: "oracle_gain"}
"""Columns of the summary with the total gain of each reference, by label."""

CELL = ["stream", "algorithm", "noise", "mu"]
"""Columns that name a cell: an algorithm on a stream with a noise at a level."""


def gains_by_cell(totals: pd.DataFrame) -> Mapping[Any, Floats]:
    """Return the (R,) total gains of each cell, in the order of the replicates.

    Args:
        totals: table of the main study.
    """
    return {
        key: own.sort_values("replicate")["total_gain"].to_numpy()
        for key, own in totals.groupby(CELL, sort=False, observed=True)
    }
