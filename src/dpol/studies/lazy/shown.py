"""The table and the figure of measured regrets, for experts and for convex losses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpol.core.randomness import Floats
from dpol.core.settings import Settings
from dpol.show import footers, panels
from dpol.show.looks import BLACK, DASH_DOT, DASH_DOT_DOT, DASHED, DOTTED, GREY, Look
from dpol.show.names import OURS
from dpol.show.papers import LAZY
from dpol.show.table import Entry, Group, Section, Table
from dpol.show.words import power
from dpol.studies.looks import looks_of
from dpol.studies.study import Facts, Frames

CHANCE = "random-expert"
"""Label of an expert drawn at random in every round, who learns nothing."""
_RATE = Look(BLACK, DOTTED, width=1.3)
_COVERS = "The intervals cover the randomness of the runs on these losses, not other losses."
TITLES: Mapping[str, str] = {
    "l2p-sound": "L2P, sound accountant †",
    "l2p-published": "L2P, published accountant",
    "l2p-one-round": "L2P, batches of one round †",
    "l2p-theorem-3.10": "L2P, Theorem 3.10",
    "l2p-theorem-3.12": "L2P, Theorem 3.12",
    "tree-ftpl-min-noise": "tree, least noise",
    "mf-ftpl": "factorised sums",
    "dp-ftrl": "DP-FTRL",
    "multiplicative-weights": "multiplicative weights, no privacy",
    "gradient-descent": "gradient descent, no privacy",
    CHANCE: "a random expert",
}
"""Titles of algorithms, in the order in which they are shown."""


LOOKS: Mapping[str, Look] = {
    "dp-ftrl": Look("#B07D00", DASHED, "D"),
    "gradient-descent": Look(GREY, DASH_DOT, "X"),
    CHANCE: Look(GREY, DASH_DOT_DOT, "_"),
}
"""Looks of algorithms that are not in the registry."""


@dataclass(frozen=True, kw_only=True)
class Game:
    """The properties that the games of a study share.

    Args:
        name: in titles.
        against: what regret is measured against.
        losses: names of the losses by adversary.
        rates: the paper's Table 1: rates of L2P and of prior work; logarithms of T and 1/delta
            left out.
        rate: a curve (rounds, d, epsilon, delta) to draw through the first point of L2P.
    """

    name: str
    against: str
    losses: Mapping[str, str]
    rates: tuple[str, str]
    rate: Callable[[Floats, float, float, float], Floats] | None = None


def convex_rate(rounds: Floats, dimension: float, epsilon: float, delta: float) -> Floats:
    """The rate of Theorem 3.12, sqrt(T) + T^(1/3) sqrt(d log T) log(T/delta) / eps^(2/3)."""
    private = np.cbrt(rounds) * np.sqrt(dimension * np.log(rounds)) * np.log(rounds / delta)
    return np.asarray(np.sqrt(rounds) + private / epsilon ** (2 / 3))


GAMES: Mapping[str, Game] = {
    "lazy": Game(
        name="experts",
        against="the best of d experts",
        losses={"stochastic": "stochastic losses", "lower-bound": "adversary of the lower bound"},
        rates=(
            "sqrt(T log d) + T^(1/3) log(d) / ε^(2/3)",
            "sqrt(T log d) + min(sqrt(d), T^(1/3)) log(d) / ε",
        ),
    ),
    "convex": Game(
        name="convex",
        against="the best point of a ball",
        losses={"linear": "linear losses"},
        rates=(
            "sqrt(T) + T^(1/3) sqrt(d) / ε^(2/3)",
            "min(d^(1/4) sqrt(T) / sqrt(ε), sqrt(T) + T^(1/3) sqrt(d) / ε"
            " + T^(3/8) sqrt(d) / ε^(3/4))",
        ),
        rate=convex_rate,
    ),
}
"""Games by result table."""


def _game_of(frames: Frames) -> tuple[Game, pd.DataFrame]:
    """The game of the only result table, and its rows, with those of a random expert."""
    ((name, regrets),) = frames.items()
    if "adversary" not in regrets:
        regrets = regrets.assign(adversary="linear")
    if "chance_regret" in regrets:
        chance = regrets.drop_duplicates(["adversary", "T", "d", "epsilon"])
        chance = chance.assign(algorithm=CHANCE, mean_regret=chance["chance_regret"])
        chance[["ci_half_width", "accounted_epsilon"]] = math.nan
        regrets = pd.concat([regrets, chance], ignore_index=True)
    return GAMES[name], regrets


def regret_table(frames: Frames, settings: Settings, facts: Facts) -> Table:
    """Measured regrets compared with the rates that the paper states."""
    game, regrets = _game_of(frames)
    algorithms = [name for name in TITLES if name in set(regrets["algorithm"])]
    new, prior = game.rates
    first = regrets.iloc[0]
    return Table(
        caption=f"Measured regret, {game.name}",
        name=f"lazy-{game.name}",
        corner=("losses", "T", "privacy"),
        headers=tuple(TITLES[name] for name in algorithms),
        sections=tuple(
            Section(f"{adversary} losses", f"d = {d}", _groups(rows, algorithms))
            for (adversary, d), rows in regrets.groupby(["adversary", "d"], sort=False)
        ),
        footers=(
            f"Means over {first['replicates']} runs. Central model, δ = {first['delta']:g};"
            " adjacent: two sequences that differ in one round's loss. Accounted ε: by the"
            " accountant of the column, for the parameters of a theorem by the sound one. A dash:"
            " not run, or no parameters reach this ε.",
            footers.describe_interval(
                first["confidence"], first["ci_comparisons"], "regrets", _COVERS
            ),
            f"Rate that the paper states for L2P: {new}; for prior work: {prior}. Not measured;"
            " logarithms of T and 1/δ are left out.",
            f"“{LAZY}”, Table 1. {OURS}.",
        ),
        numbers=next(iter(frames.values())),
    )


def _groups(regrets: pd.DataFrame, algorithms: list[str]) -> tuple[Group, ...]:
    """A group for each T, a line for each epsilon, a cell for each algorithm."""
    groups = []
    for T, of_rounds in regrets.groupby("T"):
        lines = [
            (f"ε = {epsilon:g}", tuple(_cell(rows, name) for name in algorithms))
            for epsilon, rows in of_rounds.groupby("epsilon")
        ]
        groups.append(Group(f"{T:,}", tuple(lines)))
    return tuple(groups)


def _cell(rows: pd.DataFrame, algorithm: str) -> Entry:
    rows = rows[rows["algorithm"] == algorithm]
    if rows.empty:
        return Entry("—")
    row = rows.iloc[0]
    half = row["ci_half_width"]
    interval = "" if math.isnan(half) else footers.plus_minus(half, 0)
    text = f"{row['mean_regret']:,.0f}{interval}"
    accounted = row["accounted_epsilon"]
    return Entry(text, () if math.isnan(accounted) else (f"accounted ε = {accounted:.3g}",))


@dataclass(frozen=True)
class _Line:
    """The rows of an algorithm on the losses of an adversary, and how they are drawn.

    `place` is the factor of T at which they stand, so that points of one T stand side by side.
    """

    key: tuple[str, str]
    place: float
    look: Mapping[str, Any]


def draw_regret(frames: Frames, settings: Settings, facts: Facts) -> Figure:
    """Measured regret against T: a panel per d (rows) and epsilon (columns)."""
    game, regrets = _game_of(frames)
    sizes, epsilons = sorted(set(regrets["d"])), sorted(set(regrets["epsilon"]))
    cells, rounds = list(itertools.product(sizes, epsilons)), sorted(set(regrets["T"]))
    powers = all(10 ** round(np.log10(T)) == T for T in rounds)
    lines, first = _lines(regrets, game), regrets.iloc[0]
    size = max(5.6 / len(epsilons), 2.2), 1.9
    with panels.panels(len(cells), len(epsilons), size, sharex=True, sharey="row") as drawn:
        for ax, (d, epsilon) in zip(drawn.axes, cells, strict=True):
            own = regrets[(regrets["d"] == d) & (regrets["epsilon"] == epsilon)]
            _draw_panel(ax, own[own["mean_regret"] > 0].sort_values("T"), game, lines)
        for axes, d in zip(drawn.grid, sizes, strict=True):
            axes[0].set_ylabel(f"d = {d}\nmean regret")
            lowest = regrets.loc[regrets["d"] == d, "mean_regret"].where(lambda it: it > 0).min()
            if lowest > 0:
                axes[0].set_ylim(bottom=lowest / 2)
        for ax, epsilon in zip(drawn.grid[0], epsilons, strict=True):
            ax.set_title(f"ε = {epsilon:g}")
        for ax in drawn.grid[-1]:
            ax.set_xlabel("rounds T")
            panels.set_ticks(ax.xaxis, rounds, power if powers else "{:,}".format)
            ax.set_xlim(rounds[0] / 2, rounds[-1] * 2)
        drawn.legend(_keys(game, lines))
        drawn.title(
            f"Regret against {game.against}, at (ε, δ) for one round's losses",
            f"means over {first['replicates']} runs; bars: {100 * first['confidence']:g}% intervals"
            f" (Student's t), all {first['ci_comparisons']} together",
            "a bar that is not seen is within its marker",
            "points of one T stand side by side",
            OURS,
        )
    return drawn.figure


def _lines(regrets: pd.DataFrame, game: Game) -> list[_Line]:
    """All lines. Dashes, and markers that only the first fills, tell the adversaries apart."""
    played = set(zip(regrets["algorithm"], regrets["adversary"], strict=True))
    keys = [key for key in itertools.product(TITLES, game.losses) if key in played]
    looks, first = {**looks_of(TITLES), **LOOKS}, next(iter(game.losses))
    joined = regrets["T"].nunique() > panels.FEW
    reach = 1.15 if joined else 1.6
    places = np.geomspace(1 / reach, reach, len(keys)) if len(keys) > 1 else np.ones(1)
    lines = []
    for (algorithm, adversary), place in zip(keys, places.tolist(), strict=True):
        fill, dashes = ({}, "-") if adversary == first else ({"markerfacecolor": "white"}, "--")
        style = {"linestyle": dashes if joined else "none", "linewidth": 1.1, **fill}
        lines.append(_Line((algorithm, adversary), place, looks[algorithm].points | style))
    return lines


def _draw_panel(ax: Axes, rows: pd.DataFrame, game: Game, lines: Sequence[_Line]) -> None:
    """The positive regrets of a panel, in the order of T."""
    ax.set(xscale="log", yscale="log")
    panels.set_powers(ax.yaxis)
    rows = rows.set_index(["algorithm", "adversary"]).sort_index(kind="stable")
    for line in lines:
        points = rows.loc[[line.key]] if line.key in rows.index else rows[:0]
        mean, half = points["mean_regret"], points["ci_half_width"]
        ax.plot(line.place * points["T"], mean, **line.look)
        # A bar that reaches 0 or below reaches the edge of a logarithmic axis.
        low, colour = np.maximum(mean - half, 1e-3), line.look["color"]
        ax.vlines(line.place * points["T"], low, mean + half, color=colour, linewidth=0.9)
    if game.rate and "l2p-sound" in rows.index:
        ours = rows.loc["l2p-sound"]
        shape = game.rate(ours["T"].to_numpy(float), *ours.iloc[0][["d", "epsilon", "delta"]])
        ax.plot(ours["T"], shape / shape[0] * ours["mean_regret"].iloc[0], **_RATE.line)


def _keys(game: Game, lines: Sequence[_Line]) -> list[Line2D]:
    """The legend: algorithms with the look that they have on the first losses, losses, the rate."""
    of_algorithm = {line.key[0]: line.look for line in reversed(lines)}
    of_losses = {line.key[1]: line.look for line in lines}
    keys = [panels.key(TITLES[it], **of_algorithm[it]) for it in TITLES if it in of_algorithm]
    if len(of_losses) > 1:
        for adversary, title in game.losses.items():
            plain = {"color": BLACK, "marker": "o"}
            keys.append(panels.key(title, **{**of_losses[adversary], **plain}))
    if game.rate:
        keys.append(panels.key("rate of Theorem 3.12, scaled to the first point", **_RATE.line))
    return keys
