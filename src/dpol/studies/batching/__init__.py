"""RW-AdaBatch: how much privacy its batches amplify, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dpol.studies.batching.settings import Batching
from dpol.studies.study import FigureSpec, Point, Study, TableSpec

_HERE = "dpol.studies.batching"
_CURVES = FigureSpec(
    name="amplification",
    title="How much batches amplify privacy",
    description="Left: error rates of the best attack on one round, false negatives against false"
    " positives, for the fewest experts and the μ nearest 1: perfect privacy, not amplified, and"
    " for each switching bound the analytic bound and the Monte Carlo estimate. Right: ε as a"
    " share of the ε that is not amplified, against μ: a line for each bound and number of"
    " experts, open markers for Monte Carlo. All ε are in the table below, all curves in the file"
    " amplification.parquet.",
    draw=f"{_HERE}.figure:draw",
)


def points(settings: Batching, streams: Sequence[str]) -> dict[str, Point]:
    """A point for each number of experts."""
    return {f"n-{n}": {"n": n} for n in settings.n_experts}


STUDY = Study(
    name="batching",
    title="Privacy amplified by batches",
    about="RW-AdaBatch plays the same action while its leader is far ahead. Someone who sees only"
    " the actions then learns less about one round than the noise alone would allow.",
    settings=Batching,
    folder=Path(__file__).parent,
    results=("amplification", "batching"),
    points=points,
    run=f"{_HERE}.study:run",
    collect=f"{_HERE}.study:collect",
    figures=lambda settings: (_CURVES,),
    tables=(
        TableSpec(
            name="amplification", title="Amplified privacy", build=f"{_HERE}.tables:amplification"
        ),
        TableSpec(name="batching", title="What batching costs", build=f"{_HERE}.tables:batching"),
    ),
)
