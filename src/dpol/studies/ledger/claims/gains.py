"""Checks of what the experts' paper says of its Table 2, by the total gains of a run.

The order of its columns stands under Table 2, and so does the share of the best linear model. All
rows have isotropic noise, as in the paper. All intervals of a run's summary hold jointly, so
intervals computed from their ends do too.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from dpol.show.reported import load_reported
from dpol.show.words import mu_title
from dpol.studies.games.names import META, MIN_NOISE, PAPER_NOISE
from dpol.studies.ledger.claims.core import Finding, Findings

LOW_AND_MODERATE = (1.0, 0.5)
"""μ of the paper's low and moderate privacy."""
_KEY = ["stream", "mu"]


def gains_over_tree(summary: pd.DataFrame) -> Findings:
    """Check the gain of RW-Meta over that of the tree with the least noise, in each setting.

    Args:
        summary: table of `dpol.studies.games.collect.conclude`.
    """
    meta, tree = (_of(summary, name).set_index(_KEY) for name in (META, MIN_NOISE))
    both = meta.join(tree.add_suffix("_tree"), how="inner").reset_index()
    both = both.assign(ratio=both["mean_gain"] / both["mean_gain_tree"]).sort_values("ratio")
    reported = reported_ratios(META, MIN_NOISE)
    settings = both.to_dict("records")
    ends = " to ".join(
        f"{it['ratio']:.2f} ({it['stream']}, {mu_title(it['mu'])})"
        for it in (settings[:1] + settings[-1:])
    )
    numbers = {"range": ends, "theirs": f"{reported.min():.2f} to {reported.max():.2f}"}
    for row in settings:
        gain, half = row["mean_gain"], row["ci_half_width"]
        other, other_half = row["mean_gain_tree"], row["ci_half_width_tree"]
        most = (gain + half) / (other - other_half) if other > other_half else math.inf
        yield Finding(
            "headline-tree",
            1.5,
            row["ratio"],
            f"{row['stream']}, {mu_title(row['mu'])}: {META} {gain:.2f}, {MIN_NOISE} {other:.2f}",
            at={"streams": row["stream"], "mu": row["mu"]},
            numbers=numbers,
            interval=((gain - half) / (other + other_half), min(most, 1e6)),
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


def reported_ratios(algorithm: str, other: str) -> pd.Series:
    """Return the ratios of two algorithms' gains in the paper's table, by stream and mu."""
    gains = load_reported().pivot(index=_KEY, columns="algorithm", values="mean_gain")
    return gains[algorithm] / gains[other]
