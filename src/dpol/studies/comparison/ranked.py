"""Summary and standings of games that are played in this process."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from dpol.data.stream import GainStream
from dpol.studies.comparison.settings import StandingsPoint
from dpol.studies.comparison.standings import standings
from dpol.studies.games.collect import join_jobs, results_from
from dpol.studies.games.scores import Played, score_tables
from dpol.studies.games.settings import GamesSettings
from dpol.studies.study import Facts, schemas_in


def rank(
    suites: Iterable[Sequence[Played]],
    streams: Sequence[GainStream],
    settings: GamesSettings,
    facts: Facts,
    ours: tuple[str, str] | None = None,
) -> dict[str, pd.DataFrame]:
    """Build the tables `summary` and `standings` of games, as a run does.

    Args:
        suites: the games of each suite.
        streams: the streams that they play, of one question.
        settings: what the intervals of the summary hold for.
        facts: streams, levels and confidence.
        ours: algorithm and noise of our method; None if there is none.
    """
    by_label = {stream.label: stream for stream in streams}
    jobs = [score_tables(games) for games in suites]
    joined = join_jobs(*([job[name] for job in jobs] for name in ("scores", "curves")))
    made = dict(results_from(*joined, by_label, settings, facts))
    questions = dict.fromkeys(by_label, "")
    point = StandingsPoint(ours=ours, questions=questions, apart=False, confidence=facts.confidence)
    columns = schemas_in(__package__)["standings"].columns
    ranked = standings(made["summary"], made["totals"], point)[[*columns]]
    return {"summary": made["summary"], "standings": ranked}
