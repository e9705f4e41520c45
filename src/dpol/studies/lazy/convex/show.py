"""The section of the page on L2P for convex losses."""

from __future__ import annotations

from dpol.studies.lazy.exponents import exponents_table
from dpol.studies.lazy.rates import rates_table
from dpol.studies.lazy.regrets_shown import draw_regret, regret_table
from dpol.studies.showing import FigureSpec, SectionSpec, TableSpec

SECTIONS = {
    "convex": SectionSpec(
        figures={
            "convex-regret": FigureSpec(
                draw=draw_regret,
                title="Regret against the best point of the body",
                description="There is a row of panels for each game and dimension d, and a column"
                " for each number of rounds T. A panel shows mean regret on a logarithmic axis"
                " (less is better), with a row for each algorithm and a marker for each ε. Bars are"
                " intervals (Student’s t) that hold together; a bar that leaves the panel reaches 0"
                " or less. They cover the randomness of the runs on these losses, not other losses."
                " Means of 0 or less have no marker.",
            ),
        },
        tables={
            "convex-regret": TableSpec(
                build=regret_table,
                title="Regret, convex losses",
                place="file",
            ),
            "convex-stated-rates": TableSpec(
                build=rates_table,
                title="The paper’s Table 1, convex losses",
                place="first",
            ),
            "convex-exponents": TableSpec(
                build=exponents_table,
                title="Exponents of regret, convex losses",
                place="file",
            ),
        },
    ),
}
"""Sections of the page."""
