"""Comparison of the baseline, the tuned baseline and ours on the games of the main study."""

from __future__ import annotations

from itertools import chain, product
from typing import Any

from dpol.experts.registry import modules_of
from dpol.noise import CAPACITY, MEMORY, module_of_noise
from dpol.studies.comparison.points import (
    ComparisonPoint,
    Game,
    MemoryPoint,
    ReadingsPoint,
    SystemsPoint,
)
from dpol.studies.comparison.settings import Comparison, NoiseMemories
from dpol.studies.study import Facts, Point, Study, reading_label


def points(settings: Comparison, facts: Facts) -> dict[str, Point[ComparisonPoint]]:
    """Return a point that compares the games played, and points that play others.

    They play each stream at further readings, and correlated and independent noise for each stream
    and unit of privacy.
    """
    jobs: dict[str, Point[ComparisonPoint]] = {
        "systems": Point(
            settings=SystemsPoint(
                comparison=settings.model_copy(update={"memory": None}),
                levels=facts.levels,
                confidence=facts.confidence,
                question_of=facts.question_of if facts.asks_several else {},
            ),
            inputs={"summary": "summary.parquet", "totals": "totals.parquet"},
            seconds=4.0,
        )
    }
    for stream in facts.streams if facts.readings else ():
        systems = entries_played(settings, facts)
        jobs[f"{stream}/readings"] = Point(
            settings=ReadingsPoint(
                stream=stream,
                readings=tuple(facts.readings),
                levels=facts.levels,
                systems=systems,
                replicates=facts.replicates,
            ),
            inputs={"stream": f"streams/{stream}.parquet"}
            | {name: f"streams/{reading_label(stream, name)}.parquet" for name in facts.readings},
            code=tuple(
                module
                for entry, noise in systems
                for module in (*modules_of(entry), module_of_noise(noise))
            ),
            seconds=10.0,
        )
    if memories := settings.memory:
        for stream, weeks in product(facts.streams, memories.weeks):
            readers = [(memories.algorithm, games_with_memory(memories))]
            code = [*modules_of(memories.algorithm), module_of_noise(MEMORY.name)]
            for rival in memories.rivals:
                levels = [rival.levels(mu, weeks, facts.delta).values() for mu in memories.mus]
                games = ((rival.noise, level) for level in dict.fromkeys(chain(*levels)))
                readers.append((rival.algorithm, tuple(games)))
                code += [*modules_of(rival.algorithm), module_of_noise(rival.noise)]
            jobs[f"{stream}/noise-memory/{weeks}-weeks"] = Point(
                settings=MemoryPoint(
                    readers=tuple(readers), weeks=weeks, replicates=facts.replicates
                ),
                inputs={"stream": f"streams/{stream}.parquet"},
                code=tuple(dict.fromkeys(code)),
                seconds=4.0,
            )
    return jobs


def entries_played(settings: Comparison, facts: Facts) -> tuple[tuple[Any, str], ...]:
    """Return entry of a suite and noise of each system that is compared, each once, ours last."""
    systems = dict.fromkeys(pair for pairs in settings.pairs.values() for pair in pairs)
    return tuple((facts.entries[algorithm], noise) for algorithm, noise in systems)


def games_with_memory(memories: NoiseMemories) -> tuple[Game, ...]:
    """Return the games: correlated noise at each mu, independent at it and the larger mu."""
    games = [
        game
        for mu in memories.mus
        for game in ((MEMORY.name, mu), (CAPACITY.name, mu), (CAPACITY.name, memories.times * mu))
    ]
    return tuple(dict.fromkeys(games))


def not_asked(settings: Comparison, facts: Facts) -> frozenset[str]:
    """Return the names of the result tables that the run does not ask for."""
    asked = {
        "questions": facts.asks_several,
        "memory": settings.memory is not None,
        "readings": bool(facts.readings),
    }
    return frozenset(name for name, is_asked in asked.items() if not is_asked)


STUDY = Study(
    name="comparison",
    title="Comparison of the baseline with ours",
    settings=Comparison,
    package="dpol.studies.comparison",
    results=("comparison", "readings", "memory", "questions"),
    optional=not_asked,
    points=points,
    shown=lambda settings: settings.pairs,
)
