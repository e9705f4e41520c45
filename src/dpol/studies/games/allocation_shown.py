"""Divided help: the unmet need that each rule avoids, who is served, and their figure and table."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from dpol.core.errors import DataError
from dpol.core.intervals import half_width
from dpol.core.randomness import Floats, seed_sequence
from dpol.core.rounding import percent
from dpol.noise import NO_NOISE
from dpol.privacy.account import best_guess
from dpol.show import panels
from dpol.show.footers import plus_minus
from dpol.show.looks import DASHED, REFERENCES, SHORT, SOLID, looks_of
from dpol.show.table import Line, Table, TableCell, number, one_section
from dpol.show.words import mu_title
from dpol.studies.games import allocation as rules
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

BLOCK, RESAMPLES = 8, 1000
"""Length of a block of rounds, and number of resamples, of the bootstrap over rounds."""
_LEAST = 1e-6
"""Need that can be avoided above rounding errors."""
_SETTING = "need", "units_follow", "units_share", "rule", "algorithm", "noise", "level"
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
_SUMS = "units", "total_need", "unmet"
_SAMPLED = "unmet", "avoided", "served_small", "served_others"
"""Scores that are added over streams, and scores with intervals for the noise."""
_LOWEST = -0.5
"""Lower end of the vertical axis; worse shares are outside."""


def allocation_rows(divided: pd.DataFrame, facts: Facts) -> pd.DataFrame:
    """Build one row per stream, kind of need, number of units, rule, noise and level.

    Rows without a stream are sums of counts, and means of shares, over the streams. Columns:
    docs/reference/tables.md.

    Args:
        divided: rows of all games (`dpol.studies.games.allocation.SCHEMA`).
        facts: privacy levels, confidence and seed.

    Raises:
        DataError: no game divided help.
    """
    blocks: dict[tuple[Any, ...], dict[int, rules.Row]] = {}
    records: Any = divided.to_dict("records")
    for row in records:  # several games have the same rows of rules without a forecast
        setting = (row[name] for name in ("stream", *_SETTING[:-1]))
        blocks.setdefault((*setting, facts.labels.get(row["mu"], "")), {})[row["first"]] = row
    if not blocks:
        raise DataError("allocation: nothing was divided; play random-effects in a local suite")
    cells: dict[tuple[Any, ...], dict[str, dict[str, Floats]]] = {}
    for (stream, *cell), parts in blocks.items():
        of_units, seen = cell[:3], cell[4:] if cell[1] == ANNOUNCED else ("", NO_NOISE, "")
        floor, oracle = (
            _join_replicates(blocks[stream, *of_units, rule, *seen])
            for rule in (rules.FLOOR, rules.ORACLE)
        )
        scores = _scores(_join_replicates(parts), floor, oracle, facts.seed)
        cells.setdefault(tuple(cell), {})[stream] = scores
    for own in cells.values():
        every = {name: [scores[name] for scores in own.values()] for name in scores}
        own[""] = {
            name: np.sum(lists, axis=0) if name in _SUMS else _mean(lists)
            for name, lists in every.items()
        }
    rows = []
    for place, own in cells.items():
        need, follow, share, _, algorithm, noise, level = place
        by = algorithm if follow == ANNOUNCED else ""
        last = cells.get((need, follow, share, rules.LAST, by, noise, level), own)
        for stream, scores in own.items():
            over = {name: scores[name] - last[stream][name] for name in ("avoided", "resampled")}
            row = {"stream": stream, **dict(zip(_SETTING, place, strict=True))}
            row |= {name: float(values.mean()) for name, values in scores.items()}
            count = len(_SAMPLED) * (len(blocks) if stream else len(cells))
            for name in _SAMPLED:
                half = float(half_width(scores[name], facts.confidence, count))
                row[f"{name}_half_width"] = 0.0 if noise == NO_NOISE else half
            rows.append(
                row
                | {
                    "mu": facts.levels.get(level, math.nan),
                    "replicates": len(scores["unmet"]),
                    "avoided_rounds_half_width": _spread(scores["resampled"]),
                    "over_last": float(over["avoided"].mean()),
                    "over_last_rounds_half_width": _spread(over["resampled"]),
                    "confidence": facts.confidence,
                    "ci_comparisons": count,
                }
            )
    return pd.DataFrame(rows).drop(columns="resampled")


def _join_replicates(parts: Mapping[int, rules.Row]) -> rules.Row:
    """Join the blocks of replicates of a rule; `by_round` and `by_entity` are means over them."""
    blocks = [parts[first] for first in sorted(parts)]
    every = {
        name: np.concatenate([block[name] for block in blocks])
        for name in ("units", "unmet", "unmet_small")
    }
    means = {
        name: sum(block[name] for block in blocks) / len(every["unmet"])
        for name in ("by_round", "by_entity")
    }
    return {**blocks[0], **every, **means}


def _scores(own: rules.Row, floor: rules.Row, oracle: rules.Row, seed: int) -> dict[str, Floats]:
    """Score a rule on a stream; counts are means over the rounds.

    All arguments are from `_join_replicates`. The same units are divided, so where they differ
    between replicates, all three have the same replicates.
    """
    unmet, small, n_rounds = own["unmet"], own["unmet_small"], len(own["by_round"])
    need, needed_small = own["needed"], own["needed_small"]
    avoided, avoidable = (floor["by_round"] - other["by_round"] for other in (own, oracle))
    draws = _resamples(n_rounds, seed)
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "units": own["units"],
            "total_need": need.sum(keepdims=True) / n_rounds,
            "unmet": unmet / n_rounds,
            "avoided": (floor["unmet"] - unmet) / _known(floor["unmet"] - oracle["unmet"]),
            "served_small": 1 - small / needed_small,
            "served_others": 1 - (unmet - small) / (need.sum() - needed_small),
            "served_worst": (1 - own["by_entity"] / need)[need > 0].min(keepdims=True, initial=1.0),
            "resampled": draws @ avoided / _known(draws @ avoidable),
        }


def _known(avoidable: Floats) -> Floats:
    """Return the need that can be avoided; NaN where it is only a rounding error."""
    return np.where(avoidable > _LEAST, avoidable, math.nan)


@cache
def _resamples(n_rounds: int, seed: int) -> Floats:
    """Return how often each round is in each resample, (`RESAMPLES`, n_rounds).

    A resample has blocks of consecutive rounds; round 1 follows the last. Streams with the same
    number of rounds get the same resamples, because a wave comes to all of them.
    """
    rng = np.random.default_rng(seed_sequence(seed, ("allocation, resamples", n_rounds)))
    starts = rng.integers(n_rounds, size=(RESAMPLES, -(-n_rounds // BLOCK)))
    drawn = (starts[..., None] + np.arange(BLOCK)).reshape(RESAMPLES, -1)[:, :n_rounds] % n_rounds
    return np.array([np.bincount(row, minlength=n_rounds) for row in drawn], dtype=float)


def _mean(lists: Sequence[Floats]) -> Floats:
    """Return the mean of the known numbers over the streams; NaN if none is known."""
    known = ~np.isnan(lists)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, lists, 0.0).sum(axis=0) / known.sum(axis=0))


def _spread(resampled: Floats) -> float:
    """Return half the range of the middle 95% of the resamples in which need can be avoided."""
    known = resampled[~np.isnan(resampled)]
    low, high = np.quantile(known, (0.025, 0.975)) if len(known) else (math.nan, math.nan)
    return float(high - low) / 2


# ---- table ---------------------------------------------------------------------------------------


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
    cells: Any = rows.groupby(list(_SETTING[:3]), sort=False)
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
