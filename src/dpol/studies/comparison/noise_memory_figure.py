"""Figure of the extra gain from correlated noise, and of the privacy loss for longer stays."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpol.core.words import counted
from dpol.privacy.guarantee import MU_OF_STAYS
from dpol.privacy.stays import STAYS
from dpol.show import panels
from dpol.show.looks import GREY, REFERENCES, Look
from dpol.show.words import mu_title
from dpol.studies.comparison.noise_memory import INDEPENDENT, REMEMBERED, of_reader
from dpol.studies.comparison.settings import Comparison, NoiseMemories
from dpol.studies.study import Facts, Frames

_FACTORS = (0.25, 0.5, 1, 2, 4, 8)  # ticks of the lower panels, in multiples of the smallest mu


def draw_memory(frames: Frames, settings: Comparison, facts: Facts) -> Figure:
    """Draw the extra gain against mu (top) and mu against the stay (bottom), by stream."""
    frame, count, asked = of_reader(frames["memory"]), len(facts.streams), settings.memory
    assert asked is not None, "the figure is made only where memories are compared"
    with panels.panels(2 * count, count, (2.45, 2.2)) as drawn:
        for place in (*range(1, count), *range(count + 1, 2 * count)):
            drawn.axes[place].sharey(drawn.axes[count * (place // count)])
        pairs = zip(drawn.axes[:count], drawn.axes[count:], strict=True)
        for (above, below), (label, title) in zip(pairs, facts.streams.items(), strict=True):
            rows = frame[frame["stream"] == label]
            panels.name_panel(above, title)
            panels.name_panel(below, title)
            _draw_gains(drawn, above, rows, asked)
            _draw_stays(drawn, below, rows, asked)
        drawn.axes[0].set_ylabel("extra gain, correlated noise")
        made = f"μ of that person\n(noise made for {mu_title(min(asked.mus))})"
        drawn.axes[count].set_ylabel(made)
        drawn.title(*_title(frame.iloc[0], facts))
        drawn.find(_finding(frame))
    return drawn.figure


def _finding(frame: pd.DataFrame) -> str:
    """Say in how many cells correlated noise gains more, and by how much at most."""
    pairs = frame[(frame["noise"] == INDEPENDENT) & (frame["times"] == 1)]
    more = int((pairs["difference"] > pairs["difference_half_width"]).sum())
    return (
        f"Correlated noise gains more than independent noise in {more} of {len(pairs)} cells, by at"
        f" most {pairs['difference'].max():.2f}."
    )


def _draw_gains(
    drawn: panels.Panels, ax: Axes, rows: pd.DataFrame, settings: NoiseMemories
) -> None:
    """Draw the extra gain of correlated over independent noise, the strictest mu on the right."""
    mus = sorted(settings.mus, reverse=True)
    ax.axhline(0.0, color=GREY, ls="--", lw=1.0)
    pairs = rows[(rows["noise"] == INDEPENDENT) & (rows["times"] == 1)]
    for place, (weeks, look) in enumerate(_units(settings).items()):
        points = pairs[pairs["weeks"] == weeks].sort_values("level", ascending=False)
        points = points[["level", "difference", "difference_half_width"]]
        # Units of a mu stand side by side.
        points["level"] *= 1.03 ** ((len(settings.weeks) - 1) / 2 - place)
        panels.add_bars(ax, points, look, str(weeks), joined=len(mus) > panels.FEW)
        drawn.name_line(ax, points.iloc[-1, :2], counted(weeks, "week"), look.colour)
    ax.set(xscale="log", xlabel=f"μ ({panels.STRICTER})")
    panels.set_ticks(ax.xaxis, mus)
    ax.set_xlim(mus[0] * 1.15, mus[-1] / 1.15)


def _draw_stays(
    drawn: panels.Panels, ax: Axes, rows: pd.DataFrame, settings: NoiseMemories
) -> None:
    """Draw the mu of a person against the weeks of the stay, at the strictest level."""
    level, stays = min(settings.mus), list(STAYS)
    rows = rows[(rows["level"] == level) & (rows["times"] == 1)].set_index(["weeks", "noise"])
    ax.set(xscale="log", yscale="log", xlabel="weeks that a person stays")
    panels.set_ticks(ax.xaxis, stays)
    panels.set_ticks(ax.yaxis, [level * factor for factor in _FACTORS])
    ax.axhline(level, color=GREY, lw=0.8)
    for weeks, look in _units(settings).items():
        for noise, dashes in ((INDEPENDENT, "--"), (REMEMBERED, "-")):
            mus = rows.loc[(weeks, noise), list(MU_OF_STAYS)].to_numpy(dtype=float)
            label = f"{weeks} {noise}"
            ax.plot(stays, mus, color=look.colour, linestyle=dashes, linewidth=1.1, label=label)
        drawn.name_line(ax, (stays[-1], mus[-1]), counted(weeks, "week"), look.colour)


def _units(settings: NoiseMemories) -> dict[int, Look]:
    return {weeks: REFERENCES[f"unit-{place}"] for place, weeks in enumerate(settings.weeks, 1)}


def _title(first: pd.Series, facts: Facts) -> tuple[str, ...]:
    intervals = f"{100 * first['confidence']:g}% intervals, all {first['ci_comparisons']} together"
    return (
        f"{panels.data_title(facts.simulated)}, {first['algorithm']}",
        f"means over {first['replicates']} runs",
        f"bars: {intervals}",
        "colour: unit of privacy",
        "solid: correlated noise",
        "dashed: independent noise",
    )
