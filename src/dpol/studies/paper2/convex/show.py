"""The section of the page on L2P for convex losses."""

from dpol.show.words import LAZY, cited
from dpol.studies.study import Exhibit, Section

SECTIONS = (
    Section(
        name="convex",
        chapter="paper2",
        title="Table 1: convex losses",
        about="L2P for online convex optimisation on a ball, as in"
        f" {cited(LAZY)}. Theorem 3.12 covers other convex sets and Lipschitz losses too.",
        results=("convex", "convex_pairs"),
        figures=(
            Exhibit(
                name="convex-regret",
                made_by="dpol.studies.paper2.lazy.drawn:draw_learned",
                title="What each algorithm learns",
                description="There is a row for each algorithm, the best on top, a panel for each"
                " kind of losses and ε, and a marker for each dimension d. 0% is the regret of a"
                " point that never moves, the centre of the ball; 100% is the regret of gradient"
                " descent without privacy. The games are the longest. Bars are intervals"
                " (Student’s t) that hold together. They cover the losses, which are drawn anew for"
                " each run, and the noise.",
                place="folded",
            ),
        ),
        tables=(
            Exhibit(
                name="convex-stated-rates",
                made_by="dpol.studies.paper2.lazy.drawn:rates_table",
                title="The paper’s Table 1, convex losses",
            ),
        ),
    ),
)
"""Sections of the page, in their order."""
