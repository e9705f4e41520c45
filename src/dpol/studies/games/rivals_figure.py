"""Figure of local and central algorithms: share of the possible gain against privacy."""

from __future__ import annotations

from itertools import product

import pandas as pd
from matplotlib.figure import Figure

from dpol.core.rounding import percent
from dpol.noise import CENTRAL_NOISES
from dpol.privacy.account import best_guess
from dpol.show import panels
from dpol.show.looks import looks_of
from dpol.studies.games.bounds import LOOKS, sized_titles
from dpol.studies.games.privacy_utility import Y_LABEL
from dpol.studies.games.settings import BEST_FIXED, Games
from dpol.studies.games.systems import ordered_levels
from dpol.studies.study import Facts, Frames


def draw_rivals(frames: Frames, main: Games, facts: Facts) -> Figure:
    """Draw the share of the possible gain: a row of panels per noise, a column per stream.

    Args:
        frames: the summary.
        main: the rivals of the report.
        facts: titles of the streams, and whether they are simulated.
    """
    summary = frames["summary"]
    rows = summary[summary["algorithm"].isin(main.report.rivals)]
    played = list(rows["noise"].unique())
    noises = [name for name in CENTRAL_NOISES if name in played] or played
    titles, levels = sized_titles(facts.streams, summary), ordered_levels(facts.levels)
    looks, fixed = looks_of(main.report.rivals), LOOKS[BEST_FIXED]
    cells = list(product(noises, facts.streams))
    with panels.panels(len(cells), len(facts.streams), (2.5, 2.5), Y_LABEL, sharey=True) as drawn:
        for ax, (noise, stream) in zip(drawn.axes, cells, strict=True):
            of_panel = rows[(rows["stream"] == stream) & (rows["noise"] == noise)]
            panels.name_panel(ax, f"{titles[stream]}\n{noise} noise")
            panels.set_guesses(ax, [best_guess(mu) for mu in levels])
            for share in of_panel["best_fixed_share"].head(1):
                ax.axhline(share, **fixed.line)
                end = len(levels) - 0.5
                drawn.name_line(ax, (end, share), "best fixed,\nin hindsight", fixed.colour)
            for algorithm, look in looks.items():
                points = of_panel[of_panel["algorithm"] == algorithm]
                points = points.assign(place=points["mu"].map(levels.index)).sort_values("place")
                if points.empty:
                    continue
                points = points[["place", "gain_share", "gain_share_half_width"]]
                panels.add_bars(ax, points, look, algorithm)
                drawn.name_line(ax, points.iloc[-1, :2], algorithm, look.colour)
        first = drawn.axes[0]
        panels.set_percent(first.yaxis)
        first.set_ylim(bottom=min(0.0, float(rows["gain_share"].min()) - 0.02))
        drawn.name_x(panels.GUESSES)
        data, bars = panels.describe_runs(rows.iloc[0], facts.simulated, "bars")
        drawn.title(data, "0%: uniform random; 100%: oracle", bars)
        drawn.find(_finding(rows))
    return drawn.figure


def _finding(rows: pd.DataFrame) -> str:
    """Name the best algorithm with its noise, without privacy and at the strictest level."""
    ends = []
    for mu in sorted({rows["mu"].max(), rows["mu"].min()}, reverse=True):
        means = rows[rows["mu"] == mu].groupby(["algorithm", "noise"])["gain_share"].mean()
        (algorithm, noise), share = means.idxmax(), means.max()
        guesses = f"{100 * best_guess(mu):.0f} right guesses of 100"
        ends.append(f"at {guesses}, {algorithm} with {noise} noise keeps {percent(share)}")
    return f"The best by the mean share of the possible gain: {'; '.join(ends)}."
