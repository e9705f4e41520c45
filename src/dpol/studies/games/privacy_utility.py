"""First figure: the share of the possible gain that is left at each privacy level."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from dpol.core.rounding import percent
from dpol.privacy.account import best_guess
from dpol.show import panels
from dpol.show.words import mu_title
from dpol.studies.games.bounds import LOOKS, NAMES, sized_titles
from dpol.studies.games.settings import BEST_FIXED, Games
from dpol.studies.games.systems import (
    Line,
    beside_the_strongest,
    headline_level,
    in_steps,
    lines_of,
    mean_share,
    ordered_levels,
)
from dpol.studies.study import Facts, Frames

Y_LABEL = "share of the possible gain"
_NAME = 0.13
"""Height of a line of a name, in inches."""


def draw_privacy_utility(frames: Frames, main: Games, facts: Facts) -> Figure:
    """Draw a panel per stream, with the systems of `lines_of` and the best fixed expert.

    Args:
        frames: the summary.
        main: the algorithms of the report, and the systems to compare.
        facts: titles of the streams, and whether they are simulated.
    """
    summary = frames["summary"]
    lines, titles = lines_of(summary, main, facts), sized_titles(facts.streams, summary)
    levels, fixed = ordered_levels(facts.levels), LOOKS[BEST_FIXED]
    of_stream = summary.drop_duplicates("stream").set_index("stream")
    alone = len(facts.streams) == 1
    lines_of_name, divider = (1, ", ") if alone else (2, ",\n")
    height = max(2.4, 0.5 + _NAME * lines_of_name * (len(lines) + 1))
    size = (panels.WIDTH - 0.4 if alone else 3.1), height
    with panels.panels(len(facts.streams), 3, size, Y_LABEL, sharey=True) as drawn:
        for ax, stream in zip(drawn.axes, facts.streams, strict=True):
            panels.name_panel(ax, titles[stream])
            panels.set_guesses(ax, [best_guess(mu) for mu in levels])
            best, share = of_stream["best_fixed"][stream], of_stream["best_fixed_share"][stream]
            if not math.isnan(share):
                ax.axhline(share, label=NAMES[BEST_FIXED], **fixed.line)
                name = NAMES[BEST_FIXED] if main.roles else textwrap.fill(f"always {best}", 22)
                end = len(levels) - 0.5, share
                drawn.name_line(ax, end, f"{name} {percent(share)}", fixed.colour)
            for line in lines:
                points = points_of(line.rows[line.rows["stream"] == stream], levels)
                if points.empty:
                    continue
                place, last = points[["place", "gain_share"]].iloc[-1]
                if line.model == "none":  # one number for all levels
                    ax.axhline(last, label=line.name, **line.look.line)
                    place, name = len(levels) - 0.5, f"{line.name}{divider}no privacy"
                else:
                    panels.add_bars(ax, points, line.look, line.name)
                    name = line.name.replace(", ", divider)
                drawn.name_line(ax, (place, last), f"{name} {percent(last)}", line.look.colour)
        panels.set_percent(drawn.axes[0].yaxis)
        lowest = min((line.rows["gain_share"].min() - 0.02 for line in lines), default=0.0)
        drawn.axes[0].set_ylim(min(0.0, lowest), 1.0)
        drawn.name_x(panels.GUESSES)
        data, bars = panels.describe_runs(summary.iloc[0], facts.simulated, "bars")
        # The table has the systems of the thin lines.
        who = [line.explained for line in lines if line.name not in list(main.roles)[1:-1]]
        if not main.roles:
            who = ["dashed: a curator; each with its best noise"]
        drawn.title(data, "0%: uniform random; 100%: oracle", bars, *who)
        compared = [line for line in lines if line.name in main.roles]
        if compared:
            drawn.find(_compared(compared, levels, headline_level(facts.levels)))
        elif lines:
            drawn.find(_finding(lines[:1], levels))
    return drawn.figure


def points_of(rows: pd.DataFrame, levels: Sequence[float]) -> pd.DataFrame:
    """Return the place of each level, with its share and half-width."""
    points = rows.assign(place=rows["mu"].map(levels.index)).sort_values("place")
    return points[["place", "gain_share", "gain_share_half_width"]]


def _finding(lines: Sequence[Line], levels: Sequence[float]) -> str:
    (line,) = lines
    free, private = (percent(mean_share(line.rows, mu)[0]) for mu in (levels[0], levels[-1]))
    return (
        f"Share of the possible gain that the best system keeps ({line.name}){_over(line)}:"
        f" {free} at {mu_title(levels[0])}, {private} at {mu_title(levels[-1])}, where an attacker"
        f" is right at most {100 * best_guess(levels[-1]):.0f} times in 100."
    )


def _compared(lines: Sequence[Line], levels: Sequence[float], headline: float) -> str:
    """Say what the baseline, its first rival and ours keep, and what the strongest rival does."""

    def at(mu: float) -> dict[str, tuple[float, float]]:
        shares = {line.name: mean_share(line.rows, mu) for line in lines}
        return {name: share for name, share in shares.items() if not math.isnan(share[0])}

    beside = [f"{beside_the_strongest(at(mu))} at {mu_title(mu)}" for mu in levels]
    return (
        f"Share of the possible gain{_over(lines[0])}. At {mu_title(headline)} an attacker is"
        f" right at most {100 * best_guess(headline):.0f} times in 100;"
        f" {in_steps(at(headline))}. Ours against its strongest rival in hindsight:"
        f" {'; '.join(beside)}."
    )


def _over(line: Line) -> str:
    return ", mean over the panels" if line.rows["stream"].nunique() > 1 else ""
