"""The study of L2P for experts: its regret and its competitors', on synthetic losses."""

from __future__ import annotations

import itertools

from dpol.studies.paper2.lazy.points import LazyPoint
from dpol.studies.paper2.lazy.settings import ALGORITHMS, LEADERS, Lazy
from dpol.studies.study import Facts, Point, Study

LARGEST_TREE = 3_000_000
"""Largest T times d at which leaders of noisy prefix sums play."""


def points(settings: Lazy, facts: Facts) -> dict[str, Point[LazyPoint]]:
    """Return a point for each T and d.

    >>> facts = Facts({}, simulated=True, confidence=0.95)
    >>> list(points(Lazy(n_rounds=[100, 10**6], n_experts=[2], epsilons=[1]), facts))
    ['T100-d2', 'T1000000-d2']
    """
    by_label: dict[str, Point[LazyPoint]] = {}
    for T, d in itertools.product(settings.n_rounds, settings.n_experts):
        led = LEADERS if T * d <= LARGEST_TREE else ()
        games = LazyPoint(
            n_rounds=T,
            n_experts=d,
            epsilons=tuple(settings.epsilons),
            alternating_epsilons=tuple(settings.alternating_epsilons)
            if max(settings.n_rounds) == T
            else (),
            delta=settings.delta,
            gap=settings.gap,
            replicates=settings.replicates,
            algorithms=tuple(it for it in ALGORITHMS if it in led or it not in LEADERS),
        )
        by_label[f"T{T}-d{d}"] = Point(settings=games, seconds=3.0)
    return by_label


STUDY = Study(
    name="lazy",
    title="Lazy algorithms: L2P for experts",
    settings=Lazy,
    package="dpol.studies.paper2.lazy",
    results=("lazy", "lazy_pairs"),
    written=("lazy",),
    points=points,
)
