"""Several questions side by side: figure and table of the share of the possible gain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from dpol.privacy.account import best_guess
from dpol.show import panels
from dpol.show.looks import REFERENCES
from dpol.show.table import Table
from dpol.studies.answer.lead import first_level
from dpol.studies.answer.privacy_utility import COLUMNS, Y_LABEL, table_of_shares
from dpol.studies.answer.slider import widget_of
from dpol.studies.answer.systems import attacked, in_hindsight, looks_of_roles, share_text
from dpol.studies.drawing import PageFacts, Widget
from dpol.studies.games.levels import headline_level, ordered_levels
from dpol.studies.games.names import BEST_FIXED, OURS, REFERENCE_NAMES, Roles
from dpol.studies.study import Facts, Frames

_APART = 0.17
"""Half the distance between the first and the last system of a level."""


def best_of_roles(questions: pd.DataFrame) -> pd.DataFrame:
    """Keep the best system of each role in hindsight, per question, stream and level."""
    ordered = questions.sort_values("gain_share", kind="stable")
    return ordered.drop_duplicates(["question", "stream", "role", "mu"], keep="last").sort_index()


def systems_in_words(questions: pd.DataFrame) -> dict[str, str]:
    """Return the system of each role, or what it is the best of, in words."""
    words = {}
    for role, rows in questions.groupby("role", sort=False):
        distinct: Any = rows[["algorithm", "noise"]].drop_duplicates().to_numpy()
        systems = [(str(name), str(noise)) for name, noise in distinct]
        words[str(role)] = in_hindsight(systems) or "{}, {} noise".format(*systems[0])
    return words


def draw_questions(frames: Frames, systems: Roles, facts: Facts) -> Figure:
    """Draw a panel per question: a line for the mean of each role, dots for those that are thick.

    Args:
        frames: the table of questions.
        systems: the systems of each role.
        facts: the questions, the levels, and whether the streams are simulated.
    """
    every, mus = frames["questions"], ordered_levels(facts.levels)
    place = {mu: number for number, mu in enumerate(mus)}
    means = best_of_roles(every[every["stream"] == ""])
    roles = list(systems)
    thick = [*roles[:2], OURS]
    looks = looks_of_roles(systems)
    shifts = dict(zip(roles, np.linspace(-_APART, _APART, len(roles)), strict=True))
    dots = every[(every["stream"] != "") & every["role"].isin(thick)]
    columns = min(3, len(facts.questions))
    size = panels.WIDTH / columns, 2.9
    with panels.panels(len(facts.questions), columns, size, Y_LABEL, sharey=True) as drawn:
        for ax, (question, title) in zip(drawn.axes, facts.questions.items(), strict=True):
            panels.name_panel(ax, title)
            panels.set_guesses(ax, [best_guess(mu) for mu in mus])
            of_question = means[means["question"] == question]
            fixed = float(of_question["best_fixed_share"].iloc[0])
            ax.axhline(fixed, **REFERENCES[BEST_FIXED].line)
            for role, look in looks.items():
                line = of_question[of_question["role"] == role].sort_values("mu", ascending=False)
                each = dots[(dots["question"] == question) & (dots["role"] == role)]
                x = each["mu"].map(place) + shifts[role]
                ax.scatter(x, each["gain_share"], s=9, color=look.colour, alpha=0.35, linewidths=0)
                x = line["mu"].map(place) + shifts[role]
                points = line.assign(x=x)[["x", "gain_share", "gain_share_half_width"]]
                panels.add_bars(ax, points, look, role)
        keys = [panels.key(role, **look.line_and_points) for role, look in looks.items()]
        keys.append(panels.key(REFERENCE_NAMES[BEST_FIXED], **REFERENCES[BEST_FIXED].line))
        drawn.legend(keys, title=panels.GUESSES)  # a name of the axes would lie on the legend
        drawn.axes[0].set_ylim(min(0.0, every["gain_share"].min() - 0.02), 1.0)
        panels.set_percent(drawn.axes[0].yaxis)
        data, bars = panels.describe_runs(means.iloc[0], facts.simulated, "bars")
        streams = dots["stream"].nunique() // len(facts.questions)
        lines = f"lines: means over {streams} streams, dots: each"
        named = systems_in_words(every)
        who = [f"{role}: {named[role]}" for role in (roles[0], OURS)]
        drawn.title(data, "0%: uniform random; 100%: oracle", lines, bars, *who)
        headline = headline_level(facts.levels)
        at = means[means["mu"] == headline].set_index(["question", "role"])
        halves = at["gain_share_half_width"]
        kept = ", ".join(
            f"{title} {share_text(at['gain_share'][label, OURS], halves[label, OURS])}"
            for label, title in facts.questions.items()
        )
        drawn.find(f"{attacked(headline)} Of the possible gain ours keeps: {kept}.")
    return drawn.figure


def questions_table(frames: Frames, systems: Roles, facts: Facts) -> Table:
    """Build the first table: a section per question, a line per role, a column per level.

    Args:
        frames: the table of questions.
        systems: the systems of each role.
        facts: the questions, the streams of each, and the levels.
    """
    numbers = _numbers(frames["questions"])
    means = frames["questions"][frames["questions"]["stream"] == ""]
    return table_of_shares(numbers, means.iloc[0], facts)


def _numbers(questions: pd.DataFrame) -> pd.DataFrame:
    best, words = best_of_roles(questions), systems_in_words(questions)
    return best.assign(
        system=best["role"].map({role: f"{role}: {which}" for role, which in words.items()}),
        model="local",
        right_guesses=best["mu"].map(best_guess),
        named_right=math.nan,
        named_right_half_width=math.nan,
        best_fixed="",
    )[COLUMNS]


def questions_widget(frames: Frames, systems: Roles, facts: PageFacts) -> Widget:
    """Build the figure of the roles, by question, with a slider of levels."""
    words, looks = systems_in_words(frames["questions"]), looks_of_roles(systems)
    shown = {f"{role}: {words[role]}": look for role, look in looks.items()}
    return widget_of(_numbers(frames["questions"]), shown, first_level(facts, compared=True), facts)
