"""The sections of the main study."""

from dpol.studies.study import Exhibit, Section

SECTIONS = (
    Section(
        name="paper",
        chapter="paper1",
        title="Table 2 and Figure 2: gains of the algorithms",
        about="The paper’s algorithms on the data of this run. Numbers in grey are the paper’s"
        " own, for the same question.",
        results=("summary", "cumulative", "totals"),
        figures=(
            Exhibit(
                name="figure-2",
                made_by="dpol.studies.paper1.figure_2:draw_figure_2",
                title="The paper’s Figure 2",
                description="Mean cumulative gain over time, with one row of panels per stream and"
                " one column per privacy level. All panels share both axes. The lines are RW-Meta"
                " and the two central trees; other lines are not in the paper. The orange shade is"
                " the range of the linear models. The dotted line is the best fixed expert in"
                " hindsight; a line above it has negative static regret. RW-Meta’s distance from"
                " the top of the shade is its regret to the best linear model.",
            ),
        ),
        tables=(
            Exhibit(
                name="table-2",
                made_by="dpol.studies.paper1.table_2:table_2",
                title="The paper’s Table 2",
                place="first",
            ),
        ),
    ),
    Section(
        name="switches",
        title="Regret against sequences that switch",
        about="The best fixed expert never switches; the oracle switches as often as it likes. The"
        " figure shows how many switches a sequence needs to gain more than a system.",
        results=("switches", "standings"),
        figures=(
            Exhibit(
                name="switches",
                made_by="dpol.studies.league.switches:draw_switches",
                title="Regret against the best sequence with at most S switches",
                description="One panel per stream, at one privacy level. In hindsight, one sequence"
                " of experts gains most with at most S switches. The vertical axis is the regret"
                " against it, in shares of the possible gain; the horizontal axis is S. S = 0 is"
                " the best fixed expert. Below 0 a system gains more than every such sequence. The"
                " lines are those of the first figure. Bars are joint intervals for the noise, the"
                " same for each S.",
                place="folded",
            ),
        ),
    ),
    Section(
        name="replay",
        chapter="replay",
        title="Week by week",
        about="One run, choice by choice. The algorithm makes every choice before it sees the"
        " numbers of the round.",
        results=("replay",),
    ),
)
"""Sections of the page, in their order."""
