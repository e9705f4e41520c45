"""Learning a distribution from locally private labels."""

from __future__ import annotations

import itertools
from pathlib import Path

from dpol.show.papers import DISTRIBUTIONS
from dpol.studies.labels.points import points
from dpol.studies.labels.settings import Labels, LabelSweeps
from dpol.studies.study import FigureSpec, Study, TableSpec

_HERE = "dpol.studies.labels"
_RISK = FigureSpec(
    name="labels-risk",
    title="KL risk of learning from private labels",
    description="KL risk in nats on a logarithmic axis, against the number of rounds T, labels M,"
    " hypotheses K or the privacy ε of a message: a panel for each that was varied, a line for the"
    " mean of each algorithm, a dot for each run, black lines for bounds. The numbers are in the"
    " table below.",
    draw=f"{_HERE}.figures:risk",
)
_SELECTION = FigureSpec(
    name="labels-selection",
    title="Selecting the true hypothesis",
    description="Total variation distance between estimate and truth against the number of rounds"
    " T, both on logarithmic axes: a panel for each class of hypotheses and rule of selection, a"
    " line for the mean of each algorithm, a dot for each run, black lines for the slopes T^(−1/4)"
    " and T^(−1/2).",
    draw=f"{_HERE}.figures:selection",
    folded=True,
)
_HOSPITALS = FigureSpec(
    name="labels-hospitals",
    title="In which hospital is a random patient?",
    description="Log loss minus that of the best forecast in hindsight, in nats per patient: a"
    " panel for each stream, groups of points for each ε, a marker for the mean of each algorithm,"
    " a dot for each run. The runs differ in their noise only; they do not cover other states or"
    " years.",
    draw=f"{_HERE}.figures:hospitals",
    folded=True,
)


def _figures(settings: Labels) -> tuple[FigureSpec, ...]:
    sweeps = settings.sweeps
    shown = sweeps != LabelSweeps(), bool(sweeps.rounds), settings.patients_per_week is not None
    return tuple(itertools.compress((_RISK, _SELECTION, _HOSPITALS), shown))


STUDY = Study(
    name="labels",
    title="Distributions from private labels",
    about="A learner predicts labels from messages that hide each label. This is the system of"
    f" “{DISTRIBUTIONS}”, which has no experiments of its own.",
    settings=Labels,
    folder=Path(__file__).parent,
    results=("labels",),
    points=points,
    run=f"{_HERE}.study:run",
    collect=f"{_HERE}.study:collect",
    figures=_figures,
    tables=(
        TableSpec(
            name="labels", title="Learning from private labels", build=f"{_HERE}.table:labels"
        ),
    ),
)
