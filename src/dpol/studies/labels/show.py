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
                title="KL risk of learning from private labels",
                description="KL risk in nats, on a logarithmic axis, against the number of labels M"
                " and the privacy ε of a message. Each algorithm has a line for its mean and a dot"
                " for each run. The table has the numbers.",
            ),
            "labels-risk-others": FigureSpec(
                draw=figures.other_risk,
                title="KL risk against rounds and hypotheses",
                description="The same against the number of rounds T and the number of hypotheses"
                " K. Black lines are bounds.",
                place="folded",
            ),
            "labels-selection": FigureSpec(
                draw=figures.selection,
                title="Selecting the true hypothesis",
                description="Total variation distance between estimate and truth against the number"
                " of rounds T, both on logarithmic axes. There is a panel for each class of"
                " hypotheses and selection rule. Each algorithm has a line for its mean and a dot"
                " for each run; black lines show the slopes T^(−1/4) and T^(−1/2).",
                place="folded",
            ),
            "labels-features": FigureSpec(
                draw=figures.features,
                title="KL risk by features",
                description="KL risk in nats, on a logarithmic axis, if the features of the rounds"
                " are constant, come in turn, or are chosen by an adversary. Each algorithm has a"
                " marker for its mean and a dot for each run.",
                place="folded",
            ),
            "labels-hospitals": FigureSpec(
                draw=figures.hospitals,
                title="In which hospital is a random patient?",
                description="Log loss minus the log loss of the best forecast in hindsight, in nats"
                " per patient. There is a panel for each stream and a group of points for each ε."
                " Each algorithm has a marker for its mean and a dot for each run. Runs differ only"
                " in their noise; they do not cover other states or years.",
                place="file",
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
