"""The section of the page on L2P for experts."""

from __future__ import annotations

from dpol.studies.lazy.exponents import exponents_table
from dpol.studies.lazy.rates import draw_rates, rates_table
from dpol.studies.lazy.regrets_shown import draw_learned, regret_table
from dpol.studies.showing import FigureSpec, SectionSpec, TableSpec

SECTIONS = {
    "lazy": SectionSpec(
        figures={
            "lazy-rates": FigureSpec(
                draw=draw_rates,
                title="The paper’s Figure 1",
                description="The exponent b of the regret T^b against a, where ε = T^(−a). The"
                " lines are formulas from the paper; nothing is measured. The panels are the"
                " paper’s, in its order.",
            ),
            "lazy-regret": FigureSpec(
                draw=draw_learned,
                title="What each algorithm learns",
                description="There is a row for each algorithm, the best on top, a panel for each"
                " ε, and a marker for each number of experts d. 0% is the regret of uniform random,"
                " an expert drawn in every round; 100% is the regret of multiplicative weights"
                " without privacy. The games are the longest with stochastic losses. (The"
                " adversarial losses of the lower bound leave nothing to learn: see the table.)"
                " Bars are intervals (Student’s t) that hold together. They cover the randomness of"
                " the runs on these losses, not other losses.",
            ),
        },
        tables={
            "lazy-stated-rates": TableSpec(
                build=rates_table,
                title="The paper’s Table 1, experts",
                place="first",
            ),
            "lazy-regret": TableSpec(
                build=regret_table,
                title="Regret, experts",
                place="file",
            ),
            "lazy-exponents": TableSpec(
                build=exponents_table,
                title="Fitted exponents, experts",
                place="file",
            ),
        },
    ),
}
"""Sections of the page."""
