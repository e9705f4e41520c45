"""The figure of measured regret against the number of rounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from dpol.show import style
from dpol.show.titles import add_title
from dpol.studies.lazy.settings import Lazy
from dpol.studies.lazy.shown import EXPERTS, OURS, TITLES, Game
from dpol.studies.study import Facts, Frames

_DASHES = ("-", "--")
"""Line styles of the adversaries; markers of the first are filled."""
_FEW = 2
"""Up to so many values of T are no rate: markers stand alone."""
_RATE: dict[str, Any] = {"color": style.BLACK, "ls": ":", "lw": 1.3}


def draw_regret(regrets: pd.DataFrame, game: Game) -> Figure:
    """A panel per d (rows) and epsilon (columns).

    Raises:
        DataError: a column is missing, or the table is empty.
    """
    regrets = game.checked(regrets)
    sizes, epsilons = sorted(set(regrets["d"])), sorted(set(regrets["epsilon"]))
    with style.figure_style():
        figure = style.new_figure(1.2 + 2.0 * max(len(epsilons), 2.4), 1.7 + 1.8 * len(sizes))
        shifts = _shifts(regrets, game)
        axes = figure.subplots(len(sizes), len(epsilons), squeeze=False, sharex=True, sharey="row")
        for row, d in zip(axes, sizes, strict=True):
            of_size = regrets[regrets["d"] == d]
            for ax, epsilon in zip(row, epsilons, strict=True):
                _draw_panel(ax, of_size[of_size["epsilon"] == epsilon], game, shifts)
            row[0].set_ylabel(f"d = {d}\nmean regret")
            positive = of_size["mean_regret"][of_size["mean_regret"] > 0]
            if not positive.empty:
                row[0].set_ylim(bottom=positive.min() / 2)
        for ax, epsilon in zip(axes[0], epsilons, strict=True):
            ax.set_title(f"ε = {epsilon:g}")
        for ax in axes[-1]:
            ax.set_xlabel("rounds T")
            _label_rounds(ax, sorted(set(regrets["T"])))
        _add_legend(figure, regrets, game, shifts)
        style.freeze_layout(figure)
    return figure


def _label_rounds(ax: Axes, rounds: list[int]) -> None:
    """A tick for every T that was run, and no others."""
    powers = [round(np.log10(T)) for T in rounds]
    short = [10**power for power in powers] == rounds
    labels = [f"$10^{{{power}}}$" for power in powers] if short else [f"{T:,}" for T in rounds]
    ax.set_xticks(rounds, labels)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlim(rounds[0] / 2, rounds[-1] * 2)


def _shifts(regrets: pd.DataFrame, game: Game) -> dict[tuple[str, str], tuple[float, str]]:
    """By algorithm and adversary: a factor of T, so that points of one T stand side by side, and
    the line style."""
    played = set(zip(regrets["algorithm"], regrets["adversary"], strict=True))
    found = [(name, own) for name in TITLES for own in game.losses if (name, own) in played]
    lines = regrets["T"].nunique() > _FEW
    reach = 1.15 if lines else 1.6
    places = np.geomspace(1 / reach, reach, len(found)) if len(found) > 1 else np.ones(1)
    dashes = dict(zip(game.losses, _DASHES if lines else ("none", "none"), strict=False))
    return {key: (shift, dashes[key[1]]) for key, shift in zip(found, places.tolist(), strict=True)}


def _draw_panel(
    ax: Axes,
    panel: pd.DataFrame,
    game: Game,
    shifts: Mapping[tuple[str, str], tuple[float, str]],
) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    first = next(iter(game.losses))
    shown = panel[panel["mean_regret"] > 0].sort_values("T")
    for (algorithm, adversary), (shift, dashes) in shifts.items():
        look = style.VARIANT_STYLES[algorithm]
        own = shown[(shown["algorithm"] == algorithm) & (shown["adversary"] == adversary)]
        ax.plot(
            shift * own["T"],
            own["mean_regret"],
            color=look.colour,
            marker=look.marker,
            markersize=3.5,
            markerfacecolor=look.colour if adversary == first else "white",
            linestyle=dashes,
            linewidth=1.1,
        )
        # A bar that reaches 0 or below reaches the edge of a logarithmic axis.
        low = np.maximum(own["mean_regret"] - own["ci_half_width"], 1e-3)
        high = own["mean_regret"] + own["ci_half_width"]
        ax.vlines(shift * own["T"], low, high, color=look.colour, linewidth=0.9)
    ours = shown[(shown["algorithm"] == "l2p-sound") & (shown["adversary"] == first)]
    if game.rate and not ours.empty:
        shape = game.rate(ours["T"].to_numpy(float), *ours.iloc[0][["d", "epsilon", "delta"]])
        ax.plot(ours["T"], shape / shape[0] * ours["mean_regret"].iloc[0], **_RATE)


def _add_legend(
    figure: Figure,
    regrets: pd.DataFrame,
    game: Game,
    shifts: Mapping[tuple[str, str], tuple[float, str]],
) -> None:
    dashes = {adversary: own for (_, adversary), (_, own) in shifts.items()}
    solid = "-" if regrets["T"].nunique() > _FEW else "none"
    looks: list[dict[str, Any]] = []
    for name in dict.fromkeys(algorithm for algorithm, _ in shifts):
        look = style.VARIANT_STYLES[name]
        looks.append(
            {"color": look.colour, "marker": look.marker, "ls": solid, "label": TITLES[name]}
        )
    if len(dashes) > 1:
        for fill, (adversary, title) in zip(
            (style.BLACK, "white"), game.losses.items(), strict=True
        ):
            own = {"mfc": fill, "ls": dashes[adversary], "label": title}
            looks.append({"color": style.BLACK, "marker": "o", **own})
    if game.rate:
        looks.append({**_RATE, "label": game.rate_title})
    handles = [Line2D([], [], markersize=3.5, **look) for look in looks]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    first = regrets.iloc[0]
    bars = (
        f"means over {first['replicates']} runs; bars: {100 * first['confidence']:g}% intervals"
        f" (Student's t), all {first['ci_comparisons']} together"
    )
    title = f"Regret against {game.against}, at (ε, δ) for one round's losses"
    add_title(figure, (title, bars, "points of one T stand side by side", OURS))


def draw_experts(frames: Frames, settings: Lazy, facts: Facts) -> Figure:
    """The figure of regrets for experts, see `draw_regret`."""
    return draw_regret(frames["lazy"], EXPERTS)
