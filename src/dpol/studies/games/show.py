"""The sections of the main study."""

from dpol.studies.study import FigureSpec, Section, TableSpec

SECTIONS = (
    Section(
        name="paper",
        chapter="first",
        title="Table 2 and Figure 2: gains of the algorithms",
        about="The paper’s algorithms on the data of this run. Numbers in grey are the paper’s"
        " own, for the same question.",
        results=("summary", "cumulative"),
        figures=(
            FigureSpec(
                name="figure-2",
                title="The paper’s Figure 2",
                description="Mean cumulative gain against time: one row of panels per stream, one"
                " column per privacy level; all share both axes. Lines are RW-Meta and the two"
                " central trees. The orange shade is the range of the linear models, dotted is the"
                " best fixed expert in hindsight. A line above the dotted one has negative static"
                " regret. RW-Meta’s distance from the top of the shade is its regret to the best"
                " linear model.",
            ),
        ),
        tables=(TableSpec(name="table-2", title="The paper’s Table 2", place="first"),),
    ),
    Section(
        name="privacy-utility",
        chapter="answer",
        title="What privacy costs",
        about="The share of the possible gain that is left at each privacy level.",
        results=("summary",),
        figures=(
            FigureSpec(
                name="privacy-utility",
                title="What privacy costs",
                description="One panel per stream. The vertical axis is the share of the possible"
                " gain: 0% is an expert drawn uniformly at random in every round, 100% is the"
                " oracle, which picks the best expert of every round. The horizontal axis is how"
                " often, at most, an attacker who knows everybody else’s data guesses correctly"
                " whether a person was counted. Lines are the systems compared (thin but for the"
                " baseline, the first rival and ours), and the best with a curator. If nothing is"
                " compared, every algorithm has a line, with its best noise at the strictest"
                " level; the best is thick, and lines with a curator are dashed. Dotted: the best"
                " fixed expert. The best are chosen in hindsight. Bars are joint intervals for the"
                " noise; they do not cover other places or years.",
            ),
        ),
        tables=(TableSpec(name="answer", title="Share of the possible gain kept", place="seen"),),
        widget=True,
    ),
    Section(
        name="privacy",
        chapter="privacy",
        title="Right guesses",
        about="How often an attacker who knows everybody else’s data guesses right about one"
        " person, at most. The command dpol account --promise lists noises for other promises.",
        results=("summary",),
        tables=(TableSpec(name="privacy", title="How private is it?"),),
    ),
    Section(
        name="replay",
        chapter="replay",
        title="Week by week",
        about="One run, choice by choice. Every choice is made before the numbers of its"
        " round are seen.",
        results=("replay",),
        widget=True,
    ),
    Section(
        name="average-gain",
        title="Total gain",
        about="Each algorithm at each privacy level.",
        results=("summary",),
        tables=(TableSpec(name="average-gain", title="Total gain"),),
    ),
)
"""Sections of the page, in their order."""
