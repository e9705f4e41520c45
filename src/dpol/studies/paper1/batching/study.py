"""The study of RW-AdaBatch: how much its batches amplify privacy, and what they cost."""

from __future__ import annotations

from dpol.experts.registry import regret_bounds
from dpol.studies.paper1.batching.points import BatchingPoint
from dpol.studies.paper1.batching.settings import Batching, Shown
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


def shown(settings: Batching) -> Shown:
    """Return what the exhibits show besides results."""
    bounds = {name: bound for name, (bound, _) in regret_bounds().items()}
    return Shown(replicates=settings.replicates, regret_bounds=bounds)


STUDY = Study(
    name="batching",
    title="Privacy amplified by batches",
    settings=Batching,
    package="dpol.studies.paper1.batching",
    results=("amplification", "batching"),
    points=points,
    shown=shown,
)
