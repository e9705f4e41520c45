"""What privacy costs: the share of the possible gain that is left at each privacy level."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpol.privacy.account import best_guess
from dpol.privacy.settings import ordered_levels
from dpol.show import panels
from dpol.show.entries import REFERENCES, reference
from dpol.show.words import mu_title
from dpol.studies.games.names import BEST_FIXED
from dpol.studies.league.privacy import guesses_title
from dpol.studies.league.systems import (
    BEST,
    first_group,
    first_level,
    groups_of,
    lines_of,
    name_system,
    share_text,
    sized_titles,
)
from dpol.studies.study import Facts, Frames

Y_LABEL = "share of the possible gain"


def draw_privacy_utility(frames: Frames, facts: Facts) -> Figure:
    """Draw a panel per stream, or per question, with at most five lines.

    A single panel has room for names at the points of the best system of each level.

    Args:
        frames: the standings.
        facts: titles of the streams and questions, and whether the streams are simulated.
    """
    standings = frames["standings"]
    lines, levels = lines_of(standings), ordered_levels(facts.levels)
    groups = groups_of(standings, facts)
    if not facts.asks_several:
        titles = sized_titles(facts.streams, standings[standings["stream"] != ""])
        groups = {title: standings[standings["stream"] == label] for label, title in titles.items()}
    alone, look = len(groups) == 1, REFERENCES[BEST_FIXED]
    size = (panels.WIDTH - 0.4 if alone else 3.1), 3.2
    with panels.panels(len(groups), 2, size, Y_LABEL, form=facts.form, shared="y") as drawn:
        for ax, (title, rows) in zip(drawn.axes, groups.items(), strict=True):
            panels.name_panel(ax, title)
            panels.set_guesses(ax, [best_guess(mu) for mu in levels])
            for share in rows["best_fixed_share"].dropna().head(1):
                ax.axhline(share, label=reference(BEST_FIXED), **look.line)
                drawn.name_line(ax, (len(levels) - 0.5, share), reference(BEST_FIXED), look.colour)
            for line in lines:
                points = line.among(rows)
                points = points.assign(place=points["mu"].map(levels.index)).sort_values("place")
                columns = points[["place", "gain_share", "gain_share_half_width"]]
                panels.add_bars(ax, columns, line.look, line.name)
                for place, share in columns[["place", "gain_share"]].tail(1).to_numpy():
                    drawn.name_line(ax, (place, share), line.name, line.look.colour)
                if alone and line.name == BEST:
                    _name_points(ax, points)
        shown = pd.concat(groups.values())
        kept = [shown["best_fixed_share"], *(line.among(shown)["gain_share"] for line in lines)]
        shares = pd.concat(kept).dropna()
        if len(shares):
            drawn.axes[0].set_ylim(min(0.0, shares.min() - 0.05), shares.max() + 0.1)
        panels.set_percent(drawn.axes[0].yaxis)
        drawn.name_x(f"privacy: {guesses_title(standings)}")
        data, bars = panels.describe_runs(next(iter(groups.values())).iloc[0], facts.simulated)
        meanings = [line.explained for line in lines]
        drawn.caption(data, "0%: uniform random; 100%: oracle", bars, *meanings)
        drawn.find(_finding(standings, facts))
    return drawn.figure


def _name_points(ax: Axes, points: pd.DataFrame) -> None:
    """Write the name of its system above each point."""
    for row in points.to_dict("records"):
        name = name_system(row).replace(" with ", "\nwith ")
        at = row["place"], row["gain_share"] + row["gain_share_half_width"]
        ax.annotate(name, at, (0, 3), textcoords="offset points", ha="center", fontsize=6)


def _finding(standings: pd.DataFrame, facts: Facts) -> str:
    """Say what the best system keeps without noise, and at the middle level."""
    title, rows = first_group(standings, facts)
    middle = ordered_levels(facts.levels)[first_level(facts)]
    best = rows[rows["best"] & rows["mu"].isin([math.inf, middle])]
    kept = [
        f"{share_text(row['gain_share'], row['gain_share_half_width'])} at {mu_title(row['mu'])}"
        for row in best.sort_values("mu", ascending=False).to_dict("records")
    ]
    where = f" ({title})" if len(facts.streams) > 1 else ""
    return f"The best system without a curator keeps {' and '.join(kept) or 'nothing'}{where}."
