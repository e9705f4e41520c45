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

from dpol.core.intervals import half_width
from dpol.core.randomness import Floats
from dpol.studies.comparison.cells import (
    Cell,
    by_stream,
    count_replicates,
    family_cells,
    find_cell,
)
from dpol.studies.comparison.settings import Comparison
from dpol.studies.games.verdicts import verdict_of_aim, verdict_on

_Pair = tuple[str, str, Cell, Cell]
"""Kind of the row (`kind` in docs/reference/tables.md), name of the rival, ours, and the other."""


def compare(
    cells: Sequence[Cell], comparison: Comparison, levels: Mapping[str, float], confidence: float
) -> pd.DataFrame:
    """Compare ours with every other noisy row at each level, and judge the aims.

    One row per stream and pair (docs/reference/tables.md). The intervals of all differences and
    means hold jointly.

    Args:
        cells: all runs.
        comparison: the systems and the aims.
        levels: mu of each privacy level, by label.
        confidence: joint confidence of all intervals.

    Raises:
        ValueError: a system was not run, or the numbers of replicates differ.
    """
    streams = by_stream(cells).values()
    pairs = [pair for own in streams for pair in _pairs(own, comparison, levels)]
    comparisons = len(pairs) + len({id(cell) for _, _, *both in pairs for cell in both})
    replicates, half = count_replicates(cells), half_widths(confidence, comparisons)
    families = (comparison.baseline.learners, comparison.ours.learners)
    rows = [
        {
            "stream": ours.stream,
            "kind": kind,
            "rival": rival,
            **_side("", ours, half),
            **_side("other_", other, half),
            "other_ours": other.ours,
            "other_learner": other.family in families,
            "common_noise": _shares_noise(ours, other),
            **_difference(ours, other, half),
        }
        for kind, rival, ours, other in pairs
    ]
    frame = pd.DataFrame(rows).assign(
        replicates=replicates, confidence=confidence, ci_comparisons=comparisons
    )
    aims = frame.groupby(["stream", "kind", "rival", "mu", "other_mu"])["verdict"]
    verdicts = aims.transform(lambda own: verdict_of_aim(own.tolist()))
    return frame.assign(aim_verdict=verdicts.where(frame["kind"].str.startswith("aim"), ""))


def _pairs(cells: Sequence[Cell], of: Comparison, levels: Mapping[str, float]) -> Iterator[_Pair]:
    for mu in levels.values():
        ours = find_cell(cells, of.ours, mu)
        named = [*_named(cells, of, mu)]
        for rival, cell in named:
            yield "rival" if rival else "baseline", rival, ours, cell
        known = [id(cell) for cell in (ours, *(cell for _, cell in named))]
        for cell in cells:
            noisy = cell.mu == mu and cell.privacy["model"] != "none"
            if noisy and id(cell) not in known:
                yield "other", "", ours, cell
    for aim in of.aims:
        ours, mu = find_cell(cells, of.ours, levels[aim.ours]), levels[aim.at]
        if aim.against == "baseline":
            for rival, cell in _named(cells, of, mu):
                yield "aim-rival" if rival else "aim-baseline", rival, ours, cell
            continue
        # A row for each learner: choosing the best of them then costs no confidence.
        systems = of.ours, *of.ablations, of.baseline
        for family, noise in {system.learners: system.noise for system in systems}.items():
            for cell in family_cells(cells, family, noise, mu):
                yield "aim-learner", "", ours, cell


def _named(cells: Sequence[Cell], of: Comparison, mu: float) -> Iterator[tuple[str, Cell]]:
    """Yield the rivals' systems with their names, and the baseline, without a name."""
    yield "", find_cell(cells, of.baseline, mu)
    for rival in of.rivals:
        for system in rival.systems:
            yield rival.name, find_cell(cells, system, mu)


HalfWidth = Callable[[Floats], float]
"""Half-width of the interval for the mean of (R,) values."""


def half_widths(confidence: float, comparisons: int) -> HalfWidth:
    """Return the half-width function of a table whose intervals hold jointly."""
    return lambda values: float(half_width(values, confidence, comparisons))


def _side(prefix: str, cell: Cell, half: HalfWidth) -> dict[str, Any]:
    """Return one side of a pair: its setting, its mean, and its privacy record."""
    facts = {
        "algorithm": cell.algorithm,
        "noise": cell.noise,
        "level": cell.level,
        "mu": cell.mu,
        "mean_gain": float(cell.totals.mean()),
        "ci_half_width": half(cell.totals),
        **cell.privacy,
    }
    return {f"{prefix}{name}": value for name, value in facts.items()}


def _shares_noise(one: Cell, two: Cell) -> bool:
    """Tell whether two cells share their noise: it is drawn once per stream, noise and mu."""
    local = all(cell.privacy["model"] == "local" for cell in (one, two))
    same = (one.noise, one.mu) == (two.noise, two.mu)
    return same and local and one.mu < math.inf


def _difference(ours: Cell, other: Cell, half: HalfWidth) -> dict[str, Any]:
    differences = ours.totals - other.totals
    mean, width = float(differences.mean()), half(differences)
    return {"difference": mean, "difference_half_width": width, "verdict": verdict_on(mean, width)}
