"""The jobs of the main experiment: which algorithms play where, with which noise."""

from __future__ import annotations

import itertools

from dpol.experts.registry import make_members
from dpol.noise import NO_NOISE
from dpol.studies.games.settings import Games, Suite
from dpol.studies.study import Facts, Point


def points(settings: Games, facts: Facts) -> dict[str, Point]:
    """A point for each stream, job and block of replicates."""
    found: dict[str, Point] = {}
    jobs, count = jobs_of(settings, facts), n_blocks(settings, facts)
    for stream, (job, runs), block in itertools.product(facts.streams, jobs.items(), range(count)):
        suite = runs[0][0]
        found[f"{stream}/{job}/block-{block}"] = {
            "inputs": {"stream": f"streams/{stream}.parquet"},
            "suite": settings.suites[suite].algorithms,
            "games": [[noise, facts.levels[level]] for _, noise, level in runs],
            "replicates": replicates(settings, facts, block),
            "memory": facts.memory,
        }
    return found


def jobs_of(settings: Games, facts: Facts) -> dict[str, list[tuple[str, str, str]]]:
    """The runs of each job of a stream: one, or all of a suite if games are played together."""
    jobs: dict[str, list[tuple[str, str, str]]] = {}
    for suite, noise, level in runs_of(settings, facts):
        job = suite if settings.games_together else f"{suite}/{noise}/{level}"
        jobs.setdefault(job, []).append((suite, noise, level))
    return jobs


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
