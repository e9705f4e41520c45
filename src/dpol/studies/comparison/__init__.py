"""The comparison of the baseline, its tuned forms and ours, on what the main study played."""

from __future__ import annotations

from dpol.noise import CAPACITY, MEMORY
from dpol.studies.comparison.settings import Comparison, NoiseMemories
from dpol.studies.study import Facts, Point, Study

_HERE = "dpol.studies.comparison"


def points(settings: Comparison, facts: Facts) -> dict[str, Point]:
    """A point that compares what was played, and one for each stream and unit of privacy.

    The latter play correlated noise and independent noise.
    """
    found: dict[str, Point] = {
        "systems": {
            "inputs": {"summary": "summary.parquet", "totals": "totals.parquet"},
            "comparison": settings.model_dump(mode="json", exclude={"memory"}),
            "levels": dict(facts.levels),
            "confidence": facts.confidence,
            "asked": dict(facts.asked) if facts.asks_several else {},
        }
    }
    if memories := settings.memory:
        for stream in facts.streams:
            for weeks in memories.weeks:
                found[f"{stream}/noise-memory/{weeks}-weeks"] = {
                    "inputs": {"stream": f"streams/{stream}.parquet"},
                    "suite": [memories.algorithm],
                    "games": games_with_memory(memories),
                    "weeks": weeks,
                    "replicates": facts.replicates,
                }
    return found


def games_with_memory(memories: NoiseMemories) -> list[list[str | float]]:
    """Noise and mu of each game: with memory, and independent at the same and at the larger mu."""
    games = [
        game
        for mu in memories.mus
        for game in ((MEMORY.name, mu), (CAPACITY.name, mu), (CAPACITY.name, memories.times * mu))
    ]
    return [list(game) for game in dict.fromkeys(games)]


def not_asked(settings: Comparison, facts: Facts) -> frozenset[str]:
    """The result tables that a run does not ask for."""
    asked = {
        "ablation": settings.ablated,
        "questions": facts.asks_several,
        "memory": settings.memory is not None,
    }
    return frozenset(name for name, is_asked in asked.items() if not is_asked)


STUDY = Study(
    name="comparison",
    title="Comparison of the baseline with ours",
    about="The baseline compared with ours, and the separate costs of noise, learners and"
    " selection.",
    settings=Comparison,
    module=__name__,
    results=("comparison", "ablation", "memory", "questions"),
    optional=not_asked,
    points=points,
    seconds=4.0,
    run=f"{_HERE}.jobs:run",
    whole_points=True,
    collect=f"{_HERE}.jobs:collect",
    answers=f"{_HERE}.answers:answers",
)
