"""The study of RW-AdaBatch: how much its batches amplify privacy, and their cost."""

from __future__ import annotations

from dpol.studies.paper1.batching.settings import Asked, Batching
from dpol.studies.study import Facts, Job, Study


def jobs(settings: Batching, facts: Facts) -> dict[str, Job[Asked]]:
    """Return a job for each number of experts, whose point has no other number."""
    return {
        f"n-{n}": Job(points=((settings.model_copy(update={"n_experts": [n]}), facts.delta),))
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
