"""The table and the figure of measured regrets, for experts and for convex losses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpol.core.randomness import Floats
from dpol.core.settings import Settings
from dpol.show import footers, panels
from dpol.show.looks import ALGORITHMS, GREY, REFERENCES, RIVALS, looks_of
from dpol.show.names import OURS
from dpol.show.table import Entry, Group, Section, Table
from dpol.show.words import power
from dpol.studies.lazy.settings import BLOCKS, STOCHASTIC
from dpol.studies.study import Facts, Frames

CHANCE = "random-expert"
"""Label of an expert drawn at random in every round, who learns nothing."""
_RATE = REFERENCES["theorem-3.12"]
_COVERS = "The intervals cover the randomness of the runs on these losses, not other losses."
TITLES: Mapping[str, str] = {
    "l2p-sound": "L2P, sound accountant †",
    "l2p-published": "L2P, published accountant",
    "l2p-one-round": "L2P, batches of one round †",
    "l2p-theorem-3.10": "L2P, Theorem 3.10",
    "l2p-theorem-3.12": "L2P, Theorem 3.12",
    BLOCKS: "private blocks, pure ε",
    "tree-ftpl-min-noise": "tree, least noise",
    "mf-ftpl": "factorised sums",
    "dp-ftrl": "DP-FTRL",
    "mf-dp-ftrl": "factorised DP-FTRL",
    "multiplicative-weights": "multiplicative weights, no privacy",
    "gradient-descent": "gradient descent, no privacy",
    CHANCE: "a random expert",
}
"""Titles of algorithms, in the order in which they are shown."""
_NOTES: Mapping[str, str] = {
    BLOCKS: "Private blocks promise something on stochastic losses only: they belong to that half."
    " Their ε is pure.",
}


@dataclass(frozen=True, kw_only=True)
class Game:
    """The properties that the games of a study share.

    Args:
        name: in titles.
        against: what regret is measured against.
        rate: a curve (rounds, d, epsilon, delta) to draw through the first point of L2P.
    """

    name: str
    against: str
    rate: Callable[[Floats, float, float, float], Floats] | None = None


def convex_rate(rounds: Floats, dimension: float, epsilon: float, delta: float) -> Floats:
    """The rate of Theorem 3.12, sqrt(T) + T^(1/3) sqrt(d log T) log(T/delta) / eps^(2/3)."""
    private = np.cbrt(rounds) * np.sqrt(dimension * np.log(rounds)) * np.log(rounds / delta)
    return np.asarray(np.sqrt(rounds) + private / epsilon ** (2 / 3))


GAMES: Mapping[str, Game] = {
    "lazy": Game(
        name="experts",
        against="the best of d experts",
    ),
    "convex": Game(
        name="convex",
        against="the best point of the body",
        rate=convex_rate,
    ),
}
"""Games by result table."""


def _game_of(frames: Frames) -> tuple[Game, pd.DataFrame]:
    """The game of the only result table, and its rows, with those of a random expert."""
    ((name, regrets),) = frames.items()
    if "loss" in regrets:
        regrets = regrets.assign(adversary=regrets["loss"] + " losses, " + regrets["body"])
    else:
        regrets = regrets.assign(adversary=regrets["adversary"] + " losses")
    if "chance_regret" in regrets:
        chance = regrets.drop_duplicates(["adversary", "T", "d", "epsilon"])
        chance = chance.assign(algorithm=CHANCE, mean_regret=chance["chance_regret"])
        chance[["ci_half_width", "accounted_epsilon"]] = math.nan
        regrets = pd.concat([regrets, chance], ignore_index=True)
    return GAMES[name], regrets


def regret_table(frames: Frames, settings: Settings, facts: Facts) -> Table:
    """Measured regrets, a section for each adversary and d."""
    game, regrets = _game_of(frames)
    algorithms = [name for name in TITLES if name in set(regrets["algorithm"])]
    first = regrets.iloc[0]
    return Table(
        caption=f"Measured regret, {game.name}",
        name=f"lazy-{game.name}",
        corner=("losses", "T", "privacy"),
        headers=tuple(TITLES[name] for name in algorithms),
        sections=tuple(
            Section(str(adversary), f"d = {d}", _groups(rows, algorithms))
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
            *(note for name, note in _NOTES.items() if name in algorithms),
            f"{OURS}.",
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


def draw_learned(
    frames: Frames, settings: Settings, facts: Facts, *, narrow: bool = False
) -> Figure:
    """The share of what can be learned that each algorithm learns: a panel per epsilon.

    0 is an expert drawn at random, 1 the algorithm without privacy, on stochastic losses: those of
    the lower bound leave nothing to learn.
    """
    learned = _learned(frames["lazy"])
    best = learned.groupby("algorithm")["share"].mean().sort_values().index
    sizes, epsilons = sorted(set(learned["d"])), sorted(set(learned["epsilon"]), reverse=True)
    places, looks = {name: place for place, name in enumerate(best)}, looks_of(TITLES)
    size = max(6.6 / len(epsilons), 2.2), 0.24 * len(best) + 0.5
    with panels.panels(len(epsilons), 3, size, narrow=narrow, sharex=True, sharey=True) as drawn:
        for ax, epsilon in zip(drawn.axes, epsilons, strict=True):
            panels.name_panel(ax, f"ε = {epsilon:g}")
            for side, d in enumerate(sizes):
                fill = {} if side == 0 else {"markerfacecolor": "white"}
                for row in learned[
                    (learned["d"] == d) & (learned["epsilon"] == epsilon)
                ].itertuples():
                    place, look = places[row.algorithm] - 0.18 * side, looks[row.algorithm]
                    ends = row.share - row.half, row.share + row.half
                    ax.plot(ends, [place] * 2, color=look.colour, linewidth=0.9, zorder=1)
                    ax.plot([row.share], [place], **look.points | fill)
            for end in (0.0, 1.0):
                ax.axvline(end, color=GREY, linewidth=0.8, zorder=0)
            ax.set_yticks(range(len(best)), [TITLES[name] for name in best])
            ax.tick_params(axis="y", length=0)
            panels.set_percent(ax.xaxis)
        keys = [panels.key(f"d = {sizes[0]} experts", color=GREY, marker="o", linestyle="none")]
        hollow: Any = {
            "color": GREY,
            "marker": "o",
            "linestyle": "none",
            "markerfacecolor": "white",
        }
        keys += [panels.key(f"d = {d}", **hollow) for d in sizes[1:]]
        drawn.legend(keys)
        first = learned.iloc[0]
        drawn.title(
            f"Share of what can be learned in T = {first['T']:,} rounds of stochastic losses",
            f"means over {first['replicates']} runs; bars: {100 * first['confidence']:g}%"
            f" intervals, all {first['ci_comparisons']} together",
            "0%: a random expert; 100%: without privacy",
            OURS,
        )
        shares = learned.groupby(["epsilon", "algorithm"])["share"].mean()
        leaders = [
            f"{TITLES[shares[it].idxmax()]} at ε = {it:g} ({shares[it].max():.0%})"
            for it in epsilons
        ]
        drawn.find(f"Learns the largest share of what can be learned: {'; '.join(leaders)}.")
    return drawn.figure


def _learned(regrets: pd.DataFrame) -> pd.DataFrame:
    """Private rows of the longest games with stochastic losses, with share and half width."""
    rows = regrets[(regrets["adversary"] == STOCHASTIC) & (regrets["T"] == regrets["T"].max())]
    free = rows["algorithm"] == "multiplicative-weights"
    floors = rows.loc[free, ["d", "epsilon", "mean_regret"]]
    found: pd.DataFrame = rows[~free].merge(floors, on=["d", "epsilon"], suffixes=("", "_free"))
    possible = found["chance_regret"] - found["mean_regret_free"]
    share = (found["chance_regret"] - found["mean_regret"]) / possible
    return found.assign(share=share, half=found["ci_half_width"] / possible)


def draw_regret(
    frames: Frames, settings: Settings, facts: Facts, *, narrow: bool = False
) -> Figure:
    """Measured regret of convex losses against T: a row per game and d, a column per epsilon.

    Games that are played at fewer T than others are left out.
    """
    game, regrets = _game_of(frames)
    regrets, rounds = _of_all_rounds(regrets), sorted(set(regrets["T"]))
    sizes = [(name, d) for name, rows in regrets.groupby("adversary", sort=False)
             for d in sorted(set(rows["d"]))]  # fmt: skip
    epsilons = sorted(set(regrets["epsilon"]), reverse=True)
    cells = list(itertools.product(sizes, epsilons))
    powers = all(10 ** round(np.log10(T)) == T for T in rounds)
    names, first = [it for it in TITLES if it in set(regrets["algorithm"])], regrets.iloc[0]
    looks = looks_of(TITLES, {**ALGORITHMS, **RIVALS})
    reach = 1.15 if len(rounds) > panels.FEW else 1.6
    places = np.geomspace(1 / reach, reach, len(names)) if len(names) > 1 else np.ones(1)
    joined = "-" if len(rounds) > panels.FEW else "none"
    lines = {
        name: (float(place), looks[name].points | {"linestyle": joined, "linewidth": 1.1})
        for name, place in zip(names, places, strict=True)
    }
    size = max(5.6 / len(epsilons), 2.2), 1.9
    with panels.panels(
        len(cells), len(epsilons), size, "mean regret", narrow=narrow, sharex=True
    ) as drawn:
        for ax, ((losses, d), epsilon) in zip(drawn.axes, cells, strict=True):
            of_row = regrets[(regrets["adversary"] == losses) & (regrets["d"] == d)]
            above = of_row[of_row["mean_regret"] > 0]
            _draw_panel(ax, above[above["epsilon"] == epsilon].sort_values("T"), game, lines)
            title = (
                f"{losses.replace(' losses', '')}, " if len(set(regrets["adversary"])) > 1 else ""
            )
            panels.name_panel(ax, f"{title}d = {d}, ε = {epsilon:g}")
            if len(above):
                ax.set_ylim(above["mean_regret"].min() / 2, above["mean_regret"].max() * 2)
            ax.set_xlabel("rounds T")
            panels.set_ticks(ax.xaxis, rounds, power if powers else "{:,}".format)
            ax.set_xlim(rounds[0] / 2, rounds[-1] * 2)
        keys = [panels.key(TITLES[name], **look) for name, (_, look) in lines.items()]
        if game.rate:
            keys.append(panels.key("rate of Theorem 3.12, scaled to the first point", **_RATE.line))
        drawn.legend(keys)
        drawn.title(
            f"Regret against {game.against}, at (ε, δ) for one round's losses",
            f"means over {first['replicates']} runs; bars: {100 * first['confidence']:g}% intervals"
            f" (Student's t), all {first['ci_comparisons']} together",
            "a bar that is not seen is within its marker",
            OURS,
        )
        drawn.find(_finding(regrets))
    return drawn.figure


def _of_all_rounds(regrets: pd.DataFrame) -> pd.DataFrame:
    """The rows of games and sizes that are played at every T."""
    played = regrets.groupby(["adversary", "d"])["T"].transform("nunique")
    return regrets[played == regrets["T"].nunique()]


def _draw_panel(
    ax: Axes,
    rows: pd.DataFrame,
    game: Game,
    lines: Mapping[str, tuple[float, Mapping[str, Any]]],
) -> None:
    """The positive regrets of a panel; `lines` has the factor of T of an algorithm, and its look.

    Points of one T stand side by side.
    """
    ax.set(xscale="log", yscale="log")
    panels.set_powers(ax.yaxis)
    for name, (place, look) in lines.items():
        points = rows[rows["algorithm"] == name]
        mean, half = points["mean_regret"], points["ci_half_width"]
        ax.plot(place * points["T"], mean, **look)
        # A bar that reaches 0 or below reaches the edge of a logarithmic axis.
        low = np.maximum(mean - half, 1e-3)
        ax.vlines(place * points["T"], low, mean + half, color=look["color"], linewidth=0.9)
    ours = rows[rows["algorithm"] == "l2p-sound"]
    if game.rate and len(ours):
        shape = game.rate(ours["T"].to_numpy(float), *ours.iloc[0][["d", "epsilon", "delta"]])
        ax.plot(ours["T"], shape / shape[0] * ours["mean_regret"].iloc[0], **_RATE.line)


def _finding(regrets: pd.DataFrame) -> str:
    """The least regret of a private algorithm in the longest games of the first losses."""
    losses = regrets["adversary"].iloc[0]
    regrets = regrets[regrets["adversary"] == losses]
    free = regrets["algorithm"].isin(["gradient-descent", "multiplicative-weights", CHANCE])
    longest = regrets[~free & (regrets["T"] == regrets["T"].max())]
    least = longest.loc[longest.groupby(["d", "epsilon"])["mean_regret"].idxmin()]
    parts = [
        f"{TITLES[row.algorithm]} at d = {row.d}, ε = {row.epsilon:g} ({row.mean_regret:,.0f})"
        for row in least.itertuples()
    ]
    rounds = f"{longest['T'].iloc[0]:,} rounds of {losses}"
    return f"Least regret with privacy in {rounds}: {'; '.join(parts)}."
