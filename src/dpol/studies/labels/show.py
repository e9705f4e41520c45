"""The section of the page on learning from private labels."""

from __future__ import annotations

from dpol.studies.labels import figures
from dpol.studies.labels.slopes import slopes_table
from dpol.studies.labels.table import labels_table
from dpol.studies.showing import FigureSpec, SectionSpec, TableSpec

SECTIONS = {
    "labels": SectionSpec(
        figures={
            "labels-risk": FigureSpec(
                draw=figures.risk,
                title="Risk beside the rate of Theorem 5",
                description="KL risk in nats, on a logarithmic axis, against the number of rounds"
                " T, of labels M and of hypotheses K, and the privacy ε of a message. Each"
                " algorithm has a line for its mean and a dot for each run; the table has the"
                " numbers. The line of short dashes is the bound of Theorem 5 for private EXP3,"
                " multiplied by one number in each panel so that it starts at the mean of EXP3: it"
                " shows the rate, not the bound. Other black lines are bounds as stated: Theorem 5"
                " on random classes, and Theorem 3, which holds for every ε-private learner, on"
                " the hard class.",
            ),
            "labels-selection": FigureSpec(
                draw=figures.selection,
                title="Selecting the true hypothesis",
                description="Total variation distance between estimate and truth against the number"
                " of rounds T, both on logarithmic axes. There is a panel for each class of"
                " hypotheses and selection rule. Each algorithm has a line for its mean and a dot"
                " for each run; a Scheffé tournament selects one hypothesis, so that its distance"
                " may be 0, which has no marker. Black lines show the slopes T^(−1/4) and"
                " T^(−1/2).",
                place="folded",
            ),
        },
        tables={
            "labels": TableSpec(
                build=labels_table,
                title="Learning from private labels",
                place="file",
            ),
            "labels-slopes": TableSpec(
                build=slopes_table,
                title="Slopes of total variation against the rounds",
                place="file",
            ),
        },
    ),
}
"""Sections of the page."""
