"""Figures of learning a distribution from locally private labels: risk and selection."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpol.show import panels
from dpol.show.entries import (
    BAND,
    BEYOND_MARK,
    BLACK,
    LABEL_LEARNERS,
    REFERENCES,
    SHORT,
    Look,
    looks_of,
    marked,
)
from dpol.show.words import SYMBOLS, power
from dpol.studies.paper3.settings import COLUMN_OF, HOSPITALS
from dpol.studies.study import Facts, Frames

_MAIN: dict[str, Any] = {"ls": "-", "lw": 1.2, "ms": 4.0, "mew": 0, "zorder": 1.8}
_PALE: dict[str, Any] = {"ls": "--", "lw": 0.9, "ms": 2.5, "mew": 0, "zorder": 1.7, "alpha": 0.65}
_DOTS: dict[str, Any] = {"ls": "none", "marker": ".", "ms": 3.2, "mew": 0, "alpha": 0.8}
_SPREAD = 0.02  # dots of one x spread over this share of the panel's width, to both sides
_SPREAD_OF_FEW = 0.12  # the same if there are too few x for a line that joins the means
_RISK = "mean_kl_risk"
_THEOREM, _GUIDE = REFERENCES["labels-theorem"], REFERENCES["labels-guide"]
_RATE = Look(BLACK, SHORT, width=1.6)
_CLASSES = {"random": "random class", "hard": "hard class"}
_RUNS = {_RISK: "kl_runs", "tv_average": "tv_average_runs"}
"""Columns with a list of the runs, by the column of their mean."""
_Y_LABELS = {_RISK: "KL risk (nats)", "tv_average": "TV between estimate and truth"}
"""Names of the vertical axis, likewise."""


def risk(frames: Frames, facts: Facts) -> Figure:
    """Draw KL risk beside Theorem 5: a panel per sweep that was run, and per stream of patients."""
    risks = frames["labels"], _RISK
    patients = {stream: f"patients of {stream}" for stream in facts.streams}
    sweeps = [*_sweeps(*risks, COLUMN_OF, _CLASSES), *_sweeps(*risks, [HOSPITALS], patients)]
    with _drawn_sweeps(sweeps, facts) as drawn:
        for ax, sweep in zip(drawn.axes, sweeps, strict=True):
            _draw_bounds(drawn, ax, sweep)
            exp3 = sweep.of("exp3")
            scale = exp3[_RISK].iloc[0] / exp3["upper_bound"].iloc[0]
            ax.plot(exp3[sweep.x], scale * exp3["upper_bound"], **_RATE.line)
        marks = [
            panels.key("mean, exact sensitivity †", color=BLACK, marker="o", **_MAIN),
            panels.key("mean, published sensitivity", color=BLACK, **_PALE),
            panels.key("one run; dots are not an interval", color=BLACK, **_DOTS | {"ms": 5.0}),
            panels.key("bound of the paper", **_THEOREM.line),
            panels.key("Theorem 5, scaled to EXP3 on the left", **_RATE.line),
        ]
        drawn.legend(marks)
        what = "KL risk over all T rounds of learning from locally private labels."
        how = "Solid: exact sensitivity †; dashed, pale: published sensitivity."
        caption = _title(sweeps[0].rows, what, how)
        if sweeps[-1].sweep == HOSPITALS:
            caption += f" Patients: {panels.data_title(facts.simulated).lower()}."
        drawn.caption(caption)
        random = [sweep for sweep in sweeps if sweep.what == _CLASSES["random"]]
        changes = [_change(sweep) for sweep in random if sweep.rows[sweep.x].nunique() > 1]
        if changes:
            what = "The risk of private EXP3 (its bound in Theorem 5) is multiplied"
            drawn.find(f"{what} {'; '.join(changes)}.")
    return drawn.figure


def _change(sweep: _Sweep) -> str:
    """Compare the risk of private EXP3 at the ends of a sweep with its bound."""
    ends = sweep.of("exp3").iloc[[0, -1]]
    first, last = (power(end) for end in ends[sweep.x])
    risk, bound = (ends[name].iloc[1] / ends[name].iloc[0] for name in (_RISK, "upper_bound"))
    sign = SYMBOLS.get(sweep.x, sweep.x)
    return f"by {risk:.2g} ({bound:.2g}) from {sign} = {first} to {last}"


def selection(frames: Frames, facts: Facts) -> Figure:
    """Draw the TV distance between estimate and truth against T, a panel for each class."""
    sweeps = _sweeps(frames["labels"], "tv_average", ("rounds",), _CLASSES)
    with _drawn_sweeps(sweeps, facts) as drawn:
        for ax, sweep in zip(drawn.axes, sweeps, strict=True):
            _draw_slopes(drawn, ax, sweep)
        what = "Selecting the true hypothesis from locally private labels: total variation (TV)"
        what += " between estimate and truth."
        how = "Exact sensitivity †. Black lines show slopes, not bounds."
        drawn.caption(_title(sweeps[0].rows, what, how))
        rows = sweeps[0].rows
        private = (rows["sensitivity_rule"] == "exact") & (rows["model"] != "none")
        last = rows.loc[private & (rows["T"] == rows["T"].max()), "tv_average"]
        drawn.find(
            f"After {power(rows['T'].max())} rounds the estimates of the algorithms are"
            f" {last.min():.2f} to {last.max():.2f} from the truth (TV distance)."
        )
    return drawn.figure


def _title(rows: pd.DataFrame, what: str, how: str) -> str:
    """Return the title, which explains how the runs are drawn."""
    runs = rows["replicates"].iloc[0]
    means = f"Large markers: means over {runs} runs; dots: single runs, not an interval."
    features = "" if rows["sweep"].iloc[0] == HOSPITALS else " The same feature in all rounds."
    return f"{what}{features} {means} {how} {BEYOND_MARK}."


def _fixed(row: pd.Series, swept: str) -> str:
    """Write the columns that a sweep does not change: `K = 4, M = 100, ε = 4`."""
    fixed = [name for name in ("K", "M", "T", "epsilon") if name != swept]
    return ", ".join(f"{SYMBOLS.get(name, name)} = {power(row[name])}" for name in fixed)


# ---- panels of sweeps ----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Sweep:
    """Rows of one sweep of what is learned, and the column `y` to draw."""

    rows: pd.DataFrame
    sweep: str
    what: str
    y: str

    @property
    def x(self) -> str:
        return "epsilon" if self.sweep == HOSPITALS else COLUMN_OF[self.sweep]

    def of(self, learner: str, rule: str = "exact") -> pd.DataFrame:
        """Return the rows of a learner that a logarithmic axis can show."""
        rows = self.rows
        played = (rows["algorithm"] == learner) & (rows["sensitivity_rule"] == rule)
        return rows[played & (rows[self.y] > 0)].sort_values(self.x)


def _sweeps(
    risks: pd.DataFrame, y: str, names: Iterable[str], learned: Mapping[str, str]
) -> list[_Sweep]:
    """Return the sweeps that have something to show, of what is learned, by its label."""
    sweeps = []
    for name, label in itertools.product(names, learned):
        rows = risks[(risks["sweep"] == name) & (risks["hypotheses"] == label)]
        rows = rows[rows[y].notna()]
        if len(rows):
            sweeps.append(_Sweep(rows=rows, sweep=name, what=learned[label], y=y))
    return sweeps


@contextmanager
def _drawn_sweeps(sweeps: Sequence[_Sweep], facts: Facts) -> Iterator[panels.Panels]:
    """Draw a panel for each sweep; the caller adds bounds and guides."""
    played = pd.concat([sweep.rows for sweep in sweeps])
    named = played[["algorithm", "title", "origin"]].drop_duplicates().to_numpy().tolist()
    titles = {name: marked(title, origin != "paper") for name, title, origin in named}
    looks = looks_of(played["algorithm"], LABEL_LEARNERS)
    with panels.panels(len(sweeps), 2, (3.7, 2.45), form=facts.form) as drawn:
        for ax, sweep in zip(drawn.axes, sweeps, strict=True):
            _draw_sweep(drawn, ax, sweep, titles, looks)
        # Panels of random classes share limits, so that risks can be compared.
        pairs = zip(drawn.axes, sweeps, strict=True)
        shared = [ax for ax, sweep in pairs if sweep.y != _RISK or sweep.what == _CLASSES["random"]]
        limits = [limit for ax in shared for limit in ax.get_ylim()]
        for ax in shared:
            ax.set_ylim(min(limits), max(limits))
        yield drawn


def _draw_sweep(
    drawn: panels.Panels,
    ax: Axes,
    sweep: _Sweep,
    titles: Mapping[str, str],
    looks: Mapping[str, Look],
) -> None:
    """Draw lines of the means (published sensitivity pale and dashed) and a dot for every run."""
    x, y, rows = sweep.x, sweep.y, sweep.rows
    values = sorted(set(rows[x]))
    few = {"ls": "none"} if len(values) <= panels.FEW else {}
    # A few values are set apart, each with room for its learners side by side.
    margin = (values[-1] / values[0]) ** (0.5 if few else 0.05) if len(values) > 1 else 1.5
    name = "privacy ε of one message" if x == "epsilon" else f"{sweep.sweep} {x}"
    ax.set(xscale="log", yscale="log", xlabel=name, ylabel=_Y_LABELS[y])
    ax.set_title(f"{sweep.what}: {_fixed(rows.iloc[0], x)}", loc="left")
    panels.set_ticks(ax.xaxis, values, power)
    panels.set_powers(ax.yaxis)
    ax.set_xlim(values[0] / margin, values[-1] * margin)
    names = rows["algorithm"].unique().tolist()
    spread = _SPREAD_OF_FEW if few else _SPREAD
    steps = (ax.get_xlim()[1] / ax.get_xlim()[0]) ** np.linspace(-spread, spread, len(names))
    for name, step in zip(names, steps.tolist(), strict=True):
        exact, published, look = sweep.of(name), sweep.of(name, "published"), looks[name]
        colour = look.colour
        if few:
            exact, published = (
                means.assign(**{x: step * means[x]}) for means in (exact, published)
            )
        if y == _RISK:
            pale = _PALE | few | {"marker": look.marker if few else ""}
            ax.plot(published[x], published[y], color=colour, **pale)
        ax.plot(exact[x], exact[y], color=colour, marker=look.marker, **_MAIN | few)
        runs = exact.explode(_RUNS[y])
        runs = runs[runs[_RUNS[y]] > 0]
        ax.plot(runs[x] * (1 if few else step), runs[_RUNS[y]], color=colour, zorder=1.9, **_DOTS)
        title = "\n".join(textwrap.wrap(titles[name], 17))
        for end in exact[[x, y]].tail(1).to_numpy():
            drawn.name_line(ax, end, title, colour)
    if y == _RISK:
        exact = rows[rows["sensitivity_rule"] == "exact"]
        heights = np.concatenate([rows[_RISK], *exact["kl_runs"]])
        heights = heights[heights > 0]
        room = 2.5 if heights.max() > 10 * heights.min() else 1.25
        ax.set_ylim(heights.min() / room, heights.max() * room)


def _draw_bounds(drawn: panels.Panels, ax: Axes, sweep: _Sweep) -> None:
    """Draw Theorem 5 and where bounds are vacuous, Theorem 3 (hard class), or the best forecast."""
    exp3 = sweep.of("exp3")
    if sweep.sweep == HOSPITALS:
        name = "best forecast\nin hindsight"
        _draw_guide(drawn, ax, exp3["epsilon"], exp3["best_kl"], _GUIDE, name)
    if sweep.sweep != "rounds" or exp3.empty:
        return
    T, trivial = exp3["T"], exp3["T"] * np.log(exp3["K"])
    guides = [
        (exp3["upper_bound"], _THEOREM, "upper bound of\nEXP3, Theorem 5"),
        (trivial, _GUIDE, "T log K: higher\nbounds are vacuous"),
    ]
    if sweep.what == _CLASSES["hard"]:
        guides = [(exp3["lower_bound"], _THEOREM, "lower bound,\nTheorem 3")]
    values = pd.concat([y for y, _, _ in guides])
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, values.min() / 2.5), max(high, values.max() * 2.5))
    if sweep.what == _CLASSES["random"]:
        ax.fill_between(T, trivial, ax.get_ylim()[1], color=BAND, linewidth=0, zorder=0)
    for y, look, name in guides:
        _draw_guide(drawn, ax, T, y, look, name)


def _draw_slopes(drawn: panels.Panels, ax: Axes, sweep: _Sweep) -> None:
    """Draw the slopes T^(-1/4) (Theorem 6) and T^(-1/2), from the top left of the lines."""
    T = sweep.rows["T"].drop_duplicates().sort_values()
    low, high = ax.get_ylim()
    start = min(high * 2, 0.9)  # TV is at most 1
    ax.set_ylim(low, max(high, start * 1.5))
    for slope, look, name in (
        (1 / 4, _THEOREM, "slope −1/4,\nTheorem 6"),
        (1 / 2, _GUIDE, "slope −1/2"),
    ):
        _draw_guide(drawn, ax, T, start * (T / T.iloc[0]) ** -slope, look, name)


def _draw_guide(
    drawn: panels.Panels, ax: Axes, x: pd.Series, y: pd.Series, look: Look, name: str
) -> None:
    ax.plot(x, y, **look.line)
    drawn.name_line(ax, (x.iloc[-1], y.iloc[-1]), name, look.colour)
