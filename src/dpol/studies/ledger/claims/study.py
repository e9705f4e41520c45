"""The claims ledger: statements of the papers that a computation can check."""

from __future__ import annotations

from typing import get_args

from dpol.studies.ledger.claims.settings import Claims, Paper
from dpol.studies.study import Facts, Job, Study


def jobs(settings: Claims, facts: Facts) -> dict[str, Job[Paper]]:
    """Return a job for each paper, and one for the first paper's claims about this run."""
    labelled: dict[str, Job[Paper]] = {paper: Job(points=(paper,)) for paper in get_args(Paper)}
    here = Job[Paper](points=("experts",), inputs={"summary": "summary.parquet"})
    return {**labelled, "experts-in-this-run": here}


STUDY = Study(
    name="claims",
    title="What the papers state, checked",
    settings=Claims,
    package="dpol.studies.ledger.claims",
    results=("claims",),
    jobs=jobs,
)
