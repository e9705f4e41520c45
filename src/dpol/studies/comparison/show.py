"""The sections of the page that compare the baseline with ours."""

from __future__ import annotations

from dpol.studies.comparison.noise_memory_figure import draw_memory
from dpol.studies.comparison.noise_memory_table import memory_table
from dpol.studies.comparison.questions_shown import draw_questions, questions_table
from dpol.studies.comparison.tables import comparison_table
from dpol.studies.showing import FigureSpec, SectionSpec, TableSpec

SECTIONS = {
    "questions": SectionSpec(
        figures={
            "questions": FigureSpec(
                draw=draw_questions,
                title="The cost of privacy, by question",
                description="One panel per question. The vertical axis is the share of the possible"
                " gain: 0% is an expert drawn uniformly at random in every round, 100% is the"
                " oracle, which picks the best expert of every round. The horizontal axis is how"
                " often, at most, an attacker who knows everybody else’s data guesses correctly"
                " whether a person was counted, from no privacy to the most. Lines are means over"
                " the streams of the baseline, its rivals (thin but for the first; of several"
                " systems the best at each level) and ours. Dots are streams. The dotted line is"
                " the best fixed expert in hindsight, mean over the streams. Bars are joint"
                " intervals of the means. They cover the noise on these streams, not other places"
                " or years.",
            ),
        },
        tables={
            "answer-by-question": TableSpec(
                build=questions_table,
                title="Share of the possible gain that is kept",
                place="seen",
            ),
        },
        leads=True,
    ),
    "beyond": SectionSpec(
        tables={
            "comparison": TableSpec(
                build=comparison_table,
                title="The baseline and ours",
            ),
        },
    ),
    "memory": SectionSpec(
        figures={
            "memory": FigureSpec(
                draw=draw_memory,
                title="Extra gain from correlated noise, and privacy loss for longer stays",
                description="One column of panels per stream. A colour and marker is a unit of"
                " privacy: a person counted in at most that many consecutive weeks. Top: how much"
                " more total gain designed memory has than independent noise, against the μ of that"
                " person (logarithmic axis). Bars are joint intervals; they cover the noise on this"
                " one data set, not other states or years. Bottom: the μ of a person against the"
                " length of the stay (both axes logarithmic), for the noise of the smallest μ:"
                " solid for correlated, dashed for independent noise. The numbers are in the table"
                " below.",
            ),
        },
        tables={
            "memory": TableSpec(
                build=memory_table,
                title="Independent and correlated noise",
            ),
        },
    ),
}
"""Sections of the page."""
