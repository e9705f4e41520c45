"""The jobs of the main experiment: which algorithms play where, with which noise."""

from __future__ import annotations

import itertools

from dpol.experts.registry import make_members
from dpol.noise import NO_NOISE
from dpol.studies.games.settings import Games, Suite
from dpol.studies.study import Facts, Point

_SECONDS_OF_REPLICATE = 0.002
"""Expected of an entry of a suite with 50 experts and 100 rounds; algorithms take 0.1 to 4 times
that (benchmarks/README.md)."""


def points(settings: Games, facts: Facts) -> dict[str, Point]:
    """A point for each stream, suite, noise, level and block of replicates."""
    found: dict[str, Point] = {}
    blocks = range(n_blocks(settings, facts))
    for stream, run, block in itertools.product(facts.streams, runs_of(settings, facts), blocks):
        suite, noise, level = run
        algorithms, numbers = settings.suites[suite].algorithms, replicates(settings, facts, block)
        found[f"{stream}/{suite}/{noise}/{level}/block-{block}"] = {
            "inputs": {"stream": f"streams/{stream}.parquet"},
            "suite": algorithms,
            "games": [[noise, facts.levels[level]]],
            "replicates": numbers,
            "memory": facts.memory,
            "keep_rounds": settings.keep_rounds,
            "seconds": 0.3 + _SECONDS_OF_REPLICATE * len(algorithms) * len(numbers),
        }
    return found


def runs_of(settings: Games, facts: Facts) -> list[tuple[str, str, str]]:
    """Suite, noise and level of each run; of a suite without privacy, that without noise alone."""
    return [
        (name, noise, level)
        for name, suite in settings.suites.items()
        for noise in noises_of(suite)
        for level, mu in facts.levels.items()
        if noise != NO_NOISE or mu == float("inf")
    ]


def noises_of(suite: Suite) -> list[str]:
    """The noises of a suite, whose algorithms share one privacy model."""
    first, *_ = make_members(suite.algorithms[0])
    return [NO_NOISE] if first.algorithm.model == "none" else suite.noises


def n_blocks(settings: Games, facts: Facts) -> int:
    """Number of jobs that the replicates of one run are cut into."""
    return -(-facts.replicates // (settings.block_replicates or facts.replicates))


def replicates(settings: Games, facts: Facts, block: int) -> list[int]:
    """The numbers of the replicates in a block."""
    size = settings.block_replicates or facts.replicates
    return list(range(block * size, min((block + 1) * size, facts.replicates)))
