"""The study of learning a distribution from locally private labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dpol.labels.hard_pairs import hardness
from dpol.studies.paper3.settings import (
    COLUMN_OF,
    N_HYPOTHESES,
    N_LABELS,
    ClassPoint,
    Labels,
    LabelsPoint,
    LabelSweeps,
)
from dpol.studies.study import Facts, Job, Study


def jobs(settings: Labels, facts: Facts) -> dict[str, Job[LabelsPoint]]:
    """Return a job for the sweeps over synthetic classes, and one for each stream.

    >>> facts = Facts({}, simulated=True, confidence=0.95)
    >>> list(jobs(Labels(sweeps={"labels": [10, 100], "rounds": [1000, 3000]}), facts))
    ['sweeps']
    """
    by_place: dict[str, Job[LabelsPoint]] = {}
    if classes := tuple(_classes(settings)):
        by_place["sweeps"] = Job(points=classes, seconds=1.5 * len(classes))
    if settings.patients_per_week is not None:
        epsilons = settings.sweeps.epsilons or [settings.epsilon]
        hospitals = Labels(
            sweeps=LabelSweeps(epsilons=epsilons),
            patients_per_week=settings.patients_per_week,
            replicates=settings.replicates,
        )
        for label in facts.streams:
            files = {"stream": f"streams/{label}.parquet"}
            by_place[f"hospitals-{label}"] = Job(points=(hospitals,), inputs=files, seconds=4.0)
    return by_place


def _classes(study: Labels) -> Iterator[ClassPoint]:
    """Yield all synthetic classes, in the order of the rows."""
    base = ClassPoint(
        sweep="",
        kind="random",
        K=N_HYPOTHESES,
        M=N_LABELS,
        T=study.n_rounds,
        epsilon=study.epsilon,
        replicates=study.replicates,
    )
    for sweep, field in COLUMN_OF.items():
        for value in getattr(study.sweeps, sweep):
            changed: dict[str, Any] = {"sweep": sweep, field: value}
            point = replace(base, **changed)
            yield point
            pairs = N_HYPOTHESES // 2
            if sweep == "rounds" and hardness(pairs, point.T, point.epsilon) <= 1:
                yield replace(point, kind="hard", M=1 << pairs.bit_length())


def without_sweeps(settings: Labels, facts: Facts) -> frozenset[str]:
    """Return the names of the figures whose rows these settings do not ask for."""
    return frozenset() if settings.sweeps.rounds else frozenset({"labels-selection"})


STUDY = Study(
    name="labels",
    title="Distributions from private labels",
    settings=Labels,
    package="dpol.studies.paper3",
    results=("labels",),
    optional=without_sweeps,
    jobs=jobs,
    collects=("confidence",),
    draws=("streams", "simulated", "form"),
)
