"""Noise with memory compared with independent noise, for people who stay for several weeks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dpol.studies.memory.settings import NoiseMemories
from dpol.studies.study import FigureSpec, Point, Study, TableSpec

_HERE = "dpol.studies.memory"
_FIGURE = FigureSpec(
    name="memory",
    title="What noise with memory gains, and what longer stays pay",
    description="A column of panels for each stream, a colour and marker for each unit of privacy:"
    " a person in at most so many weeks in a row. Top: by how much total gain with designed memory"
    " exceeds that with independent noise, against the μ of that person on a logarithmic axis;"
    " bars are intervals that hold together, and cover the noise on this one data set, not other"
    " states or years. Bottom: the μ of a person against the weeks of the stay, both on"
    " logarithmic axes, at the smallest μ: solid with memory, dashed with independent noise. The"
    " numbers are in the table below.",
    draw=f"{_HERE}.figure:draw",
)


def points(settings: NoiseMemories, streams: Sequence[str]) -> dict[str, Point]:
    """A point for each stream and unit of privacy."""
    return {
        f"{stream}-w{weeks}": {"stream": stream, "weeks": weeks}
        for stream in streams
        for weeks in settings.weeks
    }


STUDY = Study(
    name="memory",
    title="Noise with memory",
    about="A hospital may let this week’s noise cancel part of its earlier noise, at the same μ."
    " People who stay longer than the unit of privacy then pay more than with independent noise.",
    settings=NoiseMemories,
    folder=Path(__file__).parent,
    results=("memory",),
    points=points,
    run=f"{_HERE}.study:run",
    collect=f"{_HERE}.study:collect",
    algorithms=lambda settings: (settings.algorithm,),
    figures=lambda settings: (_FIGURE,),
    tables=(TableSpec("memory", "Independent noise and memory", f"{_HERE}.table:build"),),
)
