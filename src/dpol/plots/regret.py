"""Figures of measured regret against the number of rounds: L2P for experts and on a ball."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from dpol.core.frames import check_frame
from dpol.core.randomness import Floats
from dpol.show import style
from dpol.show.titles import add_title

COLUMNS = (
    *("T", "d", "epsilon", "delta", "algorithm", "mean_regret", "ci_half_width", "replicates"),
    *("confidence", "ci_comparisons"),
)
"""Columns both figures need, beside the one that tells the kind of losses."""

_FEW = 2
"""Up to so many values of T are no rate: markers stand alone."""

_NAMES: Mapping[str, str] = {
    "l2p-sound": "L2P, sound accountant (ours)",
    "l2p-published": "L2P, published accountant",
    "l2p-theorem-3.10": "L2P, parameters of Theorem 3.10",
    "l2p-theorem-3.12": "L2P, parameters of Theorem 3.12",
    "tree-ftpl-min-noise": "tree FTPL, least noise",
    "dp-ftrl": "DP-FTRL",
    "multiplicative-weights": "multiplicative weights, no privacy",
    "gradient-descent": "gradient descent, no privacy",
}


@dataclass(frozen=True)
class _Kind:
    """What tells one figure from the other.

    Args:
        column: column with the kind of losses; each kind has its own dashes and markers.
        dashes: line style and name of each kind; markers of the first are filled.
        title: title of the figure.
        table: how messages call the table.
    """

    column: str
    dashes: Mapping[str, tuple[str, str]]
    title: str
    table: str


_EXPERTS = _Kind(
    "adversary",
    {
        "stochastic": ("-", "stochastic losses"),
        "lower-bound": ("--", "adversary of the lower bound"),
    },
    "Regret against the best of d experts, at (ε, δ) for one round's losses",
    "lazy regrets",
)
_CONVEX = _Kind(
    "family",
    {"linear": ("-", "linear losses"), "logistic": ("--", "logistic losses")},
    "Regret against the best point of a ball, at (ε, δ) for one round's loss",
    "convex regrets",
)


def draw_lazy_regret(regrets: pd.DataFrame) -> Figure:
    """The table of `dpol.evaluation.lazy.study_lazy`. Raises DataError as `draw_convex_regret`."""
    return _draw(regrets, _EXPERTS, rate=False)


def draw_convex_regret(regrets: pd.DataFrame) -> Figure:
    """The table of `dpol.evaluation.convex.study_convex`, with the rate of Theorem 3.12.

    Raises:
        DataError: a column is missing, or the table is empty.
    """
    return _draw(regrets, _CONVEX, rate=True)


def _draw(regrets: pd.DataFrame, kind: _Kind, rate: bool) -> Figure:
    """A panel per d (rows) and epsilon (columns)."""
    check_frame(regrets, (kind.column, *COLUMNS), kind.table)
    sizes, epsilons = sorted(set(regrets["d"])), sorted(set(regrets["epsilon"]))
    with style.figure_style():
        figure = style.new_figure(1.2 + 2.0 * max(len(epsilons), 2.4), 1.7 + 1.8 * len(sizes))
        shifts, lines = _shifts(regrets, kind), regrets["T"].nunique() > _FEW
        axes = figure.subplots(len(sizes), len(epsilons), squeeze=False, sharex=True, sharey="row")
        for row, d in enumerate(sizes):
            for column, epsilon in enumerate(epsilons):
                panel = regrets[(regrets["d"] == d) & (regrets["epsilon"] == epsilon)]
                _draw_panel(axes[row][column], panel, kind, rate, shifts, lines)
                if row == 0:
                    axes[0][column].set_title(f"ε = {epsilon:g}")
            axes[row][0].set_ylabel(f"d = {d}\nmean regret")
            positive = regrets.loc[
                (regrets["d"] == d) & (regrets["mean_regret"] > 0), "mean_regret"
            ]
            if not positive.empty:
                axes[row][0].set_ylim(bottom=positive.min() / 2)
        for ax in axes[-1]:
            ax.set_xlabel("rounds T")
            _label_rounds(ax, sorted(set(regrets["T"])))
        _add_legend(figure, regrets, kind, rate, lines)
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


def _shifts(regrets: pd.DataFrame, kind: _Kind) -> dict[tuple[str, str], float]:
    """Factors of T that set the points of one T side by side."""
    found = [
        (algorithm, value)
        for algorithm in _NAMES
        for value in kind.dashes
        if ((regrets["algorithm"] == algorithm) & (regrets[kind.column] == value)).any()
    ]
    reach = 1.15 if regrets["T"].nunique() > _FEW else 1.6
    places = np.geomspace(1 / reach, reach, len(found)) if len(found) > 1 else np.ones(1)
    return dict(zip(found, places.tolist(), strict=True))


def _draw_panel(
    ax: Axes,
    panel: pd.DataFrame,
    kind: _Kind,
    rate: bool,
    shifts: Mapping[tuple[str, str], float],
    lines: bool,
) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    for (algorithm, value), shift in shifts.items():
        look = style.VARIANT_STYLES[algorithm]
        own = panel[(panel["algorithm"] == algorithm) & (panel[kind.column] == value)]
        own = own[own["mean_regret"] > 0].sort_values("T")
        filled = value == next(iter(kind.dashes))
        ax.plot(
            shift * own["T"],
            own["mean_regret"],
            color=look.colour,
            marker=look.marker,
            markersize=3.5,
            markerfacecolor=look.colour if filled else "white",
            linestyle=kind.dashes[value][0] if lines else "none",
            linewidth=1.1,
        )
        # A bar that reaches 0 or below reaches the edge of a logarithmic axis.
        low = np.maximum(own["mean_regret"] - own["ci_half_width"], 1e-3)
        high = own["mean_regret"] + own["ci_half_width"]
        ax.vlines(shift * own["T"], low, high, color=look.colour, linewidth=0.9)
    ours = panel[(panel["algorithm"] == "l2p-sound") & (panel["mean_regret"] > 0)]
    ours = ours[ours[kind.column] == next(iter(kind.dashes))].sort_values("T")
    if rate and not ours.empty:
        shape = convex_rate(ours["T"].to_numpy(float), *ours.iloc[0][["d", "epsilon", "delta"]])
        scaled = shape / shape[0] * ours["mean_regret"].iloc[0]
        ax.plot(ours["T"], scaled, color=style.BLACK, ls=":", lw=1.3)


def convex_rate(rounds: Floats, dimension: float, epsilon: float, delta: float) -> Floats:
    """The rate of Theorem 3.12, sqrt(T) + T^(1/3) sqrt(d log T) log(T/delta) / eps^(2/3)."""
    private = np.cbrt(rounds) * np.sqrt(dimension * np.log(rounds)) * np.log(rounds / delta)
    return np.asarray(np.sqrt(rounds) + private / epsilon ** (2 / 3))


def _add_legend(
    figure: Figure, regrets: pd.DataFrame, kind: _Kind, rate: bool, lines: bool
) -> None:
    solid = "-" if lines else "none"
    handles = [
        Line2D([], [], color=look.colour, marker=look.marker, markersize=3.5, label=name, ls=solid)
        for label, name in _NAMES.items()
        if label in set(regrets["algorithm"]) and (look := style.VARIANT_STYLES[label])
    ]
    present = set(regrets[kind.column])
    for number, (value, (line, name)) in enumerate(kind.dashes.items()):
        if value in present and len(present) > 1:
            fill = "white" if number else style.BLACK
            ls = line if lines else "none"
            handles.append(
                Line2D([], [], color=style.BLACK, marker="o", ms=3.5, mfc=fill, ls=ls, label=name)
            )
    if rate:
        label = "rate of Theorem 3.12, scaled to the first point"
        handles.append(Line2D([], [], color=style.BLACK, ls=":", lw=1.3, label=label))
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    first = regrets.iloc[0]
    bars = (
        f"means over {first['replicates']} runs; bars: {100 * first['confidence']:g}% intervals"
        f" (Student's t), all {first['ci_comparisons']} together"
    )
    add_title(figure, (kind.title, bars, "points of one T stand side by side"))
