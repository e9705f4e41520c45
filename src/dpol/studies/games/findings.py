"""Findings from the summary: best learners, cost of noise, agreement with the paper.

The half-width of a difference is the sum of two half-widths, so the intervals of differences hold
jointly wherever the intervals of the summary do.
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
from dpol.studies.games.allocation_table import allocation_rows
from dpol.studies.games.replay import replay_rows
from dpol.studies.games.scores import Scores, collect_cells, read_scores
from dpol.studies.games.settings import PAPER_NOISE, Games
from dpol.studies.games.summary import (
    cumulative_curves,
    summarize,
    totals_of,
)
from dpol.studies.games.verdicts import verdict_on
from dpol.studies.jobs import read_rows
from dpol.studies.study import Facts

META = "rw-meta"


class Parts(TypedDict):
    """Inputs of the result tables."""

    cells: Sequence[Scores]
    """Scores of all games."""
    streams: Mapping[str, GainStream]
    """Gain streams by label."""
    divided: pd.DataFrame
    """Need left unmet by dividing help; empty if the run divides none."""


def read(files: Mapping[str, Sequence[str]]) -> Parts:
    """Read the scores of all games, and the streams they were played on, in the files' order.

    Raises:
        DataError: A file is incomplete.
        ValueError: A replicate is missing or occurs twice.
    """
    streams = {stream.label: stream for stream in map(read_stream, files["streams"])}
    scores = (score for path in files["scores"] for score in read_scores(path))
    divided = read_rows({"divided": files.get("divided", ())})["divided"]
    return {"cells": collect_cells(scores), "streams": streams, "divided": divided}


def collect(parts: Parts, settings: Games, facts: Facts) -> dict[str, pd.DataFrame]:
    """Build the result tables that the settings ask for."""
    cells, streams = parts["cells"], parts["streams"]
    summary = summarize(cells, streams, settings, facts)
    tables = {
        "summary": conclude(summary, settings, facts),
        "totals": totals_of(cells, facts),
        "ranking": rank_meta(summary),
    }
    if not facts.asks_several:
        tables["cumulative"] = cumulative_curves(cells, streams, settings, facts)
    if facts.replayed:
        tables["replay"] = replay_rows(cells, streams, settings, facts)
    if settings.allocation:
        tables["allocation"] = allocation_rows(parts["divided"], facts)
    return tables


def conclude(summary: pd.DataFrame, main: Games, facts: Facts) -> pd.DataFrame:
    """Add the columns that follow from the summary (docs/reference/tables.md).

    Args:
        summary: Table of `dpol.studies.games.summary.summarize`.
        main: Settings of the run; the rows it shows get the paper's numbers.
        facts: Facts of the run: the labels of its streams in the paper.
    """
    return with_reported(with_costs(with_best(with_shares(summary))), main, facts)


def with_shares(summary: pd.DataFrame) -> pd.DataFrame:
    """Add gains as shares of the possible gain: 0 for uniform random, 1 for the oracle.

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
    """Add `best_of_family`: the largest mean of its setting; ties go to the first label."""
    ordered = summary.sort_values(["mean_gain", "algorithm"], ascending=[False, True])
    best = ordered.drop_duplicates(["stream", "family", "noise", "mu"]).index
    return summary.assign(best_of_family=summary.index.isin(best))


def with_costs(summary: pd.DataFrame) -> pd.DataFrame:
    """Add the cost of noise: the algorithm's total gain without noise minus its gain with it.

    Empty where the algorithm was never played without noise, or gained nothing then.
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
    """Add the paper's numbers for the rows of the report, and verdicts on their agreement.

    `reported_as` is the paper's name for the row. The columns are empty unless the paper has a
    number for the stream, its periods, the algorithm and the noise.
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
    known = both["reported_mean_gain"].notna()
    difference = both["mean_gain"] - both["reported_mean_gain"]
    reach = both["ci_half_width"] + both["reported_ci_half_width"].fillna(0.0)
    verdicts = pd.Series(map(verdict_on, difference, reach), both.index).where(known, "")
    both["reported_as"] = both["reported_as"].where(known, "")
    return both.drop(columns="theirs").assign(reported_verdict=verdicts)


_NUMBERS = ("mean_gain", "ci_half_width")


def rank_meta(summary: pd.DataFrame) -> pd.DataFrame:
    """Compare RW-Meta, which is local, with each central rival under the same noise.

    One row per rival, stream, noise and noisy level, for this run and for the paper's table
    (`source`). If a rival has several algorithms, the best in hindsight counts.
    """
    paper = load_reported().assign(source="paper", noise=PAPER_NOISE, confidence=0.95)
    paper["family"] = paper["algorithm"]
    both = pd.concat([summary.assign(source="run"), paper])
    key = ["source", "stream", "noise", "mu"]
    both = both.loc[both["mu"] < math.inf, [*key, "family", "algorithm", "confidence", *_NUMBERS]]
    both = both.fillna({"ci_half_width": 0.0})
    meta = both[both["algorithm"] == META].drop(columns="family")
    parts = []
    for rival, families in central_rivals().items():
        own = both[both["family"].isin(families)].drop(columns=["family", "confidence"])
        best = own.sort_values("mean_gain", kind="stable").drop_duplicates(key, keep="last")
        rows = meta.join(best.set_index(key).add_prefix("other_"), on=key, how="inner")
        parts.append(rows.assign(rival=rival))
    return _with_differences(pd.concat(parts, ignore_index=True))


def _with_differences(rows: pd.DataFrame) -> pd.DataFrame:
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
