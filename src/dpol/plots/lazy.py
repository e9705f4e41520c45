"""Figures of L2P for experts: measured regret, and the rates of the paper's Figure 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpol.errors import DataError
from dpol.plots import style
from dpol.randomness import Floats

COLUMNS = ("adversary", "T", "d", "epsilon", "algorithm", "mean_regret", "ci_half_width")
"""Columns the figure of regrets needs."""

_NAMES: Mapping[str, tuple[str, str, str]] = {
    "l2p-sound": (style.BLUE, "o", "L2P, sound accountant (ours)"),
    "l2p-published": (style.VERMILLION, "s", "L2P, published accountant"),
    "tree-ftpl-min-noise": (style.GREEN, "D", "tree FTPL, least noise"),
    "multiplicative-weights": (style.GREY, "X", "multiplicative weights, no privacy"),
}
_ADVERSARIES: Mapping[str, str] = {"stochastic": "-", "lower-bound": "--"}


def draw_lazy_regret(regrets: pd.DataFrame) -> Figure:
    """Mean regret against T, a panel per number of experts (rows) and epsilon (columns).

    Args:
        regrets: as `dpol.evaluation.lazy.study_lazy` makes them.

    Raises:
        DataError: a column is missing, or the table is empty.
    """
    missing = [name for name in COLUMNS if name not in regrets.columns]
    if missing or regrets.empty:
        what = f"has no column {', '.join(missing)}" if missing else "is empty"
        raise DataError(f"the table of lazy regrets {what}; delete it and run again")
    sizes, epsilons = sorted(set(regrets["d"])), sorted(set(regrets["epsilon"]))
    with style.figure_style():
        figure = style.new_figure(1.2 + 2.0 * len(epsilons), 1.6 + 1.7 * len(sizes))
        axes = figure.subplots(len(sizes), len(epsilons), squeeze=False, sharex=True, sharey="row")
        for row, d in enumerate(sizes):
            for column, epsilon in enumerate(epsilons):
                ax = axes[row][column]
                panel = regrets[(regrets["d"] == d) & (regrets["epsilon"] == epsilon)]
                _draw_regrets(ax, panel)
                if row == 0:
                    ax.set_title(f"ε = {epsilon:g}")
            axes[row][0].set_ylabel(f"d = {d}\nmean regret")
            smallest = regrets.loc[regrets["d"] == d, "mean_regret"].min()
            axes[row][0].set_ylim(bottom=max(1.0, smallest / 2))
        for ax in axes[-1]:
            ax.set_xlabel("rounds T")
        _add_regret_legend(figure, set(regrets["algorithm"]))
        style.freeze_layout(figure)
    return figure


def _draw_regrets(ax: Axes, panel: pd.DataFrame) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    for algorithm, (colour, marker, _) in _NAMES.items():
        for adversary, line in _ADVERSARIES.items():
            own = panel[(panel["algorithm"] == algorithm) & (panel["adversary"] == adversary)]
            own = own[own["mean_regret"] > 0].sort_values("T")
            ax.plot(
                own["T"],
                own["mean_regret"],
                color=colour,
                marker=marker,
                markersize=3.5,
                linestyle=line,
                linewidth=1.1,
            )
            low = np.maximum(own["mean_regret"] - own["ci_half_width"], 1e-3)
            high = own["mean_regret"] + own["ci_half_width"]
            ax.fill_between(own["T"], low, high, color=colour, alpha=0.15, linewidth=0)


def _add_regret_legend(figure: Figure, present: set[str]) -> None:
    handles = [
        Line2D([], [], color=colour, marker=marker, markersize=3.5, label=name)
        for label, (colour, marker, name) in _NAMES.items()
        if label in present
    ]
    handles += [
        Line2D([], [], color=style.BLACK, ls="-", label="stochastic losses"),
        Line2D([], [], color=style.BLACK, ls="--", label="adversary of the lower bound"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    figure.suptitle(
        "Regret for a change of one round's losses (ε, δ); bands: 95% intervals", x=0.01, ha="left"
    )


@dataclass(frozen=True)
class RatePanel:
    """One panel of the rate figure: exponents b of regret T^b as functions of a, eps = T^-a."""

    title: str
    new: Callable[[Floats], Floats]
    prior: Callable[[Floats], Floats]
    lower_bound: bool


def _capped(rate: Floats) -> Floats:
    return np.minimum(rate, 1.0)


RATE_PANELS = (
    RatePanel(
        "OCO, d = polylog T",
        lambda a: _capped(np.maximum(1 / 2, 1 / 3 + 2 * a / 3)),
        lambda a: _capped(
            np.minimum(1 / 2 + a / 2, np.maximum(1 / 2, np.maximum(1 / 3 + a, 3 / 8 + 3 * a / 4)))
        ),
        False,
    ),
    RatePanel(
        "OCO, d = T^(1/3)",
        lambda a: _capped(np.maximum(1 / 2, 1 / 2 + 2 * a / 3)),
        lambda a: _capped(
            np.minimum(
                1 / 12 + 1 / 2 + a / 2,
                np.maximum(1 / 2, np.maximum(1 / 2 + a, 13 / 24 + 3 * a / 4)),
            )
        ),
        False,
    ),
    RatePanel(
        "OPE, d = T",
        lambda a: _capped(np.maximum(1 / 2, 1 / 3 + 2 * a / 3)),
        lambda a: _capped(
            np.minimum(
                1 / 2 + a,
                np.minimum(np.maximum(1 / 2, 1 / 3 + a), np.maximum(1 / 2, 2 / 5 + 4 * a / 5)),
            )
        ),
        True,
    ),
)
"""Rates of "Private Online Learning via Lazy Algorithms", Figure 1; logarithms dropped."""


def draw_lazy_rates() -> Figure:
    """The paper's Figure 1: rates of L2P beside prior work, and the lower bound where known."""
    a = np.linspace(0, 1, 401)
    with style.figure_style():
        figure = style.new_figure(7.0, 2.8)
        axes = figure.subplots(1, len(RATE_PANELS), sharey=True)
        for ax, panel in zip(axes, RATE_PANELS, strict=True):
            ax.plot(a, panel.prior(a), color=style.VERMILLION, ls="--", lw=1.2)
            ax.plot(a, panel.new(a), color=style.BLUE, lw=1.4)
            if panel.lower_bound:
                ax.plot(a, panel.new(a), color=style.BLACK, ls=":", lw=2.0)
            ax.set_title(panel.title)
            ax.set_xlabel("a, where ε = T^(−a)")
            ax.set_xlim(0, 1)
            ax.set_ylim(0.45, 1.02)
        axes[0].set_ylabel("b, where regret = T^b")
        handles = [
            Line2D([], [], color=style.BLUE, label="L2P"),
            Line2D([], [], color=style.VERMILLION, ls="--", label="prior work"),
            Line2D([], [], color=style.BLACK, ls=":", lw=2.0, label="lower bound (low switching)"),
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=3)
        figure.suptitle(
            "Rates as the paper states them, logarithms dropped; nothing here is measured",
            x=0.01,
            ha="left",
        )
        style.freeze_layout(figure)
    return figure
