"""The standings of the games of the main study, and games beside them."""

from __future__ import annotations

from itertools import chain, product

from dpol.studies.comparison.settings import (
    ComparisonPoint,
    ComparisonSettings,
    ReadingPoint,
    StandingsPoint,
)
from dpol.studies.study import Facts, Job, Study, reading_label


def jobs(settings: ComparisonSettings, facts: Facts) -> dict[str, Job[ComparisonPoint]]:
    """Return a job that makes the standings, and jobs that play games.

    They play each stream at each further reading, which needs the standings.
    """
    made: dict[str, Job[ComparisonPoint]] = {
        "standings": Job(
            points=(
                StandingsPoint(
                    ours=settings.system,
                    questions={label: settings.questions.get(label, "") for label in facts.streams},
                    apart=settings.apart,
                    confidence=facts.confidence,
                ),
            ),
            inputs={"summary": "summary.parquet", "totals": "totals.parquet"},
        )
    }
    if settings.read_as and (ours := settings.system):
        suites = settings.suites.values()
        entries = [entry for suite in suites for _, entry in suite.entries]
        code = [*chain(*(suite.modules for suite in suites))]
        for stream, reading in product(facts.streams, settings.read_as):
            read = reading_label(stream, reading)
            made[read] = Job(
                points=(
                    ReadingPoint(
                        stream=stream,
                        reading=reading,
                        ours=ours,
                        entries=tuple(entries),
                        replicates=settings.replicates,
                    ),
                ),
                inputs={
                    "stream": f"streams/{stream}.parquet",
                    "ranked": "comparison/standings/standings.parquet",
                    "read": f"streams/{read}.parquet",
                },
                code=tuple(dict.fromkeys(code)),
            )
    return made


def not_asked(settings: ComparisonSettings, facts: Facts) -> frozenset[str]:
    """Return the names of the result tables that the run does not ask for, or does not make."""
    asked = {
        "readings": bool(settings.read_as),
        "cumulative": not facts.asks_several,
    }
    return frozenset(name for name, is_asked in asked.items() if not is_asked)


STUDY = Study(
    name="comparison",
    title="Standings",
    settings=ComparisonSettings,
    package="dpol.studies.comparison",
    results=("standings", "readings"),
    optional=not_asked,
    jobs=jobs,
    collects=("confidence",),
    draws=("streams", "questions", "levels", "delta", "simulated", "replayed", "form"),
)
