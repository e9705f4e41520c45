"""Runs to compare: total gains by replicate, with their rows of the summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dpol.core.randomness import Floats
from dpol.core.schemas import shared_columns
from dpol.studies.comparison.settings import System

_KEY = ["stream", "algorithm", "noise", "mu"]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Runs of one algorithm on one stream, with one noise at one privacy level.

    Args:
        stream: label of the stream.
        algorithm: label of the algorithm.
        family: registered name of the algorithm.
        noise: scaling of the noise.
        level: label of the privacy level.
        mu: requested privacy level.
        ours: whether the algorithm or the noise is ours, not the papers'.
        privacy: columns `guarantee` of the summary.
        totals: (R,) total gain of each replicate.
    """

    stream: str
    algorithm: str
    family: str
    noise: str
    level: str
    mu: float
    ours: bool
    privacy: Mapping[str, Any]
    totals: Floats


def cells_of(summary: pd.DataFrame, totals: pd.DataFrame) -> list[Cell]:
    """Return the cells of the tables `summary` and `totals`, in the order of the summary."""
    of_cell = {
        key: own.sort_values("replicate")["total_gain"].to_numpy()
        for key, own in totals.groupby(_KEY, sort=False, observed=True)
    }
    facts = ("stream", "algorithm", "family", "noise", "level", "mu", "ours")
    return [
        Cell(
            **{name: row[name] for name in facts},
            privacy={name: row[name] for name in shared_columns()["guarantee"]},
            totals=of_cell[tuple(row[name] for name in _KEY)],
        )
        for row in summary.to_dict("records")
    ]


def by_stream(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """Group the cells by stream."""
    streams: dict[str, list[Cell]] = {}
    for cell in cells:
        streams.setdefault(cell.stream, []).append(cell)
    return streams


def count_replicates(cells: Sequence[Cell]) -> int:
    """Return the number of replicates of every cell. Raises ValueError if they differ."""
    counts = {len(cell.totals) for cell in cells}
    if len(counts) != 1:
        raise ValueError(
            f"runs have {', '.join(map(str, sorted(counts))) or 'no'} replicates; to be paired,"
            " all need the same number"
        )
    return counts.pop()


def find_cell(cells: Sequence[Cell], system: System, mu: float) -> Cell:
    """Find a system's runs in the cells of one stream. Raises ValueError if there are none."""
    for cell in cells:
        setting = (cell.algorithm, cell.noise, cell.mu)
        if setting == (system.algorithm, system.noise, mu):
            return cell
    raise ValueError(
        f"no runs of {system.algorithm} with {system.noise} noise at mu {mu:g}; run them"
    )


def family_cells(cells: Sequence[Cell], family: str, noise: str, mu: float) -> list[Cell]:
    """Find a family's runs in the cells of one stream. Raises ValueError if there are none."""
    members = [cell for cell in cells if (cell.family, cell.noise, cell.mu) == (family, noise, mu)]
    if not members:
        raise ValueError(f"no runs of family {family} with {noise} noise at mu {mu:g}")
    return members
