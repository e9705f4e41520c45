"""The figure of local and central algorithms: share of the possible gain against privacy."""

from __future__ import annotations

from itertools import product
from typing import Any

from matplotlib.figure import Figure

from dpol.noise import CENTRAL_NOISES
from dpol.show import panels
from dpol.studies.hospitals.bounds import LOOKS, sized_titles
from dpol.studies.hospitals.settings import BEST_STATIC, Hospitals
from dpol.studies.looks import looks_of
from dpol.studies.study import Facts, Frames


def draw_rivals(frames: Frames, main: Hospitals, facts: Facts) -> Figure:
    """Share of the possible gain at each level: a row of panels per noise, a column per stream.

    Args:
        frames: the summary.
        main: streams and levels, and the rivals of the report.
        facts: titles of the streams, and whether they are simulated.
    """
    summary = frames["summary"]
    rows = summary[summary["algorithm"].isin(main.report.rivals)]
    played = list(rows["noise"].unique())
    noises = [name for name in CENTRAL_NOISES if name in played] or played
    titles, levels = sized_titles(facts.streams, summary), list(main.levels.values())
    looks, fixed = looks_of(main.report.rivals), LOOKS[BEST_STATIC]
    cells = list(product(noises, main.streams))
    shared: Any = {"y_label": "share of the possible gain", "sharex": True, "sharey": True}
    with panels.panels(len(cells), len(main.streams), (2.5, 2.5), **shared) as drawn:
        for ax, (noise, stream) in zip(drawn.axes, cells, strict=True):
            of_panel = rows[(rows["stream"] == stream) & (rows["noise"] == noise)]
            panels.set_levels(ax, levels)
            for share in of_panel["best_static_share"].head(1):
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
        for axes, noise in zip(drawn.grid, noises, strict=True):
            axes[0].set_ylabel(f"{noise} noise", fontweight="bold")
        for ax, stream in zip(drawn.axes, main.streams, strict=False):
            panels.name_panel(ax, titles[stream])
        first = drawn.axes[0]
        panels.set_percent(first.yaxis)
        first.set_ylim(bottom=min(0.0, float(rows["gain_share"].min()) - 0.02))
        drawn.figure.supxlabel(f"privacy level μ ({panels.STRICTER})")
        data, bars = panels.describe_runs(rows.iloc[0], facts.simulated, "bars")
        chance = "0%: an expert drawn at random every round"
        drawn.title(data, f"{chance}; 100%: the best expert of every round", bars)
    return drawn.figure
