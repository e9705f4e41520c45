"""The privacy-utility curve: share of the possible gain against what an attacker can find out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from dpol.noise.noises import ISOTROPIC, NOISES
from dpol.privacy.account import best_guess, best_guess_of_epsilon
from dpol.show import style
from dpol.show.names import name_of
from dpol.show.titles import add_title, data_title
from dpol.show.words import mu_tick
from dpol.studies.hospitals.settings import Hospitals
from dpol.studies.study import Facts, Frames

_MOST_COLUMNS = 3
_WIDTH, _HEIGHT = 7.0, 2.35  # inches, of the figure and about of a row of panels
_APART = 0.17  # inches between numbers at the axis
_DASHES: tuple[style.Dashes, ...] = ((), (4.5, 1.8), (6.0, 1.5, 1.2, 1.5), (2.5, 1.2))
_PUBLISHED = ("rw-meta", ISOTROPIC.name)
REPORTED = "reported by the paper"


def draw_privacy_utility(frames: Frames, main: Hospitals, facts: Facts) -> Figure:
    """A panel for each stream; a line for each algorithm that is shown, and each of its noises.

    Args:
        frames: the summary.
        main: the streams, and the algorithms of the report.
        facts: titles of the streams, and whether they are simulated.
    """
    summary, rows = frames["summary"], shown_rows(frames["summary"], main)
    looks = _looks(rows, main)
    columns = min(_MOST_COLUMNS, len(main.streams))
    n_rows = math.ceil(len(main.streams) / columns)
    with style.figure_style():
        figure = style.new_figure(_WIDTH, _HEIGHT * n_rows + 0.95)
        grid = figure.subplots(n_rows, columns, sharex=True, sharey=True, squeeze=False)
        for ax in grid.flat[len(main.streams) :]:
            ax.remove()
        for ax, label in zip(figure.axes, main.streams, strict=True):
            own = summary[summary["stream"] == label].iloc[0]
            ax.axhline(own["best_static_share"], color=style.STATIC, ls=":", lw=1.2)
            _draw_lines(ax, rows[rows["stream"] == label], looks)
            title = f"{facts.streams[label]} (n = {own['n_experts']})"
            ax.set_title(title, loc="left", fontweight="bold", parse_math=False)
            ax.tick_params(labelbottom=True)
        _set_axes(grid[0][0], main, rows, _WIDTH / columns - 0.3)
        figure.supylabel("share of the possible gain")
        words = "how often an attacker guesses right, at most, in % (below it: μ)"
        grid[-1][(columns - 1) // 2].set_xlabel(words)
        handles = list(_handles(looks, rows))
        figure.legend(handles=handles, loc="outside lower center", ncols=4)
        add_title(figure, _title(summary, simulated=facts.simulated))
        style.freeze_layout(figure)
    return figure


def shown_rows(summary: pd.DataFrame, main: Hospitals) -> pd.DataFrame:
    """The private rows that are drawn, with `guess`: how often an attacker is right, at most.

    A row stands where its guarantee puts it, not where its level does. Of rows of one guarantee,
    such as those of a noise that no level changes, the first is kept.
    """
    shown = summary["algorithm"].isin(main.report.algorithms) & (summary["model"] != "none")
    rows = summary[shown & summary["stream"].isin(main.streams)]
    guess = [
        best_guess_of_epsilon(epsilon, delta) if pd.isna(mu) else best_guess(mu)
        for mu, epsilon, delta in zip(
            rows["guaranteed_mu"], rows["epsilon"], rows["delta"], strict=True
        )
    ]
    keys = ["stream", "algorithm", "noise", "guess"]
    return rows.assign(guess=guess).sort_values("guess", kind="stable").drop_duplicates(keys)


def _looks(rows: pd.DataFrame, main: Hospitals) -> dict[tuple[str, str], style.LineStyle]:
    """Colour and marker tell the algorithm, dashes the noise; what was published is broader."""
    played = list(dict.fromkeys(zip(rows["algorithm"], rows["noise"], strict=True)))
    points = rows.groupby(["stream", "noise"])["guess"].nunique().groupby("noise").max()
    # A noise of a single point has no line: it comes last, and needs no dashes.
    noises = sorted(filter(points.get, NOISES), key=lambda noise: points[noise] == 1)
    styles = style.algorithm_styles(main.report.algorithms)
    return {
        (label, noise): replace(
            look,
            dashes=_DASHES[noises.index(noise) % len(_DASHES)],
            width=2.0 if (label, noise) == _PUBLISHED else 1.1,
        )
        for label, look in styles.items()
        for noise in noises
        if (label, noise) in played
    }


def _draw_lines(
    ax: Axes, rows: pd.DataFrame, looks: dict[tuple[str, str], style.LineStyle]
) -> None:
    for (label, noise), look in looks.items():
        own = rows[(rows["algorithm"] == label) & (rows["noise"] == noise)]
        half = own["gain_share_half_width"].where(own["gain_share_half_width"] < math.inf, 0.0)
        low, high = own["gain_share"] - half, own["gain_share"] + half
        if len(own) > 1:
            ax.fill_between(own["guess"], low, high, color=look.colour, alpha=0.15, linewidth=0)
        else:
            ax.vlines(own["guess"], low, high, color=look.colour, linewidth=1.0)
        ax.plot(
            own["guess"],
            own["gain_share"],
            color=look.colour,
            linestyle=look.linestyle,
            linewidth=look.width,
            marker=look.marker,
            markersize=4.0,
            markeredgewidth=0.8,
            label=f"{label}, {noise}",
        )
    theirs = _reported(rows)
    ax.plot(theirs["guess"], theirs["share"], **_DIAMOND, linestyle="none", label=REPORTED)


_DIAMOND: Any = {"marker": "D", "markersize": 6.0, "markerfacecolor": "none", "color": style.BLACK}


def _reported(rows: pd.DataFrame) -> pd.DataFrame:
    """The paper's numbers for what is drawn, as shares; none for simulated data."""
    own = rows["reported_mean_gain"].notna() & (rows["reported_as"] == rows["algorithm"])
    found = rows[own & ~rows["simulated"].astype(bool)]
    possible = found["foresight_gain"] - found["chance_gain"]
    return found.assign(share=(found["reported_mean_gain"] - found["chance_gain"]) / possible)


def _set_axes(ax: Axes, main: Hospitals, rows: pd.DataFrame, width: float) -> None:
    """Set the axes: 0 to 100% and 50 to 100%, with numbers at the privacy levels."""
    levels = sorted(main.levels.values(), reverse=True)
    ticks = levels[:1]
    for mu in (*levels[1:], 0.0):  # what is too close to another has no number
        distances = [abs(best_guess(mu) - best_guess(tick)) / 0.53 * width for tick in ticks]
        ticks += [mu] if min(distances) > _APART else []
    places = [best_guess(mu) for mu in ticks]
    pairs = zip(places, map(mu_tick, ticks), strict=True)
    ax.set_xticks(places, [f"{100 * place:.0f}\n{mu}" for place, mu in pairs])
    ax.set_xlim(0.49, 1.02)
    lowest = (rows["gain_share"] - 0.02).min()
    ax.set_ylim(min(0.0, lowest if lowest > -math.inf else 0.0), 1.0)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def _handles(looks: dict[tuple[str, str], style.LineStyle], rows: pd.DataFrame) -> Iterator[Line2D]:
    """The legend: algorithms by colour and marker, then noises by dashes, then what has no line."""
    if _PUBLISHED in looks:
        look = looks[_PUBLISHED]
        text = "rw-meta, as published"
        yield Line2D([], [], color=look.colour, lw=look.width, label=text)
    named = {label: look for (label, _), look in looks.items()}
    for label, look in named.items():
        yield Line2D([], [], color=look.colour, lw=0, marker=look.marker, ms=4.5, label=label)
    for noise in dict.fromkeys(noise for _, noise in looks):
        dashes = next(look.linestyle for (_, own), look in looks.items() if own == noise)
        text = name_of(noise).long or f"{noise} noise"
        yield Line2D([], [], color=style.BLACK, lw=1.1, ls=dashes, label=text)
    yield Line2D([], [], color=style.STATIC, ls=":", lw=1.2, label="best fixed expert")
    if not _reported(rows).empty:
        yield Line2D([], [], **_DIAMOND, linestyle="none", label=REPORTED)


def _title(summary: pd.DataFrame, *, simulated: bool) -> Sequence[str]:
    first = summary.iloc[0]
    return (
        f"{data_title(simulated)}, means over {first['replicates']} runs",
        "0%: chance; 100%: foresight",
        f"bands: {100 * first['confidence']:g}% intervals for the noise, all together",
    )
