"""Findings of the summary: best learners, cost of noise, agreement with the paper.

Half widths of two means add up here: the intervals of the differences then hold together wherever
those of the summary do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np
import pandas as pd

from dpol.data.stream import GainStream, read_stream
from dpol.experts.registry import central_rivals
from dpol.show.reported import (
    BEST_LINEAR,
    has_papers_periods,
    load_reported,
)
from dpol.studies.games.replay import replay_rows
from dpol.studies.games.scores import Scores, collect_cells, read_scores
from dpol.studies.games.settings import PAPER_NOISE, Games
from dpol.studies.games.summary import (
    cumulative_curves,
    summarize,
    totals_of,
)
from dpol.studies.games.verdicts import verdict_on
from dpol.studies.study import Facts

META = "rw-meta"


class Parts(TypedDict):
    """The inputs of the result tables."""

    cells: Sequence[Scores]
    """The scores of all games."""
    streams: Mapping[str, GainStream]
    """The gain streams by label."""


def read(files: Mapping[str, Sequence[str]]) -> Parts:
    """The scores of all games, and the streams they were played on, in the order of the files.

    Raises:
        DataError: a file is not whole.
        ValueError: a replicate is missing or comes twice.
    """
    streams = {stream.label: stream for stream in map(read_stream, files["streams"])}
    scores = (it for path in files["scores"] for it in read_scores(path))
    return {"cells": collect_cells(scores), "streams": streams}


def collect(parts: Parts, settings: Games, facts: Facts) -> dict[str, pd.DataFrame]:
    """The result tables that the settings ask for."""
    cells, streams = parts["cells"], parts["streams"]
    summary = summarize(cells, streams, settings, facts)
    found = {
        "summary": conclude(summary, settings, facts),
        "totals": totals_of(cells, facts),
        "ranking": rank_meta(summary),
    }
    if not facts.asks_several:
        found["cumulative"] = cumulative_curves(cells, streams, settings, facts)
    if facts.replayed:
        found["replay"] = replay_rows(cells, streams, settings, facts)
    return found


def conclude(summary: pd.DataFrame, main: Games, facts: Facts) -> pd.DataFrame:
    """The summary with the columns that follow from it (docs/reference/tables.md).

    Args:
        summary: table of `dpol.studies.games.summary.summarize`.
        main: of the run; rows that it shows get the numbers of the paper.
        facts: of the run; the labels of its streams in the paper.
    """
    return with_reported(with_costs(with_best(with_shares(summary))), main, facts)


def with_shares(summary: pd.DataFrame) -> pd.DataFrame:
    """Add gains as shares of the possible gain: 0 for uniform, 1 for the best of every round.

    Empty where all experts have the same gain in every round.
    """
    uniform = summary["uniform_gain"]
    possible = (summary["oracle_gain"] - uniform).replace(0.0, math.nan)
    return summary.assign(
        best_fixed_share=(summary["best_fixed_gain"] - uniform) / possible,
        gain_share=(summary["mean_gain"] - uniform) / possible,
        gain_share_half_width=summary["ci_half_width"] / possible,
    )


def with_best(summary: pd.DataFrame) -> pd.DataFrame:
    """Add `best_of_family`: the largest mean of its setting; of equal ones the first by label."""
    ordered = summary.sort_values(["mean_gain", "algorithm"], ascending=[False, True])
    best = ordered.drop_duplicates(["stream", "family", "noise", "mu"]).index
    return summary.assign(best_of_family=summary.index.isin(best))


def with_costs(summary: pd.DataFrame) -> pd.DataFrame:
    """Add the cost of noise: total gain minus that of the same algorithm without noise.

    Empty where the algorithm was never played without noise, or to no gain.
    """
    key = ["stream", "algorithm", "noise"]
    free = (summary["mu"] == math.inf) & (summary["epsilon"] == math.inf)
    base = summary.loc[free & (summary["mean_gain"] > 0), [*key, "mean_gain", "ci_half_width"]]
    both = summary.merge(base, how="left", on=key, suffixes=("", "_free"), validate="many_to_one")
    noisy = summary["mu"].to_numpy() < math.inf
    gain = np.where(noisy, both["mean_gain_free"], math.nan)
    lost, above = gain - both["mean_gain"], gain - both["uniform_gain"]
    half = np.where(noisy, both["ci_half_width_free"] + both["ci_half_width"], math.nan)
    return summary.assign(
        gain_without_noise=gain,
        noise_cost=lost.to_numpy(),
        noise_cost_half_width=half,
        noise_cost_share=(lost / above.where(above > 0)).to_numpy(),
    )


def with_reported(summary: pd.DataFrame, main: Games, facts: Facts) -> pd.DataFrame:
    """Add the paper's numbers for the rows of the report, and verdicts of agreement.

    `reported_as` is what the paper calls the row. Where it has no number of the stream, its
    periods, the algorithm and the noise, the columns are empty.
    """
    theirs = load_reported().rename(columns={"algorithm": "reported_as", "stream": "theirs"})
    theirs = theirs.rename(columns={name: f"reported_{name}" for name in _NUMBERS})
    report = main.report
    shown = summary["algorithm"].isin(set(report.algorithms) & set(theirs["reported_as"]))
    best = summary["best_of_family"] & (summary["family"] == report.envelope)
    linear = best & (report.envelope == "ridge") & ~shown
    comparable = has_papers_periods(summary) & (summary["noise"] == PAPER_NOISE)
    both = summary.assign(
        theirs=summary["stream"].map(facts.reported).where(comparable),
        reported_as=summary["algorithm"].where(shown).mask(linear, BEST_LINEAR),
    ).merge(theirs, how="left", on=["theirs", "reported_as", "mu"])
    found = both["reported_mean_gain"].notna()
    difference = both["mean_gain"] - both["reported_mean_gain"]
    reach = both["ci_half_width"] + both["reported_ci_half_width"].fillna(0.0)
    verdicts = pd.Series(map(verdict_on, difference, reach), both.index).where(found, "")
    both["reported_as"] = both["reported_as"].where(found, "")
    return both.drop(columns="theirs").assign(reported_verdict=verdicts)


_NUMBERS = ("mean_gain", "ci_half_width")


def rank_meta(summary: pd.DataFrame) -> pd.DataFrame:
    """RW-Meta, which is local, compared with each central rival, under the same noise.

    One row per rival, stream, noise and level with noise, of this run and of the paper's table
    (`source`). Of several algorithms of a kind it is the one with the largest mean, in hindsight.
    """
    paper = load_reported().assign(source="paper", noise=PAPER_NOISE, confidence=0.95)
    paper["family"] = paper["algorithm"]
    both = pd.concat([summary.assign(source="run"), paper])
    key = ["source", "stream", "noise", "mu"]
    both = both.loc[both["mu"] < math.inf, [*key, "family", "algorithm", "confidence", *_NUMBERS]]
    both = both.fillna({"ci_half_width": 0.0})
    meta = both[both["algorithm"] == META].drop(columns="family")
    found = []
    for rival, families in central_rivals().items():
        own = both[both["family"].isin(families)].drop(columns=["family", "confidence"])
        best = own.sort_values("mean_gain", kind="stable").drop_duplicates(key, keep="last")
        rows = meta.join(best.set_index(key).add_prefix("other_"), on=key, how="inner")
        found.append(rows.assign(rival=rival))
    return _with_differences(pd.concat(found, ignore_index=True))


def _with_differences(rows: pd.DataFrame) -> pd.DataFrame:
    """Add difference and ratio of two gains, the first over the other."""
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
