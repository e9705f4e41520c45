"""The figure of amplified privacy: the paper's Figure 1 at one level, and epsilon at all."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator, PercentFormatter

from dpol.show import style
from dpol.show.direct_labels import Label, add_labels
from dpol.show.names import name_of
from dpol.show.titles import add_title
from dpol.show.words import mu_title, power
from dpol.studies.batching.settings import Batching
from dpol.studies.study import Facts, Frames

_COLOURS: Mapping[str, str] = {
    "borell-tis": style.COLOURS["rw-adabatch"],
    "reflection": style.COLOURS["rw-adabatch-reflection"],
}
_DASHES: Mapping[str, str] = {"analytic": "-", "monte-carlo": "--"}
_MARKERS = ("o", "s", "^", "D", "v", "P")
_FEW = 3  # From so many levels on, a line joins them.
_HEIGHT = 2.6  # inches, about, of the axes of a panel


def draw(frames: Frames, settings: Batching, facts: Facts) -> Figure:
    """Trade-off curves at the level nearest 1 (left), and epsilon at every level (right).

    Of the table `amplification`, the first round t is drawn; on the left, the fewest experts.
    """
    curves = frames["amplification"]
    shown = curves[curves["t"] == curves["t"].iloc[0]]
    n, mu = shown["n"].min(), min(set(shown["mu"]), key=lambda it: (abs(it - 1), it))
    with style.figure_style():
        figure = style.new_figure(7.0, _HEIGHT + 1.7)
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.1))
        _draw_curves(left, shown[(shown["n"] == n) & (shown["mu"] == mu)])
        left.set_title(f"one attack: n = {n}, {mu_title(mu)}", loc="left")
        labels = _draw_epsilons(right, shown)
        add_labels(right, labels, _HEIGHT)
        _add_legend(figure, shown)
        style.freeze_layout(figure)
    return figure


def _draw_curves(ax: Axes, panel: pd.DataFrame) -> None:
    ax.plot([0, 1], [1, 0], color=style.GREY, lw=0.6, label="perfect privacy")
    plain = panel[panel["kind"] == "un-amplified"]
    plain = plain[plain["bound"] == plain["bound"].iloc[0]]
    look: dict[str, Any] = {"color": style.BLACK, "lw": 1.2, "ls": ":"}
    ax.plot(plain["false_positive"], plain["false_negative"], **look, label="un-amplified")
    for (bound, colour), (kind, dashes) in product(_COLOURS.items(), _DASHES.items()):
        own = panel[(panel["bound"] == bound) & (panel["kind"] == kind)]
        look = {"color": colour, "ls": dashes, "lw": 1.2, "zorder": 2 + (kind == "monte-carlo")}
        if not own.empty:
            ax.plot(own["false_positive"], own["false_negative"], **look, label=f"{bound} {kind}")
    ends = {"lim": (0.0, 1.0), "ticks": (0, 0.5, 1)}
    ax.set(**{f"{axis}{name}": value for axis in "xy" for name, value in ends.items()})
    ax.set(xlabel="false positive rate", ylabel="false negative rate")


def _draw_epsilons(ax: Axes, shown: pd.DataFrame) -> list[Label]:
    """Epsilon as a share of what is not amplified: in nats, all curves would coincide."""
    key = ["bound", "kind", "n", "mu"]
    epsilons = shown.drop_duplicates(key).set_index(key)["epsilon_at_delta"].sort_index()
    sizes, mus, labels = list(dict.fromkeys(shown["n"])), sorted(set(shown["mu"])), []
    for bound, (n, marker) in product(_studied(shown), zip(sizes, _MARKERS, strict=False)):
        colour = _COLOURS[bound]
        analytic, estimated = (
            epsilons.loc[bound, kind, n] / epsilons.loc[bound, "un-amplified", n]
            for kind in _DASHES
        )
        look: dict[str, Any] = {"color": colour, "marker": marker, "label": f"{bound} {n}"}
        ax.plot(mus, estimated, **look, ms=6.0, mfc="white", ls="none", zorder=1.5)
        ax.plot(mus, analytic, **look, ms=4.0, lw=1.2, ls="-" if len(mus) >= _FEW else "none")
        name = f"{name_of(bound).marked},\nn = {n}"
        labels.append(Label(mus[0], analytic.iloc[0], name, colour))
    ax.axhline(1.0, color=style.BLACK, lw=1.2, ls=":")
    ax.set_xscale("log")
    ax.set_xticks(mus, [f"{it:g}" for it in mus])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.invert_xaxis()
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_ylim(top=1.01)
    ax.set_xlabel("privacy level μ of one round (the further right, the more private)")
    delta = shown["delta_reported"].iloc[0]
    ax.set_title(f"ε at δ = {power(delta)}, as a share of ε not amplified", loc="left")
    return labels


def _studied(shown: pd.DataFrame) -> list[str]:
    return [bound for bound in _COLOURS if bound in set(shown["bound"])]


def _add_legend(figure: Figure, shown: pd.DataFrame) -> None:
    handles = [
        Line2D([], [], color=style.GREY, lw=0.6, label="perfect privacy"),
        Line2D([], [], color=style.BLACK, ls=":", lw=1.2, label=name_of("un-amplified").short),
    ]
    handles += [
        Line2D([], [], color=_COLOURS[it], label=name_of(it).full) for it in _studied(shown)
    ]
    estimate = "Monte Carlo estimate (dashed; open markers)"
    handles.append(
        Line2D([], [], color=style.BLACK, ls="--", marker="o", mfc="white", label=estimate)
    )
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    first = shown.iloc[0]
    add_title(
        figure,
        (
            f"Central privacy of round t = {first['t']} of T = {first['T']}",
            f"α = {first['alpha']:g}, all-zero gains (the worst case)",
            "analytic bounds are computed: they have no intervals",
            "Monte Carlo: an estimate, no guarantee",
        ),
    )
