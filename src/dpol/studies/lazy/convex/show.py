"""The section of the page on L2P for convex losses."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dpol.show.papers import LAZY, cited
from dpol.studies.lazy.convex.settings import Convex
from dpol.studies.study import Facts, FigureSpec, Frames, Section, TableSpec

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpol.show.table import Table


@partial(
    FigureSpec,
    name="convex-regret",
    title="What each algorithm learns",
    description="There is a row for each algorithm, the best on top, a panel for each game and ε,"
    " and a marker for each dimension d. 0% is the regret of a point that never moves, the centre"
    " of the body; 100% is the regret of gradient descent without privacy. The games are the"
    " longest. Bars are intervals (Student’s t) that hold together. They cover the randomness of"
    " the runs on these losses, not other losses.",
)
def _draw_learned(frames: Frames, settings: Convex, facts: Facts) -> Figure:
    from dpol.studies.lazy.regrets_shown import draw_learned

    return draw_learned(frames, settings, facts)


@partial(TableSpec, name="convex-regret", title="Regret, convex losses", place="file")
def _regret_table(frames: Frames, settings: Convex, facts: Facts) -> Table:
    from dpol.studies.lazy.regrets_shown import regret_table

    return regret_table(frames, settings, facts)


@partial(
    TableSpec, name="convex-stated-rates", title="The paper’s Table 1, convex losses", place="first"
)
def _rates_table(frames: Frames, settings: Convex, facts: Facts) -> Table:
    from dpol.studies.lazy.rates import rates_table

    return rates_table(frames, settings, facts)


SECTIONS = (
    Section(
        name="convex",
        chapter="second",
        title="Table 1: convex losses",
        about="L2P for online convex optimisation on a ball, a box or a simplex, as in"
        f" {cited(LAZY)}. Linear losses on a ball are the theorem’s hard case.",
        results=("convex",),
        figures=(_draw_learned,),
        tables=(_regret_table, _rates_table),
    ),
)
"""Sections of the page, in their order."""
