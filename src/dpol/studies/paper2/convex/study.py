"""The study of L2P for online convex optimisation: its regret and its competitors'."""

from __future__ import annotations

from dpol.studies.paper2.convex.settings import Convex
from dpol.studies.study import Facts, Job, Study


def jobs(settings: Convex, facts: Facts) -> dict[str, Job[Convex]]:
    """Return a job for each T, whose point is the settings with no other T.

    >>> facts = Facts({}, simulated=True, confidence=0.95)
    >>> sizes = {"n_rounds": [100, 200], "dimensions": [2]}
    >>> list(jobs(Convex(**sizes, epsilons=[1], losses=["linear", "logistic"]), facts))
    ['T100', 'T200']
    """
    return {
        f"T{T}": Job(
            points=(settings.model_copy(update={"n_rounds": [T]}),),
            seconds=3.0 * len(settings.dimensions) * len(settings.losses),
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
