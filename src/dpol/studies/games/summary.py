"""The summary: one row per cell from the rounds of all runs, and the curves of the figure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.intervals import half_width
from dpol.core.randomness import Floats
from dpol.data.stream import GainStream
from dpol.studies.games.bounds import TOTALS
from dpol.studies.games.runs import Played, RunBlock, joined
from dpol.studies.games.settings import BEST_STATIC, CHANCE, FORESIGHT, Games, Report
from dpol.studies.study import Facts


def collect_cells(blocks: Iterable[RunBlock]) -> list[Played]:
    """Join the blocks of every cell of the table, replicates in increasing order.

    Raises:
        ValueError: a replicate is missing or comes twice.
    """
    parts: dict[tuple[str, str, float, str], list[tuple[tuple[int, ...], Played]]] = {}
    for block in blocks:
        for it in block.played:
            key = (it.stream, it.noise, it.mu, it.label)
            parts.setdefault(key, []).append((block.replicates, it))
    cells = []
    for (stream, _, mu, label), found in parts.items():
        found.sort(key=lambda part: part[0])
        numbers = [number for replicates, _ in found for number in replicates]
        if numbers != list(range(len(numbers))):
            raise ValueError(
                f"{stream}, {label}, mu {mu}: replicates {numbers} are not 0, 1, 2, ..."
            )
        cells.append(joined([played for _, played in found]))
    return cells


def count_comparisons(cells: Sequence[Played], report: Report) -> int:
    """Cells that the table shows or chooses from: the m of the Bonferroni correction.

    Every member of the envelope family counts, because the best of them is shown.
    """
    return sum(cell.label in report.algorithms or cell.family == report.envelope for cell in cells)


def summarize(
    cells: Sequence[Played], streams: Mapping[str, GainStream], main: Games, facts: Facts
) -> pd.DataFrame:
    """One row per stream, algorithm, noise and mu (the columns: docs/reference/tables.md).

    Args:
        cells: all runs.
        streams: the streams they were played on, by label.
        main: what the report shows: its intervals hold together.
        facts: the privacy levels, and the delta at which epsilon is reported.
    """
    confidence, comparisons = main.report.confidence, count_comparisons(cells, main.report)
    rows = []
    for cell in cells:
        totals, mixture = cell.totals, cell.amplification
        rows.append(
            {
                **_stream_facts(streams[cell.stream]),
                **_setting(cell, facts),
                "replicates": len(totals),
                "mean_gain": float(totals.mean()),
                "ci_half_width": float(half_width(totals, confidence, comparisons)),
                "std_gain": float(totals.std(ddof=1)) if len(totals) > 1 else math.nan,
                "unmoved": cell.unmoved,
                "ours": cell.ours,
                **cell.guarantee.as_columns(),
                **cell.guarantee.stay_columns(),
                "epsilon": cell.guarantee.epsilon(facts.delta),
                "amplified_epsilon": mixture.epsilon(facts.delta) if mixture else math.nan,
            }
        )
    frame = pd.DataFrame(rows)
    regret = frame["best_static_gain"] - frame["mean_gain"]
    together = {"confidence": confidence, "ci_comparisons": comparisons}
    return frame.assign(delta=facts.delta, static_regret=regret, **together)


def totals_of(cells: Sequence[Played], facts: Facts) -> pd.DataFrame:
    """One row per cell and replicate: its total gain (the columns: docs/reference/tables.md)."""
    frames = [
        pd.DataFrame(
            {
                "stream": cell.stream,
                **_setting(cell, facts),
                "replicate": np.arange(len(cell.totals), dtype=np.int32),
                "total_gain": cell.totals,
            }
        ).drop(columns="family")
        for cell in cells
    ]
    return pd.concat(frames, ignore_index=True)


def _stream_facts(stream: GainStream) -> dict[str, Any]:
    return {
        "stream": stream.label,
        "n_experts": stream.n_experts,
        "n_rounds": stream.n_rounds,
        "first_period": dates(stream)[0],
        "last_period": dates(stream)[-1],
        "simulated": bool(stream.provenance.get("simulated", False)),
        **bound_totals(stream),
    }


def dates(stream: GainStream) -> NDArray[np.datetime64]:
    """The (T,) periods; NaT where rounds have numbers only."""
    undated = stream.provenance.get("undated", False)
    return np.full_like(stream.periods, "NaT") if undated else stream.periods


def _bounds(stream: GainStream) -> dict[str, Floats]:
    """(T,) gains of who learns nothing, knows the best expert, and knows that of every round."""
    return {
        CHANCE: stream.gains.mean(axis=1),
        BEST_STATIC: stream.gains[:, stream.best_static_expert()],
        FORESIGHT: stream.gains.max(axis=1),
    }


def bound_totals(stream: GainStream) -> dict[str, float]:
    """The total gain of each bound, by its column of the summary."""
    return {TOTALS[label]: float(gains.sum()) for label, gains in _bounds(stream).items()}


def _setting(cell: Played, facts: Facts) -> dict[str, Any]:
    """Suite that was played, and its noise."""
    return {
        "algorithm": cell.label,
        "family": cell.family,
        "noise": cell.noise,
        "level": facts.labels[cell.mu],
        "mu": cell.mu,
    }


def cumulative_curves(
    cells: Sequence[Played], streams: Mapping[str, GainStream], main: Games, facts: Facts
) -> pd.DataFrame:
    """Mean cumulative gain by round, with half-widths; chance, best static expert, foresight.

    In each round the intervals hold for all cells that the report shows together, as in
    `summarize`. The columns: docs/reference/tables.md.
    """
    confidence, comparisons = main.report.confidence, count_comparisons(cells, main.report)
    frames = []
    for stream in streams.values():
        for label, gains in _bounds(stream).items():
            bound: dict[str, Any] = {"algorithm": label, "family": label}
            bound |= {"noise": "none", "level": "", "mu": math.nan}
            frames.append(_curve(stream, bound, gains.cumsum(), 0.0))
    for cell in cells:
        running = cell.gains.cumsum(axis=1)
        half = half_width(running, confidence, comparisons)
        curve = _curve(streams[cell.stream], _setting(cell, facts), running.mean(axis=0), half)
        frames.append(curve)
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
