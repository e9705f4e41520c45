"""The first figure of a page: the share that each system keeps, with a slider of levels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dpol.privacy.account import best_guess
from dpol.show.looks import Look
from dpol.show.style import text_colour
from dpol.show.words import privacy_title
from dpol.studies.answer.lead import first_level
from dpol.studies.answer.privacy_utility import groups_of, level_title, shares_of
from dpol.studies.answer.systems import lines_of
from dpol.studies.drawing import PageFacts, Widget
from dpol.studies.games.levels import ordered_levels
from dpol.studies.games.names import Shown
from dpol.studies.study import Frames


def answer_widget(frames: Frames, settings: Shown, facts: PageFacts) -> Widget:
    """Build the figure of the systems of a run."""
    looks = {line.explained: line.look for line in lines_of(frames["summary"], settings, facts)}
    numbers = shares_of(frames["summary"], settings, facts)
    return widget_of(numbers, looks, first_level(facts, compared=bool(settings.roles)), facts)


def widget_of(
    numbers: pd.DataFrame, looks: Mapping[str, Look], start: int, facts: PageFacts
) -> Widget:
    """Build the figure of shares with a slider of levels, for the script `answer.js`.

    Args:
        numbers: rows with `dpol.studies.answer.privacy_utility.COLUMNS`.
        looks: look of each system.
        start: place of the level shown at first.
        facts: the levels, streams and questions.
    """
    levels = ordered_levels(facts.levels)
    data = {
        "start": start,
        "levels": [
            {"title": privacy_title(mu), "head": level_title(mu), "guesses": best_guess(mu)}
            for mu in levels
        ],
        "panels": [
            {"title": title, **_panel(rows, looks, levels)}
            for title, rows in groups_of(numbers, facts).items()
        ],
    }
    return Widget(
        name="answer", data=data, values={"kind": "question" if facts.asks_several else "stream"}
    )


def _panel(
    rows: pd.DataFrame, looks: Mapping[str, Look], levels: Sequence[float]
) -> dict[str, Any]:
    lines = []
    for system, own in rows.groupby("system", sort=False):
        look, of_level = looks[str(system)], own.set_index("mu")
        free = own["model"].iloc[0] == "none"  # one number for all levels
        at = [own["mu"].iloc[0] if free else mu for mu in levels]
        points = [_point(of_level.loc[mu]) if mu in of_level.index else None for mu in at]
        lines.append(
            {
                "name": system,
                "colour": text_colour(look.colour),
                "dashes": " ".join(f"{look.width * dash:g}" for dash in look.dashes),
                "width": look.width,
                "points": points,
            }
        )
    fixed = rows[["best_fixed", "best_fixed_share"]].iloc[0]
    return {"lines": lines, "fixed": fixed["best_fixed"], "share": _number(fixed.iloc[1])}


def _point(row: Any) -> list[float | None]:
    return [_number(row["gain_share"]), _number(row["gain_share_half_width"])]


def _number(value: float) -> float | None:
    """Return a number that JSON knows, with four digits."""
    return round(float(value), 4) if math.isfinite(value) else None
