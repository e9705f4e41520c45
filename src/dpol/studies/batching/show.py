"""The section of the page on RW-AdaBatch: amplified privacy, and the regret that batching costs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dpol.show.papers import EXPERTS, cited
from dpol.studies.batching.settings import Batching
from dpol.studies.study import Facts, FigureSpec, Frames, Section, TableSpec

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpol.show.table import Table


@partial(
    FigureSpec,
    name="figure-1",
    title="The paper’s Figure 1",
    description="There is a panel for each number of experts n and each μ. A curve has the least"
    " rate of false negatives with which somebody who sees only the actions can test for one"
    " round’s gains, at each rate of false positives. Dotted: without batches. From the paper’s"
    " text are trade-off curves, the two kinds of amplified curve, all-zero gains and 1,000 runs; α"
    " = 0.01 is from a summary. Our copy lost the figure and its settings, so n, μ, T and t are our"
    " choice.",
)
def _draw_figure_1(frames: Frames, settings: Batching, facts: Facts) -> Figure:
    from dpol.studies.batching.paper import draw_figure_1

    return draw_figure_1(frames, settings, facts)


@partial(TableSpec, name="table-1", title="The paper’s Table 1", place="seen")
def _table_1(frames: Frames, settings: Batching, facts: Facts) -> Table:
    from dpol.studies.batching.paper import table_1

    return table_1(frames, settings, facts)


@partial(TableSpec, name="amplification", title="Amplified privacy", place="folded")
def _amplification(frames: Frames, settings: Batching, facts: Facts) -> Table:
    from dpol.studies.batching.shown import amplification

    return amplification(frames, settings, facts)


@partial(TableSpec, name="batching", title="What batching costs", place="folded")
def _batching(frames: Frames, settings: Batching, facts: Facts) -> Table:
    from dpol.studies.batching.shown import batching

    return batching(frames, settings, facts)


SECTIONS = (
    Section(
        name="batching",
        chapter="first",
        title="Figure 1 and Table 1: amplified privacy and regret",
        about="RW-AdaBatch repeats its action while its leader is far ahead. Somebody who"
        " sees only the actions then learns less about one round than the noise alone would"
        f" allow. Figure 1 and Table 1 are those of {cited(EXPERTS)}.",
        results=("amplification", "batching"),
        figures=(_draw_figure_1,),
        tables=(_table_1, _amplification, _batching),
    ),
)
"""Sections of the page, in their order."""
