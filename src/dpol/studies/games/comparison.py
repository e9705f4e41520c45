"""The paper's way compared with ours and every other private row, replicate by replicate.

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
from dpol.studies.games.runs import Played
from dpol.studies.games.settings import CEILING, Comparison, Games, System
from dpol.studies.games.verdicts import verdict_of_aim, verdict_on

_Pair = tuple[str, Played, Played]
"""Kind of the row (`kind` in docs/reference/tables.md), ours, and the other."""


def compare(cells: Sequence[Played], comparison: Comparison, main: Games) -> pd.DataFrame:
    """Ours against every other row that has noise, level by level, and the aims.

    One row per stream and pair (docs/reference/tables.md). All intervals of the table hold
    together: those of the differences and those of the means.

    Args:
        cells: all runs, and those of ceilings.
        comparison: which systems, and the aims.
        main: the privacy levels, and the confidence of all intervals together.

    Raises:
        ValueError: a system was not run, or runs have different numbers of replicates.
    """
    pairs = [pair for own in by_stream(cells) for pair in _pairs(own, comparison, main.levels)]
    comparisons = len(pairs) + len({id(cell) for _, *both in pairs for cell in both})
    replicates, half = count_replicates(cells), half_widths(main, comparisons)
    families = (comparison.paper.learners, comparison.ours.learners)
    rows = [
        {
            "stream": ours.stream,
            "kind": kind,
            **_side("", ours, main, half),
            **_side("other_", other, main, half),
            "other_ours": other.ours,
            "other_learner": other.family in families,
            "common_noise": _shares_noise(ours, other),
            **_difference(ours, other, half),
        }
        for kind, ours, other in pairs
    ]
    frame = pd.DataFrame(rows).assign(
        replicates=replicates, confidence=main.report.confidence, ci_comparisons=comparisons
    )
    aims = frame.groupby(["stream", "kind", "mu", "other_mu"])["verdict"]
    verdicts = aims.transform(lambda own: verdict_of_aim(own.tolist()))
    return frame.assign(aim_verdict=verdicts.where(frame["kind"].str.startswith("aim"), ""))


def by_stream(cells: Sequence[Played]) -> list[list[Played]]:
    """The cells of each stream."""
    streams = dict.fromkeys(cell.stream for cell in cells)
    return [[cell for cell in cells if cell.stream == stream] for stream in streams]


def count_replicates(cells: Sequence[Played]) -> int:
    """Number of replicates of every cell. Raises ValueError if they differ."""
    counts = {len(cell.gains) for cell in cells}
    if len(counts) != 1:
        raise ValueError(
            f"runs have {', '.join(map(str, sorted(counts))) or 'no'} replicates; pairs need"
            " the same number in all of them"
        )
    return counts.pop()


def _pairs(cells: Sequence[Played], of: Comparison, levels: Mapping[str, float]) -> Iterator[_Pair]:
    """All pairs of one stream."""
    for mu in levels.values():
        ours, paper = (find_cell(cells, system, mu) for system in (of.ours, of.paper))
        tuned = [find_cell(cells, system, mu) for system in of.tuned]
        yield "paper", ours, paper
        for cell in tuned:
            yield "tuned", ours, cell
        named = [id(cell) for cell in (ours, paper, *tuned)]
        for cell in cells:
            noisy = cell.mu == mu and cell.guarantee.model != "none"
            if noisy and id(cell) not in named:
                yield "other", ours, cell
            if cell.mu == mu and cell.family == CEILING:
                yield CEILING, ours, cell
    for aim in of.aims:
        ours, mu = find_cell(cells, of.ours, levels[aim.ours]), levels[aim.at]
        if aim.against == "paper":
            yield "aim-paper", ours, find_cell(cells, of.paper, mu)
            for system in of.tuned:
                yield "aim-tuned", ours, find_cell(cells, system, mu)
            continue
        # Each learner has a row, so that choosing the best of them costs no confidence.
        systems = of.ours, *of.ablations, of.paper
        for family, noise in {it.learners: it.noise for it in systems}.items():
            for cell in family_cells(cells, family, noise, mu):
                yield "aim-learner", ours, cell


def find_cell(cells: Sequence[Played], system: System, mu: float) -> Played:
    """The runs of a system, out of those of one stream. Raises ValueError if there are none."""
    for cell in cells:
        setting = (cell.label, cell.noise, cell.mu)
        if setting == (system.algorithm, system.noise, mu):
            return cell
    raise ValueError(
        f"no runs of {system.algorithm} with {system.noise} noise at mu {mu:g}; run them"
    )


def family_cells(cells: Sequence[Played], family: str, noise: str, mu: float) -> list[Played]:
    """The runs of a family, out of those of one stream. Raises ValueError if there are none."""
    found = [cell for cell in cells if (cell.family, cell.noise, cell.mu) == (family, noise, mu)]
    if not found:
        raise ValueError(f"no runs of family {family} with {noise} noise at mu {mu:g}")
    return found


HalfWidth = Callable[[Floats], float]
"""The half-width of the interval for the mean of (R,) values."""


def half_widths(main: Games, comparisons: int) -> HalfWidth:
    """The half-widths of a table whose intervals hold together."""
    return lambda values: float(half_width(values, main.report.confidence, comparisons))


def _side(prefix: str, cell: Played, main: Games, half: HalfWidth) -> dict[str, Any]:
    """One side of a pair: what it is, its mean, and the record of its privacy."""
    facts = {
        "algorithm": cell.label,
        "noise": cell.noise,
        "level": main.labels[cell.mu],
        "mu": cell.mu,
        "mean_gain": float(cell.totals.mean()),
        "ci_half_width": half(cell.totals),
        **cell.guarantee.as_columns(),
    }
    return {f"{prefix}{name}": value for name, value in facts.items()}


def _shares_noise(one: Played, two: Played) -> bool:
    """Local noise is drawn once for a stream, a noise and a mu."""
    local = all(it.guarantee.model == "local" or it.family == CEILING for it in (one, two))
    same = (one.noise, one.mu) == (two.noise, two.mu)
    return same and local and one.mu < math.inf


def _difference(ours: Played, other: Played, half: HalfWidth) -> dict[str, Any]:
    differences = ours.totals - other.totals
    mean, width = float(differences.mean()), half(differences)
    return {"difference": mean, "difference_half_width": width, "verdict": verdict_on(mean, width)}
