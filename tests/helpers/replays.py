"""A small game that is replayed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpol.data.stream import GainStream
from dpol.studies.games.replay import replay_rows
from dpol.studies.games.scores import Played
from dpol.studies.games.settings import GamesSettings, Report
from dpol.studies.study import Facts
from game_tables import joined, suite

LEVELS = math.inf, 1.0
LOCAL, FREE = ("rw-ftpl", "persistence"), ("follow-the-leader",)
SEED = 7


def stream_of(rounds: int, n: int, label: str = "nm", names: Sequence[str] = ()) -> GainStream:
    """Make a stream of random gains, where each expert has its own capacities."""
    rng = np.random.default_rng(3)
    return GainStream(
        label=label,
        gains=rng.random((rounds, n)),
        capacity=rng.integers(5, 50, (rounds, n)).astype(float),
        entities=tuple(f"e{i}" for i in range(n)),
        periods=np.datetime64("2021-01-01") + 7 * np.arange(rounds),
        names=tuple(names),
    )


def games(
    stream: GainStream,
    noises: Sequence[str] = ("isotropic", "capacity"),
    replicates: int = 2,
    levels: tuple[float, ...] = LEVELS,
) -> list[list[Played]]:
    """Play local algorithms, and one without privacy."""
    return [
        suite(stream, specs, noise=noise, mu=mu, seed=SEED, replicates=range(replicates))
        for specs, kinds, mus in ((LOCAL, noises, levels), (FREE, ("none",), (math.inf,)))
        for noise in kinds
        for mu in mus
    ]


MAIN = GamesSettings(report=Report(algorithms=[*LOCAL, *FREE]), seed=SEED)


def facts_of(stream: GainStream, levels: tuple[float, ...] = LEVELS) -> Facts:
    return Facts(
        {stream.label: stream.label},
        simulated=True,
        confidence=0.95,
        levels=levels,
        reported={stream.label: None},
    )


def replay_of(
    stream: GainStream,
    suites: Sequence[Sequence[Played]] | None = None,
    levels: tuple[float, ...] = LEVELS,
) -> pd.DataFrame:
    """Return the table of a game."""
    _, cells = joined(games(stream) if suites is None else suites)
    return replay_rows(cells, {stream.label: stream}, MAIN, facts_of(stream, levels))
