"""The study of L2P for experts: its regret and its competitors', on synthetic losses."""

from __future__ import annotations

import itertools

from dpol.studies.paper2.lazy.settings import ALGORITHMS, LEADERS, Lazy, LazyPoint
from dpol.studies.study import Facts, Job, Study

LARGEST_TREE = 3_000_000
"""Largest T times d at which leaders of noisy prefix sums play."""


def jobs(settings: Lazy, facts: Facts) -> dict[str, Job[LazyPoint]]:
    """Return a job for each T and d.

    >>> facts = Facts({}, simulated=True, confidence=0.95)
    >>> list(jobs(Lazy(n_rounds=[100, 10**6], n_experts=[2], epsilons=[1]), facts))
    ['T100/d2', 'T1000000/d2']
    """
    return {
        f"T{T}/d{d}": Job(
            points=(_games(settings, T, d),), seconds=2 + T * d * settings.replicates / 4e6
        )
        for T, d in itertools.product(settings.n_rounds, settings.n_experts)
    }


def _games(settings: Lazy, T: int, d: int) -> LazyPoint:
    led = LEADERS if T * d <= LARGEST_TREE else ()
    longest = max(settings.n_rounds) == T
    return LazyPoint(
        n_rounds=T,
        n_experts=d,
        epsilons=tuple(settings.epsilons),
        close_epsilons=tuple(settings.epsilons) if longest else (),
        alternating_epsilons=tuple(settings.alternating_epsilons) if longest else (),
        replicates=settings.replicates,
        algorithms=tuple(it for it in ALGORITHMS if it in led or it not in LEADERS),
    )


STUDY = Study(
    name="lazy",
    title="Lazy algorithms: L2P for experts",
    settings=Lazy,
    package="dpol.studies.paper2.lazy",
    results=("lazy", "lazy_pairs"),
    written=("lazy",),
    jobs=jobs,
    collects=("confidence",),
    draws=("form",),
)
