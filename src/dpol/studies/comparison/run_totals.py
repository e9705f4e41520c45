"""Runs to compare: total gains by replicate, with their rows of the summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dpol.core.randomness import Floats
from dpol.core.schemas import shared_columns
from dpol.studies.comparison.settings import System
from dpol.studies.games.summary import CELL


@dataclass(frozen=True, kw_only=True)
class RunTotals:
    """Runs of one algorithm on one stream, with one noise at one privacy level.

    Args:
        stream: label of the stream.
        algorithm: label of the algorithm.
        noise: scaling of the noise.
        level: label of the privacy level.
        mu: requested privacy level.
        ours: whether the algorithm or the noise is ours, not the papers'.
        keeps_level: whether its guarantee is as strong as the level.
        privacy: columns `guarantee` of the summary.
        totals: (R,) total gain of each replicate.
    """

    stream: str
    algorithm: str
    noise: str
    level: str
    mu: float
    ours: bool
    keeps_level: bool
    privacy: Mapping[str, Any]
    totals: Floats


def run_totals(summary: pd.DataFrame, totals: pd.DataFrame) -> list[RunTotals]:
    """Return the runs of the tables `summary` and `totals`, in the order of the summary."""
    by_run = {
        key: own.sort_values("replicate")["total_gain"].to_numpy()
        for key, own in totals.groupby(CELL, sort=False, observed=True)
    }
    facts = ("stream", "algorithm", "noise", "level", "mu", "ours", "keeps_level")
    return [
        RunTotals(
            **{name: row[name] for name in facts},
            privacy={name: row[name] for name in shared_columns()["guarantee"]},
            totals=by_run[tuple(row[name] for name in CELL)],
        )
        for row in summary.to_dict("records")
    ]


def by_stream(runs: Sequence[RunTotals]) -> dict[str, list[RunTotals]]:
    """Group the runs by stream."""
    streams: dict[str, list[RunTotals]] = {}
    for run in runs:
        streams.setdefault(run.stream, []).append(run)
    return streams


def count_replicates(runs: Sequence[RunTotals]) -> int:
    """Return the number of replicates of every run. Raises ValueError if they differ."""
    counts = {len(run.totals) for run in runs}
    if len(counts) != 1:
        raise ValueError(
            f"runs have {', '.join(map(str, sorted(counts))) or 'no'} replicates; to be paired,"
            " all need the same number"
        )
    return counts.pop()


def find_run(runs: Sequence[RunTotals], system: System, mu: float) -> RunTotals:
    """Find a system among the runs of one stream.

    Raises:
        ValueError: there are none, or their guarantee is weaker than the level.
    """
    for run in runs:
        setting = (run.algorithm, run.noise, run.mu)
        if setting == (system.algorithm, system.noise, mu):
            if not run.keeps_level:
                raise ValueError(
                    f"{run.algorithm} with {run.noise} noise guarantees mu"
                    f" {run.privacy['guaranteed_mu']:g} at the level {mu:g}, so it is not at equal"
                    " privacy; leave it out of the comparison, or repair the noise"
                    " (dpol check)"
                )
            return run
    raise ValueError(
        f"no runs of {system.algorithm} with {system.noise} noise at mu {mu:g}; run them"
    )
