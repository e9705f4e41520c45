"""The figure of local and central algorithms: share of the possible gain against privacy."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from dpol.noise import CENTRAL_NOISES
from dpol.show import style
from dpol.show.direct_labels import Label, add_labels
from dpol.show.titles import add_title, data_title
from dpol.studies.hospitals.comparison_figure import set_levels
from dpol.studies.hospitals.settings import Hospitals
from dpol.studies.study import Facts, Frames

_PANEL = (1.6, 2.1)  # inches, about, of the axes of a panel
_LABELS = 0.9  # inches for direct labels


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
    levels, sizes = list(main.levels.values()), summary.groupby("stream")["n_experts"].first()
    with style.figure_style():
        width = (_PANEL[0] + _LABELS) * len(main.streams) + 0.4
        figure = style.new_figure(max(width, 4.2), (_PANEL[1] + 0.4) * len(noises) + 0.8)
        grid = figure.subplots(
            len(noises), len(main.streams), sharex=True, sharey=True, squeeze=False
        )
        labels: list[tuple[Axes, list[Label]]] = []
        for axes, noise in zip(grid, noises, strict=True):
            for ax, stream in zip(axes, main.streams, strict=True):
                own = rows[(rows["stream"] == stream) & (rows["noise"] == noise)]
                labels.append((ax, _draw_panel(ax, own, main.report.rivals, levels)))
            axes[0].set_ylabel(f"{noise} noise", fontweight="bold")
        for ax, stream in zip(grid[0], main.streams, strict=True):
            title = f"{facts.streams[stream]} (n = {sizes[stream]})"
            ax.set_title(title, loc="left", fontweight="bold", parse_math=False)
        grid[0][0].yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        grid[0][0].set_ylim(bottom=min(0.0, float(rows["gain_share"].min()) - 0.02))
        for ax, of_panel in labels:
            add_labels(ax, of_panel, _PANEL[1])
        figure.supylabel("share of the possible gain")
        figure.supxlabel("privacy level μ (the further right, the more private)")
        add_title(figure, _title(rows, simulated=facts.simulated))
        style.freeze_layout(figure)
    return figure


def _draw_panel(
    ax: Axes, rows: pd.DataFrame, rivals: Sequence[str], levels: Sequence[float]
) -> list[Label]:
    """The lines of a panel, and their direct labels."""
    looks, labels = style.algorithm_styles(rivals), []
    set_levels(ax, levels)
    if not rows.empty:
        fixed = float(rows["best_static_share"].iloc[0])
        ax.axhline(fixed, color=style.STATIC, ls=":", lw=1.2)
        labels.append(Label(len(levels) - 0.5, fixed, "best fixed,\nin hindsight", style.STATIC))
    for algorithm, look in looks.items():
        own = rows[rows["algorithm"] == algorithm]
        points = own.assign(place=own["mu"].map(levels.index)).sort_values("place")
        if points.empty:
            continue
        half = points["gain_share_half_width"]
        ax.errorbar(
            points["place"],
            points["gain_share"],
            yerr=half.where(half < math.inf, 0.0),
            color=look.colour,
            linestyle=look.linestyle,
            linewidth=look.width,
            marker=look.marker,
            markersize=4.0,
            elinewidth=0.9,
            capsize=1.6,
            label=algorithm,
        )
        place, share = points[["place", "gain_share"]].iloc[-1]
        labels.append(Label(place, share, algorithm, look.colour))
    return labels


def _title(rows: pd.DataFrame, *, simulated: bool) -> tuple[str, ...]:
    first = rows.iloc[0]
    return (
        f"{data_title(simulated)}, means over {first['replicates']} runs",
        "0%: an expert drawn at random every round; 100%: the best expert of every round",
        f"bars: {100 * first['confidence']:g}% intervals for the noise, all together",
    )
