"""The study of RW-AdaBatch: how much its batches amplify privacy, and what they cost."""

from __future__ import annotations

from dpol.show.papers import EXPERTS, cited
from dpol.studies.batching.settings import Batching
from dpol.studies.study import Facts, Point, Section, Study


def points(settings: Batching, facts: Facts) -> dict[str, Point]:
    """Return a point for each number of experts."""
    by_label: dict[str, Point] = {}
    for n in settings.n_experts:
        block = settings.model_copy(update={"n_experts": [n]}).model_dump(mode="json")
        by_label[f"n-{n}"] = Point(settings={"batching": block, "delta": facts.delta})
    return by_label


STUDY = Study(
    name="batching",
    title="Privacy amplified by batches",
    settings=Batching,
    package="dpol.studies.batching",
    results=("amplification", "batching"),
    sections=(
        Section(
            name="batching",
            about="RW-AdaBatch repeats its action while its leader is far ahead. Somebody who"
            " sees only the actions then learns less about one round than the noise alone would"
            f" allow. Figure 1 and Table 1 are those of {cited(EXPERTS)}.",
            results=("amplification", "batching"),
            figures=("figure-1",),
            tables=("table-1", "amplification", "batching"),
        ),
    ),
    points=points,
)
