"""Regret of L2P for experts, compared with its competitors, on synthetic losses."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from dpol.show.papers import LAZY
from dpol.studies.lazy.settings import ADVERSARIES, LEADERS, Lazy, algorithms_of
from dpol.studies.study import FigureSpec, Point, Study, TableSpec

_HERE = "dpol.studies.lazy"
LONG = 200_000
"""Number of rounds from which on each adversary is a point of its own."""
REGRETS = (
    "Mean regret against the number of rounds T, both on logarithmic axes. A panel for each"
    " dimension d (rows) and privacy ε (columns); a marker for each algorithm, those of one T side"
    " by side, joined by a line where there are at least three T. Bars are intervals (Student’s t)"
    " that hold together; one that leaves the panel below reaches 0 or less. They cover the"
    " randomness of the runs on these losses, not other losses. Means of 0 or less have no marker."
    " All numbers are in the table of measured regret."
)
"""Caption of the intervals in figures of regret."""
_FIGURES = (
    FigureSpec(
        name="lazy-rates",
        title="Rates that the paper of L2P states",
        description="Three panels: online convex optimisation with d = polylog T and with d ="
        " T^(1/3), and prediction with d = T experts. Each draws the exponent b of the regret T^b"
        " against a, where ε = T^(−a): L2P, prior work, and the lower bound for few switches where"
        " one is known. A shade marks where L2P is worse than prior work. Formulas of the paper"
        " are drawn; nothing is measured.",
        draw=f"{_HERE}.rates:draw_rates",
    ),
    FigureSpec(
        name="lazy-regret",
        title="Regret against the best of d experts",
        description=REGRETS,
        draw=f"{_HERE}.shown:draw_regret",
    ),
)


def points(settings: Lazy, streams: Sequence[str]) -> dict[str, Point]:
    """A point for each T and d; in long games for each adversary.

    >>> labels = list(points(Lazy(n_rounds=[100, 10**6], n_experts=[2], epsilons=[1]), []))
    >>> len(labels), labels[:2]
    (3, ['T100-d2', 'T1000000-d2-stochastic'])
    """
    found: dict[str, Point] = {}
    for T, d in itertools.product(settings.n_rounds, settings.n_experts):
        algorithms = algorithms_of(settings)
        if T * d > settings.largest_tree:
            algorithms = algorithms[: -len(LEADERS)]
        game = {"n_rounds": T, "n_experts": d, "algorithms": list(algorithms)}
        if T < LONG:
            found[f"T{T}-d{d}"] = game | {"adversaries": list(ADVERSARIES)}
            continue
        for adversary in ADVERSARIES:
            found[f"T{T}-d{d}-{adversary}"] = game | {"adversaries": [adversary]}
    return found


STUDY = Study(
    name="lazy",
    title="Lazy algorithms: L2P for experts",
    about="L2P redraws its action only now and then, and hides why. The first figure shows what"
    f" “{LAZY}” states. This run measured the regrets.",
    settings=Lazy,
    folder=Path(__file__).parent,
    results=("lazy",),
    points=points,
    run=f"{_HERE}.study:run",
    collect=f"{_HERE}.study:collect",
    figures=lambda settings: _FIGURES,
    tables=(
        TableSpec(name="lazy-regret", title="Regret, experts", build=f"{_HERE}.shown:regret_table"),
    ),
)
