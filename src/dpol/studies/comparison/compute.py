"""Jobs of the comparison."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from dpol.core.schemas import read_frame
from dpol.studies.comparison.comparison import compare
from dpol.studies.comparison.noise_memory import compare_memories, play_memories
from dpol.studies.comparison.points import ComparisonPoint, MemoryPoint, ReadingsPoint
from dpol.studies.comparison.questions import compare_questions
from dpol.studies.comparison.readings import agreed, play_readings, with_verdicts
from dpol.studies.comparison.run_totals import run_totals
from dpol.studies.comparison.settings import Comparison
from dpol.studies.games.summary import schema
from dpol.studies.jobs import read_rows
from dpol.studies.study import Facts, FileLists, Inputs

POINT = ComparisonPoint
NOTHING = pd.DataFrame()


def run(point: ComparisonPoint, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """Compare the games played, or play others: at further readings, with correlated noise.

    Raises:
        DataError: a table of the main study is missing or does not match its schema.
        ValueError: a system of the comparison was not played.
    """
    tables = dict.fromkeys(("comparison", "questions", "memory", "readings"), NOTHING)
    if isinstance(point, ReadingsPoint):
        return tables | {"readings": play_readings(point, inputs)}
    if isinstance(point, MemoryPoint):
        return tables | {"memory": play_memories(point, inputs)}
    summary, totals = (read_frame(inputs.files[x], schema(x)) for x in ("summary", "totals"))
    runs = run_totals(summary, totals)
    comparison, levels, confidence = point.comparison, point.levels, point.confidence
    tables["comparison"] = compare(runs, comparison, levels, confidence)
    if point.question_of:
        tables["questions"] = compare_questions(
            runs, summary, comparison, levels, point.question_of, confidence
        )
    return tables


def collect(files: FileLists, settings: Comparison, facts: Facts) -> dict[str, pd.DataFrame]:
    """Return the result tables.

    The intervals of all games with correlated noise hold jointly, and those at further readings.
    """
    asked = ("comparison", "questions", "memory", "readings")
    tables = {name: read_rows(files[name]) for name in asked if name in files}
    if facts.readings:
        tables["readings"] = with_verdicts(tables["readings"], facts.confidence)
    if "comparison" in tables:
        (summary,) = (read_frame(Path(path), schema("summary")) for path in files["summary"])
        readings = tables["readings"] if facts.readings else None
        tables["comparison"] = agreed(tables["comparison"], readings, summary)
    if settings.memory:
        tables["memory"] = compare_memories(
            tables["memory"], settings.memory, delta=facts.delta, confidence=facts.confidence
        )
    return tables
