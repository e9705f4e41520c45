"""The privacy-utility curve: share of the possible gain against what an attacker can find out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpol.noise.noises import ISOTROPIC, in_order
from dpol.privacy.account import best_guess, best_guess_of_epsilon
from dpol.show import panels
from dpol.show.looks import BLACK, Look
from dpol.show.names import name_of
from dpol.show.words import mu_tick
from dpol.studies.hospitals.bounds import LOOKS, NAMES, sized_titles
from dpol.studies.hospitals.settings import BEST_STATIC, Hospitals
from dpol.studies.looks import looks_of
from dpol.studies.study import Facts, Frames

_APART = 0.17  # inches between numbers at the axis
_DASHES = ((), (4.5, 1.8), (6.0, 1.5, 1.2, 1.5), (2.5, 1.2))
_PUBLISHED = ("rw-meta", ISOTROPIC.name)
REPORTED = "reported by the paper"
_DIAMOND: Any = Look(BLACK, marker="D").points | {"markersize": 6.0, "markerfacecolor": "none"}


def draw_privacy_utility(frames: Frames, main: Hospitals, facts: Facts) -> Figure:
    """A panel for each stream; a line for each algorithm that is shown, and each of its noises.

    Args:
        frames: the summary.
        main: the streams, and the algorithms of the report.
        facts: titles of the streams, and whether they are simulated.
    """
    summary, rows = frames["summary"], shown_rows(frames["summary"], main)
    titles, looks = sized_titles(facts.streams, summary), _looks(rows, main)
    columns = min(3, len(main.streams))
    size, y_label = (panels.WIDTH / columns, 2.15), "share of the possible gain"
    with panels.panels(
        len(main.streams), columns, size, y_label, sharex=True, sharey=True
    ) as drawn:
        for ax, label in zip(drawn.axes, main.streams, strict=True):
            panels.name_panel(ax, titles[label])
            ax.tick_params(labelbottom=True)
            fixed = summary.loc[summary["stream"] == label, "best_static_share"].iloc[0]
            ax.axhline(fixed, **LOOKS[BEST_STATIC].line)
            of_stream = rows[rows["stream"] == label]
            for (algorithm, noise), look in looks.items():
                played = (of_stream["algorithm"] == algorithm) & (of_stream["noise"] == noise)
                points = of_stream.loc[played, ["guess", "gain_share", "gain_share_half_width"]]
                panels.add_band(ax, points, look, f"{algorithm}, {noise}")
            reported = _reported(of_stream)
            ax.plot(reported["guess"], reported["share"], **_DIAMOND, label=REPORTED)
        _set_axes(drawn.axes[0], main, rows, panels.WIDTH / columns - 0.2)
        words = "how often an attacker guesses right, at most, in % (below it: μ)"
        drawn.grid[-1][(columns - 1) // 2].set_xlabel(words)
        drawn.legend(list(_keys(looks, rows)))
        data, bands = panels.describe_runs(summary.iloc[0], facts.simulated, "bands")
        drawn.title(data, "0%: chance; 100%: foresight", bands)
    return drawn.figure


def shown_rows(summary: pd.DataFrame, main: Hospitals) -> pd.DataFrame:
    """The private rows that are drawn, with `guess`: how often an attacker is right, at most.

    A row stands where its guarantee puts it, not where its level does. Of rows of one guarantee,
    such as those of a noise that no level changes, the first is kept.
    """
    shown = summary["algorithm"].isin(main.report.algorithms) & (summary["model"] != "none")
    rows = summary[shown & summary["stream"].isin(main.streams)]
    guess = [
        best_guess_of_epsilon(epsilon, delta) if pd.isna(mu) else best_guess(mu)
        for _, mu, epsilon, delta in rows[["guaranteed_mu", "epsilon", "delta"]].itertuples()
    ]
    keys = ["stream", "algorithm", "noise", "guess"]
    return rows.assign(guess=guess).sort_values("guess", kind="stable").drop_duplicates(keys)


def _looks(rows: pd.DataFrame, main: Hospitals) -> dict[tuple[str, str], Look]:
    """Colour and marker tell the algorithm, dashes the noise; what was published is broader."""
    played = list(dict.fromkeys(zip(rows["algorithm"], rows["noise"], strict=True)))
    points = rows.groupby(["stream", "noise"])["guess"].nunique().groupby("noise").max()
    # A noise of a single point has no line: it comes last, and needs no dashes.
    noises = sorted(in_order(points.index), key=lambda noise: points[noise] == 1)
    return {
        (label, noise): replace(
            look,
            dashes=_DASHES[noises.index(noise) % len(_DASHES)],
            width=2.0 if (label, noise) == _PUBLISHED else 1.1,
        )
        for label, look in looks_of(main.report.algorithms).items()
        for noise in noises
        if (label, noise) in played
    }


def _reported(rows: pd.DataFrame) -> pd.DataFrame:
    """The paper's numbers for what is drawn, as shares; none for simulated data."""
    own = rows["reported_mean_gain"].notna() & (rows["reported_as"] == rows["algorithm"])
    found = rows[own & ~rows["simulated"].astype(bool)]
    possible = found["foresight_gain"] - found["chance_gain"]
    return found.assign(share=(found["reported_mean_gain"] - found["chance_gain"]) / possible)


def _set_axes(ax: Axes, main: Hospitals, rows: pd.DataFrame, width: float) -> None:
    """Set the axes: 0 to 100% and 50 to 100%, with numbers at the privacy levels."""
    ticks: dict[float, str] = {}
    for mu in (*sorted(main.levels.values(), reverse=True), 0.0):
        guess = best_guess(mu)
        if all(abs(guess - other) * width > 0.53 * _APART for other in ticks):
            ticks[guess] = f"{100 * guess:.0f}\n{mu_tick(mu)}"
    ax.set_xticks(list(ticks), ticks.values())
    ax.set_xlim(0.49, 1.02)
    lowest = (rows["gain_share"] - 0.02).min()
    ax.set_ylim(min(0.0, lowest if lowest > -math.inf else 0.0), 1.0)
    panels.set_percent(ax.yaxis)


def _keys(looks: dict[tuple[str, str], Look], rows: pd.DataFrame) -> Iterator[Line2D]:
    """The legend: algorithms by colour and marker, then noises by dashes, then what has no line."""
    if _PUBLISHED in looks:
        yield panels.key("rw-meta, as published", **looks[_PUBLISHED].line)
    for label, look in {label: look for (label, _), look in looks.items()}.items():
        yield panels.key(label, **look.points)
    for noise, look in {noise: look for (_, noise), look in looks.items()}.items():
        text = name_of(noise).long or f"{noise} noise"
        yield panels.key(text, **Look(BLACK, look.dashes, width=1.1).line)
    yield panels.key(NAMES[BEST_STATIC], **LOOKS[BEST_STATIC].line)
    if not _reported(rows).empty:
        yield panels.key(REPORTED, **_DIAMOND)
