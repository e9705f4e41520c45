"""Learning a distribution from locally private labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from dpol.show.papers import DISTRIBUTIONS
from dpol.studies.labels.points import settings_of
from dpol.studies.labels.settings import Labels
from dpol.studies.study import Figure, Point, Study, Table

_HERE = "dpol.studies.labels"
# Masses that a learner predicts (replicates x rounds x labels): a quarter of a minute. Where there
# are more, each variant is a point of its own.
_LARGEST = 7e9
_RISK = Figure(
    name="labels-risk",
    title="KL risk of learning from private labels",
    description="KL risk in nats on a logarithmic axis, against the number of rounds T, labels M,"
    " hypotheses K or the privacy ε of a message: a panel for each that was varied, a line for the"
    " mean of each algorithm, a dot for each run, black lines for bounds. The numbers are in the"
    " table below.",
    draw=f"{_HERE}.figures:risk",
)
_SELECTION = Figure(
    name="labels-selection",
    title="Selecting the true hypothesis",
    description="Total variation distance between estimate and truth against the number of rounds"
    " T, both on logarithmic axes: a panel for each class of hypotheses and rule of selection, a"
    " line for the mean of each algorithm, a dot for each run, black lines for the slopes T^(−1/4)"
    " and T^(−1/2).",
    draw=f"{_HERE}.figures:selection",
)
_HOSPITALS = Figure(
    name="labels-hospitals",
    title="In which hospital is a random patient?",
    description="Log loss minus that of the best forecast in hindsight, in nats per patient: a"
    " panel for each stream, groups of points for each ε, a marker for the mean of each algorithm,"
    " a dot for each run. The runs differ in their noise only; they do not cover other states or"
    " years.",
    draw=f"{_HERE}.hospital_figure:hospitals",
)


def points(settings: Labels, streams: Sequence[str]) -> dict[str, Point]:
    """A point for each synthetic class and stream, or where that takes long for each variant.

    >>> list(points(Labels(sweeps={"labels": [10], "rounds": [1000]}), []))
    ['rounds-0', 'rounds-0-hard', 'labels-0']
    """
    found: dict[str, Point] = {}
    for label, setting in settings_of(settings):
        if settings.replicates * setting.n_rounds * setting.n_labels <= _LARGEST:
            found[label] = asdict(setting)
        else:
            from dpol.studies.labels.registry import variants

            for name, rule in variants():
                found[f"{label}-{name}-{rule}"] = {**asdict(setting), "variant": [name, rule]}
    if settings.patients_per_week is not None:
        found |= {f"hospitals-{label}": {"stream": label} for label in streams}
    return found


def _figures(settings: Labels) -> Iterator[Figure]:
    sweeps = settings.sweeps
    if sweeps.rounds or sweeps.labels or sweeps.hypotheses or sweeps.epsilons:
        yield _RISK
    if sweeps.rounds:
        yield _SELECTION
    if settings.patients_per_week is not None:
        yield _HOSPITALS


STUDY = Study(
    name="labels",
    title="Distributions from private labels",
    about="A learner predicts labels from messages that hide each of them: the system of"
    f" “{DISTRIBUTIONS}”, which has no experiments of its own.",
    settings=Labels,
    folder=Path(__file__).parent,
    results=("labels",),
    points=points,
    run=f"{_HERE}.study:run",
    collect=f"{_HERE}.study:collect",
    figures=lambda settings: tuple(_figures(settings)),
    tables=(Table("labels", "Learning from private labels", f"{_HERE}.table:labels"),),
)
