"""The sections of the main study."""

from dpol.studies.study import Exhibit, Section

SECTIONS = (
    Section(
        name="paper",
        chapter="paper1",
        title="Table 2 and Figure 2: gains of the algorithms",
        about="The paper’s algorithms on the data of this run. Numbers in grey are the paper’s"
        " own, for the same question.",
        results=("summary", "cumulative", "standings", "totals"),
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
                narrow=True,
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
        name="replay",
        chapter="replay",
        title="Week by week",
        about="One run, choice by choice. The algorithm makes every choice before it sees the"
        " numbers of the round.",
        results=("replay",),
    ),
)
"""Sections of the page, in their order."""
