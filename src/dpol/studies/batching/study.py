"""The study of RW-AdaBatch: how much its batches amplify privacy, and what they cost."""

from __future__ import annotations

from dpol.studies.batching.settings import Batching
from dpol.studies.study import Facts, Point, Study


def points(settings: Batching, facts: Facts) -> dict[str, Point]:
    """Return a point for each number of experts."""
    by_label: dict[str, Point] = {}
    for n in settings.n_experts:
        block = settings.model_copy(update={"n_experts": [n]}).model_dump(mode="json")
        by_label[f"n-{n}"] = Point(settings={"batching": block, "delta": facts.delta})
    return by_label


STUDY = Study(
    name="batching",
    title="Privacy amplified by batches",
    settings=Batching,
    package="dpol.studies.batching",
    results=("amplification", "batching"),
    points=points,
)
