"""The study of RW-AdaBatch: how much its batches amplify privacy, and their cost."""

from __future__ import annotations

from dpol.studies.paper1.batching.settings import Batching, BatchingPoint
from dpol.studies.study import Facts, Job, Study


def jobs(settings: Batching, facts: Facts) -> dict[str, Job[BatchingPoint]]:
    """Return a job for each number of experts."""
    return {
        f"n-{n}": Job(
            points=(
                BatchingPoint(
                    n_rounds=settings.n_rounds,
                    n_experts=n,
                    mus=tuple(settings.mus),
                    alpha=settings.alpha,
                    replicates=settings.replicates,
                    delta=facts.delta,
                ),
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
    jobs=jobs,
    collects=("confidence",),
    draws=("form",),
    written=("amplification", "batching"),
)
