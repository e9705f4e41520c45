"""The figure of amplified privacy: epsilon at all levels of mu."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpol.show import panels
from dpol.show.looks import BLACK, REFERENCES, looks_of
from dpol.show.names import name_of
from dpol.show.words import power
from dpol.studies.batching.settings import Batching
from dpol.studies.study import Facts, Frames

_ALGORITHMS = {"borell-tis": "rw-adabatch", "reflection": "rw-adabatch-reflection"}
"""Algorithm of each bound; the lines have its colour."""
_MARKERS = ("o", "s", "^", "D", "v", "P")
_PLAIN = REFERENCES["not-amplified"]


def draw(frames: Frames, settings: Batching, facts: Facts) -> Figure:
    """Draw epsilon at every level as a share of epsilon without amplification.

    The figure shows the first round t and the first alpha of the table `amplification`.
    """
    curves = frames["amplification"]
    shown = curves[(curves[["t", "alpha"]] == curves[["t", "alpha"]].iloc[0]).all(axis=1)]
    first, looks = shown.iloc[0], looks_of(_ALGORITHMS.values())
    studied = {key: name for key, name in _ALGORITHMS.items() if key in set(shown["bound"])}
    colours = {bound: looks[name].colour for bound, name in studied.items()}
    with panels.panels(1, 1, (5.4, 1.9)) as drawn:
        (ax,) = drawn.axes
        shares = _draw_epsilons(drawn, ax, shown, colours)
        ax.set_ylabel(f"amplified ε over ε, δ = {power(first['delta_reported'])}")
        keys = [panels.key(name_of("un-amplified").short, **_PLAIN.line)]
        keys += [panels.key(name_of(bound).full, color=colour) for bound, colour in colours.items()]
        open_marker: Any = {"ls": "none", "marker": "o", "mfc": "white"}
        name = "Monte Carlo estimate, not a guarantee"
        keys.append(panels.key(name, color=BLACK, **open_marker))
        if (shown["kind"] == "heuristic").any():
            keys.append(panels.key(name_of("heuristic").long, color=BLACK, ls="--", marker="x"))
        drawn.legend(keys)
        drawn.title(
            f"Central privacy of round t = {first['t']} of T = {first['T']}",
            f"α = {first['alpha']:g}, all-zero gains (the worst case)",
            "analytic bounds are computed, so they have no intervals",
        )
        low, high = 1 - max(shares), 1 - min(shares)
        drawn.find(f"Batches lower ε by {low:.0%} to {high:.0%}, by the analytic bounds.")
    return drawn.figure


def _draw_epsilons(
    drawn: panels.Panels, ax: Axes, shown: pd.DataFrame, colours: Mapping[str, str]
) -> list[float]:
    """Draw epsilon as a share of epsilon without amplification, and return the analytic shares.

    In nats, all curves would coincide. The axis starts at 0, so that effects are drawn to scale.
    """
    key = ["bound", "kind", "n", "mu"]
    epsilons = shown.drop_duplicates(key).set_index(key)["epsilon_at_delta"].sort_index()
    sizes, mus = dict.fromkeys(shown["n"]), sorted(set(shown["mu"]))
    joined, shares = "-" if len(mus) > panels.FEW else "none", list[float]()
    for bound, (n, marker) in product(colours, zip(sizes, _MARKERS, strict=False)):
        plain, colour = epsilons.loc[bound, "un-amplified", n], colours[bound]
        analytic = epsilons.loc[bound, "analytic", n] / plain
        estimated = epsilons.loc[bound, "monte-carlo", n] / plain
        look: dict[str, Any] = {"color": colour, "marker": marker, "label": f"{bound} {n}"}
        ax.plot(mus, estimated, **look, ms=6.0, mfc="white", ls="none", zorder=1.5)
        if ((shown["bound"] == bound) & (shown["kind"] == "heuristic")).any():
            guessed = epsilons.loc[bound, "heuristic", n] / plain
            name = f"{bound} {n}, heuristic"
            guess: dict[str, Any] = {"color": colour, "marker": "x", "label": name}
            ax.plot(mus, guessed, **guess, ms=5.0, lw=0.8, ls="--" if joined == "-" else joined)
        ax.plot(mus, analytic, **look, ms=4.0, lw=1.2, ls=joined)
        name = f"{name_of(bound).marked},\nn = {n}"
        drawn.name_line(ax, (mus[0], analytic.iloc[0]), name, colour)
        shares += analytic.tolist()
    ax.axhline(1.0, **_PLAIN.line)
    ax.set_xscale("log")
    panels.set_ticks(ax.xaxis, mus)
    ax.invert_xaxis()
    panels.set_percent(ax.yaxis)
    ax.set_ylim(0, 1.04)
    ax.set_xlabel(f"privacy level μ of one round ({panels.STRICTER})")
    return shares
