"""Figures of learning a distribution from locally private labels: risk, selection, hospitals."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from dpol.core.rounding import rounded_up
from dpol.show import style
from dpol.show.direct_labels import Label, add_labels
from dpol.show.titles import data_title
from dpol.show.words import power
from dpol.studies.labels.points import COLUMN_OF
from dpol.studies.labels.registry import LEARNERS, title_of
from dpol.studies.labels.settings import Labels
from dpol.studies.labels.table import fixed
from dpol.studies.study import Facts, Frames

_MAIN: dict[str, Any] = {"ls": "-", "lw": 1.2, "ms": 4.0, "mew": 0, "zorder": 1.8}
_PALE: dict[str, Any] = {"ls": "--", "lw": 0.9, "ms": 2.5, "mew": 0, "zorder": 1.7, "alpha": 0.65}
_DOTS: dict[str, Any] = {"ls": "none", "marker": ".", "ms": 3.2, "mew": 0, "alpha": 0.8}
_SPREAD = 0.02  # of the width of a panel, to both sides, over which dots of one x are spread
_HEIGHT = 1.9  # inches, about, of the axes of a panel
_CHARACTERS_PER_INCH = 15.5  # of the 8 point font, rounded down
_RISK = "mean_kl_risk"
_RUNS = {_RISK: "kl_runs", "tv_average": "tv_average_runs", "tv_median": "tv_median_runs"}
_SELECTORS = {
    "tv_average": "TV of the average prediction",
    "tv_median": "TV of the median of groups",
}
_MARKERS: Mapping[str, str] = {
    "wma": "v",
    "exp3": "o",
    "exp3-bayes": "s",
    "membership": "D",
    "randomised-response": "^",
    "bayes": "X",
}
# Colours and markers of the learners that are not above, in turn.
_FURTHER = (("#8C510A", "P"), ("#7F7F00", "*"), ("#762A83", "<"), ("#01665E", ">"))


def looks() -> dict[str, tuple[str, str]]:
    """Colour and marker of every registered learner."""
    further = itertools.cycle(_FURTHER)
    return {
        name: (style.COLOURS.get(name, style.GREY), _MARKERS[name])
        if name in _MARKERS
        else next(further)
        for name in LEARNERS
    }


def risk(frames: Frames, study: Labels, facts: Facts) -> Figure:
    """KL risk against T, M, K and epsilon, a panel per sweep that was run, with the bounds."""
    panels = _panels(frames["labels"], {_RISK: "KL risk (nats)"}, COLUMN_OF)
    what = "KL risk over all T rounds of learning from locally private labels."
    how = "Solid: exact sensitivity (ours); dashed, pale: as published."
    return _draw(panels, min(2, len(panels)), what, how)


def selection(frames: Frames, study: Labels, facts: Facts) -> Figure:
    """TV distance of the batch selector against T: average (above) and median (below)."""
    panels = _panels(frames["labels"], _SELECTORS, ("rounds",))
    what = "Selecting the true hypothesis from locally private labels: total variation (TV)"
    what += " between estimate and truth."
    how = "Exact sensitivity (ours). Black: slopes only, not bounds."
    return _draw(panels, len({panel.kind for panel in panels}), what, how)


def hospitals(frames: Frames, study: Labels, facts: Facts) -> Figure:
    """Mean log loss above that of the best forecast in hindsight, a panel per stream."""
    risks = frames["labels"]
    rows = risks[(risks["sweep"] == "hospitals") & (risks["sensitivity_rule"] == "exact")]
    streams = list(rows.groupby("hypotheses", sort=False))
    with style.figure_style():
        figure = style.new_figure(6.4, 1.5 + 1.8 * len(streams))
        axes = figure.subplots(len(streams), 1, squeeze=False, sharex=True, sharey=True)[:, 0]
        for ax, (stream, own) in zip(axes, streams, strict=True):
            _draw_excesses(ax, own)
            first = own.iloc[0]
            title = f"{facts.streams[str(stream)]}: {first['M']} hospitals, {first['T']:,} patients"
            ax.set_title(title, loc="left", parse_math=False)
        axes[-1].set_xlabel("privacy ε of one message (points of one ε are set side by side)")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        axis = figure.supylabel("extra log loss (nats per patient)")
        what = f"{data_title(facts.simulated)}: in which hospital is a random patient?"
        what += f" {rows['K'].iloc[0]} forecasts, none exactly right. Extra: above the best of them"
        what += " in hindsight; below 0: a mixture beats its best member."
        farthest = ((rows[_RISK] - rows["best_kl"]) / rows["T"]).abs().max()
        what += f" All means are within {rounded_up(farthest, 2)} nats of it."
        _finish(figure, rows, what, "Exact sensitivity (ours).")
        # Level with the panels, not with panels and legend together.
        axis.set_y((axes[0].get_position().y1 + axes[-1].get_position().y0) / 2)
    return figure


def _finish(figure: Figure, rows: pd.DataFrame, what: str, how: str) -> None:
    """Add the title, which says what stands for the runs, and lay the figure out."""
    runs = rows["replicates"].iloc[0]
    means = f"Large markers: means over {runs} runs; dots: the {runs} runs, not an interval."
    text = f"{what} {means} {how} †: ours, not in the paper."
    text = textwrap.fill(text, int(figure.get_figwidth() * _CHARACTERS_PER_INCH))
    figure.suptitle(text, x=0.01, ha="left")
    style.freeze_layout(figure)


def _draw_excesses(ax: Axes, rows: pd.DataFrame) -> None:
    """Means and single runs on one stream, those of one epsilon side by side."""
    epsilons = sorted(set(rows["epsilon"]))
    ax.axhline(0, color=style.BLACK, ls=":", lw=1.2, zorder=1)
    step = 0.78 / len(LEARNERS)
    for number, (name, (colour, marker)) in enumerate(looks().items()):
        own = rows[rows["algorithm"] == name].sort_values("epsilon")
        if own.empty:
            continue
        # Places 0, 1, 2, ... of the values of epsilon: any set of them is legible.
        side = step * (number - (len(LEARNERS) - 1) / 2)
        own = own.assign(x=np.searchsorted(epsilons, own["epsilon"]) + side)
        means, runs = own[_RISK], own.explode("kl_runs")
        look: dict[str, Any] = {"color": colour, "marker": marker, "label": title_of(name)}
        ax.plot(own["x"], (means - own["best_kl"]) / own["T"], ls="", ms=4, mew=0, **look)
        # To the right of the mean, which would hide them.
        excesses = (runs["kl_runs"] - runs["best_kl"]) / runs["T"]
        ax.plot(runs["x"] + 0.3 * step, excesses, color=colour, **_DOTS)
    ax.set_xticks(range(len(epsilons)), [f"{epsilon:g}" for epsilon in epsilons])
    ax.set_xlim(-0.5, len(epsilons) - 0.5)
    ax.grid(visible=False, axis="x")
    for border in range(1, len(epsilons)):
        ax.axvline(border - 0.5, color=style.RULE, lw=0.6)


# ---- panels of sweeps ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Panel:
    """Rows of one sweep of one class, the columns drawn against each other, and their names."""

    rows: pd.DataFrame
    sweep: str
    kind: str
    y: str
    y_label: str

    @property
    def x(self) -> str:
        return COLUMN_OF[self.sweep]

    def of(self, learner: str, rule: str = "exact") -> pd.DataFrame:
        """Rows of a learner that a logarithmic axis can show."""
        rows = self.rows
        own = (rows["algorithm"] == learner) & (rows["sensitivity_rule"] == rule)
        return rows[own & (rows[self.y] > 0)].sort_values(self.x)


def _panels(risks: pd.DataFrame, columns: Mapping[str, str], sweeps: Iterable[str]) -> list[_Panel]:
    """The panels that have something to show."""
    found = []
    for (y, y_label), sweep, kind in itertools.product(columns.items(), sweeps, ("random", "hard")):
        rows = risks[(risks["sweep"] == sweep) & (risks["hypotheses"] == kind)]
        if rows[y].notna().any():
            found.append(_Panel(rows, sweep, kind, y, y_label))
    return found


def _draw(panels: Sequence[_Panel], n_columns: int, what: str, how: str) -> Figure:
    """All panels, with room for the names of lines to the right of each."""
    n_rows = math.ceil(len(panels) / n_columns)
    width = 3.8 * n_columns + 0.4 * (n_columns == 1)
    with style.figure_style():
        figure = style.new_figure(width, 0.8 + 2.45 * n_rows)
        axes = [figure.add_subplot(n_rows, n_columns, 1 + number) for number in range(len(panels))]
        ends = list(map(_draw_panel, axes, panels))
        # Risks of random classes are compared across panels; the hard class is another problem.
        compared = [panel.y != _RISK or panel.kind == "random" for panel in panels]
        shared = list(itertools.compress(axes, compared))
        limits = np.array([ax.get_ylim() for ax in shared])
        for ax in shared:
            ax.set_ylim(limits[:, 0].min(), limits[:, 1].max())
        for ax, panel, names in zip(axes, panels, ends, strict=True):
            guides = _draw_bounds(ax, panel) if panel.y == _RISK else _draw_slopes(ax, panel)
            add_labels(ax, [*names, *guides], _HEIGHT)
        if len(panels) < n_rows * n_columns and panels[0].y == _RISK:
            _add_key(figure)
        _finish(figure, panels[0].rows, what, how)
    return figure


def _add_key(figure: Figure) -> None:
    """Add the meaning of the marks of the risk, where the grid has no panel."""
    runs = _DOTS | {"ms": 5.0}
    marks = [
        ({**_MAIN, "marker": "o"}, "mean, exact sensitivity (ours)"),
        (_PALE, "mean, sensitivity as published"),
        (runs, "one run; the dots are not an interval"),
        ({"ls": "-.", "lw": 1.1}, "a bound of the paper"),
    ]
    handles = [Line2D([], [], color=style.BLACK, **look, label=name) for look, name in marks]
    figure.legend(handles=handles, loc="lower right", bbox_to_anchor=(0.9, 0.12), handlelength=3.6)


def _draw_panel(ax: Axes, panel: _Panel) -> list[Label]:
    """Lines of the means, pale and dashed as published, and a dot for every run.

    Returns:
        The name of every line, for its end.
    """
    x, y, rows = panel.x, panel.y, panel.rows
    values = sorted(set(rows[x]))
    margin = (values[-1] / values[0]) ** 0.05 if len(values) > 1 else 1.5
    name = "privacy ε of one message" if x == "epsilon" else f"{panel.sweep} {x}"
    ax.set(xscale="log", yscale="log", xlabel=name, ylabel=panel.y_label)
    ax.set_title(f"{panel.kind} class: {fixed(rows.iloc[0], x, power)}", loc="left")
    # A tick for every value that was run, and no others.
    ax.set_xticks(values, list(map(power, values)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(style.PowerFormatter())
    ax.yaxis.set_minor_formatter(style.PowerFormatter())
    ax.set_xlim(values[0] / margin, values[-1] * margin)
    # Two values of x would make lines that look like rates: markers alone stand for them.
    few = {"ls": "none"} if len(values) <= 2 else {}
    shown = {name: look for name, look in looks().items() if name in set(rows["algorithm"])}
    steps = (ax.get_xlim()[1] / ax.get_xlim()[0]) ** np.linspace(-_SPREAD, _SPREAD, len(shown))
    ends = []
    for (name, (colour, marker)), step in zip(shown.items(), steps.tolist(), strict=True):
        own, published = panel.of(name), panel.of(name, "published")
        if y == _RISK:
            pale = _PALE | few | {"marker": marker if few else ""}
            ax.plot(published[x], published[y], color=colour, **pale)
        ax.plot(own[x], own[y], color=colour, marker=marker, **_MAIN | few)
        runs = own.explode(_RUNS[y])
        runs = runs[runs[_RUNS[y]] > 0]
        ax.plot(step * runs[x], runs[_RUNS[y]], color=colour, zorder=1.9, **_DOTS)
        title = "\n".join(textwrap.wrap(title_of(name), 17))
        for place, height in own[[x, y]].tail(1).to_numpy():
            ends.append(Label(place, height, title, colour))
    if y == _RISK:
        exact = rows[rows["sensitivity_rule"] == "exact"]
        heights = np.concatenate([rows[_RISK], *exact["kl_runs"]])
        heights = heights[heights > 0]
        ax.set_ylim(heights.min() / 2.5, heights.max() * 2.5)
    return ends


def _draw_bounds(ax: Axes, panel: _Panel) -> list[Label]:
    """Theorem 5 and where bounds say nothing (random class), Theorem 3 (hard class)."""
    exp3 = panel.of("exp3")
    if panel.sweep != "rounds" or exp3.empty:
        return []
    T, trivial = exp3["T"], exp3["T"] * np.log(exp3["K"])
    guides = [
        (exp3["upper_bound"], "-.", "upper bound of\nEXP3, Theorem 5"),
        (trivial, ":", "T log K: higher\nbounds say nothing"),
    ]
    if panel.kind == "hard":
        guides = [(exp3["lower_bound"], "-.", "lower bound,\nTheorem 3")]
    values = pd.concat([y for y, _, _ in guides])
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, values.min() / 2.5), max(high, values.max() * 2.5))
    if panel.kind == "random":
        ax.fill_between(T, trivial, ax.get_ylim()[1], color=style.BAND, linewidth=0, zorder=0)
    return [_draw_guide(ax, T, *guide) for guide in guides]


def _draw_slopes(ax: Axes, panel: _Panel) -> list[Label]:
    """Slopes T^(-1/4) (Theorem 6) and T^(-1/2), from the top left corner of the lines."""
    T = panel.rows["T"].drop_duplicates().sort_values()
    low, high = ax.get_ylim()
    start = min(high * 2, 0.9)  # TV is at most 1
    ax.set_ylim(low, max(high, start * 1.5))
    guides = ((1 / 4, "-.", "slope −1/4,\nTheorem 6"), (1 / 2, ":", "slope −1/2"))
    return [_draw_guide(ax, T, start * (T / T.iloc[0]) ** -it, *look) for it, *look in guides]


def _draw_guide(ax: Axes, x: pd.Series, y: pd.Series, line: str, name: str) -> Label:
    ax.plot(x, y, color=style.BLACK, linestyle=line, linewidth=1.1)
    return Label(x.iloc[-1], y.iloc[-1], name, style.BLACK)
