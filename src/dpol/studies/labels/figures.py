"""Figures of learning a distribution from locally private labels: KL risk and selection."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from dpol.core.frames import check_frame
from dpol.show import style
from dpol.show.direct_labels import Label, add_labels
from dpol.studies.labels.looks import DOTS, OURS, describe_runs, empty_figure, finish, looks
from dpol.studies.labels.settings import Labels
from dpol.studies.labels.study import COLUMNS
from dpol.studies.labels.table import SIGNS
from dpol.studies.study import Facts, Frames

_SPREAD = 0.02  # of the width of a panel, to both sides, over which dots of one x are spread
_HEIGHT = 1.9  # inches, about, of the axes of a panel
_SWEEPS = {
    "rounds": ("T", "rounds T"),
    "labels": ("M", "labels M"),
    "hypotheses": ("K", "hypotheses K"),
    "epsilons": ("epsilon", "privacy ε of one message"),
}
_RISK = "mean_kl_risk"
_SELECTORS = {
    "tv_average": "TV of the average prediction",
    "tv_median": "TV of the median of groups",
}


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
        return _SWEEPS[self.sweep][0]

    @property
    def exact(self) -> pd.DataFrame:
        return self.rows[self.rows["sensitivity_rule"] == "exact"]


def risk(frames: Frames, study: Labels, facts: Facts) -> Figure:
    """The figure of risks, see `draw_risk`."""
    return draw_risk(frames["labels"])


def selection(frames: Frames, study: Labels, facts: Facts) -> Figure:
    """The figure of selection, see `draw_selection`."""
    return draw_selection(frames["labels"])


def draw_risk(risks: pd.DataFrame) -> Figure:
    """KL risk against T, M, K and epsilon, a panel per sweep that was run, beside the bounds.

    Args:
        risks: as `dpol.studies.labels.study` makes them (docs/reference/tables.md).

    Raises:
        DataError: a column is missing, or the table is empty.
    """
    panels = _panels(risks, {_RISK: "KL risk (nats)"}, tuple(_SWEEPS))
    if not panels:
        return empty_figure("The config asks for no sweep of T, M, K or ε (labels.sweeps).")
    with style.figure_style():
        figure = _draw_panels(panels, min(2, len(panels)))
        finish(
            figure,
            "KL risk over all T rounds of learning from locally private labels."
            f" {describe_runs(risks)} Solid: exact sensitivity (ours); dashed, pale: as"
            f" published. {OURS}",
        )
    return figure


def draw_selection(risks: pd.DataFrame) -> Figure:
    """TV distance of the batch selector against T: average (above) and median (below).

    Raises:
        DataError: as `draw_risk`.
    """
    panels = _panels(risks, _SELECTORS, ("rounds",))
    if not panels:
        return empty_figure("The config asks for no sweep of T (labels.sweeps.rounds).")
    with style.figure_style():
        figure = _draw_panels(panels, len({panel.kind for panel in panels}))
        finish(
            figure,
            "Selecting the true hypothesis from locally private labels: total variation (TV)"
            f" between estimate and truth. {describe_runs(risks)} Exact sensitivity (ours)."
            f" Black: slopes only, not bounds. {OURS}",
        )
    return figure


def _panels(risks: pd.DataFrame, columns: Mapping[str, str], sweeps: Sequence[str]) -> list[_Panel]:
    """The panels that have something to show."""
    check_frame(risks, COLUMNS, "labels")
    found = []
    for (y, y_label), sweep, kind in itertools.product(columns.items(), sweeps, ("random", "hard")):
        rows = risks[(risks["sweep"] == sweep) & (risks["hypotheses"] == kind)]
        if rows[y].notna().any():
            found.append(_Panel(rows, sweep, kind, y, y_label))
    return found


def _draw_panels(panels: Sequence[_Panel], n_columns: int) -> Figure:
    """All panels, with room for the names of lines to the right of each."""
    n_rows = math.ceil(len(panels) / n_columns)
    width = 3.8 * n_columns + 0.4 * (n_columns == 1)
    figure = style.new_figure(width, 0.8 + 2.45 * n_rows)
    for number, panel in enumerate(panels):
        _draw_panel(figure.add_subplot(n_rows, n_columns, number + 1), panel)
    drawn = list(zip(figure.axes, panels, strict=True))
    # Risks of random classes are compared across panels; the hard class is another problem.
    _share_limits([ax for ax, panel in drawn if panel.y != _RISK or panel.kind == "random"])
    for ax, panel in drawn:
        guides = _draw_bounds(ax, panel) if panel.y == _RISK else _draw_slopes(ax, panel)
        add_labels(ax, [*_ends(panel), *guides], _HEIGHT)
    return figure


def _draw_panel(ax: Axes, panel: _Panel) -> None:
    exact = panel.exact
    if panel.y == _RISK:
        published = panel.rows[panel.rows["sensitivity_rule"] == "published"]
        _draw_lines(ax, published, panel.x, panel.y, main=False)
    _draw_lines(ax, exact, panel.x, panel.y)
    _draw_runs(ax, exact, panel.x, "kl_runs" if panel.y == _RISK else f"{panel.y}_runs")
    if panel.y == _RISK:
        values = np.concatenate([panel.rows[_RISK], *exact["kl_runs"]])
        values = values[values > 0]
        ax.set_ylim(values.min() / 2.5, values.max() * 2.5)
    first = panel.rows.iloc[0]
    fixed = ", ".join(
        f"{sign} = {_number(first[name])}" for name, sign in SIGNS.items() if name != panel.x
    )
    ax.set_title(f"{panel.kind} class: {fixed}", loc="left")
    ax.set_xlabel(_SWEEPS[panel.sweep][1])
    ax.set_ylabel(panel.y_label)


def _draw_lines(ax: Axes, rows: pd.DataFrame, x: str, y: str, *, main: bool = True) -> None:
    """A line per algorithm; without `main` pale, dashed and without markers.

    Two values of x would make lines that look like rates: markers alone stand for them.
    """
    ax.set_xscale("log")
    ax.set_yscale("log")
    several = rows[x].nunique() > 2
    for algorithm, look in looks().items():
        own = _positive(rows, algorithm, x, y)
        if not own.empty:
            ax.plot(
                own[x],
                own[y],
                color=look.colour,
                marker=look.marker if main or not several else "",
                markersize=4.0 if main else 2.5,
                markeredgewidth=0,
                linestyle=("-" if main else "--") if several else "none",
                linewidth=1.2 if main else 0.9,
                alpha=1.0 if main else 0.65,
            )
    if main and not rows.empty:
        _label_values(ax, sorted(set(rows[x])))


def _draw_runs(ax: Axes, rows: pd.DataFrame, x: str, runs: str) -> None:
    """A dot for every run that a logarithmic axis can show, algorithms side by side."""
    run = {name: look for name, look in looks().items() if name in set(rows["algorithm"])}
    low, high = ax.get_xlim()
    steps = (high / low) ** np.linspace(-_SPREAD, _SPREAD, len(run))
    for (algorithm, look), step in zip(run.items(), steps.tolist(), strict=True):
        own = rows[rows["algorithm"] == algorithm].sort_values(x)
        for place, values in zip(own[x], own[runs], strict=True):
            if isinstance(values, (list, np.ndarray)):  # a median that was not asked for has none
                shown = [value for value in values if value > 0]
                ax.plot([step * place] * len(shown), shown, color=look.colour, **DOTS)


def _positive(rows: pd.DataFrame, learner: str, x: str, y: str) -> pd.DataFrame:
    return rows[(rows["algorithm"] == learner) & (rows[y] > 0)].sort_values(x)


def _label_values(ax: Axes, values: Sequence[float]) -> None:
    """A tick for every value that was run, and no others."""
    ax.set_xticks(values, list(map(_number, values)))
    ax.xaxis.set_minor_locator(NullLocator())
    margin = (values[-1] / values[0]) ** 0.05 if len(values) > 1 else 1.5
    ax.set_xlim(values[0] / margin, values[-1] * margin)


def _number(value: float) -> str:
    """Short, since ticks are near each other: 10^4, 3·10^4, 250, 0.5."""
    power = math.floor(math.log10(value) + 1e-9)
    lead = round(value / 10**power, 6)
    if power < 3 or lead != round(lead):
        return f"{value:,g}" if value < 1e6 else f"{value:.3g}"
    return f"$10^{{{power}}}$" if lead == 1 else rf"${lead:g}{{\cdot}}10^{{{power}}}$"


def _share_limits(axes: Sequence[Axes]) -> None:
    """Give all panels the same limits, so that levels can be compared."""
    if axes:
        limits = [ax.get_ylim() for ax in axes]
        for ax in axes:
            ax.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


def _ends(panel: _Panel) -> list[Label]:
    """The name of every line at its end."""
    labels = []
    for learner, look in looks().items():
        own = _positive(panel.exact, learner, panel.x, panel.y)
        if not own.empty:
            end = own.iloc[-1]
            labels.append(Label(end[panel.x], end[panel.y], look.label, look.colour))
    return labels


def _draw_bounds(ax: Axes, panel: _Panel) -> list[Label]:
    """Theorem 5 and where bounds say nothing (random class), Theorem 3 (hard class)."""
    if panel.sweep != "rounds":
        return []
    exp3 = _positive(panel.exact, "exp3", "T", _RISK)
    T = exp3["T"]
    if panel.kind == "hard":
        return _draw_bound(ax, T, exp3["lower_bound"], "-.", "lower bound,\nTheorem 3")
    trivial = T * np.log(exp3["K"])
    upper = "upper bound of\nEXP3, Theorem 5"
    labels = _draw_bound(ax, T, exp3["upper_bound"], "-.", upper)
    labels += _draw_bound(ax, T, trivial, ":", "T log K: higher\nbounds say nothing")
    ax.fill_between(T, trivial, ax.get_ylim()[1], color=style.BAND, linewidth=0, zorder=0)
    return labels


def _draw_bound(ax: Axes, x: pd.Series, y: pd.Series, line: str, name: str) -> list[Label]:
    if y.isna().all():
        return []
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, y.min() / 2.5), max(high, y.max() * 2.5))
    ax.plot(x, y, color=style.BLACK, linestyle=line, linewidth=1.1)
    return [Label(x.iloc[-1], y.iloc[-1], name, style.BLACK)]


def _draw_slopes(ax: Axes, panel: _Panel) -> list[Label]:
    """Slopes T^(-1/4) (Theorem 6) and T^(-1/2), from the top left corner of the lines."""
    rounds = np.array(sorted(set(panel.rows["T"])), dtype=float)
    low, high = ax.get_ylim()
    start = min(high * 2, 0.9)  # TV is at most 1
    ax.set_ylim(low, max(high, start * 1.5))
    labels = []
    for power, line, name in ((0.25, "-.", "$T^{-1/4}$, Theorem 6"), (0.5, ":", "$T^{-1/2}$")):
        values = start * (rounds / rounds[0]) ** -power
        ax.plot(rounds, values, color=style.BLACK, linestyle=line, linewidth=1.0)
        labels.append(Label(rounds[-1], values[-1], name, style.BLACK))
    return labels
