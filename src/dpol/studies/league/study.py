"""The standings of all systems that the suites play."""

from __future__ import annotations

from dpol.studies.league.settings import LeaguePoint, LeagueSettings
from dpol.studies.study import Facts, Job, Study


def jobs(settings: LeagueSettings, facts: Facts) -> dict[str, Job[LeaguePoint]]:
    """Return the job that makes the standings."""
    point = LeaguePoint(
        questions=settings.questions, apart=settings.apart, confidence=facts.confidence
    )
    inputs = {"summary": "summary.parquet", "totals": "totals.parquet"}
    return {"standings": Job(points=(point,), inputs=inputs)}


STUDY = Study(
    name="league",
    title="The league",
    settings=LeagueSettings,
    package="dpol.studies.league",
    results=("standings",),
    jobs=jobs,
    draws=("streams", "questions", "levels", "simulated", "replayed", "form"),
)
