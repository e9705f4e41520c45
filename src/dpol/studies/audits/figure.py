"""The figure of audits: what is claimed, and what the outputs prove."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpol.show import style
from dpol.show.names import name_of
from dpol.show.words import joint_confidence, proved, share_of_claim
from dpol.studies.audits.settings import Audits
from dpol.studies.study import Facts, Frames

_MARKERS = {"event": "o", "covariance": "s", "fit": "^", "exact": "D"}
_COLOURS = {"consistent": style.GREY, "violated": style.REFUTED}
# Shares beyond this are drawn here.
_FARTHEST = 1.5


def draw(frames: Frames, settings: Audits, facts: Facts) -> Figure:
    """One line per audit: the lower bound on its parameter as a share of the claim."""
    audits = frames["audits"]
    rows = audits.to_dict("records")
    largest = max(_drawn_share(row) for row in rows)
    with style.figure_style():
        figure = style.new_figure(7.0, 1.8 + 0.22 * len(audits))
        axes = figure.subplots()
        for line, row in enumerate(rows):
            _draw_line(axes, line, row)
        axes.axvline(1, color=style.BLACK, lw=1.0)
        axes.set_xlim(0, max(1.06, 1.04 * largest))
        axes.set_ylim(len(audits) - 0.5, -0.5)
        axes.set_yticks(
            range(len(audits)), [f"{row['mechanism']} ({row['variant']})" for row in rows]
        )
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("what the outputs prove, as a share of the claimed parameter")
        together = joint_confidence(audits["confidence"])
        figure.suptitle(_title(audits), x=0.01, ha="left")
        figure.legend(
            handles=_handles(audits),
            loc="outside lower center",
            ncols=3,
            title=f"all bounds hold together with {together} confidence",
        )
        style.freeze_layout(figure)
    return figure


def _drawn_share(row: Mapping[Hashable, Any]) -> float:
    return min(share_of_claim(row), _FARTHEST)


def _draw_line(axes: Axes, line: int, row: Mapping[Hashable, Any]) -> None:
    colour, share = _COLOURS[row["verdict"]], _drawn_share(row)
    axes.plot([0, share], [line, line], color=colour, lw=1.2, alpha=0.45)
    axes.plot([share], [line], color=colour, marker=_MARKERS[row["method"]], ms=4.5, clip_on=False)
    text, weight = f"{proved(row)}; {row['claimed']:.3g} claimed", "normal"
    if row["verdict"] == "violated":
        # A share just above 1 would go unseen.
        axes.axhspan(line - 0.5, line + 0.5, color=style.BAND, linewidth=0, zorder=0)
        text, weight = f"{text}: refuted", "bold"
    axes.annotate(
        text,
        (1.02, line),
        xycoords=("axes fraction", "data"),
        va="center",
        fontsize=7,
        fontweight=weight,
        color=style.text_colour(colour),
        annotation_clip=False,
    )


def _title(audits: pd.DataFrame) -> str:
    broken = int((audits["verdict"] == "violated").sum())
    found = f"{broken} {name_of('violated').short}" if broken else "no claim is refuted"
    return f"{len(audits)} audits of privacy: {found}"


def _handles(audits: pd.DataFrame) -> list[Line2D]:
    handles = [
        Line2D([], [], color=style.GREY, marker=marker, ls="", ms=4.5, label=name_of(method).long)
        for method, marker in _MARKERS.items()
        if (audits["method"] == method).any()
    ]
    handles += [
        Line2D([], [], color=_COLOURS["violated"], lw=1.2, label="beyond the claim: refuted"),
        Line2D([], [], color=style.BLACK, lw=1.0, label="claim"),
    ]
    return handles
