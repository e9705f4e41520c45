"""Where a private system loses: to noise, in its learners, or by how it selects among them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from dpol.studies.hospitals import write_tables
from dpol.studies.hospitals.comparison import (
    HalfWidth,
    by_stream,
    compare,
    count_replicates,
    family_cells,
    find_cell,
    half_widths,
    totals_of,
)
from dpol.studies.hospitals.runs import read_runs
from dpol.studies.hospitals.settings import Comparison, System
from dpol.studies.hospitals.summary import Cell, collect_cells

TERMS = ("noise_loss", "learner_loss", "selection_loss", "total_loss", "own_noise_loss")
"""The losses; the first three add up to `total_loss`."""


def write_comparison(runs: Iterable[Path | str], params: Any, files: Mapping[str, str]) -> None:
    """Compare the paper's way with ours: `comparison` and `ablation`.

    Args:
        runs: files of all runs.
        params: plain values of the config: comparison, levels and confidence.
        files: where the result tables are written, by name.

    Raises:
        DataError: a file is not whole, or a table is not what its schema says.
        ValueError: a system was not run.
    """
    systems = Comparison.model_validate(params.comparison)
    cells = collect_cells(map(read_runs, runs))
    together: dict[str, Any] = {"levels": params.levels, "confidence": params.confidence}
    found = {
        "comparison": compare(cells, systems, **together),
        "ablation": ablate(cells, systems, **together),
    }
    write_tables(found, files)


def ablate(
    cells: Sequence[Cell], comparison: Comparison, *, levels: Mapping[str, float], confidence: float
) -> pd.DataFrame:
    """Loss of each system against the best of the paper's learners without noise, in parts.

    "Best" is the largest mean of a family in hindsight, by stream, mu and noise. `noise_loss`
    is what the best of the paper's learners loses to the system's noise; `learner_loss` what the
    best of the system's learners (the oracle selector) loses to it under the same noise;
    `selection_loss` what the system loses to the oracle; `total_loss` is their sum. A negative
    loss is a gain. `own_noise_loss` is what the system itself loses to the noise.

    The oracle is chosen on the runs that it is scored on, so its mean is biased upwards:
    `selection_loss` is rather too large, and `noise_loss` too small.

    Args:
        cells: all runs.
        comparison: which systems, and their learners.
        levels: privacy levels by label; one of them infinite.
        confidence: of all intervals of the table together.

    Raises:
        ValueError: a system or family was not run, or runs have different numbers of
            replicates.
    """
    systems = list(dict.fromkeys((comparison.paper, *comparison.ablations, comparison.ours)))
    streams = by_stream(cells)
    comparisons = len(TERMS) * len(streams) * len(levels) * len(systems)
    replicates, half = count_replicates(cells), half_widths(confidence, comparisons)
    rows = [
        {
            "stream": own[0].stream,
            "level": label,
            "mu": mu,
            **_split(own, system, comparison.paper, mu, half),
            "replicates": replicates,
            "confidence": confidence,
            "ci_comparisons": comparisons,
        }
        for own in streams
        for label, mu in levels.items()
        for system in systems
    ]
    return pd.DataFrame(rows)


def _split(
    cells: Sequence[Cell], system: System, paper: System, mu: float, half: HalfWidth
) -> dict[str, Any]:
    """A row: the losses of one system on one stream at one level."""
    own = find_cell(cells, system, mu)
    best = {
        "reference": _best(cells, paper.learners, paper.noise, math.inf),
        "noisy_reference": _best(cells, paper.learners, system.noise, mu),
        "oracle": _best(cells, system.learners, system.noise, mu),
    }
    gains = {name: totals_of(cell) for name, cell in best.items()}
    gain, without = totals_of(own), totals_of(find_cell(cells, system, math.inf))
    losses = {
        "noise_loss": gains["reference"] - gains["noisy_reference"],
        "learner_loss": gains["noisy_reference"] - gains["oracle"],
        "selection_loss": gains["oracle"] - gain,
        "total_loss": gains["reference"] - gain,
        "own_noise_loss": without - gain,
    }
    row: dict[str, Any] = {
        "algorithm": system.algorithm,
        "noise": system.noise,
        "learners": system.learners,
        "mean_gain": float(gain.mean()),
    }
    for name, cell in best.items():
        row |= {name: cell.played.label, f"{name}_gain": float(gains[name].mean())}
    for name in TERMS:
        row[name] = float(losses[name].mean())
        row[f"{name}_half_width"] = half(losses[name])
    return {**row, **own.played.guarantee.as_columns()}


def _best(cells: Sequence[Cell], family: str, noise: str, mu: float) -> Cell:
    """The member with the largest mean; of equal ones the first by label."""
    members = family_cells(cells, family, noise, mu)
    return min(members, key=lambda cell: (-float(totals_of(cell).mean()), cell.played.label))
