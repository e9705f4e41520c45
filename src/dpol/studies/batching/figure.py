"""The figure of amplified privacy: the paper's Figure 1 at one level, and epsilon at all."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpol.show import panels
from dpol.show.looks import BLACK, DOTTED, GREY, Look
from dpol.show.names import name_of
from dpol.show.words import mu_title, power
from dpol.studies.batching.settings import Batching
from dpol.studies.looks import looks_of
from dpol.studies.study import Facts, Frames

_ALGORITHMS = {"borell-tis": "rw-adabatch", "reflection": "rw-adabatch-reflection"}
"""The algorithm of each bound, whose colour its lines have."""
_DASHES = {"analytic": "-", "monte-carlo": "--"}
_MARKERS = ("o", "s", "^", "D", "v", "P")
_PERFECT = Look(GREY, width=0.6)
_PLAIN = Look(BLACK, DOTTED)


def draw(frames: Frames, settings: Batching, facts: Facts) -> Figure:
    """Trade-off curves at the level nearest 1 (left), and epsilon at every level (right).

    Of the table `amplification`, the first round t is drawn; on the left, the fewest experts.
    """
    curves = frames["amplification"]
    shown = curves[curves["t"] == curves["t"].iloc[0]]
    n, mu = shown["n"].min(), min(set(shown["mu"]), key=lambda it: (abs(it - 1), it))
    first, looks = shown.iloc[0], looks_of(_ALGORITHMS.values())
    studied = {it: name for it, name in _ALGORITHMS.items() if it in set(shown["bound"])}
    colours = {bound: looks[name].colour for bound, name in studied.items()}
    with panels.panels(2, 2, (panels.WIDTH / 2, 3.1), width_ratios=(1, 1.1)) as drawn:
        left, right = drawn.axes
        _draw_curves(left, shown[(shown["n"] == n) & (shown["mu"] == mu)], colours)
        left.set_title(f"one attack: n = {n}, {mu_title(mu)}", loc="left")
        _draw_epsilons(drawn, right, shown, colours)
        delta = power(first["delta_reported"])
        right.set_title(f"ε at δ = {delta}, as a share of ε not amplified", loc="left")
        keys = [panels.key("perfect privacy", **_PERFECT.line)]
        keys.append(panels.key(name_of("un-amplified").short, **_PLAIN.line))
        keys += [panels.key(name_of(it).full, color=colour) for it, colour in colours.items()]
        open_marker: Any = {"ls": "--", "marker": "o", "mfc": "white"}
        name = "Monte Carlo estimate (dashed; open markers)"
        drawn.legend([*keys, panels.key(name, color=BLACK, **open_marker)])
        drawn.title(
            f"Central privacy of round t = {first['t']} of T = {first['T']}",
            f"α = {first['alpha']:g}, all-zero gains (the worst case)",
            "analytic bounds are computed: they have no intervals",
            "Monte Carlo: an estimate, no guarantee",
        )
    return drawn.figure


def _draw_curves(ax: Axes, panel: pd.DataFrame, colours: Mapping[str, str]) -> None:
    ax.plot([0, 1], [1, 0], **_PERFECT.line, label="perfect privacy")
    plain = panel[panel["kind"] == "un-amplified"]
    plain = plain[plain["bound"] == plain["bound"].iloc[0]]
    ax.plot(plain["false_positive"], plain["false_negative"], **_PLAIN.line, label="un-amplified")
    for (bound, colour), (kind, dashes) in product(colours.items(), _DASHES.items()):
        curve = panel[(panel["bound"] == bound) & (panel["kind"] == kind)]
        look: dict[str, Any] = {"color": colour, "ls": dashes, "label": f"{bound} {kind}"}
        above = 2 + (kind == "monte-carlo")
        ax.plot(curve["false_positive"], curve["false_negative"], **look, lw=1.2, zorder=above)
    ax.set(xlim=(0, 1), ylim=(0, 1), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
    ax.set(xlabel="false positive rate", ylabel="false negative rate")


def _draw_epsilons(
    drawn: panels.Panels, ax: Axes, shown: pd.DataFrame, colours: Mapping[str, str]
) -> None:
    """Epsilon as a share of what is not amplified: in nats, all curves would coincide."""
    key = ["bound", "kind", "n", "mu"]
    epsilons = shown.drop_duplicates(key).set_index(key)["epsilon_at_delta"].sort_index()
    sizes, mus = dict.fromkeys(shown["n"]), sorted(set(shown["mu"]))
    joined = "-" if len(mus) > panels.FEW else "none"
    for bound, (n, marker) in product(colours, zip(sizes, _MARKERS, strict=False)):
        plain, colour = epsilons.loc[bound, "un-amplified", n], colours[bound]
        analytic = epsilons.loc[bound, "analytic", n] / plain
        estimated = epsilons.loc[bound, "monte-carlo", n] / plain
        look: dict[str, Any] = {"color": colour, "marker": marker, "label": f"{bound} {n}"}
        ax.plot(mus, estimated, **look, ms=6.0, mfc="white", ls="none", zorder=1.5)
        ax.plot(mus, analytic, **look, ms=4.0, lw=1.2, ls=joined)
        name = f"{name_of(bound).marked},\nn = {n}"
        drawn.name_line(ax, (mus[0], analytic.iloc[0]), name, colour)
    ax.axhline(1.0, **_PLAIN.line)
    ax.set_xscale("log")
    panels.set_ticks(ax.xaxis, mus)
    ax.invert_xaxis()
    panels.set_percent(ax.yaxis)
    ax.set_ylim(top=1.01)
    ax.set_xlabel(f"privacy level μ of one round ({panels.STRICTER})")
