"""The figure of audits: what is claimed, and what the outputs prove."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpol.show import panels, style
from dpol.show.looks import BAND, BLACK, GREY, REFUTED
from dpol.show.names import name_of
from dpol.show.words import joint_confidence, proved, share_of_claim
from dpol.studies.audits.settings import Audits
from dpol.studies.study import Facts, Frames

_MARKERS = {"event": "o", "covariance": "s", "fit": "^", "exact": "D"}
_FARTHEST = 1.5  # Shares beyond this are drawn here.


def draw(frames: Frames, settings: Audits, facts: Facts) -> Figure:
    """One line per audit: the lower bound on its parameter as a share of the claim."""
    audits = frames["audits"]
    rows, methods = audits.to_dict("records"), set(audits["method"])
    largest = max(_drawn_share(row) for row in rows)
    refuted = int((audits["verdict"] == "violated").sum())
    with panels.panels(1, 1, (panels.WIDTH, 0.22 * len(audits) + 0.4)) as drawn:
        (ax,) = drawn.axes
        for line, row in enumerate(rows):
            _draw_line(ax, line, row)
        ax.axvline(1, color=BLACK, lw=1.0)
        ax.set_xlim(0, max(1.06, 1.04 * largest))
        ax.set_ylim(len(audits) - 0.5, -0.5)
        names = [f"{row['mechanism']} ({row['variant']})" for row in rows]
        ax.set_yticks(range(len(audits)), names)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="y", visible=False)
        ax.set_xlabel("what the outputs prove, as a share of the claimed parameter")
        count = f"{refuted} {name_of('violated').short}" if refuted else "no claim is refuted"
        drawn.title(f"{len(audits)} audits of privacy: {count}")
        shown = {method: marker for method, marker in _MARKERS.items() if method in methods}
        mark: Any = {"color": GREY, "linestyle": "none", "markersize": 4.5}
        keys = [panels.key(name_of(it).long, marker=shown[it], **mark) for it in shown]
        keys.append(panels.key("beyond the claim: refuted", color=REFUTED, lw=1.2))
        keys.append(panels.key("claim", color=BLACK, lw=1.0))
        together = joint_confidence(audits["confidence"])
        drawn.legend(keys, title=f"all bounds hold together with {together} confidence")
    return drawn.figure


def _drawn_share(row: Mapping[Hashable, Any]) -> float:
    return min(share_of_claim(row), _FARTHEST)


def _draw_line(ax: Axes, line: int, row: Mapping[Hashable, Any]) -> None:
    refuted, share = row["verdict"] == "violated", _drawn_share(row)
    colour = REFUTED if refuted else GREY
    ax.plot([0, share], [line, line], color=colour, lw=1.2, alpha=0.45)
    ax.plot([share], [line], color=colour, marker=_MARKERS[row["method"]], ms=4.5, clip_on=False)
    if refuted:  # A share just above 1 would go unseen.
        ax.axhspan(line - 0.5, line + 0.5, color=BAND, linewidth=0, zorder=0)
    ax.annotate(
        f"{proved(row)}; {row['claimed']:.3g} claimed{': refuted' if refuted else ''}",
        (1.02, line),
        xycoords=("axes fraction", "data"),
        va="center",
        fontsize=7,
        fontweight="bold" if refuted else "normal",
        color=style.text_colour(colour),
        annotation_clip=False,
    )
