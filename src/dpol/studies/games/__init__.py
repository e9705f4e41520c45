"""The main study: algorithms side by side on gain streams."""

from __future__ import annotations

from dpol.studies.games.points import points
from dpol.studies.games.settings import Games, plays_the_papers
from dpol.studies.study import Facts, Study

_HERE = "dpol.studies.games"


def not_asked(settings: Games, facts: Facts) -> frozenset[str]:
    """Return the names of the tables and figures that the settings do not ask for."""
    paper = plays_the_papers(settings, facts)
    asked = {
        "divided": settings.allocation is not None,
        "rounds": settings.keep_rounds,
        "table-2": paper,
        "table-2-ratios": paper,
        "figure-2": paper,
        "replay": facts.replayed,
        # Too many panels for a page.
        "cumulative": not facts.asks_several,
        "privacy-utility": not facts.asks_several,
        # The comparison has such a table, with intervals of the means.
        "answer": not (settings.roles and facts.asks_several),
        "allocation": settings.allocation is not None,
        "rivals": bool(settings.report.rivals) and not facts.asks_several,
    }
    return frozenset(name for name, is_asked in asked.items() if not is_asked)


STUDY = Study(
    name="games",
    title="Games",
    about="Plays algorithms side by side on the gain streams.",
    settings=Games,
    module=__name__,
    results=("summary", "totals", "ranking", "cumulative", "replay", "allocation"),
    optional=not_asked,
    points=points,
    run=f"{_HERE}.jobs:run",
    written=("scores", "divided", "rounds"),
    collect=f"{_HERE}.results:collect",
)
