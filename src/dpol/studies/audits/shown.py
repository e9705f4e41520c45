"""The figure and the table of audits: the claims, and what the outputs prove."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpol.privacy.auditing.bounds import exceeds
from dpol.show import panels, style
from dpol.show.looks import BAND, BLACK, GREY, REFUTED
from dpol.show.marks import Mark
from dpol.show.names import name_of
from dpol.show.table import Column, Line, Table, TableCell, number, one_section
from dpol.show.words import SYMBOLS, joint_confidence, proved, share_of_claim
from dpol.studies.audits.core import OUTSIDE
from dpol.studies.audits.settings import Audits
from dpol.studies.study import Facts, Frames

_MARKERS = {"event": "o", "covariance": "s", "fit": "^", "exact": "D"}
_VERDICTS = {
    "violated": Mark("refuted", "bad"),
    OUTSIDE: Mark("outside", "open"),
    "consistent": Mark("stands", "good"),
}
_CLOSEST = 5
_CHARACTERS = 75
"""Most characters of a line of text; more would cross the line of the claim."""
_FARTHEST = 1.5  # Larger shares are drawn here.


def draw_audits(frames: Frames, settings: Audits, facts: Facts) -> Figure:
    """Draw a line for each audit that refutes or is outside the promise, and the closest others."""
    audits = frames["audits"]
    refuted, rows = chosen_rows(audits)
    outside = int((audits["verdict"] == OUTSIDE).sum())
    methods = {row["method"] for row in rows}
    largest = max(_drawn_share(row) for row in rows)
    # A line stands as far below the one before as its text needs.
    texts = [textwrap.fill(_words_of(row), _CHARACTERS) for row in rows]
    places = [0.0, *itertools.accumulate(1 + 0.5 * text.count("\n") for text in texts[1:])]
    with panels.panels(1, 1, (panels.WIDTH, 0.3 * (places[-1] + 1) + 0.3)) as drawn:
        (ax,) = drawn.axes
        for place, row, text in zip(places, rows, texts, strict=True):
            _draw_line(ax, place, row, text)
        ax.axvline(1, color=BLACK, lw=1.0)
        ax.set_xlim(0, max(1.06, 1.04 * largest))
        ax.set_ylim(places[-1] + 0.5, -0.6 - 0.5 * texts[0].count("\n"))
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
        beside = f", and {outside} attacked what no claim covers" if outside else ""
        drawn.find(
            f"Of {len(audits)} audits {refuted} refuted the claim{beside}. The furthest one attacks"
            f" {worst['mechanism']} ({worst['variant']}) and proves {proved(worst)}, where"
            f" {worst['claimed']:.3g} is claimed."
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


def _words_of(row: Mapping[Hashable, Any]) -> str:
    verb = "is not promised there" if row["verdict"] == OUTSIDE else "claimed"
    return f"{row['mechanism']}, {row['variant']}: {proved(row)}, {row['claimed']:.3g} {verb}"


def _draw_line(ax: Axes, line: float, row: Mapping[Hashable, Any], text: str) -> None:
    """Draw an audit, with its text above its line."""
    refuted, share = row["verdict"] == "violated", _drawn_share(row)
    colour = REFUTED if refuted else GREY
    ax.plot([0, share], [line, line], color=colour, lw=1.2, alpha=0.45)
    ax.plot([share], [line], color=colour, marker=_MARKERS[row["method"]], ms=4.5, clip_on=False)
    if refuted:  # A share just above 1 is hard to see.
        ax.axhspan(line - 0.5, line + 0.5, color=BAND, linewidth=0, zorder=0)
    weight, ink = ("bold" if refuted else "normal"), style.text_colour(colour)
    ax.text(0, line - 0.22, text, va="bottom", fontsize=7, fontweight=weight, color=ink)


def audits_table(frames: Frames, settings: Audits, facts: Facts) -> Table:
    """Build the table of each mechanism's claim, what its outputs prove, and the verdict."""
    audits = frames["audits"]
    rows = audits.to_dict("records")
    adjacency = "; ".join(dict.fromkeys(audits["adjacency"]))
    ran = (
        f"{row['mechanism']}, {row['method']}: {row['inputs']}. Code: {row['code']}. Statistic:"
        f" {row['statistic']}."
        for row in rows
    )
    return Table(
        caption="Audits",
        name="audits",
        corner=("mechanism",),
        headers=(
            *(Column("variant", prose=True), Column("unit", prose=True)),
            *("claimed", "proved", "share"),
            *(Column("how", prose=True), Column("verdict", prose=True)),
        ),
        sections=(one_section(map(_line, rows)),),
        footers=(
            f"Adjacent: {adjacency}.",
            "Claimed: the parameter asked for, or the mechanism’s record if that promises less.",
            "Outside the promise: the outputs exceed a parameter that was not promised for these"
            " inputs. This refutes nothing.",
            "Proved: a lower bound on the parameter, or the parameter itself if it was computed."
            f" All bounds hold together with {joint_confidence(audits['confidence'])} confidence."
            " A claim that stands is not proved: an audit sees only its statistic, on its inputs.",
            "Event: chosen on one half of the runs, counted on the other; nothing is assumed."
            " Covariance: assumes Gaussian noise. Fit: the total variation distance (TV) between"
            " the running code and the distribution whose loss is computed.",
            *dict.fromkeys(ran),
        ),
        numbers=audits,
        filtered="audits",
    )


def _line(row: Mapping[Hashable, Any]) -> Line:
    delta = f" (δ = {row['delta']:g})" if row["parameter"] == "epsilon" and row["delta"] else ""
    admitted = exceeds(row["recorded"], row["claimed"])
    record = f", recorded: {row['recorded']:.3g}" if admitted else ""
    claim = f"{SYMBOLS[row['parameter']]} = {row['claimed']:.3g}{delta}{record}"
    runs = f", {row['runs']:,} runs" if row["method"] != "exact" else ""
    share = share_of_claim(row)
    return row["mechanism"], (
        TableCell(row["variant"]),
        TableCell(row["unit"]),
        number(row["claimed"], claim),
        number(row["lower_bound"], proved(row)),
        number(share, f"{100 * share:.0f}%" if row["claimed"] else "–"),
        TableCell(f"{name_of(row['method']).short}{runs}"),
        TableCell(name_of(row["verdict"]).short, mark=_VERDICTS[row["verdict"]]),
    )
