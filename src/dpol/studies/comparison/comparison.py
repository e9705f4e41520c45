"""Compare ours with the baseline and every other private row, replicate by replicate.

Student intervals of the replicates' differences in total gain hold jointly for a whole table
(Bonferroni). Replicate r of two runs shares its noise only if stream, noise and mu are the same.
Otherwise the generators are independent, and pairing neither helps nor harms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from dpol.core.intervals import half_width, verdict_on
from dpol.core.randomness import Floats
from dpol.studies.comparison.run_totals import (
    RunTotals,
    by_stream,
    count_replicates,
    find_run,
)
from dpol.studies.comparison.settings import Comparison

_Pair = tuple[str, str, RunTotals, RunTotals]
"""Kind of the row (`kind` in docs/reference/tables.md), name of the rival, ours, and the other."""


def compare(
    runs: Sequence[RunTotals],
    comparison: Comparison,
    levels: Mapping[str, float],
    confidence: float,
) -> pd.DataFrame:
    """Compare ours with every other noisy row at each level.

    One row per stream and pair (docs/reference/tables.md). The intervals of all differences and
    means hold jointly.

    Args:
        runs: all runs.
        comparison: the systems.
        levels: mu of each privacy level, by label.
        confidence: joint confidence of all intervals.

    Raises:
        ValueError: a system was not run, or the numbers of replicates differ.
    """
    streams = by_stream(runs).values()
    pairs = [pair for own in streams for pair in _pairs(own, comparison, levels)]
    comparisons = len(pairs) + len({id(run) for _, _, *both in pairs for run in both})
    replicates, half = count_replicates(runs), half_widths(confidence, comparisons)
    rows = [
        {
            "stream": ours.stream,
            "kind": kind,
            "rival": rival,
            **_side("", ours, half),
            **_side("other_", other, half),
            "other_ours": other.ours,
            "common_noise": _shares_noise(ours, other),
            **_difference(ours, other, half),
        }
        for kind, rival, ours, other in pairs
    ]
    return pd.DataFrame(rows).assign(
        replicates=replicates, confidence=confidence, ci_comparisons=comparisons
    )


def _pairs(
    runs: Sequence[RunTotals], of: Comparison, levels: Mapping[str, float]
) -> Iterator[_Pair]:
    for mu in levels.values():
        ours = find_run(runs, of.ours, mu)
        named = [*_named(runs, of, mu)]
        for rival, run in named:
            yield "rival" if rival else "baseline", rival, ours, run
        known = [id(run) for run in (ours, *(run for _, run in named))]
        for run in runs:
            noisy = run.mu == mu and run.privacy["model"] != "none"
            if noisy and id(run) not in known:
                yield "other", "", ours, run


def _named(runs: Sequence[RunTotals], of: Comparison, mu: float) -> Iterator[tuple[str, RunTotals]]:
    """Yield the rivals' systems with their names, and the baseline, without a name."""
    yield "", find_run(runs, of.baseline, mu)
    for rival in of.rivals:
        for system in rival.systems:
            yield rival.name, find_run(runs, system, mu)


HalfWidth = Callable[[Floats], float]
"""Half-width of the interval for the mean of (R,) values."""


def half_widths(confidence: float, comparisons: int) -> HalfWidth:
    """Return the half-width function of a table whose intervals hold jointly."""
    return lambda values: float(half_width(values, confidence, comparisons))


def _side(prefix: str, run: RunTotals, half: HalfWidth) -> dict[str, Any]:
    """Return one side of a pair: its setting, its mean, and its privacy record."""
    facts = {
        "algorithm": run.algorithm,
        "noise": run.noise,
        "level": run.level,
        "mu": run.mu,
        "mean_gain": float(run.totals.mean()),
        "ci_half_width": half(run.totals),
        **run.privacy,
    }
    return {f"{prefix}{name}": value for name, value in facts.items()}


def _shares_noise(one: RunTotals, two: RunTotals) -> bool:
    """Tell whether two runs share their noise: it is drawn once per stream, noise and mu."""
    local = all(run.privacy["model"] == "local" for run in (one, two))
    same = (one.noise, one.mu) == (two.noise, two.mu)
    return same and local and one.mu < math.inf


def _difference(ours: RunTotals, other: RunTotals, half: HalfWidth) -> dict[str, Any]:
    differences = ours.totals - other.totals
    mean, width = float(differences.mean()), half(differences)
    return {"difference": mean, "difference_half_width": width, "verdict": verdict_on(mean, width)}
