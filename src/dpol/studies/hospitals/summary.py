"""From the rounds of all runs to one row per cell, and to the curves of the figure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.intervals import half_width
from dpol.core.randomness import Floats
from dpol.data.stream import GainStream
from dpol.noise import is_ours
from dpol.studies.hospitals.runs import Played, RunBlock, joined
from dpol.studies.hospitals.settings import BEST_STATIC


@dataclass(frozen=True)
class Cell:
    """All replicates of one algorithm on one stream at one privacy level."""

    stream: str
    noise: str
    mu: float
    played: Played

    @property
    def gains(self) -> Floats:
        """Raw gains of the actions, (R, T)."""
        return self.played.gains

    @property
    def ours(self) -> bool:
        """Whether the algorithm or its noise is not in the papers."""
        return self.played.origin == "ours" or is_ours(self.noise)


def collect_cells(blocks: Iterable[RunBlock]) -> list[Cell]:
    """Join the blocks of every cell, replicates in increasing order.

    Raises:
        ValueError: a replicate is missing or comes twice.
    """
    parts: dict[tuple[str, str, float, str], list[tuple[RunBlock, Played]]] = {}
    for block in blocks:
        for played in block.played:
            key = (block.stream, block.noise, block.mu, played.label)
            parts.setdefault(key, []).append((block, played))
    cells = []
    for (stream, noise, mu, label), found in parts.items():
        found.sort(key=lambda part: part[0].replicates)
        numbers = [r for block, _ in found for r in block.replicates]
        if numbers != list(range(len(numbers))):
            raise ValueError(
                f"{stream}, {label}, mu {mu}: replicates {numbers} are not 0, 1, 2, ..."
            )
        cells.append(Cell(stream, noise, mu, joined([played for _, played in found])))
    return cells


def count_comparisons(cells: Sequence[Cell], algorithms: Sequence[str], envelope: str) -> int:
    """Cells that the table shows or chooses from: the m of the Bonferroni correction.

    Every member of the envelope family counts, because the best of them is shown.
    """
    return sum(cell.played.label in algorithms or cell.played.family == envelope for cell in cells)


def summarize(
    cells: Sequence[Cell],
    streams: Mapping[str, GainStream],
    *,
    levels: Mapping[str, float],
    delta: float,
    confidence: float,
    comparisons: int,
) -> pd.DataFrame:
    """One row per stream, algorithm, noise and mu (the columns: docs/reference/tables.md).

    Args:
        cells: all runs.
        streams: the streams they were played on, by label.
        levels: privacy levels by label.
        delta: where epsilon is reported.
        confidence: of all intervals together.
        comparisons: how many cells the intervals hold for together.
    """
    names = {mu: label for label, mu in levels.items()}
    rows = [
        {
            **_stream_facts(streams[cell.stream]),
            **_setting(cell, names),
            **_score(cell.gains, streams[cell.stream], confidence, comparisons),
            "confidence": confidence,
            "ci_comparisons": comparisons,
            "ours": cell.ours,
            **_privacy_facts(cell.played, delta),
        }
        for cell in cells
    ]
    return pd.DataFrame(rows)


def _stream_facts(stream: GainStream) -> dict[str, Any]:
    return {
        "stream": stream.label,
        "n_experts": stream.n_experts,
        "n_rounds": stream.n_rounds,
        "first_period": _dates(stream)[0],
        "last_period": _dates(stream)[-1],
        "simulated": bool(stream.provenance.get("simulated", False)),
        "best_static_gain": _best_static_gain(stream),
    }


def _dates(stream: GainStream) -> NDArray[np.datetime64]:
    """(T,) periods; NaT where rounds have numbers only."""
    undated = stream.provenance.get("undated", False)
    return np.full_like(stream.periods, "NaT") if undated else stream.periods


def _best_static_gain(stream: GainStream) -> float:
    return float(stream.gains[:, stream.best_static_expert()].sum())


def _score(
    gains: Floats, stream: GainStream, confidence: float, comparisons: int
) -> dict[str, Any]:
    totals = gains.sum(axis=1)
    mean = float(totals.mean())
    return {
        "replicates": len(totals),
        "mean_gain": mean,
        "ci_half_width": float(half_width(totals, confidence, comparisons)),
        "std_gain": float(totals.std(ddof=1)) if len(totals) > 1 else math.nan,
        "static_regret": _best_static_gain(stream) - mean,
    }


def _privacy_facts(played: Played, delta: float) -> dict[str, Any]:
    guarantee, amplification = played.guarantee, played.amplification
    return {
        **guarantee.as_columns(),
        "epsilon": guarantee.epsilon(delta),
        "delta": delta,
        "amplified_epsilon": amplification.epsilon(delta) if amplification else math.nan,
    }


def cumulative_curves(
    cells: Sequence[Cell],
    streams: Mapping[str, GainStream],
    *,
    levels: Mapping[str, float],
    confidence: float,
    comparisons: int,
) -> pd.DataFrame:
    """Mean cumulative gain by round, with half-widths, and that of the best static expert.

    In each round the intervals hold for all `comparisons` cells together, as in `summarize`.
    The columns: docs/reference/tables.md.
    """
    names = {mu: label for label, mu in levels.items()}
    best: dict[str, Any] = dict.fromkeys(("algorithm", "family"), BEST_STATIC)
    best |= {"noise": "none", "level": "", "mu": math.nan}
    frames = [
        _curve(it, best, it.gains[:, it.best_static_expert()].cumsum(), 0.0)
        for it in streams.values()
    ]
    for cell in cells:
        running = cell.gains.cumsum(axis=1)
        half = half_width(running, confidence, comparisons)
        stream = streams[cell.stream]
        frames.append(_curve(stream, _setting(cell, names), running.mean(axis=0), half))
    return pd.concat(frames, ignore_index=True)


def _setting(cell: Cell, names: Mapping[float, str]) -> dict[str, Any]:
    """What was played, and under which noise."""
    return {
        "algorithm": cell.played.label,
        "family": cell.played.family,
        "noise": cell.noise,
        "level": names[cell.mu],
        "mu": cell.mu,
    }


def _curve(
    stream: GainStream, setting: Mapping[str, Any], mean: Floats, half: Floats | float
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "stream": stream.label,
            **setting,
            "round": np.arange(1, stream.n_rounds + 1, dtype=np.int32),
            "period": _dates(stream).astype("datetime64[ms]"),
            "mean_cumulative_gain": mean,
            "ci_half_width": half,
        }
    )
