"""Figure of several questions side by side: share of the possible gain against privacy."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from dpol.core.rounding import percent
from dpol.privacy.account import best_guess
from dpol.show import panels
from dpol.show.looks import looks_of
from dpol.studies.comparison.questions import best_of_roles
from dpol.studies.comparison.settings import Comparison
from dpol.studies.games.bounds import LOOKS
from dpol.studies.games.privacy_utility import Y_LABEL
from dpol.studies.games.settings import BASELINE, BEST_FIXED, OURS, ROLES, TUNED
from dpol.studies.games.systems import THIN, ordered_levels
from dpol.studies.study import Facts, Frames

_APART = {BASELINE: -0.13, TUNED: 0.0, OURS: 0.13}


def draw_questions(frames: Frames, settings: Comparison, facts: Facts) -> Figure:
    """Draw a panel per question: a line for the mean of each role, dots for baseline and ours.

    Args:
        frames: The table of questions.
        settings: Settings of the comparison.
        facts: The questions, the levels, and whether the streams are simulated.
    """
    every, mus = frames["questions"], ordered_levels(facts.levels)
    place = {mu: number for number, mu in enumerate(mus)}
    means = best_of_roles(every[every["stream"] == ""])
    dots = every[(every["stream"] != "") & (every["role"] != TUNED)]
    columns = min(3, len(facts.questions))
    size = panels.WIDTH / columns, 2.9
    with panels.panels(len(facts.questions), columns, size, Y_LABEL, sharey=True) as drawn:
        for ax, (question, title) in zip(drawn.axes, facts.questions.items(), strict=True):
            panels.name_panel(ax, title)
            panels.set_guesses(ax, [best_guess(mu) for mu in mus])
            of_question = means[means["question"] == question]
            fixed, look = float(of_question["best_fixed_share"].iloc[0]), LOOKS[BEST_FIXED]
            ax.axhline(fixed, **look.line)
            drawn.name_line(ax, (len(mus) - 0.5, fixed), "best\nfixed", look.colour)
            for role, name in ROLES.items():
                line = of_question[of_question["role"] == role].sort_values("mu", ascending=False)
                if line.empty:
                    continue
                look = looks_of(line["algorithm"])[line["algorithm"].iloc[0]]
                if role == TUNED:
                    look = replace(look, width=THIN)
                each = dots[(dots["question"] == question) & (dots["role"] == role)]
                x = each["mu"].map(place) + _APART[role]
                ax.scatter(x, each["gain_share"], s=9, color=look.colour, alpha=0.35, linewidths=0)
                x = line["mu"].map(place) + _APART[role]
                points = line.assign(x=x)[["x", "gain_share", "gain_share_half_width"]]
                panels.add_bars(ax, points, look, name)
                short = "\n".join(name.removeprefix("the ").split())
                drawn.name_line(ax, points.iloc[-1, :2], short, look.colour)
        drawn.axes[0].set_ylim(min(0.0, every["gain_share"].min() - 0.02), 1.0)
        panels.set_percent(drawn.axes[0].yaxis)
        drawn.name_x(panels.GUESSES)
        data, bars = panels.describe_runs(means.iloc[0], facts.simulated, "bars")
        streams = dots["stream"].nunique() // len(facts.questions)
        lines = f"lines: means over {streams} streams, dots: each"
        compared = every[every["role"] != TUNED].drop_duplicates("role").to_dict("records")
        who = [f"{ROLES[x['role']]}: {x['algorithm']}, {x['noise']} noise" for x in compared]
        tuned = _tuned_in_words(every)
        drawn.title(data, "0%: uniform random; 100%: oracle", lines, bars, *who, *tuned)
        shares = means.set_index(["question", "role", "mu"])["gain_share"]
        others = [role for role in (TUNED, OURS) if (means["role"] == role).any()]
        falls = []
        for label, title in facts.questions.items():
            ends = {
                role: " to ".join(percent(shares[label, role, mu]) for mu in (mus[0], mus[-1]))
                for role in (BASELINE, *others)
            }
            beside = ", ".join(f"{ROLES[role]}: {ends[role]}" for role in others)
            falls.append(f"{ends[BASELINE]} for {title} ({beside})")
        drawn.find(
            "Share of the possible gain without privacy, and when an attacker is right at most"
            f" {100 * best_guess(mus[-1]):.0f} times in 100. {ROLES[BASELINE].capitalize()}:"
            f" {'; '.join(falls)}."
        )
    return drawn.figure


def _tuned_in_words(questions: pd.DataFrame) -> list[str]:
    """Name the systems of the tuned baseline in words; empty without any."""
    labels = dict.fromkeys(questions.loc[questions["role"] == TUNED, "algorithm"])
    best = "best in hindsight of " if len(labels) > 1 else ""
    return [f"{ROLES[TUNED]}: {best}{', '.join(labels)}"] if labels else []
