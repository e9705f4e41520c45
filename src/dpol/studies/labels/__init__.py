"""The study of learning a distribution from locally private labels."""

from __future__ import annotations

from dpol.show.papers import DISTRIBUTIONS, cited
from dpol.studies.labels.points import has_slopes, points
from dpol.studies.labels.settings import Labels
from dpol.studies.study import Facts, Study

_HERE = "dpol.studies.labels"


def not_asked(settings: Labels, facts: Facts) -> frozenset[str]:
    """Return the names of the figures and tables that these settings do not ask for."""
    asked = {
        "labels-risk": bool(settings.sweeps.labels or settings.sweeps.epsilons),
        "labels-risk-others": bool(settings.sweeps.rounds or settings.sweeps.hypotheses),
        "labels-selection": bool(settings.sweeps.rounds),
        "labels-features": bool(settings.sweeps.features),
        "labels-slopes": has_slopes(settings),
        "labels-hospitals": settings.patients_per_week is not None,
    }
    return frozenset(name for name, is_asked in asked.items() if not is_asked)


STUDY = Study(
    name="labels",
    title="Distributions from private labels",
    about="A learner predicts labels from messages that hide each label. This is the system of"
    f" {cited(DISTRIBUTIONS)}, which reports no experiments.",
    settings=Labels,
    module=__name__,
    results=("labels",),
    optional=not_asked,
    points=points,
    run=f"{_HERE}.study:run",
    collect=f"{_HERE}.study:collect",
)
