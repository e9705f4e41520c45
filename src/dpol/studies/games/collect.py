"""Result tables of all games, from what the points wrote: summary, totals, replay, switches."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from dpol.core.schemas import read_frame
from dpol.data.stream import GainStream, read_stream
from dpol.studies.games.replay import replay_rows
from dpol.studies.games.settings import GamesSettings
from dpol.studies.games.summary import (
    CURVES,
    SCORES,
    conclude,
    cumulative_curves,
    join_blocks,
    join_jobs,
    schema,
    summarize,
    totals_of,
)
from dpol.studies.games.switches import best_sequences
from dpol.studies.study import Facts, FileLists


def collect(files: FileLists, settings: GamesSettings, facts: Facts) -> dict[str, pd.DataFrame]:
    """Build the result tables that the settings ask for, from the scores of all games.

    Raises:
        DataError: a file is incomplete.
    """
    streams = {stream.label: stream for stream in map(read_stream, files["stream"])}
    totals, curves = schema(SCORES), schema(CURVES)
    jobs = (
        (read_frame(Path(one), totals), read_frame(Path(two), curves))
        for one, two in zip(files["scores"], files["curves"], strict=True)
    )
    scores, cells = join_blocks(*join_jobs(jobs))
    return results_from(scores, cells, streams, settings, facts)


def results_from(
    scores: pd.DataFrame,
    cells: pd.DataFrame,
    streams: Mapping[str, GainStream],
    settings: GamesSettings,
    facts: Facts,
) -> dict[str, pd.DataFrame]:
    """Build the result tables of games on some streams, from what `join_jobs` returns."""
    summary = summarize(cells, scores, streams, settings, facts)
    tables = {
        "summary": conclude(summary).filter(list(schema("summary").columns)),
        "totals": totals_of(summary, scores),
    }
    if not facts.asks_several:
        tables["cumulative"] = cumulative_curves(summary, streams)
        tables["switches"] = best_sequences(streams[label] for label in facts.streams)
    if facts.replayed:
        tables["replay"] = replay_rows(cells, streams, settings, facts)
    return tables
