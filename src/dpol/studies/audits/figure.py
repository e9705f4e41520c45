"""The figure of audits: the claims, and what the outputs prove."""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpol.show import panels, style
from dpol.show.looks import BAND, BLACK, GREY, REFUTED
from dpol.show.names import name_of
from dpol.show.words import joint_confidence, proved, share_of_claim
from dpol.studies.audits.core import OUTSIDE
from dpol.studies.audits.settings import Audits
from dpol.studies.study import Facts, Frames

_MARKERS = {"event": "o", "covariance": "s", "fit": "^", "exact": "D"}
_CLOSEST = 5
_FARTHEST = 1.5  # Larger shares are drawn here.


def draw(frames: Frames, settings: Audits, facts: Facts) -> Figure:
    """Draw a line for each audit that refutes or is outside the promise, and the closest others."""
    audits = frames["audits"]
    refuted, rows = chosen_rows(audits)
    outside = int((audits["verdict"] == OUTSIDE).sum())
    methods = {row["method"] for row in rows}
    largest = max(_drawn_share(row) for row in rows)
    with panels.panels(1, 1, (panels.WIDTH, 0.3 * len(rows) + 0.3)) as drawn:
        (ax,) = drawn.axes
        for line, row in enumerate(rows):
            _draw_line(ax, line, row)
        ax.axvline(1, color=BLACK, lw=1.0)
        ax.set_xlim(0, max(1.06, 1.04 * largest))
        ax.set_ylim(len(rows) - 0.5, -0.6)
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        ax.grid(axis="y", visible=False)
        ax.set_xlabel("what the outputs prove, as a share of the claimed parameter")
        count = f"{refuted} refuted" if refuted else "no claim is refuted"
        count += f", {outside} outside the promise" if outside else ""
        drawn.title(
            f"{len(audits)} audits: {count}", f"here the {len(rows)} closest to their claim"
        )
        worst = next((row for row in rows if row["verdict"] != OUTSIDE), rows[0])
        beside = f" and {outside} outside the promise" if outside else ""
        drawn.find(
            f"{len(audits)} audits, {refuted} refuted{beside}. Closest to or beyond its claim:"
            f" {worst['mechanism']}, {worst['variant']}: {proved(worst)}, {worst['claimed']:.3g}"
            " claimed."
        )
        shown = {method: marker for method, marker in _MARKERS.items() if method in methods}
        mark: Any = {"color": GREY, "linestyle": "none", "markersize": 4.5}
        keys = [
            panels.key(name_of(method).long, marker=marker, **mark)
            for method, marker in shown.items()
        ]
        keys.append(panels.key("beyond the claim: refuted", color=REFUTED, lw=1.2))
        keys.append(panels.key("claim", color=BLACK, lw=1.0))
        together = joint_confidence(audits["confidence"])
        drawn.legend(keys, title=f"all bounds hold together with {together} confidence")
    return drawn.figure


def chosen_rows(audits: pd.DataFrame) -> tuple[int, list[dict[Hashable, Any]]]:
    """Return the number of refuted claims, and rows: refuted, outside the promise, the closest."""
    rows = sorted(audits.to_dict("records"), key=share_of_claim, reverse=True)
    refuted = [row for row in rows if row["verdict"] == "violated"]
    outside = [row for row in rows if row["verdict"] == OUTSIDE]
    standing = [row for row in rows if row["verdict"] == "consistent"]
    return len(refuted), [*refuted, *outside, *standing[:_CLOSEST]]


def _drawn_share(row: Mapping[Hashable, Any]) -> float:
    return min(share_of_claim(row), _FARTHEST)


def _draw_line(ax: Axes, line: int, row: Mapping[Hashable, Any]) -> None:
    """Draw an audit, with its text above its line."""
    refuted, share = row["verdict"] == "violated", _drawn_share(row)
    colour = REFUTED if refuted else GREY
    ax.plot([0, share], [line, line], color=colour, lw=1.2, alpha=0.45)
    ax.plot([share], [line], color=colour, marker=_MARKERS[row["method"]], ms=4.5, clip_on=False)
    if refuted:  # A share just above 1 is hard to see.
        ax.axhspan(line - 0.5, line + 0.5, color=BAND, linewidth=0, zorder=0)
    verb = "is not promised there" if row["verdict"] == OUTSIDE else "claimed"
    words = f"{row['mechanism']}, {row['variant']}: {proved(row)}, {row['claimed']:.3g} {verb}"
    weight, ink = ("bold" if refuted else "normal"), style.text_colour(colour)
    words = textwrap.fill(words, 110)
    ax.text(0, line - 0.22, words, va="bottom", fontsize=7, fontweight=weight, color=ink)
