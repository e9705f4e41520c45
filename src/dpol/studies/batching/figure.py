"""The figure of amplified trade-off curves: the paper's Figure 1, for both switching bounds."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpol.show import style
from dpol.show.names import name_of
from dpol.show.words import mu_title
from dpol.studies.batching.settings import Batching
from dpol.studies.study import Facts, Frames

_COLOURS: Mapping[str, str] = {
    "borell-tis": style.ALGORITHM_STYLES["rw-adabatch"].colour,
    "reflection": style.ALGORITHM_STYLES["rw-adabatch-reflection"].colour,
}
_DASHES: Mapping[str, str] = {"analytic": "-", "monte-carlo": "--"}
_SMALLEST = 1e-5


def draw(frames: Frames, settings: Batching, facts: Facts) -> Figure:
    """Trade-off curves by number of experts and axes (rows) and mu (columns).

    Of the table `amplification`, the first round t is drawn.
    """
    curves = frames["amplification"]
    shown = curves[curves["t"] == curves["t"].iloc[0]]
    sizes, mus = list(dict.fromkeys(shown["n"])), sorted(set(shown["mu"]))
    with style.figure_style():
        figure = style.new_figure(1.0 + 2.0 * len(mus), 0.9 + 3.9 * len(sizes))
        axes = figure.subplots(2 * len(sizes), len(mus), squeeze=False)
        for row, n in enumerate(sizes):
            for column, mu in enumerate(mus):
                panel = shown[(shown["n"] == n) & (shown["mu"] == mu)]
                for logarithmic in (False, True):
                    ax = axes[2 * row + logarithmic][column]
                    _draw_curves(ax, panel, logarithmic)
                    _set_axes(ax, logarithmic)
                    if column == 0:
                        rate = "true positive rate" if logarithmic else "false negative rate"
                        ax.set_ylabel(f"n = {n}\n{rate}")
                if row == 0:
                    axes[0][column].set_title(mu_title(mu))
        for ax in axes[-1]:
            ax.set_xlabel("false positive rate")
        _add_legend(figure, shown)
        style.freeze_layout(figure)
    return figure


def _draw_curves(ax: Axes, panel: pd.DataFrame, logarithmic: bool) -> None:
    """False negatives on linear axes; on logarithmic ones true positives, which do not saturate."""
    missed = panel["false_negative"]
    panel = panel.assign(rate=1 - missed if logarithmic else missed)
    plain = panel[panel["kind"] == "un-amplified"]
    plain = plain[plain["bound"] == plain["bound"].iloc[0]]
    ax.plot(plain["false_positive"], plain["rate"], color=style.BLACK, lw=1.2, ls=":")
    for (bound, colour), (kind, line) in product(_COLOURS.items(), _DASHES.items()):
        curve = panel[(panel["bound"] == bound) & (panel["kind"] == kind)]
        ax.plot(curve["false_positive"], curve["rate"], color=colour, linestyle=line, linewidth=1.2)


def _set_axes(ax: Axes, logarithmic: bool) -> None:
    scale, smallest = ("log", _SMALLEST) if logarithmic else ("linear", 0.0)
    ends = [smallest, 1.0]
    ax.set(xscale=scale, yscale=scale, xlim=ends, ylim=ends)
    ticks = np.logspace(-4, 0, 3) if logarithmic else [0, 0.5, 1]
    ax.plot(ends, ends if logarithmic else ends[::-1], color=style.GREY, lw=0.6)
    ax.set(xticks=ticks, yticks=ticks)
    if logarithmic:
        ax.minorticks_off()
    ax.set_aspect("equal")


def _add_legend(figure: Figure, shown: pd.DataFrame) -> None:
    present = set(shown["bound"])
    handles = [
        Line2D([], [], color=style.GREY, lw=0.6, label="perfect privacy"),
        Line2D([], [], color=style.BLACK, ls=":", lw=1.2, label=name_of("un-amplified").short),
    ]
    for (bound, colour), (kind, line) in product(_COLOURS.items(), _DASHES.items()):
        if bound in present:
            name = f"{name_of(bound).full}: {name_of(kind).long}"
            handles.append(Line2D([], [], color=colour, ls=line, label=name))
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    first = shown.iloc[0]
    figure.suptitle(
        f"Central trade-off functions for round t = {first['t']} of T = {first['T']},"
        f" α = {first['alpha']:g}, all-zero gains",
        x=0.01,
        ha="left",
    )
