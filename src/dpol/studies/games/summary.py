"""Summary and curves: one row per cell from the scores of all games, and cumulative gains."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.intervals import half_width, half_width_of
from dpol.core.randomness import Floats
from dpol.core.schemas import Schema, read_schemas
from dpol.data.stream import GainStream
from dpol.studies.games.scores import Scores
from dpol.studies.games.settings import (
    BEST_FIXED,
    ORACLE,
    PAPER_NOISE,
    UNIFORM,
    Games,
    papers_labels,
    plays_the_papers,
)
from dpol.studies.games.systems import REFERENCE_TOTALS
from dpol.studies.study import Facts


def schema(name: str) -> Schema:
    """Return the schema of a result table of the main study."""
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
