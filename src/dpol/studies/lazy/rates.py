"""The figure of rates: Figure 1 of "Private Online Learning via Lazy Algorithms"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpol.core.randomness import Floats
from dpol.show import style
from dpol.show.titles import add_title
from dpol.studies.lazy.settings import Lazy
from dpol.studies.study import Facts, Frames

_NEW: dict[str, Any] = {"color": style.ALGORITHM_STYLES["l2p"].colour, "lw": 1.4}
_PRIOR: dict[str, Any] = {"color": style.GREY, "ls": "--", "lw": 1.2}
_LOWER_BOUND: dict[str, Any] = {"color": style.BLACK, "ls": ":", "lw": 2.0}


@dataclass(frozen=True)
class RatePanel:
    """One panel: exponents b of regret T^b, at most 1, as functions of a, where eps = T^-a."""

    title: str
    new: Callable[[Floats], Floats]
    prior: Callable[[Floats], Floats]
    lower_bound: bool = False


def _largest(*terms: Floats | float) -> Floats:
    """The exponent of a sum of powers of T."""
    return np.asarray(reduce(np.maximum, terms))


def _least(*rates: Floats | float) -> Floats:
    """The exponent of the best of several rates, at most 1."""
    return np.minimum(1.0, reduce(np.minimum, rates))


RATE_PANELS = (
    RatePanel(
        "convex losses, d = polylog T",
        lambda a: _least(_largest(1 / 2, 1 / 3 + 2 * a / 3)),
        lambda a: _least(1 / 2 + a / 2, _largest(1 / 2, 1 / 3 + a, 3 / 8 + 3 * a / 4)),
    ),
    RatePanel(
        "convex losses, d = ∛T",
        lambda a: _least(_largest(1 / 2, 1 / 2 + 2 * a / 3)),
        lambda a: _least(1 / 12 + 1 / 2 + a / 2, _largest(1 / 2, 1 / 2 + a, 13 / 24 + 3 * a / 4)),
    ),
    RatePanel(
        "experts, d = T",
        lambda a: _least(_largest(1 / 2, 1 / 3 + 2 * a / 3)),
        lambda a: _least(1 / 2 + a, _largest(1 / 2, 1 / 3 + a), _largest(1 / 2, 2 / 5 + 4 * a / 5)),
        lower_bound=True,
    ),
)
"""Rates of "Private Online Learning via Lazy Algorithms", Figure 1; logarithms dropped."""


def _shade_where_worse(ax: Axes, a: Floats, panel: RatePanel) -> None:
    worse = a[panel.new(a) > panel.prior(a) + 1e-9]
    if len(worse):
        ax.axvspan(worse[0], worse[-1], color=style.BAND, linewidth=0, zorder=0)
        ax.text(worse.mean(), 0.6, "here L2P is\nworse than\nprior work", ha="center", fontsize=7)


def draw_rates(frames: Frames, settings: Lazy, facts: Facts) -> Figure:
    """The paper's Figure 1: rates of L2P and prior work, and the lower bound where known.

    No result changes it.
    """
    a = np.linspace(0, 1, 401)
    with style.figure_style():
        figure = style.new_figure(7.0, 2.8)
        axes = figure.subplots(1, len(RATE_PANELS), sharey=True)
        for ax, panel in zip(axes, RATE_PANELS, strict=True):
            ax.plot(a, panel.prior(a), **_PRIOR)
            ax.plot(a, panel.new(a), **_NEW)
            _shade_where_worse(ax, a, panel)
            if panel.lower_bound:
                ax.plot(a, panel.new(a), **_LOWER_BOUND)
            ax.set(title=panel.title, xlabel="a, where ε = T⁻ᵃ", xlim=(0, 1), ylim=(0.45, 1.02))
        axes[0].set_ylabel("b, where regret = Tᵇ")
        lines = [Line2D([], [], **look) for look in (_NEW, _PRIOR, _LOWER_BOUND)]
        names = ("L2P", "prior work", "lower bound for few switches")
        figure.legend(lines, names, loc="outside lower center", ncols=3)
        stated = "Rates as the paper states them, logarithms dropped"
        add_title(figure, (stated, "lower is better", "nothing here is measured: no intervals"))
        style.freeze_layout(figure)
    return figure
