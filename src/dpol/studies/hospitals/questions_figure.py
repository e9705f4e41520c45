"""The figure of several questions: the share of the possible gain against privacy, side by side."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from dpol.privacy.account import best_guess
from dpol.show import panels
from dpol.studies.hospitals.bounds import LOOKS
from dpol.studies.hospitals.questions import OURS, PAPER
from dpol.studies.hospitals.settings import BEST_STATIC, Hospitals
from dpol.studies.looks import looks_of
from dpol.studies.study import Facts, Frames

_NAMES = {OURS: "ours", PAPER: "paper's\nway"}
_APART = {PAPER: -0.13, OURS: 0.13}


def draw_questions(frames: Frames, main: Hospitals, facts: Facts) -> Figure:
    """A panel for each question: the mean of each way, and a dot for each stream.

    Args:
        frames: the table of questions.
        main: the questions, and the levels, from left to right.
        facts: whether the streams are simulated.
    """
    every, mus = frames["questions"], list(main.levels.values())
    place = {mu: number for number, mu in enumerate(mus)}
    columns = min(3, len(main.questions))
    with panels.panels(
        len(main.questions), columns, (panels.WIDTH / columns, 2.9),
        "share of the possible gain", sharey=True,
    ) as drawn:  # fmt: skip
        for ax, (question, gain) in zip(drawn.axes, main.questions.items(), strict=True):
            rows = every[every["question"] == question]
            panels.name_panel(ax, gain.title or question)
            panels.set_groups(ax, ["none" if mu == math.inf else _guess(mu) for mu in mus])
            fixed = float(rows.loc[rows["stream"] == "", "best_static_share"].iloc[0])
            ax.axhline(fixed, **LOOKS[BEST_STATIC].line)
            drawn.name_line(ax, (len(mus) - 0.5, fixed), "best\nfixed", LOOKS[BEST_STATIC].colour)
            for way, name in _NAMES.items():
                own = rows[rows["way"] == way]
                look = looks_of([own["algorithm"].iloc[0]])[own["algorithm"].iloc[0]]
                x = own["mu"].map(place) + _APART[way]
                mean = own["stream"] == ""
                dots: Any = {
                    "color": look.colour,
                    "alpha": 0.35,
                    "linewidths": 0,
                    "s": 9,
                    "zorder": 2,
                }
                ax.scatter(x[~mean], own.loc[~mean, "gain_share"], **dots)
                points = own[mean].assign(x=x)[["x", "gain_share", "gain_share_half_width"]]
                panels.add_bars(ax, points, look, name)
                drawn.name_line(ax, points.iloc[-1, :2], name, look.colour)
        drawn.axes[0].set_ylim(min(0.0, every["gain_share"].min() - 0.02), 1.0)
        panels.set_percent(drawn.axes[0].yaxis)
        drawn.figure.supxlabel("right guesses of an attacker, at most (a coin: 50%)")
        data, bars = panels.describe_runs(_means(every).iloc[0], facts.simulated, "bars")
        streams = every.loc[every["stream"] != "", "stream"].nunique() // len(main.questions)
        drawn.title(
            data, "0%: chance; 100%: foresight", f"lines: means over {streams} streams, dots:"
            " each", bars,
        )  # fmt: skip
    return drawn.figure


def _means(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["stream"] == ""]


def _guess(mu: float) -> str:
    return f"{100 * best_guess(mu):.0f}%"
