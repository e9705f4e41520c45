"""Checks of what the experts' paper says of its Table 2, by the total gains of a run.

The order of its columns stands under Table 2, and so does the share of the best linear model. All
rows have isotropic noise, as in the paper. All intervals of a run's summary hold jointly, so
intervals computed from their ends do too.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from dpol.show.reported import reported_ratios
from dpol.show.words import mu_title
from dpol.studies.games.names import FTPL, META, MIN_NOISE, PAPER_NOISE
from dpol.studies.ledger.claims.core import Finding, Findings

LOW_AND_MODERATE = (1.0, 0.5)
"""μ of the paper's low and moderate privacy."""
_KEY = ["stream", "mu"]


def gains_over_others(summary: pd.DataFrame) -> Findings:
    """Check the gain of RW-Meta over those of the abstract's two baselines, in each setting.

    Args:
        summary: table of `dpol.studies.games.collect.conclude`.
    """
    yield from _gains_over(MIN_NOISE, "headline-tree", summary)
    yield from _gains_over(FTPL, "headline-classical", summary)


def _gains_over(baseline: str, statement: str, summary: pd.DataFrame) -> Findings:
    """Compare RW-Meta with a baseline; the paper's table has no RW-FTPL."""
    meta, other = (_of(summary, name).set_index(_KEY) for name in (META, baseline))
    both = meta.join(other.add_suffix("_other"), how="inner").reset_index()
    both = both.assign(ratio=both["mean_gain"] / both["mean_gain_other"]).sort_values("ratio")
    settings = both.to_dict("records")
    ends = " to ".join(
        f"{it['ratio']:.2f} ({it['stream']}, {mu_title(it['mu'])})"
        for it in (settings[:1] + settings[-1:])
    )
    theirs = reported_ratios(META, MIN_NOISE)
    numbers = {"range": ends, "theirs": f"{theirs.min():.2f} to {theirs.max():.2f}"}
    for row in settings:
        gain, half = row["mean_gain"], row["ci_half_width"]
        least, most = (row["mean_gain_other"] + it * row["ci_half_width_other"] for it in (-1, 1))
        upper = (gain + half) / least if least > 0 else math.inf
        yield Finding(
            statement,
            1.5,
            row["ratio"],
            f"{row['stream']}, {mu_title(row['mu'])}: {META} {gain:.2f},"
            f" {baseline} {row['mean_gain_other']:.2f}",
            at={"streams": row["stream"], "mu": row["mu"]},
            numbers=numbers,
            interval=((gain - half) / most, min(upper, 1e6)),
            confidence=row["confidence"],
        )


def static_regrets(summary: pd.DataFrame) -> Findings:
    """Check RW-Meta's static regret at low and moderate privacy."""
    meta = _of(summary, META)
    largest = meta.groupby("mu")["static_regret"].max()
    levels = sorted(meta["mu"].unique(), reverse=True)
    by_level = ", ".join(f"{largest[mu]:.2f} at {mu_title(mu)}" for mu in levels)
    for row in meta[meta["mu"].isin(LOW_AND_MODERATE)].to_dict("records"):
        regret, half = row["static_regret"], row["ci_half_width"]
        yield Finding(
            "static-regret",
            0.0,
            regret,
            at={"streams": row["stream"], "mu": row["mu"]},
            numbers={
                "gain": row["mean_gain"],
                "best": row["best_fixed_gain"],
                "by_level": by_level,
            },
            interval=(regret - half, regret + half),
            confidence=row["confidence"],
        )


def _of(summary: pd.DataFrame, algorithm: str) -> pd.DataFrame:
    """Return the rows of an algorithm with the paper's noise, of several runs."""
    several = np.isfinite(summary["ci_half_width"])
    asked = (summary["noise"] == PAPER_NOISE) & (summary["algorithm"] == algorithm)
    rows: pd.DataFrame = summary[several & asked]
    return rows
