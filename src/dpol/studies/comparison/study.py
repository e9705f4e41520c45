"""Comparison of the baseline, the tuned baseline and ours on the games of the main study."""

from __future__ import annotations

from itertools import chain, product

from dpol.experts.registry import modules_of
from dpol.noise import CAPACITY, MEMORY, module_of_noise
from dpol.studies.comparison.settings import Comparison, NoiseMemories
from dpol.studies.study import Facts, Point, Study


def points(settings: Comparison, facts: Facts) -> dict[str, Point]:
    """Return one point that compares the games played, and one per stream and unit of privacy.

    The latter play correlated and independent noise.
    """
    jobs: dict[str, Point] = {
        "systems": Point(
            settings={
                "comparison": settings.model_dump(mode="json", exclude={"memory"}),
                "levels": dict(facts.levels),
                "confidence": facts.confidence,
                "asked": dict(facts.asked) if facts.asks_several else {},
            },
            inputs={"summary": "summary.parquet", "totals": "totals.parquet"},
            seconds=4.0,
        )
    }
    if memories := settings.memory:
        for stream, weeks in product(facts.streams, memories.weeks):
            readers = [[memories.algorithm, games_with_memory(memories)]]
            code = [*modules_of(memories.algorithm), module_of_noise(MEMORY.name)]
            for rival in memories.rivals:
                levels = [rival.levels(mu, weeks, facts.delta).values() for mu in memories.mus]
                games = [[rival.noise, level] for level in dict.fromkeys(chain(*levels))]
                readers.append([rival.algorithm, games])
                code += [*modules_of(rival.algorithm), module_of_noise(rival.noise)]
            jobs[f"{stream}/noise-memory/{weeks}-weeks"] = Point(
                settings={"readers": readers, "weeks": weeks, "replicates": facts.replicates},
                inputs={"stream": f"streams/{stream}.parquet"},
                code=tuple(dict.fromkeys(code)),
                seconds=4.0,
            )
    return jobs


def games_with_memory(memories: NoiseMemories) -> list[list[str | float]]:
    """Return the games (noise, mu): correlated at each mu, independent at it and the larger mu."""
    games = [
        game
        for mu in memories.mus
        for game in ((MEMORY.name, mu), (CAPACITY.name, mu), (CAPACITY.name, memories.times * mu))
    ]
    return [list(game) for game in dict.fromkeys(games)]


def not_asked(settings: Comparison, facts: Facts) -> frozenset[str]:
    """Return the names of the result tables that the run does not ask for."""
    asked = {
        "questions": facts.asks_several,
        "memory": settings.memory is not None,
    }
    return frozenset(name for name, is_asked in asked.items() if not is_asked)


STUDY = Study(
    name="comparison",
    title="Comparison of the baseline with ours",
    settings=Comparison,
    package="dpol.studies.comparison",
    results=("comparison", "memory", "questions"),
    optional=not_asked,
    points=points,
)
