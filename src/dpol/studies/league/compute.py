"""Standings of the games of a run, or of this process."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from dpol.core.schemas import read_frame
from dpol.data.stream import GainStream
from dpol.studies.games.collect import join_jobs, results_from, schema
from dpol.studies.games.scores import Played, score_tables
from dpol.studies.games.settings import GamesSettings
from dpol.studies.jobs import read_points
from dpol.studies.league.settings import LeaguePoint, LeagueSettings
from dpol.studies.league.standings import standings
from dpol.studies.study import Facts, FileLists, Inputs, schemas_in

POINT = LeaguePoint
RESULT = "standings"


def run(point: LeaguePoint, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """Make the standings of the games played.

    Raises:
        DataError: a table of the main study is missing or does not match its schema.
        ValueError: the systems of a stream and level have different numbers of replicates.
    """
    summary, totals = (
        read_frame(inputs.files[name], schema(name)) for name in ("summary", "totals")
    )
    return {RESULT: standings(summary, totals, point)}


def collect(files: FileLists, settings: LeagueSettings, facts: Facts) -> dict[str, pd.DataFrame]:
    """Return the standings, which a single job made."""
    return {RESULT: read_points(files[RESULT])}


def rank(
    suites: Iterable[Sequence[Played]],
    streams: Sequence[GainStream],
    settings: GamesSettings,
    facts: Facts,
) -> dict[str, pd.DataFrame]:
    """Build the result tables and the standings of games that are played in this process.

    Args:
        suites: the games of each suite.
        streams: the streams that they play, of one question.
        settings: what the intervals of the summary hold for.
        facts: streams, levels and confidence.
    """
    by_label = {stream.label: stream for stream in streams}
    jobs = [score_tables(games) for games in suites]
    joined = join_jobs(*([job[name] for job in jobs] for name in ("scores", "curves")))
    made = dict(results_from(*joined, by_label, settings, facts))
    questions = dict.fromkeys(by_label, "")
    point = LeaguePoint(questions=questions, apart=False, confidence=facts.confidence)
    columns = schemas_in(__package__)[RESULT].columns
    return made | {RESULT: standings(made["summary"], made["totals"], point)[[*columns]]}
