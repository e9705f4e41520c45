"""The section of the page on L2P for convex losses."""

from __future__ import annotations

from dpol.show.papers import LAZY, cited
from dpol.studies.study import FigureSpec, Section, TableSpec

SECTIONS = (
    Section(
        name="convex",
        chapter="second",
        title="Table 1: convex losses",
        about="L2P for online convex optimisation on a ball, a box or a simplex, as in"
        f" {cited(LAZY)}. Linear losses on a ball are the theorem’s hard case.",
        results=("convex",),
        figures=(
            FigureSpec(
                "..regrets_shown:draw_regret",
                name="convex-regret",
                title="Regret against the best point of the body",
                description="There is a row of panels for each game and dimension d, and a column"
                " for each number of rounds T. A panel shows mean regret on a logarithmic axis"
                " (less is better), with a row for each algorithm and a marker for each ε. Bars are"
                " intervals (Student’s t) that hold together; a bar that leaves the panel reaches 0"
                " or less. They cover the randomness of the runs on these losses, not other losses."
                " Means of 0 or less have no marker.",
            ),
        ),
        tables=(
            TableSpec(
                "..regrets_shown:regret_table",
                name="convex-regret",
                title="Regret, convex losses",
                place="file",
            ),
            TableSpec(
                "..rates:rates_table",
                name="convex-stated-rates",
                title="The paper’s Table 1, convex losses",
                place="first",
            ),
        ),
    ),
)
"""Sections of the page, in their order."""
