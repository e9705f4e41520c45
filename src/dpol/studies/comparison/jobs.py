"""What the jobs of the comparison compute."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from dpol.core.schemas import read_frame
from dpol.studies.comparison.ablation import ablate
from dpol.studies.comparison.cells import cells_of
from dpol.studies.comparison.comparison import compare
from dpol.studies.comparison.noise_memory import compare_memories, play_memories
from dpol.studies.comparison.questions import compare_questions
from dpol.studies.comparison.settings import Comparison
from dpol.studies.games import schema
from dpol.studies.study import Facts, Inputs, Point

NOTHING = pd.DataFrame()


def run(settings: None, point: Point, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """The tables of what was played, or the total gains of games with memory.

    Raises:
        DataError: a table of the main study is missing, or not what its schema says.
        ValueError: a system that is compared was not played.
    """
    found = dict.fromkeys(("comparison", "ablation", "questions", "memory"), NOTHING)
    if "stream" in inputs.files:
        return found | {"memory": play_memories(point, inputs)}
    summary, totals = (read_frame(inputs.files[it], schema(it)) for it in ("summary", "totals"))
    cells = cells_of(summary, totals)
    comparison = Comparison.model_validate(point["comparison"])
    levels, confidence = point["levels"], point["confidence"]
    found["comparison"] = compare(cells, comparison, levels, confidence)
    if comparison.ablated:
        found["ablation"] = ablate(cells, comparison, levels, confidence)
    if asked := point["asked"]:
        found["questions"] = compare_questions(
            cells, summary, comparison, levels, asked, confidence
        )
    return found


def collect(
    parts: Mapping[str, pd.DataFrame], settings: Comparison, facts: Facts
) -> dict[str, pd.DataFrame]:
    """The result tables; the intervals of all games with memory hold together."""
    found = {name: frame for name, frame in parts.items() if len(frame)}
    if settings.memory:
        found["memory"] = compare_memories(
            parts["memory"], settings.memory, delta=facts.delta, confidence=facts.confidence
        )
    return found
