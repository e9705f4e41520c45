"""A small run that plays the first paper's algorithms on two streams."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from dpol.data.stream import GainStream
from dpol.experts.registry import make_members
from dpol.studies.games.collect import tables_of
from dpol.studies.games.compute import play_suite
from dpol.studies.games.scores import scores_of
from dpol.studies.games.settings import Games, Report
from dpol.studies.games.study import runs_of
from dpol.studies.study import Facts
from replays import stream_of

REPLICATES = 4
SUITES: dict[str, Any] = {
    "local": {"noises": ["isotropic", "capacity"], "algorithms": ["rw-meta", "ridge"]},
    "central": {"algorithms": ["tree-ftpl-min-noise", "tree-ftpl-min-regret"]},
}
# The trees are not in the report.
MAIN = Games(suites=SUITES, report=Report(algorithms=["rw-meta"]))
FACTS = Facts(
    {"a": "A & B", "b": "Bavaria"},
    simulated=False,
    confidence=0.95,
    levels={"low": 1.0, "none": math.inf, "high": 0.25},
    seed=5,
    replicates=REPLICATES,
    asks_the_papers=True,
    reported={"a": None, "b": None},
)


def streams() -> dict[str, GainStream]:
    return {label: stream_of(12, n, label) for label, n in (("a", 4), ("b", 5))}


def frames() -> dict[str, pd.DataFrame]:
    """Return the result tables of the run."""
    cells = []
    for stream in streams().values():
        for suite, noise, level in runs_of(MAIN, FACTS):
            specs = MAIN.suites[suite].algorithms
            members = [member for spec in specs for member in make_members(spec)]
            block = play_suite(
                stream,
                members,
                noise=noise,
                mu=FACTS.levels[level],
                seed=FACTS.seed,
                replicates=range(REPLICATES),
            )
            cells += [scores_of(each, block.replicates, block.best) for each in block.played]
    return tables_of(cells, streams(), MAIN, FACTS)
