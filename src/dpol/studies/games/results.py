"""Result tables of all games: the summary with shares and costs, RW-Meta and its central rivals.

The half-width of a difference is the sum of two half-widths, so the intervals of differences hold
jointly wherever the intervals of the summary do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from dpol.core.intervals import verdict_on
from dpol.data.stream import GainStream, read_stream
from dpol.experts.registry import central_rivals
from dpol.show.reported import load_reported
from dpol.studies.games.allocation_shown import allocation_rows
from dpol.studies.games.replay import replay_rows
from dpol.studies.games.scores import Scores, collect_cells, read_scores
from dpol.studies.games.settings import META, PAPER_NOISE, Games
from dpol.studies.games.summary import (
    cumulative_curves,
    summarize,
    totals_of,
)
from dpol.studies.jobs import read_rows
from dpol.studies.study import Facts, FileLists


def collect(files: FileLists, settings: Games, facts: Facts) -> dict[str, pd.DataFrame]:
    """Build the result tables that the settings ask for, from the scores of all games.

    Raises:
        DataError: a file is incomplete.
        ValueError: a replicate is missing or occurs twice.
    """
    streams = {stream.label: stream for stream in map(read_stream, files["stream"])}
    cells = collect_cells(score for path in files["scores"] for score in read_scores(path))
    tables = tables_of(cells, streams, settings, facts)
    if settings.allocation:
        tables["allocation"] = allocation_rows(read_rows(files["divided"]), facts)
    return tables


def tables_of(
    cells: Sequence[Scores], streams: Mapping[str, GainStream], settings: Games, facts: Facts
) -> dict[str, pd.DataFrame]:
    """Build the result tables of games on some streams, by label."""
    summary = summarize(cells, streams, settings, facts)
    tables = {
        "summary": conclude(summary),
        "totals": totals_of(cells, facts),
        "ranking": rank_meta(summary),
    }
    if not facts.asks_several:
        tables["cumulative"] = cumulative_curves(cells, streams, settings, facts)
    if facts.replayed:
        tables["replay"] = replay_rows(cells, streams, settings, facts)
    return tables


def conclude(summary: pd.DataFrame) -> pd.DataFrame:
    """Add the columns that follow from the summary (docs/reference/tables.md).

    Shares of the possible gain are 0 for uniform random and 1 for the oracle, and empty where all
    experts have the same gain in every round. The cost of noise is the algorithm's total gain
    without noise minus its gain with it; it is empty where the algorithm was never played without
    noise, or gained nothing then.

    Args:
        summary: table of `dpol.studies.games.summary.summarize`.
    """
    uniform, mean = summary["uniform_gain"], summary["mean_gain"]
    possible = (summary["oracle_gain"] - uniform).replace(0.0, math.nan)
    shared = summary.assign(
        best_fixed_share=(summary["best_fixed_gain"] - uniform) / possible,
        gain_share=(mean - uniform) / possible,
        gain_share_half_width=summary["ci_half_width"] / possible,
    )
    key = ["stream", "algorithm", "noise"]
    free = (summary["mu"] == math.inf) & (summary["epsilon"] == math.inf)
    base = summary.loc[free & (mean > 0), [*key, "mean_gain", "ci_half_width"]]
    both = summary.merge(base, how="left", on=key, suffixes=("", "_free"), validate="many_to_one")
    noisy = summary["mu"].to_numpy() < math.inf
    gain = np.where(noisy, both["mean_gain_free"], math.nan)
    half = np.where(noisy, both["ci_half_width_free"] + both["ci_half_width"], math.nan)
    lost, above = gain - both["mean_gain"], gain - both["uniform_gain"]
    return with_best(shared).assign(
        gain_without_noise=gain,
        noise_cost=lost.to_numpy(),
        noise_cost_half_width=half,
        noise_cost_share=(lost / above.where(above > 0)).to_numpy(),
    )


def with_best(summary: pd.DataFrame) -> pd.DataFrame:
    """Add `best_of_family`: the largest mean of its setting; ties go to the first label."""
    ordered = summary.sort_values(["mean_gain", "algorithm"], ascending=[False, True])
    best = ordered.drop_duplicates(["stream", "family", "noise", "mu"]).index
    return summary.assign(best_of_family=summary.index.isin(best))


def rank_meta(summary: pd.DataFrame) -> pd.DataFrame:
    """Compare RW-Meta, which is local, with each central rival under the same noise.

    One row per rival, stream, noise and noisy level, for this run and for the paper's table
    (`source`). If a rival has several algorithms, the best in hindsight counts.
    """
    paper = load_reported().assign(source="paper", noise=PAPER_NOISE, confidence=0.95)
    paper["family"] = paper["algorithm"]
    both = pd.concat([summary.assign(source="run"), paper])
    key = ["source", "stream", "noise", "mu"]
    columns = [*key, "family", "algorithm", "confidence", "mean_gain", "ci_half_width"]
    both = both.loc[both["mu"] < math.inf, columns]
    both = both.fillna({"ci_half_width": 0.0})
    meta = both[both["algorithm"] == META].drop(columns="family")
    parts = []
    for rival, families in central_rivals().items():
        own = both[both["family"].isin(families)].drop(columns=["family", "confidence"])
        best = own.sort_values("mean_gain", kind="stable").drop_duplicates(key, keep="last")
        rows = meta.join(best.set_index(key).add_prefix("other_"), on=key, how="inner")
        parts.append(rows.assign(rival=rival))
    return with_differences(pd.concat(parts, ignore_index=True))


def with_differences(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the difference and the ratio of the two gains, first to other."""
    mean, half = rows["mean_gain"], rows["ci_half_width"]
    other, other_half = rows["other_mean_gain"], rows["other_ci_half_width"]
    difference, reach = mean - other, half + other_half
    return rows.assign(
        difference=difference,
        difference_half_width=reach,
        verdict=[verdict_on(*pair) for pair in zip(difference, reach, strict=True)],
        ratio=mean / other,
        ratio_lower=(mean - half) / (other + other_half),
        ratio_upper=((mean + half) / (other - other_half)).where(other > other_half, math.inf),
    )
