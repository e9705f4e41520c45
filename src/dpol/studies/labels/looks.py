"""How learners and runs look in all figures of the study, and what the figures say of the runs."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from dpol.show import style
from dpol.studies.labels.names import title_of
from dpol.studies.labels.registry import LEARNERS

OURS = "†: ours, not in the paper."
DOTS: Mapping[str, Any] = {"ls": "none", "marker": ".", "ms": 3.2, "mew": 0, "alpha": 0.8}
"""How single runs are drawn."""
_CHARACTERS_PER_INCH = 15.5  # of the 8 point font, rounded down
_LOOKS: Mapping[str, tuple[str, str]] = {
    "wma": (style.PURPLE, "v"),
    "exp3": (style.BLUE, "o"),
    "exp3-bayes": (style.SKY, "s"),
    "membership": (style.GREEN, "D"),
    "randomised-response": (style.VERMILLION, "^"),
    "bayes": (style.GREY, "X"),
}
# Colours and markers of the learners that are not above, in turn.
_FURTHER = ((style.ORANGE, "P"), ("#8C510A", "*"), ("#7F7F00", "<"), ("#762A83", ">"))


@dataclass(frozen=True)
class Look:
    """How a learner is drawn, and its title."""

    colour: str
    marker: str
    title: str

    @property
    def label(self) -> str:
        """The title in short lines."""
        return "\n".join(textwrap.wrap(self.title, 17))


def looks() -> dict[str, Look]:
    """The look of every registered learner."""
    further = itertools.cycle(_FURTHER)
    return {
        name: Look(*(_LOOKS[name] if name in _LOOKS else next(further)), title_of(name))
        for name in LEARNERS
    }


def describe_runs(risks: pd.DataFrame) -> str:
    """What stands for the runs: all of them are shown, since they are few."""
    runs = risks["replicates"].iloc[0]
    return f"Large markers: means over {runs} runs; dots: the {runs} runs, not an interval."


def empty_figure(text: str) -> Figure:
    """A figure that says why there is nothing to draw."""
    with style.figure_style():
        figure = style.new_figure(5.8, 1.0)
        figure.text(0.5, 0.5, text, ha="center", va="center")
        style.freeze_layout(figure)
    return figure


def finish(figure: Figure, title: str) -> None:
    """Add the title, in as many lines as it needs, and lay the figure out."""
    text = textwrap.fill(title, int(figure.get_figwidth() * _CHARACTERS_PER_INCH))
    figure.suptitle(text, x=0.01, ha="left")
    style.freeze_layout(figure)
