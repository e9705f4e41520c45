"""Figure of cumulative gains: one panel per stream and privacy level."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import pandas as pd
from matplotlib import dates
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from dpol.show import panels
from dpol.show.looks import ENVELOPE, GREY, Look, looks_of
from dpol.show.names import name_of
from dpol.show.words import privacy_title
from dpol.studies.games import bounds
from dpol.studies.games.settings import Games, Report
from dpol.studies.study import Facts, Frames

ENVELOPE_LABEL = "envelope"
_ENVELOPE_ALPHA = 0.35
_BOLD_CHARACTERS_PER_INCH = 12.5
_MANY = 4
"""Number of levels above which titles are wrapped and dates are fewer."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """An algorithm of the figure: the runs to draw, with their name and look."""

    label: str
    noise: str
    name: str
    look: Look


def draw_cumulative_gain(frames: Frames, main: Games, facts: Facts) -> Figure:
    """Draw mean cumulative gain over time: a row of panels per stream, a column per level.

    Args:
        frames: The summary; and `cumulative`, one row per stream, algorithm, noise, mu and round,
            with the references as algorithms such as `best-fixed-expert`.
        main: Algorithms drawn as lines, shaded family, noise, confidence.
        facts: Titles of the streams, and whether they are simulated.
    """
    report, levels = main.report, list(facts.levels.values())
    cumulative = frames["cumulative"]
    titles = bounds.sized_titles(facts.streams, frames["summary"])
    lines = shown_lines(cumulative, report, report.noise)
    rows = cumulative[cumulative["stream"].isin(facts.streams)]
    noisy = noisy_without_privacy(frames["summary"])
    keys = rows.set_index(["algorithm", "noise", "mu"]).index
    rows = rows[~keys.isin([(*key, math.inf) for key in noisy])]
    dated = bool(rows["period"].notna().all())
    rows = rows.assign(x=dates.date2num(rows["period"]) if dated else rows["round"])
    members = rows[(rows["family"] == report.envelope) & (rows["noise"] == report.noise)]
    width = {1: 4.2, 2: 2.7}.get(len(levels), panels.WIDTH / len(levels))
    height = {1: 2.6, 2: 1.9}.get(len(facts.streams), 1.5)
    cells, size = list(product(facts.streams, levels)), (width, height)
    with panels.panels(
        len(cells), len(levels), size, "cumulative gain", sharex=True, sharey="row"
    ) as drawn:
        for ax, (stream, mu) in zip(drawn.axes, cells, strict=True):
            of_stream = rows[rows["stream"] == stream]
            of_members = members[(members["stream"] == stream) & (members["mu"] == mu)]
            _draw_panel(ax, of_stream, of_members, lines, mu)
        for ax, mu in zip(drawn.grid[0], levels, strict=True):
            text = privacy_title(mu)
            ax.set_title(text.replace(" (", "\n(") if len(levels) > _MANY else text)
        for ax, stream in zip(drawn.grid[:, 0], facts.streams, strict=True):
            # A bracket such as (n = 24) stays on one line.
            title = re.sub(r"\([^()]{,12}\)", lambda m: m[0].replace(" ", "\xa0"), titles[stream])
            wrapped = textwrap.fill(title, int(height * _BOLD_CHARACTERS_PER_INCH))
            ax.set_ylabel(wrapped, fontweight="bold", parse_math=False)
            _set_scales(ax, most=4 if len(levels) > _MANY else 5, dated=dated)
        drawn.legend(_legend_keys(lines, members, report.envelope))
        drawn.title(*_subtitle(rows, lines, noisy, report, facts))
    return drawn.figure


def noisy_without_privacy(summary: pd.DataFrame) -> set[tuple[str, str]]:
    """Return the (algorithm, noise) pairs that are private though no privacy is requested."""
    noisy = (summary["mu"] == math.inf) & (summary["guaranteed_mu"] < math.inf)
    return set(summary.loc[noisy, ["algorithm", "noise"]].itertuples(index=False, name=None))


def shown_lines(cumulative: pd.DataFrame, report: Report, noise: str) -> list[Line]:
    """Return the report's algorithms with one noise, or else with their own, which is named.

    Lines have no markers, which would look like measured points.
    """
    looks = looks_of(report.algorithms)
    scale = 1.0 if len(looks) <= 6 else 0.75  # many lines must be thin
    lines = []
    for label, look in looks.items():
        noises = sorted(set(cumulative.loc[cumulative["algorithm"] == label, "noise"]))
        shown = noise if noise in noises else noises[0]
        name = label if shown in (noise, "none") else f"{label} ({shown})"
        thin = replace(look, width=look.width * scale, marker="")
        lines.append(Line(label=label, noise=shown, name=name, look=thin))
    return lines


def _draw_panel(
    ax: Axes, rows: pd.DataFrame, members: pd.DataFrame, lines: Sequence[Line], mu: float
) -> None:
    if not members.empty:
        values = members.groupby("x")["mean_cumulative_gain"]
        low, high = values.min(), values.max()
        shade = ax.fill_between(low.index, low, high, color=ENVELOPE, linewidth=0, zorder=1)
        shade.set(alpha=_ENVELOPE_ALPHA, label=ENVELOPE_LABEL)
    for line in lines:
        runs = rows[(rows["algorithm"] == line.label) & (rows["mu"] == mu)]
        runs = runs[runs["noise"] == line.noise].sort_values("round")
        if not runs.empty:
            points = runs[["x", "mean_cumulative_gain", "ci_half_width"]]
            panels.add_band(ax, points, line.look, line.label)
    for label, look in bounds.LOOKS.items():
        bound = rows[rows["algorithm"] == label].sort_values("round")
        ax.plot(bound["x"], bound["mean_cumulative_gain"], zorder=4, label=label, **look.line)


def _set_scales(ax: Axes, most: int, *, dated: bool) -> None:
    """Set the scales that a row of panels shares, with at most `most` dates or rounds."""
    ax.margins(x=0.02)
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    if not dated:
        ax.xaxis.set_major_locator(MaxNLocator(nbins=most - 1, steps=[1, 2, 5, 10], integer=True))
        return
    locator = dates.AutoDateLocator(minticks=2, maxticks=most)
    ax.xaxis.set_major_locator(locator)
    # The subtitle has the years: the formatter's own would overlap the next panel.
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, show_offset=False))


def _legend_keys(lines: Sequence[Line], members: pd.DataFrame, family: str) -> list[Artist]:
    keys: list[Artist] = [panels.key(line.name, **line.look.line) for line in lines]
    keys += [panels.key(bounds.NAMES[label], **look.line) for label, look in bounds.LOOKS.items()]
    if count := members["algorithm"].nunique():
        name = f"range of the {count} {family} learners" if count > 1 else f"{family} learner"
        keys.append(Patch(facecolor=ENVELOPE, alpha=_ENVELOPE_ALPHA, label=name))
    band = "shade in a line's colour: its interval"
    keys.append(Patch(facecolor=GREY, alpha=panels.BAND_ALPHA, label=band))
    return keys


def _subtitle(
    rows: pd.DataFrame,
    lines: Sequence[Line],
    noisy: set[tuple[str, str]],
    report: Report,
    facts: Facts,
) -> tuple[str, ...]:
    when = f"rounds 1 to {rows['round'].max()}"
    if rows["period"].notna().all():
        when = f"{rows['period'].min():%Y-%m-%d} to {rows['period'].max():%Y-%m-%d}"
    absent = ", ".join(line.label for line in lines if (line.label, line.noise) in noisy)
    return (
        f"{panels.data_title(facts.simulated)}, {when}",
        f"{report.noise} noise" + (" (not in the paper)" if name_of(report.noise).ours else ""),
        f"joint {100 * report.confidence:g}% intervals for the noise",
        *([f"no privacy: without {absent}, which always adds noise"] if absent else []),
    )
