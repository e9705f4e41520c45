"""Decisions of algorithms on released numbers, of which nobody knows the truth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dpol.studies.released.settings import ReleasedGames
from dpol.studies.study import FigureSpec, Point, Study, TableSpec

NO_TRUTH = "The true numbers are unknown: only noisy ones were released, so there are no gains."
_HERE = "dpol.studies.released"
_FIGURE = FigureSpec(
    name="released-decisions",
    title="Whom each algorithm names first, period by period",
    description="Top: a row for each entity that is named most often, one row for all others, and"
    " time from left to right; a thin line in the colour of an algorithm wherever that algorithm"
    " names the entity first, the lines of the algorithms below each other. Bottom: the noise of"
    " the shares that were reported in each period, median and largest, on a logarithmic axis. The"
    " decisions are in released_decisions.parquet.",
    draw=f"{_HERE}.figure:draw",
)


def points(settings: ReleasedGames, streams: Sequence[str]) -> dict[str, Point]:
    """A point for what was reported, one for the deployment's algorithm, one for each other."""
    specs = {f"algorithm-{index}": spec for index, spec in enumerate(settings.algorithms, start=1)}
    played = {"deployment": None, **specs}
    return {
        "reports": {"released": True},
        **{label: {"released": True, "algorithm": spec} for label, spec in played.items()},
    }


STUDY = Study(
    name="released",
    title="Released numbers",
    about=f"{NO_TRUTH} The tables show whom each algorithm names, how often the algorithms agree,"
    " how often a noisy share falls into its predicted interval, and how large the noise is.",
    settings=ReleasedGames,
    folder=Path(__file__).parent,
    results=("released_reports", "released_decisions", "released_algorithms"),
    points=points,
    run=f"{_HERE}.study:run",
    collect=f"{_HERE}.study:collect",
    algorithms=ReleasedGames.watched,
    figures=lambda settings: (_FIGURE,),
    tables=(
        TableSpec("released", "What was released", f"{_HERE}.tables:reports"),
        TableSpec("released-algorithms", "The algorithms", f"{_HERE}.tables:algorithms"),
        TableSpec("released-noise", "Noise in the latest periods", f"{_HERE}.tables:noise"),
    ),
)
