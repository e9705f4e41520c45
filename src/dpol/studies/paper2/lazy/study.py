"""The study of L2P for experts: its regret and its competitors', on synthetic losses."""

from __future__ import annotations

import itertools

from dpol.studies.paper2.lazy.settings import Lazy, LazyPoint
from dpol.studies.study import Facts, Job, Study


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
    longest = max(settings.n_rounds) == T
    alternating = settings.alternating_epsilons if longest else []
    own = {"n_rounds": [T], "n_experts": [d], "alternating_epsilons": alternating}
    return settings.model_copy(update=own), longest


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
