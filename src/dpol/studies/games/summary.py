"""Summary and curves: one row per cell from the scores of all games, and cumulative gains.

Also what follows from the summary: shares, costs, and RW-Meta beside its central rivals. The
half-width of a difference is the sum of two half-widths, so the intervals of differences hold
jointly wherever the intervals of the summary do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.intervals import at_this_reading, half_width, half_width_of, verdict_on
from dpol.core.randomness import Floats
from dpol.core.schemas import Schema, read_schemas
from dpol.data.stream import MANY_UNMEASURED, GainStream, unmeasured_of
from dpol.experts.registry import central_rivals
from dpol.noise import find_noise, noise_scale
from dpol.show.reported import load_reported
from dpol.studies.games.scores import Scores
from dpol.studies.games.settings import (
    BEST_FIXED,
    META,
    ORACLE,
    PAPER_NOISE,
    UNIFORM,
    Games,
    papers_labels,
    plays_the_papers,
)
from dpol.studies.games.systems import REFERENCE_TOTALS, promised
from dpol.studies.study import Facts

SCORES, CURVES, ROUNDS = (
    f"points/games/STREAM/SUITE/NOISE/LEVEL/block-K/{name}"
    for name in ("scores", "curves", "rounds")
)
"""Names in `results.yaml` of the tables that points write."""


def schema(name: str) -> Schema:
    """Return the schema of a table of the main study."""
    return read_schemas(Path(__file__).with_name("results.yaml"))[name]


def count_comparisons(cells: Sequence[Scores], main: Games, facts: Facts) -> int:
    """Count the cells that the tables show or choose from, for the Bonferroni correction.

    A table shows the best member of the envelope family, so all its members count. If the run plays
    the paper's algorithms, the cells of its Table 2 count too.
    """
    report = main.report
    paper = papers_labels() if plays_the_papers(main, facts) else frozenset[str]()
    return sum(
        cell.label in report.algorithms
        or cell.family == report.envelope
        or (cell.label in paper and cell.noise == PAPER_NOISE)
        for cell in cells
    )


def summarize(
    cells: Sequence[Scores], streams: Mapping[str, GainStream], main: Games, facts: Facts
) -> pd.DataFrame:
    """Build one row per stream, algorithm, noise and mu (columns: docs/reference/tables.md).

    Args:
        cells: scores of all games.
        streams: streams they were played on, by label.
        main: the report, whose intervals hold jointly.
        facts: privacy levels, and the delta at which epsilon is reported.
    """
    confidence, comparisons = main.report.confidence, count_comparisons(cells, main, facts)
    rows = []
    for cell in cells:
        totals, mixture = cell.totals, cell.amplification
        named_right = cell.hits / streams[cell.stream].n_rounds
        rows.append(
            {
                **_stream_facts(streams[cell.stream]),
                **_setting(cell, facts),
                "replicates": len(totals),
                "mean_gain": float(totals.mean()),
                "ci_half_width": float(half_width(totals, confidence, comparisons)),
                "std_gain": float(totals.std(ddof=1)) if len(totals) > 1 else math.nan,
                "named_right": float(named_right.mean()),
                "named_right_half_width": float(half_width(named_right, confidence, comparisons)),
                "unmoved": cell.unmoved,
                "count_noise": _count_noise(cell, streams[cell.stream]),
                "ours": cell.ours,
                **cell.guarantee.as_columns(),
                **cell.guarantee.stay_columns(),
                "epsilon": cell.guarantee.epsilon(facts.delta),
                "amplified_epsilon": mixture.epsilon(facts.delta) if mixture else math.nan,
            }
        )
    frame = pd.DataFrame(rows)
    regret = frame["best_fixed_gain"] - frame["mean_gain"]
    together = {"confidence": confidence, "ci_comparisons": comparisons}
    return frame.assign(delta=facts.delta, static_regret=regret, **together)


def _count_noise(cell: Scores, stream: GainStream) -> float:
    """Return the median standard deviation of independent local noise on a count."""
    noisy = cell.guarantee.model == "local" and cell.mu < math.inf
    if not noisy or stream.capacity is None or find_noise(cell.noise).memory != "none":
        return math.nan
    return float(np.median(noise_scale(stream, cell.noise, cell.mu) * stream.capacity))


def totals_of(cells: Sequence[Scores], facts: Facts) -> pd.DataFrame:
    """Build one row per cell and replicate: its total gain (docs/reference/tables.md)."""
    sizes = [len(cell.totals) for cell in cells]
    settings = pd.DataFrame([{"stream": cell.stream, **_setting(cell, facts)} for cell in cells])
    # Categories, since there are many rows: texts would take ten times the memory.
    texts = settings[["stream", "algorithm", "noise", "level"]].astype("category")
    rows = texts.assign(mu=settings["mu"]).loc[np.repeat(settings.index, sizes)]
    return rows.reset_index(drop=True).assign(
        replicate=np.concatenate([cell.replicates for cell in cells]),
        total_gain=np.concatenate([cell.totals for cell in cells]),
        hits=np.concatenate([cell.hits for cell in cells]),
    )


def _stream_facts(stream: GainStream) -> dict[str, Any]:
    return {
        "stream": stream.label,
        "n_experts": stream.n_experts,
        "n_rounds": stream.n_rounds,
        "first_period": dates(stream)[0],
        "last_period": dates(stream)[-1],
        "simulated": bool(stream.provenance.get("simulated", False)),
        "best_fixed": stream.names[stream.best_fixed_expert()],
        **bound_totals(stream),
        **{f"unmeasured_{name}": value for name, value in unmeasured_of(stream).items()},
    }


def dates(stream: GainStream) -> NDArray[np.datetime64]:
    """Return the (T,) periods; NaT where rounds have numbers only."""
    undated = stream.provenance.get("undated", False)
    return np.full_like(stream.periods, "NaT") if undated else stream.periods


def _bounds(stream: GainStream) -> dict[str, Floats]:
    """Return the (T,) gains of the three references, by label."""
    return {
        UNIFORM: stream.gains.mean(axis=1),
        BEST_FIXED: stream.gains[:, stream.best_fixed_expert()],
        ORACLE: stream.gains.max(axis=1),
    }


def bound_totals(stream: GainStream) -> dict[str, float]:
    """Return the total gain of each reference, by its column of the summary."""
    return {REFERENCE_TOTALS[label]: float(gains.sum()) for label, gains in _bounds(stream).items()}


def _setting(cell: Scores, facts: Facts) -> dict[str, Any]:
    return {
        "algorithm": cell.label,
        "family": cell.family,
        "noise": cell.noise,
        "level": facts.labels[cell.mu],
        "mu": cell.mu,
    }


def cumulative_curves(
    cells: Sequence[Scores], streams: Mapping[str, GainStream], main: Games, facts: Facts
) -> pd.DataFrame:
    """Compute the mean cumulative gain by round with half-widths, and for the three references.

    In each round the intervals of all cells that the report shows hold jointly, as in `summarize`.
    Columns: docs/reference/tables.md.
    """
    confidence, comparisons = main.report.confidence, count_comparisons(cells, main, facts)
    frames = []
    for stream in streams.values():
        for label, gains in _bounds(stream).items():
            bound: dict[str, Any] = {"algorithm": label, "family": label}
            bound |= {"noise": "none", "level": "", "mu": math.nan}
            frames.append(_curve(stream, bound, gains.cumsum(), 0.0))
    for cell in cells:
        half = half_width_of(cell.squares, len(cell.totals), confidence, comparisons)
        frames.append(_curve(streams[cell.stream], _setting(cell, facts), cell.mean, half))
    return pd.concat(frames, ignore_index=True)


def _curve(
    stream: GainStream, setting: Mapping[str, Any], mean: Floats, half: Floats | float
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "stream": stream.label,
            **setting,
            "round": np.arange(1, stream.n_rounds + 1, dtype=np.int32),
            "period": dates(stream).astype("datetime64[ms]"),
            "mean_cumulative_gain": mean,
            "ci_half_width": half,
        }
    )


# ---- what follows from the summary ---------------------------------------------------------------


def conclude(summary: pd.DataFrame) -> pd.DataFrame:
    """Add the columns that follow from the summary (docs/reference/tables.md).

    Shares of the possible gain are 0 for uniform random and 1 for the oracle, and empty where all
    experts have the same gain in every round. The cost of noise is the algorithm's total gain
    without noise minus its gain with it; it is empty where the algorithm was never played without
    noise, or gained nothing then.

    Args:
        summary: table of `summarize`.
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

    One row per rival, stream, noise and noisy level that the noise keeps, for this run and for the
    paper's table (`source`). If a rival has several algorithms, the best in hindsight counts.
    """
    paper = load_reported().assign(source="paper", noise=PAPER_NOISE, confidence=0.95)
    paper["family"] = paper["algorithm"]
    both = pd.concat([promised(summary).assign(source="run"), paper])
    key = ["source", "stream", "noise", "mu"]
    columns = [*key, "family", "algorithm", "confidence", "mean_gain", "ci_half_width"]
    columns += ["unmeasured_share"]
    both = both.loc[both["mu"] < math.inf, columns]
    both = both.fillna({"ci_half_width": 0.0})
    meta = both[both["algorithm"] == META].drop(columns="family")
    parts = []
    for rival, families in central_rivals().items():
        own = both[both["family"].isin(families)]
        own = own.drop(columns=["family", "confidence", "unmeasured_share"])
        best = own.sort_values("mean_gain", kind="stable").drop_duplicates(key, keep="last")
        rows = meta.join(best.set_index(key).add_prefix("other_"), on=key, how="inner")
        parts.append(rows.assign(rival=rival))
    rows = pd.concat(parts, ignore_index=True)
    mean, half = rows["mean_gain"], rows["ci_half_width"]
    other, other_half = rows["other_mean_gain"], rows["other_ci_half_width"]
    difference, reach = mean - other, half + other_half
    verdicts = map(verdict_on, difference, reach)
    depends = rows.pop("unmeasured_share") > MANY_UNMEASURED  # empty in the paper's table
    low, high = mean - half, mean + half
    least, most = (other - other_half).clip(lower=0.0), other + other_half
    return rows.assign(
        difference=difference,
        difference_half_width=reach,
        verdict=[
            at_this_reading(verdict) if reads else verdict
            for verdict, reads in zip(verdicts, depends, strict=True)
        ],
        ratio=mean / other,
        # A negative end is the further from 0, the smaller its divisor.
        ratio_lower=low / most.where(low >= 0, least),
        ratio_upper=high / least.where(high >= 0, most),
    )
