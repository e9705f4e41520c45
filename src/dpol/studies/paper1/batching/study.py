"""The study of RW-AdaBatch: how much its batches amplify privacy, and their cost."""

from __future__ import annotations

from dpol.studies.paper1.batching.points import BatchingPoint
from dpol.studies.paper1.batching.settings import Batching
from dpol.studies.study import Facts, Point, Study


def points(settings: Batching, facts: Facts) -> dict[str, Point[BatchingPoint]]:
    """Return a point for each number of experts."""
    return {
        f"n-{n}": Point(
            settings=BatchingPoint(
                n_rounds=settings.n_rounds,
                n_experts=n,
                mus=tuple(settings.mus),
                alpha=settings.alpha,
                replicates=settings.replicates,
                delta=facts.delta,
            )
        )
        for n in settings.n_experts
    }


STUDY = Study(
    name="batching",
    title="Privacy amplified by batches",
    settings=Batching,
    package="dpol.studies.paper1.batching",
    results=("amplification", "batching", "rates"),
    points=points,
    written=("amplification", "batching"),
)
