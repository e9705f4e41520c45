"""The baseline compared with ours and every other private row, replicate by replicate.

Intervals are Student's, from the differences of the replicates' total gains, and hold for a
whole table at once (Bonferroni). Replicate r of two runs has the same noise only if stream,
noise and mu are the same; the generators are otherwise independent, and pairing then
neither helps nor harms.
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

_Pair = tuple[str, Cell, Cell]
"""Kind of the row (`kind` in docs/reference/tables.md), ours, and the other."""


def compare(
    cells: Sequence[Cell], comparison: Comparison, levels: Mapping[str, float], confidence: float
) -> pd.DataFrame:
    """Ours against every other row that has noise, level by level, and the aims.

    One row per stream and pair (docs/reference/tables.md). All intervals of the table hold
    together: those of the differences and those of the means.

    Args:
        cells: all runs.
        comparison: which systems, and the aims.
        levels: mu of each privacy level, by label.
        confidence: of all intervals together.

    Raises:
        ValueError: a system was not run, or runs have different numbers of replicates.
    """
    streams = by_stream(cells).values()
    pairs = [pair for own in streams for pair in _pairs(own, comparison, levels)]
    comparisons = len(pairs) + len({id(cell) for _, *both in pairs for cell in both})
    replicates, half = count_replicates(cells), half_widths(confidence, comparisons)
    families = (comparison.baseline.learners, comparison.ours.learners)
    rows = [
        {
            "stream": ours.stream,
            "kind": kind,
            **_side("", ours, half),
            **_side("other_", other, half),
            "other_ours": other.ours,
            "other_learner": other.family in families,
            "common_noise": _shares_noise(ours, other),
            **_difference(ours, other, half),
        }
        for kind, ours, other in pairs
    ]
    frame = pd.DataFrame(rows).assign(
        replicates=replicates, confidence=confidence, ci_comparisons=comparisons
    )
    aims = frame.groupby(["stream", "kind", "mu", "other_mu"])["verdict"]
    verdicts = aims.transform(lambda own: verdict_of_aim(own.tolist()))
    return frame.assign(aim_verdict=verdicts.where(frame["kind"].str.startswith("aim"), ""))


def _pairs(cells: Sequence[Cell], of: Comparison, levels: Mapping[str, float]) -> Iterator[_Pair]:
    """All pairs of one stream."""
    for mu in levels.values():
        ours, paper = (find_cell(cells, system, mu) for system in (of.ours, of.baseline))
        tuned = [find_cell(cells, system, mu) for system in of.tuned]
        yield "baseline", ours, paper
        for cell in tuned:
            yield "tuned", ours, cell
        named = [id(cell) for cell in (ours, paper, *tuned)]
        for cell in cells:
            noisy = cell.mu == mu and cell.privacy["model"] != "none"
            if noisy and id(cell) not in named:
                yield "other", ours, cell
    for aim in of.aims:
        ours, mu = find_cell(cells, of.ours, levels[aim.ours]), levels[aim.at]
        if aim.against == "baseline":
            yield "aim-baseline", ours, find_cell(cells, of.baseline, mu)
            for system in of.tuned:
                yield "aim-tuned", ours, find_cell(cells, system, mu)
            continue
        # Each learner has a row, so that choosing the best of them costs no confidence.
        systems = of.ours, *of.ablations, of.baseline
        for family, noise in {it.learners: it.noise for it in systems}.items():
            for cell in family_cells(cells, family, noise, mu):
                yield "aim-learner", ours, cell


HalfWidth = Callable[[Floats], float]
"""The half-width of the interval for the mean of (R,) values."""


def half_widths(confidence: float, comparisons: int) -> HalfWidth:
    """The half-widths of a table whose intervals hold together."""
    return lambda values: float(half_width(values, confidence, comparisons))


def _side(prefix: str, cell: Cell, half: HalfWidth) -> dict[str, Any]:
    """One side of a pair: what it is, its mean, and the record of its privacy."""
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
    """Local noise is drawn once for a stream, a noise and a mu."""
    local = all(it.privacy["model"] == "local" for it in (one, two))
    same = (one.noise, one.mu) == (two.noise, two.mu)
    return same and local and one.mu < math.inf


def _difference(ours: Cell, other: Cell, half: HalfWidth) -> dict[str, Any]:
    differences = ours.totals - other.totals
    mean, width = float(differences.mean()), half(differences)
    return {"difference": mean, "difference_half_width": width, "verdict": verdict_on(mean, width)}
