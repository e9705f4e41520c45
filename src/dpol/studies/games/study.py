"""The main study: algorithms side by side on gain streams."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from dpol.noise import NO_NOISE
from dpol.privacy.settings import label_of_level
from dpol.studies.games.settings import GamePoint, GamesSettings
from dpol.studies.study import Facts, Job, Study

BLOCK = 100
"""Replicates of the first job of a place; each later job doubles the replicates so far."""


def jobs(settings: GamesSettings, facts: Facts) -> dict[str, Job[GamePoint]]:
    """Return a job for each stream, level, suite and block of replicates, in order of suites.

    A suite without privacy plays only at the level without noise.
    """
    made: dict[str, Job[GamePoint]] = {}
    suites = settings.suites.items()
    played = [(label, suite.by_noise, suite.modules) for label, suite in suites]
    for stream, (label, games, code), mu, (first, last) in product(
        facts.streams, played, facts.levels, blocks_of(settings.replicates)
    ):
        if [*games] == [NO_NOISE] and mu < float("inf"):
            continue
        made[f"{stream}/{label_of_level(mu)}/{label}/{first}-{last}"] = Job(
            points=tuple(
                GamePoint(
                    suite=label,
                    algorithms=own,
                    noise=noise,
                    mu=mu,
                    block=(first, last),
                    memory=settings.memory,
                    keep_rounds=settings.keep_rounds,
                )
                for noise, own in games.items()
            ),
            inputs={"stream": f"streams/{stream}.parquet"},
            code=code,
        )
    return made


def blocks_of(replicates: int) -> Iterator[tuple[int, int]]:
    """Yield the first and the last replicate of each block.

    Only the end of the last block depends on the number of replicates, so with more of them the
    full blocks are kept.

    >>> list(blocks_of(250)), len(list(blocks_of(1_000_000)))
    ([(0, 99), (100, 199), (200, 249)], 15)
    """
    first, end = 0, BLOCK
    while first < replicates:
        yield first, min(end, replicates) - 1
        first, end = end, 2 * end


def not_asked(settings: GamesSettings, facts: Facts) -> frozenset[str]:
    """Return the names of the tables and figures that the settings do not ask for."""
    paper = settings.has_table_2(facts)
    asked = {
        "rounds": settings.keep_rounds,
        "table-2": paper,
        "figure-2": paper,
        "replay": facts.replayed,
        # Too many panels for a page.
        "cumulative": not facts.asks_several,
        "switches": not facts.asks_several,
    }
    return frozenset(name for name, is_asked in asked.items() if not is_asked)


STUDY = Study(
    name="games",
    title="Games",
    settings=GamesSettings,
    package="dpol.studies.games",
    results=("summary", "totals", "cumulative", "switches", "replay"),
    optional=not_asked,
    jobs=jobs,
    written=("scores", "curves", "rounds"),
    collects=("streams", "questions", "levels", "delta", "confidence", "replayed"),
    draws=(
        *("streams", "levels", "confidence", "simulated", "form"),
        *("asks_the_papers", "reported"),
    ),
)
