"""The study of L2P for online convex optimisation: its regret and its competitors'."""

from __future__ import annotations

import itertools

from dpol.studies.paper2.convex.settings import Convex, ConvexPoint
from dpol.studies.study import Facts, Job, Study


def jobs(settings: Convex, facts: Facts) -> dict[str, Job[ConvexPoint]]:
    """Return a job for each T, with a point for each d and kind of losses.

    >>> facts = Facts({}, simulated=True, confidence=0.95)
    >>> sizes = {"n_rounds": [100, 200], "dimensions": [2]}
    >>> list(jobs(Convex(**sizes, epsilons=[1], losses=["linear", "logistic"]), facts))
    ['T100', 'T200']
    """
    kinds = list(itertools.product(settings.dimensions, settings.losses))
    return {
        f"T{T}": Job(
            points=tuple(
                ConvexPoint(
                    n_rounds=T,
                    dimension=d,
                    loss=loss,
                    epsilons=tuple(settings.epsilons),
                    replicates=settings.replicates,
                )
                for d, loss in kinds
            ),
            seconds=3.0 * len(kinds),
        )
        for T in settings.n_rounds
    }


STUDY = Study(
    name="convex",
    title="Lazy algorithms: L2P for convex losses",
    settings=Convex,
    package="dpol.studies.paper2.convex",
    results=("convex", "convex_pairs"),
    written=("convex",),
    jobs=jobs,
    collects=("confidence",),
    draws=("form",),
)
