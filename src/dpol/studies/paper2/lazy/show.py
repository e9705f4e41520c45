"""The section of the page on L2P for experts."""

from dpol.show.words import LAZY, cited
from dpol.studies.paper2.lazy.settings import GAP, TURN
from dpol.studies.study import Exhibit, Section

SECTIONS = (
    Section(
        name="lazy",
        chapter="paper2",
        title="Table 1 and Figure 1: experts",
        about="L2P rarely redraws its action, and hides the reason. The study measures the"
        f" regret of the algorithms of {cited(LAZY)}. Its Table 1 and Figure 1 are stated"
        " rates, not measurements.",
        results=("lazy", "lazy_pairs"),
        figures=(
            Exhibit(
                name="lazy-rates",
                made_by="dpol.studies.paper2.lazy.drawn:draw_rates",
                title="The paper’s Figure 1",
                description="The exponent b of the regret T^b against a, where ε = T^(−a). The"
                " lines are formulas from the paper; nothing is measured. The panels are the"
                " paper’s, in its order.",
                place="folded",
            ),
            Exhibit(
                name="lazy-regret",
                made_by="dpol.studies.paper2.lazy.drawn:draw_learned",
                title="What each algorithm learns",
                description="There is a row for each algorithm, the best on top, a panel for each"
                " game and ε, and a marker for each number of experts d. 0% is the regret of"
                " uniform random, an expert drawn in every round; 100% is the smallest regret"
                " without privacy in this game: of multiplicative weights, or of follow the leader"
                " with ties at random. Stochastic losses are independent from round to round, and"
                f" one expert is better by {GAP:g}, or by √(log d / T) if they are close. If losses"
                " are alternating, two experts take turns"
                f" to lose, for {TURN} rounds each, and all others lose in every round; limited"
                " updates promise nothing there. The games are the longest. Bars are intervals"
                " (Student’s t) that hold together. They cover the noise, and the stochastic"
                " losses, which are drawn anew for each run.",
            ),
        ),
        tables=(
            Exhibit(
                name="lazy-stated-rates",
                made_by="dpol.studies.paper2.lazy.drawn:rates_table",
                title="The paper’s Table 1, experts",
            ),
        ),
    ),
)
"""Sections of the page, in their order."""
