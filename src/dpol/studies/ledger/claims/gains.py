"""Checks of what the experts' paper says of its Table 2, by the total gains of a run.

All rows have isotropic noise, as in the paper. All intervals of a run's summary hold jointly, so
intervals computed from their ends do too. Rows on the order of columns are paired by replicate.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from itertools import combinations, count
from typing import Any

import numpy as np
import pandas as pd

from dpol.show.reported import load_reported
from dpol.show.words import mu_title
from dpol.studies.games.names import BEST_LINEAR, LINEAR, META, MIN_NOISE, PAPER_NOISE
from dpol.studies.games.order import column_pairs
from dpol.studies.ledger.claims.core import Finding, Findings

LOW_AND_MODERATE = (1.0, 0.5)
"""μ of the paper's low and moderate privacy."""
HIGH = 0.25
"""μ of the paper's high privacy."""
_KEY = ["stream", "mu"]


def table_two(summary: pd.DataFrame, totals: pd.DataFrame) -> Findings:
    """Check the paper's statements on its Table 2 in the summary of a run.

    Args:
        summary: table of `dpol.studies.games.collect.conclude`.
        totals: table of `dpol.studies.games.collect.totals_of`.
    """
    rows = summary[(summary["noise"] == PAPER_NOISE) & np.isfinite(summary["ci_half_width"])]
    meta = rows[rows["algorithm"] == META]
    linear = rows[rows["family"] == LINEAR]
    least = rows[rows["algorithm"] == MIN_NOISE]
    yield from _ratios("headline-tree", meta, least, 1.5, theirs=(META, MIN_NOISE))
    yield from _static_regrets(meta)
    yield from _share_of_best_linear(meta, linear)
    yield from _best_linear_models(linear)
    if len(rows):
        yield from _orders(rows, totals)


def _orders(rows: pd.DataFrame, totals: pd.DataFrame) -> Findings:
    """Check the order of RW-Meta and both trees by the differences that Table 2 rests on."""
    pairs = column_pairs(rows, totals)
    for name, column in (("order-first", META), ("order-second", MIN_NOISE)):
        own = pairs[(pairs["column"] == column)].to_dict("records")
        ordered = sorted(own, key=lambda row: row["difference"])
        ends = [f"{row['difference']:.2f} ({_setting(row)})" for row in ordered]
        for row in own:
            yield Finding(
                name=name,
                claimed=0.0,
                measured=row["difference"],
                case=f"{_setting(row)}: {row['column']} − {row['other']} = {row['difference']:.2f}",
                at={**_at(row), "columns": row["other"]},
                numbers={"range": f"{ends[0]} to {ends[-1]}"},
                interval=(row["lower"], row["upper"]),
                confidence=rows["confidence"].iloc[0],
            )


def _static_regrets(meta: pd.DataFrame) -> Findings:
    largest = meta.groupby("mu")["static_regret"].max()
    levels = sorted(meta["mu"].unique(), reverse=True)
    by_level = ", ".join(f"{largest[mu]:.2f} at {mu_title(mu)}" for mu in levels)
    for row in meta[meta["mu"].isin(LOW_AND_MODERATE)].to_dict("records"):
        regret, half = row["static_regret"], row["ci_half_width"]
        numbers = {"gain": row["mean_gain"], "best": row["best_fixed_gain"], "by_level": by_level}
        about = {"numbers": numbers, "confidence": row["confidence"]}
        about |= {"at": _at(row), "interval": (regret - half, regret + half)}
        yield Finding("static-regret", 0.0, regret, **about)


def _share_of_best_linear(meta: pd.DataFrame, linear: pd.DataFrame) -> Findings:
    """Check the mean ratio over the settings, here and in the paper's table."""
    each = list(_ratios("best-linear-share", meta, linear))
    if not each:
        return
    ends = np.array([ratio.bounds for ratio in each]).mean(axis=0)
    streams = ", ".join(dict.fromkeys(ratio.numbers["stream"] for ratio in each))
    yield Finding(
        name="best-linear-share",
        claimed=0.85,
        measured=float(np.mean([ratio.measured for ratio in each])),
        case=f"{len(each)} settings of {streams}",
        numbers={
            "range": each[0].numbers["range"],
            "theirs": float(reported_ratios(META, BEST_LINEAR).mean()),
        },
        interval=(float(ends[0]), float(ends[1])),
        confidence=each[0].confidence,
        at={"streams": streams},
        settings=len(each),
    )


def _best_linear_models(linear: pd.DataFrame) -> Findings:
    """Check the number of models that are best somewhere, and the two that the paper names."""
    if linear.empty:
        return
    means = linear.pivot(index=_KEY, columns="algorithm", values="mean_gain")
    reach = linear.pivot(index=_KEY, columns="algorithm", values="ci_half_width")
    may_be_best = (means + reach).ge((means - reach).max(axis=1), axis=0).to_numpy()
    best = means.idxmax(axis=1)
    yield Finding(
        name="best-linear-varies",
        claimed=2.0,
        measured=float(best.nunique()),
        case=f"{len(means)} settings of {', '.join(linear['stream'].unique())}",
        numbers={"named": "; ".join(_named(best))},
        interval=(float(_fewest(may_be_best)), float(may_be_best.any(axis=0).sum())),
        confidence=float(linear["confidence"].iloc[0]),
        settings=len(means),
    )
    of_window_64 = linear["algorithm"].str.startswith("ridge-w64-")
    for stream, named in (("PA", linear["algorithm"] == "ridge-w8-strong"), ("NM", of_window_64)):
        there = (linear["stream"] == stream) & (linear["mu"] == HIGH)
        yield from _ratios(f"best-linear-{stream}", linear[there & named], linear[there & ~named])


def _named(best: pd.Series) -> Iterator[str]:
    """Name the best models of each level, with the number of streams if there are several."""
    for mu in sorted(best.index.unique("mu"), reverse=True):
        models = best.xs(mu, level="mu")
        counts = models.value_counts(sort=False).sort_index()
        names = (f"{name} ({times})" if len(models) > 1 else name for name, times in counts.items())
        yield f"{mu_title(mu)}: {', '.join(map(str, names))}"


def _fewest(may_be_best: np.ndarray) -> int:
    """Return the smallest number of models (columns) that cover all rows."""
    models = range(may_be_best.shape[1])
    return next(
        k
        for k in count(1)
        if any(may_be_best[:, some].any(axis=1).all() for some in combinations(models, k))
    )


def reported_ratios(algorithm: str, other: str) -> pd.Series:
    """Return the ratios of two algorithms' gains in the paper's table, by stream and mu."""
    gains = load_reported().pivot(index=_KEY, columns="algorithm", values="mean_gain")
    return gains[algorithm] / gains[other]


def _ratios(
    name: str,
    some: pd.DataFrame,
    others: pd.DataFrame,
    claimed: float = 1.0,
    theirs: tuple[str, str] | None = None,
) -> Iterator[Finding]:
    """Yield the ratio of the best gain of some algorithms to the best of others, by setting.

    Args:
        name: id of the statement.
        some: rows of the summary.
        others: rows to compare with, of the same settings.
        claimed: the smallest ratio.
        theirs: two algorithms of the paper's table, whose ratios the finding gives too.
    """
    ours, rest = (
        rows.sort_values("mean_gain").drop_duplicates(_KEY, keep="last").set_index(_KEY)
        for rows in (some, others)
    )
    both = ours.join(rest.add_suffix("_other"), how="inner").reset_index()
    if both.empty:
        return
    settings = both.assign(ratio=both["mean_gain"] / both["mean_gain_other"]).to_dict("records")
    ordered = sorted(settings, key=lambda row: row["ratio"])
    ends = (f"{row['ratio']:.2f} ({_setting(row)})" for row in (ordered[0], ordered[-1]))
    numbers = {"range": " to ".join(ends)}
    if theirs is not None:
        reported = reported_ratios(*theirs)
        numbers["theirs"] = f"{reported.min():.2f} to {reported.max():.2f}"
    for row in settings:
        gain, half = row["mean_gain"], row["ci_half_width"]
        other, other_half = row["mean_gain_other"], row["ci_half_width_other"]
        most = (gain + half) / (other - other_half) if other > other_half else math.inf
        yield Finding(
            name=name,
            claimed=claimed,
            measured=row["ratio"],
            case=f"{_setting(row)}: {row['algorithm']} {gain:.2f},"
            f" {row['algorithm_other']} {other:.2f}",
            at=_at(row),
            numbers={"stream": row["stream"], **numbers},
            interval=((gain - half) / (other + other_half), min(most, 1e6)),
            confidence=row["confidence"],
        )


def _at(row: Mapping[Hashable, Any]) -> dict[str, Any]:
    """Return the stream and the level of a row."""
    return {"streams": row["stream"], "mu": row["mu"]}


def _setting(row: Mapping[Hashable, Any]) -> str:
    """Name the stream and the level of a row."""
    return f"{row['stream']}, {mu_title(row['mu'])}"
