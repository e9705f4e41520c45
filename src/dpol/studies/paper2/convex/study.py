"""The study of L2P for online convex optimisation: its regret and its competitors'."""

from __future__ import annotations

import itertools

from dpol.studies.paper2.convex.points import ConvexPoint
from dpol.studies.paper2.convex.settings import Convex
from dpol.studies.study import Facts, Point, Study


def points(settings: Convex, facts: Facts) -> dict[str, Point[ConvexPoint]]:
    """Return a point for each T, d and kind of losses: all algorithms and epsilons.

    >>> facts = Facts({}, simulated=True, confidence=0.95)
    >>> sizes = {"n_rounds": [100, 200], "dimensions": [2]}
    >>> list(points(Convex(**sizes, epsilons=[1], losses=["linear", "logistic"]), facts))
    ['T100-d2', 'T100-d2-logistic', 'T200-d2', 'T200-d2-logistic']
    """
    by_label: dict[str, Point[ConvexPoint]] = {}
    for T, d, loss in itertools.product(settings.n_rounds, settings.dimensions, settings.losses):
        label = f"T{T}-d{d}" if loss == "linear" else f"T{T}-d{d}-{loss}"
        played = ConvexPoint(
            n_rounds=T,
            dimension=d,
            loss=loss,
            epsilons=tuple(settings.epsilons),
            delta=settings.delta,
            replicates=settings.replicates,
        )
        by_label[label] = Point(settings=played, seconds=3.0)
    return by_label


STUDY = Study(
    name="convex",
    title="Lazy algorithms: L2P for convex losses",
    settings=Convex,
    package="dpol.studies.paper2.convex",
    results=("convex", "convex_pairs"),
    written=("convex",),
    points=points,
)
