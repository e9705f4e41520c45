"""The claims ledger: statements of the papers that a computation can check."""

from __future__ import annotations

from typing import get_args

from dpol.studies.ledger.claims.settings import Claims, Paper
from dpol.studies.study import Facts, Job, Study


def jobs(settings: Claims, facts: Facts) -> dict[str, Job[Paper]]:
    """Return a job for each paper, and one for the first paper's claims about this run."""
    labelled: dict[str, Job[Paper]] = {
        paper: Job(points=(paper,), seconds=6.0) for paper in get_args(Paper)
    }
    labelled["experts-in-this-run"] = Job(
        points=("experts",),
        inputs={"summary": "summary.parquet"},
        seconds=1.0,
    )
    return labelled


STUDY = Study(
    name="claims",
    title="What the papers state, checked",
    settings=Claims,
    package="dpol.studies.ledger.claims",
    results=("claims",),
    jobs=jobs,
)
