"""The first figure of a page: the share that each system keeps, with a slider of levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from dpol.core.rounding import at_most
from dpol.privacy.account import best_guess
from dpol.privacy.settings import ordered_levels
from dpol.report.parts import Widget
from dpol.show.rendering import load_template
from dpol.show.style import text_colour
from dpol.show.words import privacy_title
from dpol.studies.answer.privacy import guesses_title
from dpol.studies.answer.privacy_utility import level_title
from dpol.studies.answer.systems import (
    CHOSEN,
    SystemLine,
    first_level,
    groups_of,
    lines_of,
    named,
    share_text,
)
from dpol.studies.study import Facts, Frames


def answer_widget(frames: Frames, facts: Facts) -> Widget:
    """Build the figure of the systems of a run, for the script `answer.js`."""
    standings, levels = frames["standings"], ordered_levels(facts.levels)
    lines = lines_of(standings)
    data = {
        "start": first_level(standings, facts),
        "levels": [
            {
                "mu": f"{mu:g}",
                "title": privacy_title(mu),
                "head": level_title(mu),
                "guesses": at_most(100 * best_guess(mu)),
            }
            for mu in levels
        ],
        "panels": [
            {"title": title, **_panel(rows, lines, levels)}
            for title, rows in groups_of(standings, facts).items()
        ],
    }
    widget = load_template("answer.html.j2", "dpol.report").render(
        kind="question" if facts.asks_several else "stream",
        privacy=guesses_title(standings),
    )
    return data, {"widget": widget}


def _panel(
    rows: pd.DataFrame, lines: Sequence[SystemLine], levels: Sequence[float]
) -> dict[str, Any]:
    drawn = []
    for line in lines:
        of_level = {row["mu"]: row for row in line.among(rows).to_dict("records")}
        drawn.append(
            {
                "name": line.name,
                "colour": text_colour(line.look.colour),
                "dashes": " ".join(f"{line.look.width * dash:g}" for dash in line.look.dashes),
                "width": line.look.width,
                "points": [
                    _point(of_level[mu], told=line.name in CHOSEN) if mu in of_level else None
                    for mu in levels
                ],
            }
        )
    fixed, share = rows[["best_fixed", "best_fixed_share"]].iloc[0]
    kept = None if math.isnan(share) else round(float(share), 6)
    return {"lines": drawn, "fixed": fixed, "share": kept}


def _point(row: Any, *, told: bool) -> list[float | str | None]:
    """Return a share, its half-width, both in words, and the system if the level chooses it."""
    share, half = row["gain_share"], row["gain_share_half_width"]
    system = named(row) if told else ""
    known = round(float(half), 6) if math.isfinite(half) else None
    return [round(float(share), 6), known, share_text(share, half), system]
