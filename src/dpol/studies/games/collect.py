"""Result tables of all games, from what the points wrote: summary, totals, replay, switches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from dpol.core.randomness import Floats
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
from dpol.studies.study import Facts, FileLists

MOST_SWITCHES = 200
"""Largest S of the table of switches: its time grows with the rounds and with S."""


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


def best_sequences(streams: Iterable[GainStream]) -> pd.DataFrame:
    """Return a row per stream and S, up to `MOST_SWITCHES` (docs/reference/tables.md)."""
    frames = []
    for stream in streams:
        best = switching_gains(stream.gains, min(stream.n_rounds - 1, MOST_SWITCHES))
        rows = {"stream": stream.label, "switches": range(len(best)), "best_gain": best}
        frames.append(pd.DataFrame(rows))
    return pd.concat(frames, ignore_index=True)


def switching_gains(gains: Floats, most: int) -> Floats:
    """Return the largest gains of sequences of experts with at most S switches, S = 0, ..., `most`.

    The first is the gain of the best fixed expert, that of T - 1 switches the gain of each round's
    best. The regret of a game against S switches is one of them minus its own gain.

    Args:
        gains: (T, n) gains.
        most: largest number of switches.

    Returns:
        (most + 1,) gains, which never fall with S.

    >>> switching_gains(np.array([[3.0, 0.0], [0.0, 1.0], [3.0, 0.0]]), 2).tolist()
    [6.0, 6.0, 7.0]
    """
    # Largest gains so far with at most S switches, by the expert of the last round. To "switch" to
    # the same expert is never better than to stay, so the best predecessor may be any.
    best = np.tile(gains[0], (most + 1, 1))
    for gain in gains[1:]:
        best[1:] = np.maximum(best[1:], best[:-1].max(axis=1, keepdims=True))
        best += gain
    return np.asarray(best.max(axis=1))
