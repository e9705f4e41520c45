"""The figure of rates: Figure 1 of "Private Online Learning via Lazy Algorithms"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpol.core.randomness import Floats
from dpol.show import style

_L2P = style.ALGORITHM_STYLES["l2p"].colour


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
            ax.plot(a, panel.prior(a), color=style.GREY, ls="--", lw=1.2)
            ax.plot(a, panel.new(a), color=_L2P, lw=1.4)
            if panel.lower_bound:
                ax.plot(a, panel.new(a), color=style.BLACK, ls=":", lw=2.0)
            ax.set_title(panel.title)
            ax.set_xlabel("a, where ε = T^(−a)")
            ax.set_xlim(0, 1)
            ax.set_ylim(0.45, 1.02)
        axes[0].set_ylabel("b, where regret = T^b")
        handles = [
            Line2D([], [], color=_L2P, label="L2P"),
            Line2D([], [], color=style.GREY, ls="--", label="prior work"),
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
