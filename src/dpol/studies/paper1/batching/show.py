"""The section of the page on RW-AdaBatch: amplified privacy, and the cost of batching."""

from dpol.show.words import EXPERTS, cited
from dpol.studies.study import Exhibit, Section

SECTIONS = (
    Section(
        name="batching",
        chapter="paper1",
        title="Figure 1 and Table 1: amplified privacy and regret",
        about="RW-AdaBatch repeats its action while its leader is far ahead. Somebody who"
        " sees only the actions then learns less about one round than the noise alone would"
        f" allow. Figure 1 and Table 1 are those of {cited(EXPERTS)}.",
        results=("amplification", "batching", "rates"),
        figures=(
            Exhibit(
                name="figure-1",
                made_by="dpol.studies.paper1.batching.drawn:draw_figure_1",
                title="The paper’s Figure 1",
                description="There is a panel for each number of experts n and each μ. A curve has"
                " the smallest rate of false negatives with which somebody who sees only the"
                " actions can test for one round’s gains, at each rate of false positives. Dotted:"
                " without batches. From the paper’s text are trade-off curves, the two kinds of"
                " amplified curve, all-zero gains and 1,000 runs; α = 0.01 is from a summary. Our"
                " copy lost the figure and its settings, so n, μ, T and t are our choice.",
            ),
        ),
        tables=(
            Exhibit(
                name="table-1",
                made_by="dpol.studies.paper1.batching.drawn:table_1",
                title="The paper’s Table 1",
            ),
            Exhibit(
                name="amplification",
                made_by="dpol.studies.paper1.batching.drawn:amplification",
                title="Amplified privacy",
            ),
            Exhibit(
                name="batching",
                made_by="dpol.studies.paper1.batching.drawn:batching",
                title="The cost of batching",
            ),
        ),
    ),
)
"""Sections of the page, in their order."""
