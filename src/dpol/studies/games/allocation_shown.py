"""Divided help on the page: the unmet need that each rule avoids, and who is served."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from dpol.core.rounding import percent
from dpol.noise import NO_NOISE
from dpol.privacy.account import best_guess
from dpol.show import panels
from dpol.show.footers import plus_minus
from dpol.show.looks import DASHED, REFERENCES, SHORT, SOLID, looks_of
from dpol.show.table import Line, Table, TableCell, number, one_section
from dpol.show.words import mu_title
from dpol.studies.games import allocation as rules
from dpol.studies.games.collect import BLOCK, SETTING
from dpol.studies.games.settings import (
    ANNOUNCED,
    BEST_FIXED,
    MEAN_NEED,
    ORACLE,
    UNIFORM,
    Followed,
    Games,
)
from dpol.studies.games.systems import THIN, headline_level, ordered_levels
from dpol.studies.study import Facts, Frames

_OF_KIND: dict[Followed, str] = {
    MEAN_NEED: (
        "The mean need is that of the true counts over all rounds: known in hindsight only, and not"
        " private."
    ),
    ANNOUNCED: (
        "The announced need is the forecast for the next round, beyond own staff. It has the"
        " guarantee of the counts, and moves with their noise; so does what every rule leaves."
    ),
}
"""What readers must know of the need that units follow."""
_LOWEST = -0.5
"""Lower end of the vertical axis; worse shares are outside."""


def shown_rows(allocation: pd.DataFrame, main: Games) -> pd.DataFrame:
    """Keep the means over the streams of one forecasting algorithm and one noise.

    They are the first algorithm and the noise of the report that the table has, else its first.
    """
    means = allocation[(allocation["stream"] == "") & allocation["rule"].isin(rules.NAMES)]
    forecasts = means[means["algorithm"] != ""]
    for name, wanted in (
        ("algorithm", main.report.algorithms),
        ("noise", [main.report.noise]),
    ):
        there = forecasts[name].tolist()
        chosen = next(value for value in (*wanted, *there) if value in there)
        forecasts = forecasts[forecasts[name] == chosen]
    algorithm, noise = forecasts[["algorithm", "noise"]].iloc[0]
    return means[means["algorithm"].isin(["", algorithm]) & means["noise"].isin([NO_NOISE, noise])]


def allocation_table(frames: Frames, main: Games, facts: Facts) -> Table:
    """Build the table: a section per need and number of units, a line per rule.

    Args:
        frames: the table of `allocation_rows`.
        main: the noise of the report, and the guarantee.
        facts: the levels.
    """
    rows, mus = shown_rows(frames["allocation"], main), ordered_levels(facts.levels)
    middle = headline_level(facts.levels)
    sections = []
    cells: Any = rows.groupby(list(SETTING[:3]), sort=False)
    for (need, follow, share), own in cells:
        shown = own[own["mu"].isna() | (own["mu"] == middle)].iloc[0]
        title = (
            f"{need}: {shown['units']:,.0f} units ({percent(share)} of the"
            f" {follow.replace('-', ' ')}) for a mean need of {shown['total_need']:,.0f}"
        )
        of_rules = {
            rule: own[own["rule"] == rule] for rule in rules.NAMES if rule in own["rule"].values
        }
        lines = (_line(rule, of_rule, mus, middle) for rule, of_rule in of_rules.items())
        sections.append(one_section(lines, title))
    served = (f"{who}, need met" for who in ("small", "others", "worst off"))
    return Table(
        caption="Share of the avoidable unmet need that is avoided, and who is served",
        name="allocation",
        corner=("units", "rule"),
        headers=(*map(mu_title, mus), f"unmet at {mu_title(middle)}", *served),
        sections=tuple(sections),
        footers=tuple(_footers(rows, middle, main)),
        numbers=frames["allocation"],
    )


def _line(rule: str, rows: pd.DataFrame, mus: Sequence[float], middle: float) -> Line:
    of_level = {row["mu"]: row for row in rows.to_dict("records")}
    cells = [of_level.get(mu, rows.iloc[0].to_dict()) for mu in (*mus, middle)]
    unmet = cells[-1]["unmet"], cells[-1]["unmet_half_width"]
    return rules.NAMES[rule], (
        *(_percent(cell, "avoided") for cell in cells[:-1]),
        number(unmet[0], f"{unmet[0]:,.0f}{plus_minus(unmet[1], 0) if unmet[1] else ''}"),
        *(_percent(cells[-1], f"served_{who}") for who in ("small", "others", "worst")),
    )


def _percent(row: Mapping[Any, Any], name: str) -> TableCell:
    half = 100 * row.get(f"{name}_half_width", 0.0)
    text = percent(row[name]) + (plus_minus(half, 1) if half else "")
    return TableCell("—") if math.isnan(row[name]) else number(row[name], text)


def _footers(rows: pd.DataFrame, middle: float, main: Games) -> Iterator[str]:
    row = rows[rows["algorithm"] != ""].iloc[0]
    guarantee = percent(main.allocation.guarantee if main.allocation else 0.0)
    yield (
        "0% is the floor: units in proportion to capacity. 100% is the oracle, which knows the next"
        " need. Below 0%, a rule is worse than no counts at all. Shares are means over the streams;"
        " units, need and unmet need are sums, in a round. The numbers to the right of the shares"
        f" are at {mu_title(middle)}, and so are announced needs. Small: a median capacity below"
        f" {rules.SMALL:g}."
    )
    yield (
        "Last noisy or exact counts, forecast: units in proportion to them. Equal chances: every"
        " entity that gets units falls short with the same probability. With a guarantee:"
        f" {guarantee} of the units in proportion to the forecast, then equal chances. Best fixed:"
        f" the best division in hindsight. Forecasts: {row['algorithm']}, {row['noise']} noise."
    )
    at = rows[(rows["mu"] == middle) & ~rows["rule"].isin([rules.FLOOR, rules.LAST])]
    level, over = at["avoided_rounds_half_width"], at["over_last_rounds_half_width"]
    yield (
        f"±: joint {100 * row['confidence']:g}% intervals for the noise on these data. Other rounds"
        f" would move more: with rounds resampled in blocks of {BLOCK}, 95% intervals at"
        f" {mu_title(middle)} are ±{100 * level.min():.0f} to {100 * level.max():.0f} points for a"
        f" share, ±{100 * over.min():.0f} to {100 * over.max():.0f} for its difference to the last"
        " noisy counts."
    )
    followed = (_OF_KIND[follow] for follow in rows["units_follow"].unique())
    yield " ".join(
        (
            "A division of noisy counts and public numbers is post-processing: it has the guarantee"
            " of the counts, which the table of mechanisms has for each noise and level.",
            *followed,
        )
    )


# ---- figure --------------------------------------------------------------------------------------


def draw_allocation(frames: Frames, main: Games, facts: Facts) -> Figure:
    """Draw a panel per need and number of units, with a line per rule and the floor at 0.

    Args:
        frames: the table of `allocation_rows`.
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
