"""A small run that plays the first paper's algorithms on two streams, and a variant of one."""

from __future__ import annotations

import functools
import math
from itertools import product
from typing import Any

import pandas as pd

from dpol.studies.games.settings import GamesSettings, Report
from dpol.studies.league.compute import rank
from dpol.studies.study import Facts
from game_tables import suite
from replays import stream_of

REPLICATES = 4
SUITES: dict[str, Any] = {
    "local": {"noises": ["isotropic", "capacity"], "algorithms": ["rw-meta", "ridge"]},
    "central": {"algorithms": ["tree-ftpl-min-noise", "tree-ftpl-min-regret"]},
}
VARIANT = {"algorithm": "rw-meta", "label": "careful", "exploration_floor": 0.5}
MAIN = GamesSettings(
    suites=SUITES | {"varied": {"algorithms": [VARIANT]}},
    # The trees are not in it.
    report=Report(algorithms=["rw-meta"]),
    plays_table_2=True,
)
FACTS = Facts(
    {"a": "A & B", "b": "Bavaria"},
    simulated=False,
    confidence=0.95,
    levels=(1.0, math.inf, 0.25),
    asks_the_papers=True,
    reported={"a": None, "b": None},
)


@functools.cache
def frames() -> dict[str, pd.DataFrame]:
    """Return the result tables of the run, and its standings, for reading only."""
    streams = [stream_of(12, n, label) for label, n in (("a", 4), ("b", 5))]
    facts: dict[str, Any] = {"seed": 5, "replicates": range(REPLICATES)}
    played = [
        suite(stream, entries, noise=noise, mu=mu, **facts)
        for stream in streams
        for own in MAIN.suites.values()
        for (noise, entries), mu in product(own.by_noise.items(), FACTS.levels)
    ]
    return rank(played, streams, MAIN, FACTS)
