"""Regret of L2P for online convex optimisation, compared with its competitors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from dpol.show.papers import LAZY
from dpol.studies.lazy.convex.settings import Convex
from dpol.studies.study import Point, Study

_HERE = "dpol.studies.lazy.convex"


def points(settings: Convex, streams: Sequence[str]) -> dict[str, Point]:
    """A point for each T and d: one loss sequence, all algorithms at all epsilons.

    >>> list(points(Convex(n_rounds=[100, 200], dimensions=[2, 3], epsilons=[1]), []))
    ['T100-d2', 'T100-d3', 'T200-d2', 'T200-d3']
    """
    return {
        f"T{T}-d{d}": {"n_rounds": T, "dimension": d}
        for T, d in itertools.product(settings.n_rounds, settings.dimensions)
    }


STUDY = Study(
    name="convex",
    title="Lazy algorithms: L2P for convex losses",
    about="L2P for online convex optimisation on a ball, as in"
    f" “{LAZY}”. Linear losses are the theorem’s hard case.",
    settings=Convex,
    module=__name__,
    results=("convex",),
    points=points,
    run=f"{_HERE}.study:run",
    collect=f"{_HERE}.study:collect",
)
