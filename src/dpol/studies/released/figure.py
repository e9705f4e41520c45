"""The figure of whom each algorithm names, and of the noise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure

from dpol.core.words import counted
from dpol.show import style
from dpol.show.titles import add_title, data_title
from dpol.studies.released.settings import ReleasedGames
from dpol.studies.study import Facts, Frames

_MOST = 20  # Entities that have a row.
_ROW = 0.3  # inches


def draw(frames: Frames, settings: ReleasedGames, facts: Facts) -> Figure:
    """First choices, a row for each entity (top), and noise over time (bottom)."""
    decisions, reports = frames["released_decisions"], frames["released_reports"]
    first = decisions[decisions["rank"] == 1]
    rows = _rows(first)
    labels = list(dict.fromkeys(first["algorithm"]))
    height = _ROW * (len(set(rows.values())) + 1)
    with style.figure_style():
        figure = style.new_figure(7.0, height + 2.2)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(height, 1.1))
        _draw_choices(above, first, rows, labels)
        _draw_noise(below, reports)
        above.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, borderaxespad=0.2)
        parts = ["first choices, from reports before the period", "no truth is known"]
        add_title(figure, (data_title(facts.simulated), *parts))
        style.freeze_layout(figure)
    return figure


def _rows(first: pd.DataFrame) -> Mapping[str, str]:
    """The name of the row of each entity, those that are named most often first."""
    counts = first.groupby("entity").size().sort_values(ascending=False, kind="stable")
    titles = first.drop_duplicates("entity").set_index("entity")["title"]
    own = counts.index if len(counts) <= _MOST else counts.index[: _MOST - 1]
    others = counted(len(counts) - len(own), "other")
    same = titles[titles.duplicated(keep=False)].index
    named = {it: f"{titles[it]} ({it})" if it in same else str(titles[it]) for it in own}
    return {**named, **{it: others for it in counts.index if it not in named}}


def _draw_choices(
    ax: Axes, first: pd.DataFrame, rows: Mapping[str, str], labels: list[str]
) -> None:
    """A line through each period in which an algorithm names an entity."""
    names = list(dict.fromkeys(rows.values()))
    place = {name: float(number) for number, name in enumerate(names)}
    days, styles = _length(first["period"]), style.algorithm_styles(labels)
    thick = 0.8 / len(labels)
    for number, label in enumerate(labels):
        own = first[first["algorithm"] == label]
        centre = np.array([place[rows[it]] for it in own["entity"]])
        ax.barh(
            centre + (number - (len(labels) - 1) / 2) * thick,
            np.full(len(own), days),
            height=thick * 0.85,
            left=own["period"].to_numpy(),
            color=styles[label].colour,
            linewidth=0,
            label=label,
        )
    ax.set_yticks(list(place.values()), [_short(name) for name in names], parse_math=False)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(visible=False)
    for border in range(1, len(names)):
        ax.axhline(border - 0.5, color=style.RULE, lw=0.5)


def _draw_noise(ax: Axes, reports: pd.DataFrame) -> None:
    for name, colour, dashes in (("median", style.BLACK, "-"), ("largest", style.GREY, "--")):
        values = reports[f"noise_{name}"]
        ax.plot(reports["period"], values, color=colour, ls=dashes, lw=1.2, label=name)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter("{x:g}")
    ax.set_ylabel("noise on a share")
    ax.legend(loc="best", ncols=2)
    locator = AutoDateLocator()
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))


def _length(periods: pd.Series) -> np.timedelta64:
    """The length of a period; a week where there is one only."""
    days = np.unique(periods.to_numpy())
    return np.diff(days).min() if len(days) > 1 else np.timedelta64(7, "D")


def _short(name: str) -> str:
    return name if len(name) <= 30 else f"{name[:29]}…"
