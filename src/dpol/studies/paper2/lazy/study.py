"""The study of L2P for experts: its regret and its competitors', on synthetic losses."""

from __future__ import annotations

import itertools

from dpol.studies.paper2.lazy.points import LazyPoint
from dpol.studies.paper2.lazy.settings import ADVERSARIES, ALGORITHMS, LEADERS, Lazy
from dpol.studies.study import Facts, Point, Study

LONG = 200_000
"""Number of rounds from which each adversary is a separate point."""
LARGEST_TREE = 3_000_000
"""Largest T times d at which leaders of noisy prefix sums play."""


def points(settings: Lazy, facts: Facts) -> dict[str, Point[LazyPoint]]:
    """Return a point for each T and d, and in long games for each adversary.

    >>> facts = Facts({}, simulated=True, confidence=0.95)
    >>> labels = list(points(Lazy(n_rounds=[100, 10**6], n_experts=[2], epsilons=[1]), facts))
    >>> len(labels), labels[:2]
    (3, ['T100-d2', 'T1000000-d2-stochastic'])
    """
    by_label: dict[str, Point[LazyPoint]] = {}
    for T, d in itertools.product(settings.n_rounds, settings.n_experts):
        led = LEADERS if T * d <= LARGEST_TREE else ()
        alone = {f"-{name}": (name,) for name in ADVERSARIES}
        for suffix, adversaries in (alone if T >= LONG else {"": ADVERSARIES}).items():
            games = LazyPoint(
                n_rounds=T,
                n_experts=d,
                epsilons=tuple(settings.epsilons),
                delta=settings.delta,
                gap=settings.gap,
                replicates=settings.replicates,
                adversaries=adversaries,
                algorithms=tuple(it for it in ALGORITHMS if it in led or it not in LEADERS),
            )
            by_label[f"T{T}-d{d}{suffix}"] = Point(settings=games, seconds=3.0)
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
