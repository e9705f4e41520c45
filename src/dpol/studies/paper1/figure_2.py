"""Figure 2 of the first paper on the streams of a run: cumulative gain over time."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace
from itertools import product

import pandas as pd
from matplotlib import dates
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from dpol.data.stream import MANY_UNMEASURED
from dpol.privacy.settings import ordered_levels
from dpol.show import panels
from dpol.show.entries import ENVELOPE, GREY, PAPER_1, REFERENCES, Look, looks_of, reference
from dpol.show.words import privacy_title
from dpol.studies.games.names import (
    BEST_FIXED,
    BEST_LINEAR,
    META,
    PAPER_NOISE,
    TABLE_2,
)
from dpol.studies.league.systems import sized_titles
from dpol.studies.paper1.table_2 import variants_of
from dpol.studies.study import Facts, Frames
from dpol.studies.verdicts import ABOVE, BELOW, verdict_on

RANGE_LABEL = "linear models"
_RANGE_ALPHA = 0.35
_BOLD_CHARACTERS_PER_INCH = 12.5
_MANY = 4
"""Number of levels above which titles are wrapped and dates are fewer."""


def draw_figure_2(frames: Frames, facts: Facts) -> Figure:
    """Draw mean cumulative gain over time: a row of panels per stream, a column per level.

    Args:
        frames: the summary; and `cumulative`, one row per stream, algorithm, noise, mu and round,
            with the best fixed expert among the algorithms.
        facts: titles of the streams, levels, and whether the data are simulated.
    """
    levels = ordered_levels(facts.levels)
    curves = frames["cumulative"]
    rows = curves[(curves["exhibit"] == TABLE_2) | (curves["algorithm"] == BEST_FIXED)]
    rows = rows[rows["stream"].isin(facts.streams)].sort_values("round", kind="stable")
    dated = bool(rows["period"].notna().all())
    rows = rows.assign(x=dates.date2num(rows["period"]) if dated else rows["round"])
    titles = sized_titles(facts.streams, frames["summary"])
    width = {1: 4.2, 2: 2.7}.get(len(levels), panels.WIDTH / len(levels))
    height = {1: 2.6, 2: 1.9}.get(len(facts.streams), 1.5)
    cells, size = list(product(facts.streams, levels)), (width, height)
    # All panels share both axes, as in the paper.
    with panels.panels(
        len(cells), len(levels), size, "cumulative gain", form=facts.form, shared="xy"
    ) as drawn:
        for ax, (stream, mu) in zip(drawn.axes, cells, strict=True):
            own = rows[rows["stream"] == stream]
            _draw_panel(ax, own[(own["mu"] == mu) | (own["algorithm"] == BEST_FIXED)])
        rows_break = drawn.grid.shape[1] < len(levels)
        for ax, (stream, mu) in zip(drawn.axes, cells, strict=True):
            if rows_break or stream == cells[0][0]:
                text = privacy_title(mu)
                ax.set_title(text.replace(" (", "\n(") if len(levels) > _MANY else text)
            if mu != levels[0]:
                continue
            # A bracket such as (n = 24) stays on one line.
            title = re.sub(r"\([^()]{,12}\)", lambda m: m[0].replace(" ", "\xa0"), titles[stream])
            wrapped = textwrap.fill(title, int(height * _BOLD_CHARACTERS_PER_INCH))
            ax.set_ylabel(wrapped, fontweight="bold", parse_math=False)
        most = 4 if len(levels) > _MANY else 5
        _set_scales(drawn.axes[0], most, dated=dated)
        linear = rows.loc[rows["column"] == BEST_LINEAR, "algorithm"].nunique()
        names = {**PAPER_1, **variants_of(rows)}
        range_name = f"range of the {linear} linear models"
        band = "shade in a line's colour: its interval"
        drawn.legend(
            [
                *(panels.key(names[it], **own.line) for it, own in _looks(rows).items()),
                panels.key(reference(BEST_FIXED), **REFERENCES[BEST_FIXED].line),
                Patch(facecolor=ENVELOPE, alpha=_RANGE_ALPHA, label=range_name),
                Patch(facecolor=GREY, alpha=panels.BAND_ALPHA, label=band),
            ]
        )
        when = f"rounds 1 to {rows['round'].max()}"
        if dated:
            when = f"{rows['period'].min():%Y-%m-%d} to {rows['period'].max():%Y-%m-%d}"
        drawn.caption(
            f"{panels.data_title(facts.simulated)}, {when}",
            f"{PAPER_NOISE} noise",
            f"joint {100 * facts.confidence:g}% intervals for the noise",
        )
        depends = bool((frames["summary"]["unmeasured_share"] > MANY_UNMEASURED).any())
        drawn.find(_finding(rows, facts) + " This depends on unmeasured numbers." * depends)
    return drawn.figure


def _draw_panel(ax: Axes, rows: pd.DataFrame) -> None:
    values = rows[rows["column"] == BEST_LINEAR].groupby("x")["mean_cumulative_gain"]
    low, high = values.min(), values.max()
    shade = ax.fill_between(low.index, low, high, color=ENVELOPE, linewidth=0, zorder=1)
    shade.set(alpha=_RANGE_ALPHA, label=RANGE_LABEL)
    for label, look in _looks(rows).items():
        own = rows[rows["column"] == label]
        panels.add_band(ax, own[["x", "mean_cumulative_gain", "ci_half_width"]], look, label)
    fixed, look = rows[rows["algorithm"] == BEST_FIXED], REFERENCES[BEST_FIXED]
    ax.plot(fixed["x"], fixed["mean_cumulative_gain"], zorder=4, label=BEST_FIXED, **look.line)


def _looks(rows: pd.DataFrame) -> dict[str, Look]:
    """Return the looks of the paper's single algorithms and of what it lacks, by column."""
    # Without markers, which would look like measured points.
    looks = looks_of([*PAPER_1, *variants_of(rows)])
    return {label: replace(look, marker="") for label, look in looks.items()}


def _set_scales(ax: Axes, most: int, *, dated: bool) -> None:
    """Set the scales that all panels share, with at most `most` dates or rounds."""
    ax.margins(x=0.02)
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    if not dated:
        ax.xaxis.set_major_locator(MaxNLocator(nbins=most - 1, steps=[1, 2, 5, 10], integer=True))
        return
    locator = dates.AutoDateLocator(minticks=2, maxticks=most)
    # Two years have more half-years than ticks, and too few whole ones.
    locator.intervald[dates.MONTHLY] = [1, 2, 3, 4, 6, 12]
    ax.xaxis.set_major_locator(locator)
    # The subtitle has the years: the formatter's own would overlap the next panel.
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, show_offset=False))


def _finding(rows: pd.DataFrame, facts: Facts) -> str:
    """Count the panels in which RW-Meta ends above or below the best fixed expert."""
    last = rows[rows["round"] == rows["round"].max()]
    fixed = last[last["algorithm"] == BEST_FIXED].set_index("stream")["mean_cumulative_gain"]
    meta = last[(last["algorithm"] == META) & last["mu"].isin(facts.levels)]
    lead = meta["mean_cumulative_gain"] - meta["stream"].map(fixed)
    verdicts = list(map(verdict_on, lead, meta["ci_half_width"]))
    return (
        f"{PAPER_1[META]} ends above the best fixed expert in"
        f" {verdicts.count(ABOVE)} of {len(verdicts)} panels, and below it in"
        f" {verdicts.count(BELOW)}."
    )
