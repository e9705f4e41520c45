"""The figure of predicting the hospital of a random patient from locally private labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpol.core.frames import check_frame
from dpol.show import style
from dpol.show.titles import data_title
from dpol.studies.labels.looks import DOTS, OURS, describe_runs, empty_figure, finish, looks
from dpol.studies.labels.settings import Labels
from dpol.studies.labels.study import COLUMNS
from dpol.studies.study import Facts, Frames


def hospitals(frames: Frames, study: Labels, facts: Facts) -> Figure:
    """The figure of hospitals, see `draw_hospitals`."""
    return draw_hospitals(frames["labels"], simulated=facts.simulated)


def draw_hospitals(risks: pd.DataFrame, *, simulated: bool) -> Figure:
    """Mean log loss above that of the best forecast in hindsight, a panel per stream.

    Args:
        risks: as `dpol.studies.labels.study` makes them (docs/reference/tables.md).
        simulated: whether the data are simulated, which the figure then says.

    Raises:
        DataError: as `dpol.studies.labels.figures.draw_risk`.
    """
    check_frame(risks, COLUMNS, "labels")
    rows = risks[(risks["sweep"] == "hospitals") & (risks["sensitivity_rule"] == "exact")]
    if rows.empty:
        return empty_figure("The config asks for no hospitals (labels.patients_per_week).")
    rows = rows.assign(excess=(rows["mean_kl_risk"] - rows["best_kl"]) / rows["T"])
    streams = list(dict.fromkeys(rows["hypotheses"]))
    with style.figure_style():
        figure = style.new_figure(6.4, 1.5 + 1.8 * len(streams))
        axes = figure.subplots(len(streams), 1, squeeze=False, sharex=True, sharey=True)[:, 0]
        for ax, stream in zip(axes, streams, strict=True):
            own = rows[rows["hypotheses"] == stream]
            _draw_points(ax, own)
            first = own.iloc[0]
            ax.set_title(f"{stream}: {first['M']} hospitals, {first['T']:,} patients", loc="left")
        axes[-1].set_xlabel("privacy ε of one message (points of one ε are set side by side)")
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3)
        axis = figure.supylabel(
            "log loss minus that of the best forecast\nin hindsight (nats per patient);"
            " below 0:\na mixture beats its best member"
        )
        finish(
            figure,
            f"{data_title(simulated)}: in which hospital is a random patient?"
            f" {rows['K'].iloc[0]} forecasts, none exactly right. {describe_runs(rows)} Exact"
            f" sensitivity (ours). {OURS}",
        )
        # Level with the panels, not with panels and legend together.
        axis.set_y((axes[0].get_position().y1 + axes[-1].get_position().y0) / 2)
    return figure


def _draw_points(ax: Axes, rows: pd.DataFrame) -> None:
    """Means and single runs, those of one epsilon side by side."""
    epsilons = sorted(set(rows["epsilon"]))
    ax.axhline(0, color=style.BLACK, ls=":", lw=1.2, zorder=1)
    known = looks()
    step = 0.78 / len(known)
    for number, (algorithm, look) in enumerate(known.items()):
        own = rows[rows["algorithm"] == algorithm].sort_values("epsilon")
        if not own.empty:
            # Places 0, 1, 2, ... of the values of epsilon: any set of them is legible.
            x = np.searchsorted(epsilons, own["epsilon"]) + step * (number - (len(known) - 1) / 2)
            (means,) = ax.plot(x, own["excess"], color=look.colour, ls="", ms=4, mew=0)
            means.set(marker=look.marker, label=look.title)
            runs = np.stack(own["kl_runs"].tolist()) - own["best_kl"].to_numpy()[:, None]
            runs /= own["T"].to_numpy()[:, None]
            # To the right of the mean, which would hide them.
            places = np.broadcast_to(x[:, None] + 0.3 * step, runs.shape)
            ax.plot(places.ravel(), runs.ravel(), color=look.colour, **DOTS)
    ax.set_xticks(range(len(epsilons)), [f"{epsilon:g}" for epsilon in epsilons])
    ax.set_xlim(-0.5, len(epsilons) - 0.5)
    ax.grid(visible=False, axis="x")
    for border in range(1, len(epsilons)):
        ax.axvline(border - 0.5, color=style.RULE, lw=0.6)
