"""The figure of the paper's way and ours: total gain against privacy, a panel per stream."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpol.show import style
from dpol.show.direct_labels import Label, add_labels
from dpol.show.titles import add_title, data_title
from dpol.show.words import mu_tick
from dpol.studies.hospitals import bounds
from dpol.studies.hospitals.settings import Hospitals
from dpol.studies.study import Facts, Frames

NO_PRIVACY = "no-privacy"
PAPER_LEVEL = "paper-level"
OTHER = "other"
CENTRAL = "central"
_MOST_COLUMNS = 3
_PANEL = (2.05, 2.35)  # inches, about, of the axes of a panel
_LABELS = 1.0  # inches for direct labels


@dataclass(frozen=True)
class _Line:
    """A line of a panel: one point per level, with the half-widths of its intervals."""

    key: str
    name: str
    look: style.LineStyle
    points: pd.DataFrame
    """Columns mean, half and place, the number of the level, from left to right."""
    strong: bool = False


def draw_comparison(frames: Frames, main: Hospitals, facts: Facts) -> Figure:
    """Total gain at each privacy level: the paper's way, ours, and the best other rows.

    Args:
        frames: the summary, the comparison, and the ablation, whose reference is a line.
        main: streams, a panel each, and the levels, from left to right.
        facts: titles of the streams, and whether they are simulated.
    """
    summary, comparison, ablation = (frames[it] for it in ("summary", "comparison", "ablation"))
    columns = min(_MOST_COLUMNS, len(main.streams))
    n_rows = math.ceil(len(main.streams) / columns)
    levels = list(main.levels.values())
    with style.figure_style():
        width = (_PANEL[0] + _LABELS) * columns + 0.4
        figure = style.new_figure(max(width, 4.2), _PANEL[1] * n_rows + 0.5 * n_rows + 0.7)
        grid = figure.subplots(n_rows, columns, sharey=True, squeeze=False)
        for ax in grid.flat[len(main.streams) :]:
            ax.remove()
        labels = []
        for ax, label in zip(figure.axes, main.streams, strict=True):
            rows = comparison[comparison["stream"] == label]
            reference = float(ablation.loc[ablation["stream"] == label, "reference_gain"].iloc[0])
            lines = _lines(rows, levels)
            _draw_panel(ax, rows, lines, reference, levels)
            stream = summary[summary["stream"] == label].iloc[0]
            labels.append([*_labels(lines, reference, levels), *_draw_bounds(ax, stream)])
            title = f"{facts.streams[label]} (n = {stream['n_experts']})"
            ax.set_title(title, loc="left", fontweight="bold", parse_math=False)
        grid[0][0].set_ylim(bottom=0)
        for ax, of_panel in zip(figure.axes, labels, strict=True):
            add_labels(ax, of_panel, _PANEL[1])
        figure.supylabel("total gain")
        figure.supxlabel("privacy level μ (the further right, the more private)")
        paper = comparison[comparison["kind"] == "paper"].to_dict("records")[0]
        add_title(figure, _title(paper, simulated=facts.simulated))
        style.freeze_layout(figure)
    return figure


def _lines(rows: pd.DataFrame, levels: Sequence[float]) -> list[_Line]:
    """Best other rows first, so that ours lies on top."""
    paper, other = (rows[rows["kind"] == kind] for kind in ("paper", "other"))
    labels = [paper["other_algorithm"].iloc[0], paper["algorithm"].iloc[0]]
    looks = style.algorithm_styles(labels)
    central = style.ALGORITHM_STYLES["tree-ftpl-min-noise"]
    best = style.LineStyle(style.GREY, (2.2, 1.2), "s")
    theirs, own = _points(paper, "other_", levels), _points(paper, "", levels)
    lines = [
        _Line(CENTRAL, "best with a\ncurator", central, _best(other, "central", levels)),
        _Line(OTHER, "best other\nlocal row", best, _best(other, "local", levels)),
        _Line("paper", "the paper's\nway", looks[labels[0]], theirs, strong=True),
        _Line("ours", "ours", looks[labels[1]], own, strong=True),
    ]
    return [line for line in lines if not line.points.empty]


def _best(others: pd.DataFrame, model: str, levels: Sequence[float]) -> pd.DataFrame:
    """The row of a model with the largest mean at each level, in hindsight."""
    rows = others[others["other_model"] == model]
    return _points(rows.loc[rows.groupby("mu")["other_mean_gain"].idxmax()], "other_", levels)


def _points(rows: pd.DataFrame, side: str, levels: Sequence[float]) -> pd.DataFrame:
    names = {f"{side}mean_gain": "mean", f"{side}ci_half_width": "half"}
    places = rows[f"{side}mu"].map(levels.index)
    return rows[list(names)].rename(columns=names).assign(place=places).sort_values("place")


_MANY = 5
"""Number of levels above which their names at the axis lose the leading zero."""


def set_levels(ax: Axes, levels: Sequence[float]) -> None:
    """Privacy levels from left to right, that without privacy on a shade of its own."""
    for number, mu in enumerate(levels):
        if mu == math.inf:
            ax.axvspan(number - 0.5, number + 0.5, color=style.BAND, linewidth=0, zorder=0)
    tick = mu_tick if len(levels) > _MANY else "{:g}".format
    names = ["∞\nno privacy" if mu == math.inf else tick(mu) for mu in levels]
    ax.set_xticks(range(len(levels)), names)
    ax.set_xlim(-0.5, len(levels) - 0.5)
    ax.grid(visible=False, axis="x")


def _draw_panel(
    ax: Axes,
    rows: pd.DataFrame,
    lines: Sequence[_Line],
    reference: float,
    levels: Sequence[float],
) -> None:
    set_levels(ax, levels)
    ax.axhline(reference, color=style.STATIC, ls="--", lw=1.0, label=NO_PRIVACY)
    for line in lines:
        points, look = line.points, line.look
        strong_size = 8.0 if look.marker == "*" else 5.0
        ax.errorbar(
            points["place"],
            points["mean"],
            yerr=points["half"].where(points["half"] < math.inf, 0.0),
            color=look.colour,
            linestyle=look.linestyle,
            linewidth=look.width if line.strong else 1.0,
            marker=look.marker,
            markersize=strong_size if line.strong else 3.5,
            markeredgewidth=0,
            elinewidth=1.0,
            capsize=1.8,
            capthick=0.8,
            label=line.key,
            zorder=4 if line.strong else 3,
        )
    _draw_aims(ax, rows[rows["kind"] == "aim-paper"], levels)


def _draw_aims(ax: Axes, aims: pd.DataFrame, levels: Sequence[float]) -> None:
    """An arrow from the paper's way at one level to where ours is compared with it."""
    for aim in aims.to_dict("records"):
        label = str(aim["other_algorithm"])
        colour = style.algorithm_styles([label])[label].colour
        ends = [levels.index(aim["other_mu"]), levels.index(aim["mu"])]
        gain = [aim["other_mean_gain"]] * 2
        ax.plot(ends, gain, color=colour, ls=(0, (1.0, 2.0)), lw=1.0, zorder=2, label=PAPER_LEVEL)


def _labels(lines: Sequence[_Line], reference: float, levels: Sequence[float]) -> list[Label]:
    """The name of every line at its right end."""
    name = "best of the paper's\nlearners, no privacy"
    labels = [Label(len(levels) - 0.5, reference, name, style.STATIC)]
    for line in lines:
        last = line.points.iloc[-1]
        labels.append(Label(last["place"], last["mean"], line.name, line.look.colour))
    return labels


def _draw_bounds(ax: Axes, stream: pd.Series) -> list[Label]:
    """Lines of chance, best fixed expert and foresight, and their names."""
    end, labels = ax.get_xlim()[1], []
    for label, look in bounds.LOOKS.items():
        gain = float(stream[bounds.TOTALS[label]])
        ax.axhline(gain, zorder=1, label=label, **look)
        labels.append(Label(end, gain, bounds.NAMES[label], look["color"]))
    return labels


def _title(first: Mapping[Any, Any], *, simulated: bool) -> tuple[str, ...]:
    return (
        f"{data_title(simulated)}, means over {first['replicates']} runs",
        f"the paper's way: {first['other_algorithm']}, {first['other_noise']} noise",
        f"ours: {first['algorithm']}, {first['noise']} noise",
        f"bars: {100 * first['confidence']:g}% intervals for the noise, all together",
        "best rows: chosen in hindsight at every μ",
    )
