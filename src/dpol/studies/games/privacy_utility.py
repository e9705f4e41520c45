"""The first figure: the share of the possible gain that is left at each level of privacy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from dpol.noise import find_noise
from dpol.privacy.account import best_guess, best_guess_of_epsilon
from dpol.show import panels
from dpol.show.looks import DASHED, SOLID, Look, looks_of
from dpol.studies.games.bounds import LOOKS, NAMES, sized_titles
from dpol.studies.games.costs import named_systems
from dpol.studies.games.settings import BEST_STATIC, TUNED, WAYS, Games
from dpol.studies.study import Facts, Frames

Y_LABEL = "share of the possible gain"
THIN = 0.7
"""Width of the line of the tuned way."""
_CURATOR = "a curator"


@dataclass(frozen=True, kw_only=True)
class Line:
    """A system that is drawn: its name, its look and its rows of the summary."""

    name: str
    look: Look
    rows: pd.DataFrame

    @property
    def explained(self) -> str:
        """The name, and what it stands for where it does not say so."""
        algorithm, noise = self.rows[["algorithm", "noise"]].iloc[0]
        said = self.name.startswith(f"{algorithm}, ")
        return self.name if said else f"{self.name}: {algorithm}, {noise} noise"


def draw_privacy_utility(
    frames: Frames, main: Games, facts: Facts, *, narrow: bool = False
) -> Figure:
    """A panel for each stream; three systems at most, and the best fixed expert.

    Args:
        frames: the summary.
        main: the algorithms of the report.
        facts: titles of the streams, and whether they are simulated.
        narrow: whether it is for a phone.
    """
    summary = frames["summary"]
    lines, titles = lines_of(summary, main, facts), sized_titles(facts.streams, summary)
    levels, fixed = ordered_levels(facts.levels), LOOKS[BEST_STATIC]
    size = max(3.1, 5.0 / len(facts.streams)), 2.6
    with panels.panels(len(facts.streams), 3, size, Y_LABEL, narrow=narrow, sharey=True) as drawn:
        for ax, stream in zip(drawn.axes, facts.streams, strict=True):
            panels.name_panel(ax, titles[stream])
            panels.set_guesses(ax, [best_guess(mu) for mu in levels])
            share = float(summary.loc[summary["stream"] == stream, "best_static_share"].iloc[0])
            if not math.isnan(share):
                ax.axhline(share, label=NAMES[BEST_STATIC], **fixed.line)
                end = len(levels) - 0.5, share
                drawn.name_line(ax, end, f"{NAMES[BEST_STATIC]} {share:.0%}", fixed.colour)
            for line in lines:
                points = points_of(line.rows[line.rows["stream"] == stream], levels)
                panels.add_bars(ax, points, line.look, line.name)
                for place, last in points[["place", "gain_share"]].tail(1).to_numpy():
                    name = f"{line.name.replace(', ', f',{chr(10)}')} {last:.0%}"
                    drawn.name_line(ax, (place, last), name, line.look.colour)
        panels.set_percent(drawn.axes[0].yaxis)
        lowest = min((line.rows["gain_share"].min() - 0.02 for line in lines), default=0.0)
        drawn.axes[0].set_ylim(min(0.0, lowest), 1.0)
        drawn.name_x(panels.GUESSES)
        data, bars = panels.describe_runs(summary.iloc[0], facts.simulated, "bars")
        who = [line.explained for line in lines if line.explained != line.name]
        drawn.title(data, "0%: chance; 100%: foresight", bars, *who)
        drawn.find(_finding(lines, levels))
    return drawn.figure


def ordered_levels(levels: Mapping[str, float]) -> list[float]:
    """The privacy levels, from none to the most private."""
    return sorted(levels.values(), reverse=True)


def headline_levels(levels: Mapping[str, float], *, several: bool) -> list[float]:
    """The levels that the headline of the page names: the middle one with noise.

    Where the run asks several questions, the first one with noise comes before it.
    """
    noisy = [mu for mu in ordered_levels(levels) if mu < math.inf]
    middle = noisy[len(noisy) // 2]
    return list(dict.fromkeys((noisy[0], middle))) if several else [middle]


def lines_of(summary: pd.DataFrame, main: Games, facts: Facts) -> list[Line]:
    """The systems compared, and the best tuned one and the best curator.

    Best: in hindsight over all streams and levels with noise.
    """
    rows = promised(summary[summary["stream"].isin(facts.streams)])
    names = named_systems(summary, main)
    labels = dict.fromkeys((*main.report.algorithms, *main.report.rivals))
    central = rows[(rows["model"] == "central") & rows["algorithm"].isin(labels)]
    tuned = [
        rows[rows["algorithm"].eq(algorithm) & rows["noise"].eq(noise)]
        for algorithm, noise in main.ways.get(TUNED, ())
    ]
    for name, among in ((WAYS[TUNED], pd.concat([rows[:0], *tuned])), (_CURATOR, central)):
        noisy = among[among["mu"] < math.inf].dropna(subset="gain_share")
        if not noisy.empty:
            best: Any = noisy.groupby(["algorithm", "noise"])["gain_share"].mean().idxmax()
            names.setdefault(best, name)
    looks, lines = looks_of(algorithm for algorithm, _ in names), list[Line]()
    for (algorithm, noise), name in names.items():
        own = rows[(rows["algorithm"] == algorithm) & (rows["noise"] == noise)]
        again = any(line.rows["algorithm"].iloc[0] == algorithm for line in lines)
        look = replace(looks[algorithm], dashes=DASHED if again else SOLID)
        if name == WAYS[TUNED]:
            look = replace(looks[algorithm], width=THIN)
        if own["gain_share"].notna().any():
            lines.append(Line(name=name, look=look, rows=own))
    return lines


def promised(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that keep the promise of their level: by their guarantee no more guesses are right.

    An (epsilon, delta) guarantee bounds guesses less than a mu.
    """
    guesses = [
        best_guess_of_epsilon(epsilon, delta) if pd.isna(mu) else best_guess(mu)
        for mu, epsilon, delta in rows[["guaranteed_mu", "epsilon", "delta"]].to_numpy(dtype=float)
    ]
    return rows[np.array(guesses) <= rows["mu"].map(best_guess) + 1e-9]


def holds_for_stays(noises: pd.Series) -> pd.Series:
    """True for each noise that keeps the privacy of its level for every length of stay.

    Noise with memory keeps it for the unit only: who stays longer has less than with independent
    noise.
    """
    return noises.map(lambda name: find_noise(name).memory == "none")


def points_of(rows: pd.DataFrame, levels: Sequence[float]) -> pd.DataFrame:
    """Place of the level, share and half width."""
    points = rows.assign(place=rows["mu"].map(levels.index)).sort_values("place")
    return points[["place", "gain_share", "gain_share_half_width"]]


def mean_share(rows: pd.DataFrame, mu: float) -> tuple[float, float]:
    """The share of a system at a level, a mean over streams, and the half width of its interval.

    Intervals of all streams hold together, so that of the mean is their mean.
    """
    at = rows[rows["mu"] == mu]
    return float(at["gain_share"].mean()), float(at["gain_share_half_width"].mean())


def _finding(lines: Sequence[Line], levels: Sequence[float]) -> str:
    """The shares without privacy and with the most of it, in a sentence."""
    falls = [
        f"from {mean_share(line.rows, levels[0])[0]:.0%} to"
        f" {mean_share(line.rows, levels[-1])[0]:.0%} ({line.name})"
        for line in lines
    ]
    return (
        "Between no privacy and an attacker who guesses right at most"
        f" {100 * best_guess(levels[-1]):.0f} of 100 times, the share of the possible gain falls"
        f" {', '.join(falls)}; means over the panels."
    )
