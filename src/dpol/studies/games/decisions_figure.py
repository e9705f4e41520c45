"""The strip of decisions: every choice of an algorithm in one run, on the true gains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from dpol.show import panels
from dpol.show.looks import BLACK, Look, looks_of
from dpol.show.names import name_of
from dpol.show.words import mu_title, privacy_title
from dpol.studies.games.replay_figure import short_names
from dpol.studies.games.settings import Games
from dpol.studies.study import Facts, Frames

_PUBLISHED = "rw-meta"
_ROW, _AROUND = 0.122, 0.4  # inches: of an expert, around a panel
_MOST_ROWS = 60
_LONGEST = 26
_DOT: Any = {"marker": "o", "markersize": 2.6, "linestyle": "none", "markeredgewidth": 0.0}
_CIRCLE: Any = Look(BLACK, marker="o").points | {"markerfacecolor": "none", "markeredgewidth": 0.5}
# Marks stand out from the darkest grey.
_GREYS = ListedColormap(colormaps["Greys"](np.linspace(0, 0.6, 256)))


def draw_decisions(frames: Frames, main: Games, facts: Facts, *, narrow: bool = False) -> Figure:
    """A panel for the weakest and for the strongest privacy, if there is room for two.

    Args:
        frames: the replay.
        main: the algorithms of the report; RW-Meta is drawn, or else the first of them.
        facts: titles of the streams, and whether they are simulated.
        narrow: whether it is for a phone.
    """
    replay = frames["replay"]
    label = next(it for it in (_PUBLISHED, *main.report.algorithms) if _chose(replay, it).any())
    noise = replay.loc[_chose(replay, label), "noise"].iloc[0]
    own = replay[replay["noise"] == noise]
    levels = sorted(own["mu"].unique(), reverse=True)
    finite = [mu for mu in levels if mu < math.inf] or levels
    ends = sorted({finite[0], finite[-1]}, reverse=True)
    own = own[own["mu"].isin(ends)]
    marked = own["foresight"] | _chose(own, label)
    ever = own["expert"].isin(own.loc[own["shown"] & marked, "expert"])
    means = own[own["shown"] & ever].groupby("expert")["gain"].mean()
    experts = means.sort_values(ascending=False).index
    ends = ends if len(experts) * len(ends) <= _MOST_ROWS else ends[-1:]
    height = max(_ROW * len(experts) + _AROUND, 1.0)
    with panels.panels(len(ends), 1, (panels.WIDTH, height), narrow=narrow, sharex=True) as drawn:
        colour = looks_of(main.report.algorithms)[label].colour
        for ax, mu in zip(drawn.axes, ends, strict=True):
            shares = _draw_panel(ax, own[own["mu"] == mu], experts, label, colour)
            noisy = f", {name_of(noise).long or f'{noise} noise'}" if mu < math.inf else ""
            panels.name_panel(ax, privacy_title(mu) + noisy)
        _set_rounds(drawn.axes[-1], own)
        bar: Any = {"label": "true gain", "aspect": 40, "pad": 0.01, "fraction": 0.02}
        drawn.figure.colorbar(shares, ax=drawn.axes, **bar)
        chosen = panels.key(f"chosen by {label}", **_DOT, color=colour)
        drawn.legend([chosen, panels.key("best (foresight)", **_CIRCLE)])
        title = facts.streams[str(own["stream"].iloc[0])]
        drawn.title(panels.data_title(facts.simulated), title, "one run (the first)")
        drawn.find(_finding(own[_chose(own, label)], label, ends))
    return drawn.figure


def _finding(chosen: pd.DataFrame, label: str, ends: Sequence[float]) -> str:
    """The number of rounds in which the algorithm chose the best expert, by level."""
    parts = [
        f"{own['foresight'].sum()} of {len(own)} rounds at {mu_title(mu)}"
        for mu in ends
        for own in [chosen[chosen["mu"] == mu]]
    ]
    return f"{label} chose the best expert in {', in '.join(parts)}."


def _chose(replay: pd.DataFrame, label: str) -> pd.Series:
    return replay["chosen_by"].str.split().map(lambda chosen: label in chosen)


def _draw_panel(
    ax: Axes, rows: pd.DataFrame, experts: pd.Index, label: str, colour: str
) -> AxesImage:
    """True gains in grey, with the decisions on them."""
    shown = rows[rows["expert"].isin(experts)]
    places = experts.get_indexer(pd.Index(shown["expert"]))
    grid = np.full((len(experts), int(rows["round"].max())), np.nan)
    grid[places, shown["round"] - 1] = shown["gain"]
    image = ax.imshow(
        grid, cmap=_GREYS, vmin=0, aspect="auto", interpolation="nearest",
        extent=(0.5, grid.shape[1] + 0.5, len(experts) - 0.5, -0.5),
    )  # fmt: skip
    best, chosen = shown["foresight"], _chose(shown, label)
    ax.plot(shown.loc[best, "round"], places[best], **_CIRCLE)
    ax.plot(shown.loc[chosen, "round"], places[chosen], **_DOT, color=colour)
    names = short_names(shown.drop_duplicates("expert").set_index("expert").loc[experts])
    short = [it if len(it) <= _LONGEST else f"{it[: _LONGEST - 1]}…" for it in names]
    ax.set_yticks(range(len(experts)), short, parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False)
    return image


def _set_rounds(ax: Axes, rows: pd.DataFrame) -> None:
    """Dates below some rounds; numbers where rounds have no dates."""
    days = rows.drop_duplicates("round").set_index("round")["period"]
    ticks = np.unique(np.linspace(1, len(days), min(8, len(days))).round().astype(int))
    dated = days.notna().all()
    ax.set_xticks(ticks, [f"{days[t]:%Y-%m-%d}" if dated else str(t) for t in ticks])
