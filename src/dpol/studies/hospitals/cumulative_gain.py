"""The figure of cumulative gains: a panel for every stream and privacy level."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from matplotlib import dates
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from dpol.show import style
from dpol.show.names import name_of
from dpol.show.titles import CHARACTERS_PER_INCH, add_title, data_title
from dpol.show.words import privacy_title
from dpol.studies.hospitals import bounds
from dpol.studies.hospitals.settings import Hospitals, Report
from dpol.studies.study import Facts, Frames

ENVELOPE_LABEL = "envelope"
_BOLD_CHARACTERS_PER_INCH = 12.5


@dataclass(frozen=True)
class Line:
    """One algorithm of the figure: which runs are drawn, under which name, and how."""

    label: str
    noise: str
    name: str
    look: style.LineStyle

    @property
    def drawn(self) -> dict[str, Any]:
        """The look, as matplotlib takes it."""
        look = self.look
        return {"color": look.colour, "linestyle": look.linestyle, "linewidth": look.width}


def draw_cumulative_gain(frames: Frames, main: Hospitals, facts: Facts) -> Figure:
    """Mean cumulative gain over time, streams below each other, privacy levels side by side.

    Args:
        frames: the summary; and `cumulative`, a row per stream, algorithm, noise, mu and round, and
            per stream and round one of the algorithm `best-static-expert`.
        main: streams, levels, algorithms drawn as lines, shaded family, noise, confidence.
        facts: titles of the streams, and whether they are simulated.
    """
    report, levels = main.report, list(main.levels.values())
    cumulative = frames["cumulative"]
    sizes = frames["summary"].groupby("stream")["n_experts"].first()
    titles = [f"{facts.streams[it]} (n = {sizes[it]})" for it in main.streams]
    lines = shown_lines(cumulative, report, report.noise)
    rows = cumulative[cumulative["stream"].isin(main.streams)]
    noisy = noisy_without_privacy(frames["summary"])
    keys = rows.set_index(["algorithm", "noise", "mu"]).index
    rows = rows[~keys.isin([(*it, math.inf) for it in noisy])]
    dated = bool(rows["period"].notna().all())
    rows = rows.assign(x=dates.date2num(rows["period"]) if dated else rows["round"])
    members = rows[(rows["family"] == report.envelope) & (rows["noise"] == report.noise)]
    with style.figure_style():
        handles = _legend_handles(lines, members, report.envelope)
        width, panel = _size(len(main.streams), len(levels))
        columns = _legend_columns([str(handle.get_label()) for handle in handles], width)
        legend_height = 0.17 * math.ceil(len(handles) / columns)
        figure = style.new_figure(width, panel * len(main.streams) + legend_height + 0.8)
        shape = len(main.streams), len(levels)
        grid = figure.subplots(*shape, sharex=True, sharey="row", squeeze=False)
        for axes_row, label in zip(grid, main.streams, strict=True):
            own, shaded = (table[table["stream"] == label] for table in (rows, members))
            for axes, mu in zip(axes_row, levels, strict=True):
                _draw_panel(axes, own, shaded[shaded["mu"] == mu], lines, mu)
        _add_titles(grid.tolist(), titles, levels, panel)
        for axes in grid[:, 0]:
            _set_scales(axes, most=4 if len(levels) > 4 else 5, dated=dated)
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, handlelength=3.6)
        add_title(figure, _subtitle(rows, lines, noisy, report, facts))
        gain = figure.supylabel("cumulative gain")
        style.freeze_layout(figure)
        # Level with the panels, not with panels and legend together.
        gain.set_y((grid[0][0].get_position().y1 + grid[-1][0].get_position().y0) / 2)
    return figure


def noisy_without_privacy(summary: pd.DataFrame) -> set[tuple[str, str]]:
    """Algorithms and noises with a guarantee though none is asked for, by noise of their own."""
    noisy = (summary["mu"] == math.inf) & (summary["guaranteed_mu"] < math.inf)
    return set(summary.loc[noisy, ["algorithm", "noise"]].itertuples(index=False, name=None))


def shown_lines(cumulative: pd.DataFrame, report: Report, noise: str) -> list[Line]:
    """The algorithms of the report at one noise; at another, named, where there is no such run."""
    styles = style.algorithm_styles(report.algorithms)
    scale = 1.0 if len(styles) <= 6 else 0.75  # many lines must be thin
    lines = []
    for label, look in styles.items():
        found = sorted(set(cumulative.loc[cumulative["algorithm"] == label, "noise"]))
        own = noise if noise in found else found[0]
        name = label if own in (noise, "none") else f"{label} ({own})"
        lines.append(Line(label, own, name, replace(look, width=look.width * scale)))
    return lines


def _draw_panel(
    axes: Axes, rows: pd.DataFrame, members: pd.DataFrame, lines: Sequence[Line], mu: float
) -> None:
    if not members.empty:
        values = members.groupby("x")["mean_cumulative_gain"]
        low, high = values.min(), values.max()
        shade: dict[str, Any] = {"color": style.ENVELOPE, "alpha": 0.35, "linewidth": 0}
        axes.fill_between(low.index, low, high, **shade, zorder=1, label=ENVELOPE_LABEL)
    for line in lines:
        runs = rows[(rows["algorithm"] == line.label) & (rows["mu"] == mu)]
        runs = runs[runs["noise"] == line.noise].sort_values("round")
        if not runs.empty:
            _draw_line(axes, runs, line)
    for label, look in bounds.LOOKS.items():
        bound = rows[rows["algorithm"] == label].sort_values("round")
        axes.plot(bound["x"], bound["mean_cumulative_gain"], zorder=4, label=label, **look)


def _draw_line(axes: Axes, runs: pd.DataFrame, line: Line) -> None:
    """A line with its interval; no markers, which would look like measured points."""
    x, mean = runs["x"], runs["mean_cumulative_gain"]
    # A single run has no interval, so no band.
    half = runs["ci_half_width"].where(runs["ci_half_width"] < math.inf, 0.0)
    colour = line.look.colour
    axes.fill_between(x, mean - half, mean + half, color=colour, alpha=0.22, linewidth=0, zorder=2)
    axes.plot(x, mean, zorder=3, label=line.label, **line.drawn)


def _add_titles(
    grid: Sequence[Sequence[Axes]], titles: Sequence[str], levels: Sequence[float], panel: float
) -> None:
    for axes, mu in zip(grid[0], levels, strict=True):
        text = privacy_title(mu)
        axes.set_title(text.replace(" (", "\n(") if len(levels) > 4 else text)
    for row, title in zip(grid, titles, strict=True):
        # A bracket such as (n = 24) stays on one line.
        joined = re.sub(r"\([^()]{,12}\)", lambda match: match[0].replace(" ", "\xa0"), title)
        wrapped = textwrap.fill(joined, int(panel * _BOLD_CHARACTERS_PER_INCH))
        row[0].set_ylabel(wrapped, fontweight="bold", parse_math=False)


def _set_scales(axes: Axes, most: int, *, dated: bool) -> None:
    """Scales of a row of panels, which share those of `axes`; at most `most` dates or rounds."""
    axes.margins(x=0.02)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    if not dated:
        axes.xaxis.set_major_locator(MaxNLocator(nbins=most - 1, steps=[1, 2, 5, 10], integer=True))
        return
    locator = dates.AutoDateLocator(minticks=2, maxticks=most)
    axes.xaxis.set_major_locator(locator)
    # The years are in the subtitle: the formatter's own would lie on the next panel.
    axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, show_offset=False))


def _legend_handles(lines: Sequence[Line], members: pd.DataFrame, family: str) -> list[Artist]:
    handles: list[Artist] = [Line2D([], [], label=line.name, **line.drawn) for line in lines]
    for label, look in bounds.LOOKS.items():
        handles.append(Line2D([], [], label=bounds.NAMES[label], **look))
    if count := members["algorithm"].nunique():
        name = f"range of the {count} {family} learners" if count > 1 else f"{family} learner"
        handles.append(Patch(facecolor=style.ENVELOPE, alpha=0.35, label=name))
    band = "shade of a line's colour: its interval"
    handles.append(Patch(facecolor=style.GREY, alpha=0.22, label=band))
    return handles


def _legend_columns(names: Sequence[str], width: float) -> int:
    """The most columns that fit (matplotlib fills the legend column by column)."""
    for columns in range(len(names), 1, -1):
        rows = math.ceil(len(names) / columns)
        parts = [names[start : start + rows] for start in range(0, len(names), rows)]
        needed = sum(max(map(len, part)) / CHARACTERS_PER_INCH + 0.7 for part in parts)
        if len(parts) == columns and needed <= width:
            return columns
    return 1


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
    absent = ", ".join(it.label for it in lines if (it.label, it.noise) in noisy)
    return (
        f"{data_title(facts.simulated)}, {when}",
        f"{report.noise} noise" + (" (not in the paper)" if name_of(report.noise).ours else ""),
        f"intervals: {100 * report.confidence:g}% for the noise, all together",
        *([f"no privacy: without {absent}, which has noise of its own"] if absent else []),
    )


def _size(n_streams: int, n_levels: int) -> tuple[float, float]:
    """Inches: the width of a printed page, or less for a few panels; height of a row of panels."""
    return {1: 4.6, 2: 5.8}.get(n_levels, 7.0), {1: 2.6, 2: 1.9}.get(n_streams, 1.5)
