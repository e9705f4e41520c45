"""Jobs of the standings."""

from __future__ import annotations

import pandas as pd

from dpol.core.schemas import read_frame
from dpol.studies.comparison.noise_memory import compare_memories, play_memories
from dpol.studies.comparison.readings import agreed, play_reading, with_verdicts
from dpol.studies.comparison.settings import Comparison, ComparisonPoint, MemoryPoint, ReadingPoint
from dpol.studies.comparison.standings import standings
from dpol.studies.games.collect import schema
from dpol.studies.jobs import read_points
from dpol.studies.study import Facts, FileLists, Inputs

POINT = ComparisonPoint
RESULTS = "standings", "readings", "memory"


def run(point: ComparisonPoint, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """Make the standings of the games played, or play others.

    Other games are at further readings, and with correlated noise.

    Raises:
        DataError: a table of the main study is missing or does not match its schema.
        ValueError: the systems of a stream and level have different numbers of replicates.
    """
    tables = dict.fromkeys(RESULTS, pd.DataFrame())
    if isinstance(point, ReadingPoint):
        return tables | {"readings": play_reading(point, inputs)}
    if isinstance(point, MemoryPoint):
        return tables | {"memory": play_memories(point, inputs)}
    summary, totals = (read_frame(inputs.files[x], schema(x)) for x in ("summary", "totals"))
    return tables | {"standings": standings(summary, totals, point)}


def collect(files: FileLists, settings: Comparison, facts: Facts) -> dict[str, pd.DataFrame]:
    """Return the result tables.

    The intervals of all games with correlated noise hold jointly, and those at further readings.
    """
    tables = {name: read_points(paths) for name, paths in files.items() if name in RESULTS}
    if "readings" in tables:
        tables["readings"] = with_verdicts(tables["readings"], facts.confidence)
        tables["standings"] = agreed(tables["standings"], tables["readings"])
    if settings.memory:
        tables["memory"] = compare_memories(
            tables["memory"], settings.memory, delta=facts.delta, confidence=facts.confidence
        )
    return tables
