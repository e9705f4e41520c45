"""Figure of divided help: the avoidable unmet need that each rule avoids, against privacy."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from dpol.core.rounding import percent
from dpol.privacy.account import best_guess
from dpol.show import panels
from dpol.show.looks import DASHED, REFERENCES, SHORT, SOLID, looks_of
from dpol.show.words import mu_title
from dpol.studies.games import allocation as rules
from dpol.studies.games.allocation_table import BLOCK, shown_rows
from dpol.studies.games.settings import BEST_FIXED, ORACLE, UNIFORM, Games
from dpol.studies.games.systems import THIN, headline_level, ordered_levels
from dpol.studies.study import Facts, Frames

_LOWEST = -0.5
"""Lower end of the vertical axis; worse shares are outside."""


def draw_allocation(frames: Frames, main: Games, facts: Facts) -> Figure:
    """Draw a panel per need and number of units, with a line per rule and the floor at 0.

    Args:
        frames: the table of `dpol.studies.games.allocation_table.allocation_rows`.
        main: the systems compared.
        facts: the levels, and whether the streams are simulated.
    """
    rows: pd.DataFrame = shown_rows(frames["allocation"], main)
    mus = ordered_levels(facts.levels)
    forecast = rows[rows["algorithm"] != ""].iloc[0]
    own, last = looks_of([forecast["algorithm"], "persistence"]).values()
    looks = {
        rules.EXACT: REFERENCES[ORACLE],
        rules.FIXED: REFERENCES[BEST_FIXED],
        rules.FLOOR: REFERENCES[UNIFORM],
        rules.LAST: last,
        rules.FORECAST: replace(own, dashes=SHORT, marker="v", width=THIN),
        rules.GUARANTEE: replace(own, dashes=DASHED, marker="s"),
        rules.EQUAL: replace(own, dashes=SOLID),
    }
    cells: Any = rows.groupby(["need", "units_follow", "units_share"], sort=False)
    size, label = (panels.WIDTH / 2, 2.6), "share of the avoidable unmet need that is avoided"
    with panels.panels(len(cells), 2, size, label, sharey=True) as drawn:
        for ax, ((need, follow, share), cell) in zip(drawn.axes, cells, strict=True):
            units = f"{percent(share)} of the {follow.replace('-', ' ')}"
            panels.name_panel(ax, f"{need}, units: {units}")
            panels.set_guesses(ax, [best_guess(mu) for mu in mus])
            for rule, look in looks.items():
                line = cell[cell["rule"] == rule]
                if line.empty:
                    continue
                end = len(mus) - 0.5, float(line["avoided"].iloc[0])
                if line["mu"].isna().all():
                    ax.axhline(end[1], **look.line)
                else:
                    line = line.assign(x=line["mu"].map(mus.index)).sort_values("x")
                    points = line[["x", "avoided", "avoided_half_width"]]
                    panels.add_bars(ax, points, look, rule)
                    end = points["x"].iloc[-1], max(points["avoided"].iloc[-1], _LOWEST)
                name = textwrap.fill(rules.NAMES[rule], 11, break_long_words=False)
                drawn.name_line(ax, end, name, look.colour)
        drawn.axes[0].set_ylim(max(_LOWEST, min(-0.05, rows["avoided"].min())), 1.0)
        panels.set_percent(drawn.axes[0].yaxis)
        drawn.name_x(panels.GUESSES)
        data, bars = panels.describe_runs(forecast, facts.simulated, "bars")
        system = f"forecasts: {forecast['algorithm']}, {forecast['noise']} noise"
        drawn.title(data, "0%: units by capacity; 100%: the next need is known", bars, system)
        drawn.find(finding_of(rows, facts))
    return drawn.figure


def finding_of(rows: pd.DataFrame, facts: Facts) -> str:
    """Compare equal chances with the last noisy counts, with noise and without.

    Args:
        rows: rows of `shown_rows`.
        facts: the levels.
    """
    at, free = _headlines(rows, facts)
    equal, share = at.to_dict("index")[rules.EQUAL], at["avoided"]
    by_chances, by_last = percent(share[rules.EQUAL]), percent(share[rules.LAST])
    return (
        f"With units for {percent(equal['units_share'])} of the"
        f" {equal['units_follow'].replace('-', ' ')} ({equal['need']}), at"
        f" {mu_title(equal['mu'])}: equal chances avoid {by_chances} of the avoidable unmet need,"
        f" the last noisy counts {by_last} (0%: units by capacity alone;"
        " 100%: the next need is known). The reading of the counts changes"
        f" {100 * equal['over_last']:.0f} points (±{100 * equal['over_last_rounds_half_width']:.0f}"
        f" if rounds are resampled in blocks of {BLOCK}); noise costs equal chances"
        f" {100 * (free['avoided'][rules.EQUAL] - share[rules.EQUAL]):.0f}, from"
        f" {mu_title(max(facts.levels.values()))} on."
    )


def _headlines(rows: pd.DataFrame, facts: Facts) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of the first kind and most of the units by rule: with noise, and without.

    The level with noise is the middle one; without noise, or else the weakest.
    """
    middle = headline_level(facts.levels)
    kind = ["need", "units_follow"]
    first = rows[(rows[kind] == rows[kind].iloc[0]).all(axis=1)]
    first = first[first["units_share"] == first["units_share"].max()]
    at, free = (
        first[(first["mu"] == mu) | first["mu"].isna()].set_index("rule")
        for mu in (middle, max(facts.levels.values()))
    )
    return at, free
