"""The figure of what noise with memory gains, and of what longer stays pay."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from dpol.core.words import counted
from dpol.privacy.stays import STAYS
from dpol.show import style
from dpol.show.direct_labels import Label, add_labels
from dpol.show.titles import add_title, data_title
from dpol.show.words import mu_title
from dpol.studies.hospitals.noise_memory import INDEPENDENT, MU_OF_STAYS, REMEMBERED
from dpol.studies.hospitals.settings import Hospitals, NoiseMemories
from dpol.studies.study import Facts, Frames

# Of units, the shortest first; no algorithm has them.
_COLOURS = ("#0D0887", "#6A00A8", "#B12A90", "#E16462", "#B8860B", "#707070")
_MARKERS = ("o", "s", "^", "D", "v", "P")
_PANEL = (1.75, 1.7)  # inches, about, of the axes of a panel
_LABELS = 0.7  # inches for direct labels
_FACTORS = (0.25, 0.5, 1, 2, 4, 8)  # of the smallest mu: the ticks of the lower panels
_FEW = 3  # From so many points on, a line joins them.


def draw(frames: Frames, main: Hospitals, facts: Facts) -> Figure:
    """Extra gain against mu (top) and mu against the stay (bottom), a column for each stream."""
    frame, count, settings = frames["memory"], len(facts.streams), main.noise_memories
    assert settings is not None, "the figure is made only where memories are compared"
    with style.figure_style():
        width = (_PANEL[0] + _LABELS) * count + 0.5
        figure = style.new_figure(max(width, 4.2), 2 * _PANEL[1] + 1.9)
        axes = figure.subplots(2, count, squeeze=False, sharey="row")
        labels = []
        for (above, below), (label, title) in zip(axes.T, facts.streams.items(), strict=True):
            rows = frame[frame["stream"] == label]
            above.set_title(title, loc="left", fontweight="bold", parse_math=False)
            labels.append((above, _draw_gains(above, rows, settings)))
            labels.append((below, _draw_stays(below, rows, settings)))
        axes[0][0].set_ylabel("extra gain with memory")
        axes[1][0].set_ylabel(f"μ of that person\n(noise made for {mu_title(min(settings.mus))})")
        for ax, own in labels:
            add_labels(ax, own, _PANEL[1])
        add_title(figure, _title(frame.iloc[0], facts))
        style.freeze_layout(figure)
    return figure


def _draw_gains(ax: Axes, rows: pd.DataFrame, settings: NoiseMemories) -> list[Label]:
    """Gain with memory above that with independent noise, the strictest mu on the right."""
    mus, labels = sorted(settings.mus, reverse=True), []
    ax.axhline(0.0, color=style.GREY, ls="--", lw=1.0)
    pairs = rows[(rows["noise"] == INDEPENDENT) & (rows["times"] == 1)]
    for place, (weeks, colour, marker) in enumerate(_units(settings)):
        own = pairs[pairs["weeks"] == weeks].set_index("level").loc[mus]
        # Units of a mu stand side by side.
        beside = 1.03 ** ((len(settings.weeks) - 1) / 2 - place)
        ax.errorbar(
            np.array(mus) * beside,
            own["difference"],
            yerr=own["difference_half_width"],
            color=colour,
            linestyle="-" if len(mus) >= _FEW else "none",
            linewidth=1.2,
            marker=marker,
            markersize=4.0,
            markeredgewidth=0,
            elinewidth=0.9,
            label=str(weeks),
        )
        last = float(own["difference"].iloc[-1])
        labels.append(Label(mus[-1] * beside, last, counted(weeks, "week"), colour))
    _label_ticks(ax, mus, "μ (the further right, the more private)")
    ax.set_xlim(mus[0] * 1.15, mus[-1] / 1.15)
    return labels


def _draw_stays(ax: Axes, rows: pd.DataFrame, settings: NoiseMemories) -> list[Label]:
    """The mu of a person by the weeks of the stay, at the strictest level."""
    level, labels, stays = min(settings.mus), [], list(STAYS)
    rows = rows[(rows["level"] == level) & (rows["times"] == 1)].set_index(["weeks", "noise"])
    ax.set_yscale("log")
    ax.set_yticks(ticks := [level * factor for factor in _FACTORS], [f"{it:g}" for it in ticks])
    ax.yaxis.set_minor_locator(NullLocator())
    ax.axhline(level, color=style.GREY, lw=0.8)
    for weeks, colour, _ in _units(settings):
        for noise, dashes in ((INDEPENDENT, "--"), (REMEMBERED, "-")):
            mus = rows.loc[(weeks, noise), list(MU_OF_STAYS)].to_numpy(dtype=float)
            label = f"{weeks} {noise}"
            ax.plot(stays, mus, color=colour, linestyle=dashes, linewidth=1.1, label=label)
        labels.append(Label(stays[-1], mus[-1], counted(weeks, "week"), colour))
    _label_ticks(ax, stays, "weeks that a person stays")
    return labels


def _units(settings: NoiseMemories) -> list[tuple[int, str, str]]:
    """Weeks, colour and marker of each unit."""
    return list(zip(settings.weeks, _COLOURS, _MARKERS, strict=False))


def _label_ticks(ax: Axes, places: Sequence[float], name: str) -> None:
    """A tick for every place on a logarithmic axis, and no others."""
    ax.set_xscale("log")
    ax.set_xticks(places, [f"{it:g}" for it in places])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel(name)


def _title(first: pd.Series, facts: Facts) -> tuple[str, ...]:
    intervals = f"{100 * first['confidence']:g}% intervals, all {first['ci_comparisons']} together"
    return (
        f"{data_title(facts.simulated)}, {first['algorithm']}",
        f"means over {first['replicates']} runs",
        f"bars: {intervals}",
        "colour: weeks that the noise was made for",
        "solid: with memory",
        "dashed: independent noise",
    )
