"""Figures of learning a distribution from locally private labels: KL risk and selection."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from dpol.core.frames import check_frame
from dpol.distributions.registry import REGISTRY, title_of
from dpol.show import style
from dpol.show.direct_labels import Label, add_labels

COLUMNS = (
    *("sweep", "hypotheses", "algorithm", "calibration", "K", "M", "T", "epsilon"),
    *("replicates", "mean_kl_risk", "kl_runs", "upper_bound", "lower_bound"),
    *("tv_average", "tv_average_runs", "tv_median", "tv_median_runs", "best_kl"),
)
"""Columns the figures need."""

_NAMES: Mapping[str, tuple[str, str, str]] = {
    "wma": (style.PURPLE, "v", "private WMA"),
    "exp3": (style.BLUE, "o", "private EXP3"),
    "exp3-bayes": (style.SKY, "s", "EXP3 messages,\nBayes learner †"),
    "membership": (style.GREEN, "D", "membership\nresponse †"),
    "randomised-response": (style.VERMILLION, "^", "randomised\nresponse"),
    "bayes": (style.GREY, "X", "Bayes, no privacy"),
}
# Colours and markers of the algorithms that are not above, in turn.
_FURTHER = (
    (style.ORANGE, "P"),
    ("#8C510A", "*"),
    ("#7F7F00", "<"),
    ("#762A83", ">"),
)


def _names() -> Iterator[tuple[str, tuple[str, str, str]]]:
    further = itertools.cycle(_FURTHER)
    for name in REGISTRY:
        if name in _NAMES:
            yield name, _NAMES[name]
        else:
            yield name, (*next(further), "\n".join(textwrap.wrap(title_of(name), 20)))


NAMES: Mapping[str, tuple[str, str, str]] = dict(_names())
"""Colour, marker and name of every registered algorithm."""

OURS = "†: ours, not in the paper."
DOTS: Mapping[str, Any] = {"ls": "none", "marker": ".", "ms": 3.2, "mew": 0, "alpha": 0.8}
"""How single runs are drawn."""
_SPREAD = 0.02  # of the width of a panel, to both sides, over which dots of one x are spread
_HEIGHT = 1.9  # inches, about, of the axes of a panel
_CHARACTERS_PER_INCH = 15.5  # of the 8 point font, rounded down
_RULES: Mapping[str, str] = {
    "tv_average": "TV of the average prediction",
    "tv_median": "TV of the median of groups",
}


@dataclass(frozen=True)
class _Panel:
    """A panel of the figure of risks: which rows, and the column that it is drawn against."""

    sweep: str
    hypotheses: str
    column: str
    label: str


_PANELS = (
    _Panel("rounds", "random", "T", "rounds T"),
    _Panel("rounds", "hard", "T", "rounds T"),
    _Panel("labels", "random", "M", "labels M"),
    _Panel("hypotheses", "random", "K", "hypotheses K"),
    _Panel("epsilons", "random", "epsilon", "privacy ε of one message"),
)


def draw_risk(risks: pd.DataFrame) -> Figure:
    """KL risk against T, M, K and epsilon, a panel per sweep that was run, beside the bounds.

    Args:
        risks: as `dpol.evaluation.distributions` makes them (docs/reference/tables.md).

    Raises:
        DataError: a column is missing, or the table is empty.
    """
    check_risks(risks)
    panels = [panel for panel in _PANELS if not _rows_of(risks, panel).empty]
    if not panels:
        return empty_figure("The config asks for no sweep of T, M, K or ε (distributions.sweeps).")
    with style.figure_style():
        columns = min(2, len(panels))
        n_rows = math.ceil(len(panels) / columns)
        figure = _figure_of_panels(n_rows, columns)
        for number, panel in enumerate(panels):
            ax = figure.add_subplot(n_rows, columns, number + 1)
            _draw_risk_panel(ax, _rows_of(risks, panel), panel)
        _share_limits([ax for ax, it in zip(figure.axes, panels, strict=True) if _shares(it)])
        for ax, panel in zip(figure.axes, panels, strict=True):
            rows = _rows_of(risks, panel)
            bounds = _draw_bounds(ax, rows, panel)
            add_labels(ax, [*_ends(rows, panel.column, "mean_kl_risk"), *bounds], _HEIGHT)
        finish(
            figure,
            "KL risk over all T rounds of learning from locally private labels."
            f" {describe_runs(risks)} Solid: exact calibration (ours); dashed, pale: as"
            f" published. {OURS}",
        )
    return figure


def draw_selection(risks: pd.DataFrame) -> Figure:
    """TV distance of the batch selector against T: average (above) and median (below).

    Raises:
        DataError: as `draw_risk`.
    """
    check_risks(risks)
    rows = risks[(risks["sweep"] == "rounds") & (risks["calibration"] == "exact")]
    rules = [rule for rule in _RULES if rows[rule].notna().any()]
    if not rules:
        return empty_figure("The config asks for no sweep of T (distributions.sweeps.rounds).")
    kinds = [kind for kind in ("random", "hard") if kind in set(rows["hypotheses"])]
    panels = [(rule, rows[rows["hypotheses"] == kind]) for rule in rules for kind in kinds]
    with style.figure_style():
        figure = _figure_of_panels(len(rules), len(kinds))
        for number, (rule, own) in enumerate(panels):
            ax = figure.add_subplot(len(rules), len(kinds), number + 1)
            _draw_lines(ax, own, "T", rule)
            _draw_runs(ax, own, "T", f"{rule}_runs")
            _set_title(ax, own, "T")
            ax.set_xlabel("rounds T")
            ax.set_ylabel(_RULES[rule])
        _share_limits(figure.axes)
        for ax, (rule, own) in zip(figure.axes, panels, strict=True):
            rates = _draw_rates(ax, own)
            add_labels(ax, [*_ends(own, "T", rule), *rates], _HEIGHT)
        finish(
            figure,
            "Selecting the true hypothesis from locally private labels: total variation (TV)"
            f" between estimate and truth. {describe_runs(risks)} Exact calibration (ours)."
            f" Black: slopes only, not bounds. {OURS}",
        )
    return figure


def check_risks(risks: pd.DataFrame) -> None:
    """Whether the figures can be drawn. Raises DataError as `draw_risk`."""
    check_frame(risks, COLUMNS, "distributions")


def describe_runs(risks: pd.DataFrame) -> str:
    """What stands for the runs: all of them are shown, since they are few."""
    runs = risks["replicates"].iloc[0]
    return f"Large markers: means over {runs} runs; dots: the {runs} runs, not an interval."


def empty_figure(text: str) -> Figure:
    """A figure that says why there is nothing to draw."""
    with style.figure_style():
        figure = style.new_figure(5.8, 1.0)
        figure.text(0.5, 0.5, text, ha="center", va="center")
        style.freeze_layout(figure)
    return figure


def _figure_of_panels(n_rows: int, n_columns: int) -> Figure:
    """An empty figure with room for direct labels to the right of every panel."""
    return style.new_figure(3.8 * n_columns + 0.4 * (n_columns == 1), 0.8 + 2.45 * n_rows)


def finish(figure: Figure, title: str) -> None:
    """Add the title, in as many lines as it needs, and lay the figure out."""
    text = textwrap.fill(title, int(figure.get_figwidth() * _CHARACTERS_PER_INCH))
    figure.suptitle(text, x=0.01, ha="left")
    style.freeze_layout(figure)


def _rows_of(risks: pd.DataFrame, panel: _Panel) -> pd.DataFrame:
    chosen = (risks["sweep"] == panel.sweep) & (risks["hypotheses"] == panel.hypotheses)
    return risks[chosen]


def _shares(panel: _Panel) -> bool:
    """Risks of random classes are compared across panels; the hard class is another problem."""
    return panel.hypotheses == "random"


def _draw_risk_panel(ax: Axes, rows: pd.DataFrame, panel: _Panel) -> None:
    _draw_lines(ax, rows[rows["calibration"] == "published"], panel.column, "mean_kl_risk", False)
    exact = rows[rows["calibration"] == "exact"]
    _draw_lines(ax, exact, panel.column, "mean_kl_risk")
    _draw_runs(ax, exact, panel.column, "kl_runs")
    values = np.concatenate([rows["mean_kl_risk"], *exact["kl_runs"]])
    values = values[values > 0]
    ax.set_ylim(values.min() / 2.5, values.max() * 2.5)
    _set_title(ax, rows, panel.column)
    ax.set_xlabel(panel.label)
    ax.set_ylabel("KL risk (nats)")


def _draw_lines(ax: Axes, rows: pd.DataFrame, x: str, y: str, main: bool = True) -> None:
    """A line per algorithm; without `main` pale, dashed and without markers.

    Two values of x would make lines that look like rates: markers alone stand for them.
    """
    ax.set_xscale("log")
    ax.set_yscale("log")
    several = rows[x].nunique() > 2
    for algorithm, (colour, marker, _) in NAMES.items():
        own = _positive(rows, algorithm, x, y)
        if not own.empty:
            ax.plot(
                own[x],
                own[y],
                color=colour,
                marker=marker if main or not several else "",
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
    run = [name for name in NAMES if name in set(rows["algorithm"])]
    low, high = ax.get_xlim()
    steps = (high / low) ** np.linspace(-_SPREAD, _SPREAD, len(run))
    for algorithm, step in zip(run, steps.tolist(), strict=True):
        own = rows[rows["algorithm"] == algorithm].sort_values(x)
        for place, values in zip(own[x], own[runs], strict=True):
            if isinstance(values, (list, np.ndarray)):  # a median that was not asked for has none
                shown = [value for value in values if value > 0]
                ax.plot([step * place] * len(shown), shown, color=NAMES[algorithm][0], **DOTS)


def _positive(rows: pd.DataFrame, algorithm: str, x: str, y: str) -> pd.DataFrame:
    return rows[(rows["algorithm"] == algorithm) & (rows[y] > 0)].sort_values(x)


def _label_values(ax: Axes, values: Sequence[float]) -> None:
    """A tick for every value that was run, and no others."""
    powers = [round(math.log10(value)) for value in values]
    short = values[-1] >= 1000 and [10.0**power for power in powers] == list(values)
    names = [f"$10^{{{power}}}$" for power in powers] if short else list(map(_number, values))
    ax.set_xticks(values, names)
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


def _set_title(ax: Axes, rows: pd.DataFrame, swept: str) -> None:
    """What is fixed in a panel."""
    first = rows.iloc[0]
    facts = {"K": "K", "M": "M", "T": "T", "epsilon": "ε"}
    fixed = ", ".join(
        f"{sign} = {_number(float(first[name]))}" for name, sign in facts.items() if name != swept
    )
    ax.set_title(f"{first['hypotheses']} class: {fixed}", loc="left")


def _share_limits(axes: Sequence[Axes]) -> None:
    """Give all panels the same limits, so that levels can be compared."""
    if axes:
        limits = [ax.get_ylim() for ax in axes]
        for ax in axes:
            ax.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


def _ends(rows: pd.DataFrame, x: str, y: str) -> list[Label]:
    """The name of every line at its end."""
    labels = []
    for algorithm, (colour, _, name) in NAMES.items():
        own = _positive(rows[rows["calibration"] == "exact"], algorithm, x, y)
        if not own.empty:
            labels.append(Label(own[x].iloc[-1], own[y].iloc[-1], name, colour))
    return labels


def _draw_bounds(ax: Axes, rows: pd.DataFrame, panel: _Panel) -> list[Label]:
    """Theorem 5 and where bounds say nothing (random class), Theorem 3 (hard class)."""
    if panel.sweep != "rounds":
        return []
    exp3 = _positive(rows[rows["calibration"] == "exact"], "exp3", "T", "mean_kl_risk")
    if panel.hypotheses == "hard":
        name = "lower bound,\nTheorem 3"
        return _draw_bound(ax, exp3["T"], exp3["lower_bound"], "-.", name)
    trivial = exp3["T"] * np.log(exp3["K"])
    labels = _draw_bound(
        ax, exp3["T"], exp3["upper_bound"], "-.", "upper bound of\nEXP3, Theorem 5"
    )
    labels += _draw_bound(ax, exp3["T"], trivial, ":", "T log K: higher\nbounds say nothing")
    ax.fill_between(exp3["T"], trivial, ax.get_ylim()[1], color=style.BAND, linewidth=0, zorder=0)
    return labels


def _draw_bound(ax: Axes, x: pd.Series, y: pd.Series, line: str, name: str) -> list[Label]:
    if not len(y.dropna()):
        return []
    ax.plot(x, y, color=style.BLACK, linestyle=line, linewidth=1.1)
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, y.min() / 2.5), max(high, y.max() * 2.5))
    return [Label(x.iloc[-1], y.iloc[-1], name, style.BLACK)]


def _draw_rates(ax: Axes, rows: pd.DataFrame) -> list[Label]:
    """Slopes T^(-1/4) (Theorem 6) and T^(-1/2), from the top left corner of the lines."""
    rounds = np.array(sorted(set(rows["T"])), dtype=float)
    low, high = ax.get_ylim()
    start = min(high * 2, 0.9)  # TV is at most 1
    ax.set_ylim(low, max(high, start * 1.5))
    labels = []
    for power, line, name in (
        (0.25, "-.", "$T^{-1/4}$, Theorem 6"),
        (0.5, ":", "$T^{-1/2}$"),
    ):
        values = start * (rounds / rounds[0]) ** -power
        ax.plot(rounds, values, color=style.BLACK, linestyle=line, linewidth=1.0)
        labels.append(Label(rounds[-1], values[-1], name, style.BLACK))
    return labels
