"""The study of L2P for online convex optimisation: its regret and its competitors'."""

from __future__ import annotations

import itertools

from dpol.studies.lazy.convex.settings import LINEAR, Convex
from dpol.studies.study import Facts, Point, Study


def points(settings: Convex, facts: Facts) -> dict[str, Point]:
    """Return a point for each T, d and game: one loss sequence, all algorithms and epsilons.

    >>> facts = Facts({}, simulated=True, confidence=0.95)
    >>> sizes = {"n_rounds": [100, 200], "dimensions": [2], "more_dimensions": [4]}
    >>> list(points(Convex(**sizes, epsilons=[1], games=["linear-ball", "logistic-box"]), facts))
    ['T100-d2', 'T100-d2-logistic-box', 'T200-d2', 'T200-d2-logistic-box', 'T200-d4']
    """
    played = list(itertools.product(settings.n_rounds, settings.dimensions, settings.games))
    played += [(max(settings.n_rounds), d, LINEAR) for d in settings.more_dimensions]
    by_label: dict[str, Point] = {}
    for T, d, game in played:
        label = f"T{T}-d{d}" if game == LINEAR else f"T{T}-d{d}-{game}"
        sizes = {"n_rounds": [T], "dimensions": [d], "more_dimensions": [], "games": [game]}
        one = settings.model_copy(update=sizes).model_dump(mode="json")
        by_label[label] = Point(settings={"convex": one}, seconds=3.0)
    return by_label


def exponents_left_out(settings: Convex, facts: Facts) -> frozenset[str]:
    """Return the name of the table of exponents if no size has two values."""
    dimensions = {*settings.dimensions, *settings.more_dimensions}
    most = max(len(dimensions), len(set(settings.n_rounds)), len(set(settings.epsilons)))
    return frozenset() if most > 1 else frozenset({"convex-exponents"})


STUDY = Study(
    name="convex",
    title="Lazy algorithms: L2P for convex losses",
    settings=Convex,
    package="dpol.studies.lazy.convex",
    results=("convex",),
    optional=exponents_left_out,
    points=points,
)
