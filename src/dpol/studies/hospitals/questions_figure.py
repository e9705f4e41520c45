"""The figure of several questions: the share of the possible gain against privacy, side by side."""

from __future__ import annotations

from matplotlib.figure import Figure

from dpol.privacy.account import best_guess
from dpol.show import panels
from dpol.studies.hospitals.bounds import LOOKS
from dpol.studies.hospitals.privacy_utility import Y_LABEL, ordered_levels
from dpol.studies.hospitals.questions import OURS, PAPER
from dpol.studies.hospitals.settings import BEST_STATIC, Hospitals
from dpol.studies.looks import looks_of
from dpol.studies.study import Facts, Frames

_NAMES = {OURS: "ours", PAPER: "paper's\nway"}
_APART = {PAPER: -0.13, OURS: 0.13}


def draw_questions(
    frames: Frames, main: Hospitals, facts: Facts, *, narrow: bool = False
) -> Figure:
    """A panel for each question: the mean of each way, and a dot for each stream.

    Args:
        frames: the table of questions.
        main: the questions, and the levels, from left to right.
        facts: whether the streams are simulated.
        narrow: whether it is for a phone.
    """
    every, mus = frames["questions"], ordered_levels(main)
    place = {mu: number for number, mu in enumerate(mus)}
    means, dots = every[every["stream"] == ""], every[every["stream"] != ""]
    columns = min(3, len(main.questions))
    size = panels.WIDTH / columns, 2.9
    with panels.panels(
        len(main.questions), columns, size, Y_LABEL, narrow=narrow, sharey=True
    ) as drawn:
        for ax, (question, gain) in zip(drawn.axes, main.questions.items(), strict=True):
            panels.name_panel(ax, gain.title or question)
            panels.set_guesses(ax, [best_guess(mu) for mu in mus])
            of_question = means[means["question"] == question]
            fixed, look = float(of_question["best_static_share"].iloc[0]), LOOKS[BEST_STATIC]
            ax.axhline(fixed, **look.line)
            drawn.name_line(ax, (len(mus) - 0.5, fixed), "best\nfixed", look.colour)
            for way, name in _NAMES.items():
                line = of_question[of_question["way"] == way]
                look = looks_of(line["algorithm"])[line["algorithm"].iloc[0]]
                each = dots[(dots["question"] == question) & (dots["way"] == way)]
                x = each["mu"].map(place) + _APART[way]
                ax.scatter(x, each["gain_share"], s=9, color=look.colour, alpha=0.35, linewidths=0)
                x = line["mu"].map(place) + _APART[way]
                points = line.assign(x=x)[["x", "gain_share", "gain_share_half_width"]]
                panels.add_bars(ax, points, look, name)
                drawn.name_line(ax, points.iloc[-1, :2], name, look.colour)
        drawn.axes[0].set_ylim(min(0.0, every["gain_share"].min() - 0.02), 1.0)
        panels.set_percent(drawn.axes[0].yaxis)
        drawn.name_x(panels.GUESSES)
        data, bars = panels.describe_runs(means.iloc[0], facts.simulated, "bars")
        streams = dots["stream"].nunique() // len(main.questions)
        lines = f"lines: means over {streams} streams, dots: each"
        drawn.title(data, "0%: chance; 100%: foresight", lines, bars)
        shares = means.set_index(["question", "way", "mu"])["gain_share"]
        falls = [
            f"{gain.title or label}, {shares[label, PAPER, mus[0]]:.0%} to"
            f" {shares[label, PAPER, mus[-1]]:.0%} (ours {shares[label, OURS, mus[0]]:.0%} to"
            f" {shares[label, OURS, mus[-1]]:.0%})"
            for label, gain in main.questions.items()
        ]
        drawn.find(
            f"Between no privacy and at most {100 * best_guess(mus[-1]):.0f} right guesses of 100,"
            f" the paper’s way goes by question: {'; '.join(falls)}."
        )
    return drawn.figure
