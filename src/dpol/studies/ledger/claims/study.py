"""The claims ledger: statements of the papers that a computation can check."""

from __future__ import annotations

from typing import get_args

from dpol.studies.ledger.claims.points import ClaimsPoint
from dpol.studies.ledger.claims.settings import Claims, Paper
from dpol.studies.study import Facts, Point, Study


def points(settings: Claims, facts: Facts) -> dict[str, Point[ClaimsPoint]]:
    """Return a point for each paper, and one for the first paper's claims about this run."""
    labelled: dict[str, Point[ClaimsPoint]] = {
        paper: Point(settings=ClaimsPoint(paper=paper), seconds=14.0) for paper in get_args(Paper)
    }
    labelled["experts-in-this-run"] = Point(
        settings=ClaimsPoint(paper="experts"),
        inputs={"summary": "summary.parquet", "totals": "totals.parquet"},
        seconds=3.0,
    )
    return labelled


STUDY = Study(
    name="claims",
    title="What the papers state, checked",
    settings=Claims,
    package="dpol.studies.ledger.claims",
    results=("claims",),
    points=points,
)
