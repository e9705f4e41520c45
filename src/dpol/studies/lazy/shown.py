"""The table and the figure of measured regrets, for experts and for convex losses."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from dpol.core.randomness import Floats
from dpol.core.settings import Settings
from dpol.show import footers, style
from dpol.show.papers import LAZY
from dpol.show.table import Entry, Group, Section, Table
from dpol.show.titles import add_title
from dpol.show.words import power
from dpol.studies.study import Facts, Frames

CHANCE = "random-expert"
"""Label of an expert drawn at random in every round, who learns nothing."""
_OURS = "†: ours, not in the paper"
_FEW = 2
"""Number of values of T up to which markers are not joined: two points are not a rate."""
_RATE: dict[str, Any] = {"color": style.BLACK, "ls": ":", "lw": 1.3}
_COVERS = "The intervals cover the randomness of the runs on these losses, not other losses."
_Looks = dict[tuple[str, str], tuple[float, dict[str, Any]]]
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


@dataclass(frozen=True)
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
        "experts",
        "the best of d experts",
        {"stochastic": "stochastic losses", "lower-bound": "adversary of the lower bound"},
        (
            "sqrt(T log d) + T^(1/3) log(d) / ε^(2/3)",
            "sqrt(T log d) + min(sqrt(d), T^(1/3)) log(d) / ε",
        ),
    ),
    "convex": Game(
        "convex",
        "the best point of a ball",
        {"linear": "linear losses"},
        (
            "sqrt(T) + T^(1/3) sqrt(d) / ε^(2/3)",
            "min(d^(1/4) sqrt(T) / sqrt(ε), sqrt(T) + T^(1/3) sqrt(d) / ε"
            " + T^(3/8) sqrt(d) / ε^(3/4))",
        ),
        convex_rate,
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
            f"“{LAZY}”, Table 1. {_OURS}.",
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


def draw_regret(frames: Frames, settings: Settings, facts: Facts) -> Figure:
    """Measured regret against T: a panel per d (rows) and epsilon (columns)."""
    game, regrets = _game_of(frames)
    sizes, epsilons = sorted(set(regrets["d"])), sorted(set(regrets["epsilon"]))
    with style.figure_style():
        figure = style.new_figure(1.2 + 2.0 * max(len(epsilons), 2.4), 1.7 + 1.8 * len(sizes))
        looks = _looks(regrets, game)
        axes = figure.subplots(len(sizes), len(epsilons), squeeze=False, sharex=True, sharey="row")
        for row, d in zip(axes, sizes, strict=True):
            of_size = regrets[regrets["d"] == d]
            for ax, epsilon in zip(row, epsilons, strict=True):
                _draw_panel(ax, of_size[of_size["epsilon"] == epsilon], game, looks)
            row[0].set_ylabel(f"d = {d}\nmean regret")
            positive = of_size["mean_regret"][of_size["mean_regret"] > 0]
            if not positive.empty:
                row[0].set_ylim(bottom=positive.min() / 2)
        for ax, epsilon in zip(axes[0], epsilons, strict=True):
            ax.set_title(f"ε = {epsilon:g}")
        for ax in axes[-1]:
            ax.set_xlabel("rounds T")
            _label_rounds(ax, sorted(set(regrets["T"])))
        _add_legend(figure, regrets, game, looks)
        style.freeze_layout(figure)
    return figure


def _label_rounds(ax: Axes, rounds: list[int]) -> None:
    """A tick for every T that was run, and no others."""
    short = all(10 ** round(np.log10(T)) == T for T in rounds)
    labels = [power(T) if short else f"{T:,}" for T in rounds]
    ax.set_xticks(rounds, labels)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlim(rounds[0] / 2, rounds[-1] * 2)


def _looks(regrets: pd.DataFrame, game: Game) -> _Looks:
    """Factors of T by algorithm and adversary, so that points of one T stand side by side, and
    how they are drawn."""
    played = set(zip(regrets["algorithm"], regrets["adversary"], strict=True))
    found = [(name, own) for name in TITLES for own in game.losses if (name, own) in played]
    lines = regrets["T"].nunique() > _FEW
    reach = 1.15 if lines else 1.6
    places = np.geomspace(1 / reach, reach, len(found)) if len(found) > 1 else np.ones(1)
    # Dashes, and markers that only the first fills, tell the adversaries apart.
    kinds = dict(zip(game.losses, ("-", "--") if lines else ("none", "none"), strict=False))
    looks: _Looks = {}
    for (name, adversary), place in zip(found, places.tolist(), strict=True):
        own = style.ALGORITHM_STYLES[name]
        fill = own.colour if adversary == next(iter(game.losses)) else "white"
        look = {"color": own.colour, "marker": own.marker, "mfc": fill, "ls": kinds[adversary]}
        looks[name, adversary] = place, look
    return looks


def _draw_panel(ax: Axes, panel: pd.DataFrame, game: Game, looks: _Looks) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(style.PowerFormatter())
    ax.yaxis.set_minor_formatter(style.PowerFormatter())
    shown = panel[panel["mean_regret"] > 0].sort_values("T")
    by_name: dict[Any, pd.DataFrame] = dict(iter(shown.groupby(["algorithm", "adversary"])))
    for key, (place, look) in looks.items():
        own = by_name.get(key, shown[:0])
        ax.plot(place * own["T"], own["mean_regret"], markersize=3.5, linewidth=1.1, **look)
        # A bar that reaches 0 or below reaches the edge of a logarithmic axis.
        low = np.maximum(own["mean_regret"] - own["ci_half_width"], 1e-3)
        high = own["mean_regret"] + own["ci_half_width"]
        ax.vlines(place * own["T"], low, high, color=look["color"], linewidth=0.9)
    ours = by_name.get(("l2p-sound", next(iter(game.losses))), shown[:0])
    if game.rate and not ours.empty:
        shape = game.rate(ours["T"].to_numpy(float), *ours.iloc[0][["d", "epsilon", "delta"]])
        ax.plot(ours["T"], shape / shape[0] * ours["mean_regret"].iloc[0], **_RATE)


def _add_legend(figure: Figure, regrets: pd.DataFrame, game: Game, looks: _Looks) -> None:
    of_algorithm = {name: look for (name, _), (_, look) in reversed(looks.items())}
    of_losses = {own: look for (_, own), (_, look) in looks.items()}
    lines = [{**of_algorithm[it], "label": TITLES[it]} for it in TITLES if it in of_algorithm]
    if len(of_losses) > 1:
        for fill, (name, title) in zip((style.BLACK, "white"), game.losses.items(), strict=True):
            own = {"color": style.BLACK, "marker": "o", "mfc": fill, "ls": of_losses[name]["ls"]}
            lines.append({**own, "label": title})
    if game.rate:
        lines.append({**_RATE, "label": "rate of Theorem 3.12, scaled to the first point"})
    handles = [Line2D([], [], markersize=3.5, **line) for line in lines]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    first = regrets.iloc[0]
    bars = (
        f"means over {first['replicates']} runs; bars: {100 * first['confidence']:g}% intervals"
        f" (Student's t), all {first['ci_comparisons']} together"
    )
    title = f"Regret against {game.against}, at (ε, δ) for one round's losses"
    hidden = "a bar that is not seen is within its marker"
    add_title(figure, (title, bars, hidden, "points of one T stand side by side", _OURS))
