"""The tables and figures of measured regret, for experts and for convex losses."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpol.core.settings import Settings
from dpol.show import footers, panels
from dpol.show.looks import ALGORITHMS, GREY, RIVALS, Look, looks_of
from dpol.show.names import OURS
from dpol.show.table import Group, Section, Table, TableCell
from dpol.studies.lazy.settings import BLOCKS, LIMITED, STOCHASTIC
from dpol.studies.study import Facts, Frames

UNIFORM = "random-expert"
"""Label of uniform random, an expert drawn in every round, which learns nothing."""
_COVERS = "The intervals cover the randomness of the runs on these losses, not other losses."
TITLES: Mapping[str, str] = {
    "l2p-sound": "L2P, sound accountant †",
    "l2p-published": "L2P, published accountant",
    "l2p-one-round": "L2P, batches of one round †",
    "l2p-theorem-3.10": "L2P, Theorem 3.10",
    "l2p-theorem-3.12": "L2P, Theorem 3.12",
    "dartboard-sound": "dartboard, sound accountant †",
    "dartboard-published": "dartboard, published accountant",
    "lazy-regularised-weights": "lazy regularised weights †",
    "ctrl": "CTRL, published accountant",
    BLOCKS: "private blocks, pure ε",
    LIMITED: "limited updates, pure ε",
    "tree-ftpl-min-noise": "tree, least noise",
    "mf-ftpl": "factorised sums",
    "dp-ftrl": "DP-FTRL",
    "mf-dp-ftrl": "factorised DP-FTRL",
    "multiplicative-weights": "multiplicative weights, no privacy",
    "gradient-descent": "gradient descent, no privacy",
    UNIFORM: "uniform random",
}
"""Titles of algorithms, in the order of tables and figures."""
_NOT_RUN = TableCell("—")
_HOLLOW: dict[str, Any] = {"markerfacecolor": "white"}
_NOTES: Mapping[str, str] = {
    BLOCKS: "Private blocks and limited updates have a regret bound on stochastic losses only, so"
    " they are only played there. Their ε is pure.",
}


def _regrets_of(frames: Frames) -> pd.DataFrame:
    """Return the rows of the only result table, and rows of uniform random."""
    (regrets,) = frames.values()
    if "loss" in regrets:
        return regrets.assign(adversary=regrets["loss"] + " losses, " + regrets["body"])
    regrets = regrets.assign(adversary=regrets["adversary"] + " losses")
    if "uniform_regret" in regrets:
        uniform = regrets.drop_duplicates(["adversary", "T", "d", "epsilon"])
        uniform = uniform.assign(algorithm=UNIFORM, mean_regret=uniform["uniform_regret"])
        uniform[["ci_half_width", "accounted_epsilon"]] = math.nan
        regrets = pd.concat([regrets, uniform], ignore_index=True)
    return regrets


def regret_table(frames: Frames, settings: Settings, facts: Facts) -> Table:
    """Build the table of measured regret, with a section for each adversary and d."""
    regrets, game = _regrets_of(frames), "convex" if "convex" in frames else "experts"
    algorithms = [name for name in TITLES if name in set(regrets["algorithm"])]
    first = regrets.iloc[0]
    return Table(
        caption=f"Measured regret, {game}",
        corner=("losses", "T", "privacy"),
        headers=tuple(TITLES[name] for name in algorithms),
        sections=tuple(
            Section(str(adversary), f"d = {d}", by_rounds(rows, partial(_cells, algorithms)))
            for (adversary, d), rows in regrets.groupby(["adversary", "d"], sort=False)
        ),
        footers=(
            f"Means over {first['replicates']} runs. Central model, δ = {first['delta']:g};"
            " adjacent: two sequences that differ in one round's loss. Accounted ε: by the column's"
            " accountant, or by the sound accountant for the parameters of a theorem. A dash: not"
            " run, or no parameters reach this ε.",
            footers.describe_interval(
                first["confidence"], first["ci_comparisons"], "regrets", _COVERS
            ),
            *(note for name, note in _NOTES.items() if name in algorithms),
            f"{OURS}.",
        ),
        numbers=next(iter(frames.values())),
    )


def by_rounds(
    rows: pd.DataFrame, cells: Callable[[pd.DataFrame], tuple[TableCell, ...]]
) -> tuple[Group, ...]:
    """Return a group for each T, with a line of cells for each epsilon."""
    return tuple(
        Group(
            f"{T:,}",
            tuple((f"ε = {at:g}", cells(of_line)) for at, of_line in of_T.groupby("epsilon")),
        )
        for T, of_T in rows.groupby("T")
    )


def _cells(algorithms: Sequence[str], rows: pd.DataFrame) -> tuple[TableCell, ...]:
    """Return the cell of each algorithm."""
    by_name = {row["algorithm"]: row for row in rows.to_dict("records")}
    return tuple(_cell(by_name[name]) if name in by_name else _NOT_RUN for name in algorithms)


def _cell(row: Mapping[Any, Any]) -> TableCell:
    half, accounted = row["ci_half_width"], row["accounted_epsilon"]
    interval = "" if math.isnan(half) else footers.plus_minus(half, 0)
    notes = () if math.isnan(accounted) else (f"accounted ε = {accounted:.3g}",)
    return TableCell(f"{row['mean_regret']:,.0f}{interval}", notes)


def draw_learned(frames: Frames, settings: Settings, facts: Facts) -> Figure:
    """Draw what each algorithm learns beside the same without privacy, with a panel per epsilon.

    0 is uniform random, and 1 is the algorithm without privacy. Losses are stochastic, since the
    losses of the lower bound leave nothing to learn.
    """
    learned = _learned(frames["lazy"])
    best = learned.groupby("algorithm")["share"].mean().sort_values().index.tolist()
    sizes, epsilons = sorted(set(learned["d"])), sorted(set(learned["epsilon"]), reverse=True)
    places, looks = {name: place for place, name in enumerate(best)}, looks_of(TITLES)
    size = max(6.6 / len(epsilons), 2.2), 0.24 * len(best) + 0.5
    with panels.panels(len(epsilons), 3, size, sharex=True, sharey=True) as drawn:
        for ax, epsilon in zip(drawn.axes, epsilons, strict=True):
            panels.name_panel(ax, f"ε = {epsilon:g}")
            for side, d in enumerate(sizes):
                chosen = (learned["d"] == d) & (learned["epsilon"] == epsilon)
                for row in learned[chosen].itertuples():
                    place, ends = (
                        places[row.algorithm],
                        (row.share - row.half, row.share + row.half),
                    )
                    _mark(ax, row.share, ends, place - 0.18 * side, looks[row.algorithm], side)
            for end in (0.0, 1.0):
                ax.axvline(end, color=GREY, linewidth=0.8, zorder=0)
            _name_rows(ax, range(len(best)), best)
            panels.set_percent(ax.xaxis)
        drawn.legend(_fills([f"d = {sizes[0]} experts", *(f"d = {d}" for d in sizes[1:])]))
        first = learned.iloc[0]
        drawn.title(
            f"What is learned in T = {first['T']:,} rounds of stochastic losses",
            f"means over {first['replicates']} runs; bars: {100 * first['confidence']:g}%"
            f" intervals, all {first['ci_comparisons']} together",
            "0%: uniform random; 100%: multiplicative weights without privacy",
            OURS,
        )
        drawn.find(
            "Learns most, where multiplicative weights without privacy are 100%:"
            f" {_leaders(learned)}."
        )
    return drawn.figure


def _learned(regrets: pd.DataFrame) -> pd.DataFrame:
    """Return the private rows of the longest stochastic games, with share and half-width."""
    rows = regrets[(regrets["adversary"] == STOCHASTIC) & (regrets["T"] == regrets["T"].max())]
    free = rows["algorithm"] == "multiplicative-weights"
    floors = rows.loc[free, ["d", "epsilon", "mean_regret"]]
    private: pd.DataFrame = rows[~free].merge(floors, on=["d", "epsilon"], suffixes=("", "_free"))
    possible = private["uniform_regret"] - private["mean_regret_free"]
    share = (private["uniform_regret"] - private["mean_regret"]) / possible
    return private.assign(share=share, half=private["ci_half_width"] / possible)


def _leaders(learned: pd.DataFrame) -> str:
    """Name the algorithm that learns the largest share, at each epsilon and d."""
    parts = []
    for epsilon, at in reversed(list(learned.groupby("epsilon"))):
        best = at.loc[at.groupby("d")["share"].idxmax()]
        names = [
            f"{TITLES[row['algorithm']]} ({row['share']:.0%} for d = {row['d']})"
            for row in best.to_dict("records")
        ]
        parts.append(f"at ε = {epsilon:g} {' and '.join(names)}")
    return "; ".join(parts)


def _mark(
    ax: Axes, mean: float, ends: tuple[float, float], place: float, look: Look, side: int
) -> None:
    """Draw a mean and its interval in a row; only the first of several markers is full."""
    fill = {} if side == 0 else _HOLLOW
    ax.plot(ends, [place] * 2, color=look.colour, linewidth=0.9, zorder=1)
    ax.plot([mean], [place], **look.points | fill)


def _name_rows(ax: Axes, places: Sequence[int], names: Sequence[str]) -> None:
    ax.set_yticks(places, [TITLES[name] for name in names])
    ax.tick_params(axis="y", length=0)


def _fills(names: Sequence[str]) -> list[Line2D]:
    """Return legend keys of markers: the first is full, the others are hollow."""
    full: dict[str, Any] = {"color": GREY, "marker": "o", "linestyle": "none"}
    return [panels.key(name, **full | (_HOLLOW if side else {})) for side, name in enumerate(names)]


def draw_regret(frames: Frames, settings: Settings, facts: Facts) -> Figure:
    """Draw measured regret on convex losses: a row of panels per game and d, a column per T.

    In a panel, each algorithm has a line with a marker for each epsilon.
    """
    regrets = _regrets_of(frames)
    looks = looks_of(TITLES, {**ALGORITHMS, **RIVALS})
    rounds, epsilons = sorted(set(regrets["T"])), sorted(set(regrets["epsilon"]), reverse=True)
    sizes = list(regrets[["adversary", "d"]].drop_duplicates().itertuples(index=False, name=None))
    names, first = [name for name in TITLES if name in set(regrets["algorithm"])], regrets.iloc[0]
    # A logarithmic axis shows only means above 0; a bar that reaches 0 goes to its edge.
    above = regrets[regrets["mean_regret"] > 0]
    above = above.assign(low=np.maximum(above["mean_regret"] - above["ci_half_width"], 1e-3))
    cells = list(itertools.product(sizes, rounds))
    size = max(6.6 / len(rounds), 2.2), 0.17 * len(names) + 0.5
    with panels.panels(len(cells), len(rounds), size, sharex=True, sharey=True) as drawn:
        for ax, ((losses, d), T) in zip(drawn.axes, cells, strict=True):
            kind = str(losses).replace(" losses", "")
            panels.name_panel(ax, f"{kind}, d = {d}, T = {T:,}")
            cell = above[(above["adversary"] == losses) & (above["d"] == d) & (above["T"] == T)]
            for row in cell.to_dict("records"):
                side, mean = epsilons.index(row["epsilon"]), row["mean_regret"]
                place = -names.index(row["algorithm"]) - 0.2 * side
                ends = row["low"], mean + row["ci_half_width"]
                _mark(ax, mean, ends, place, looks[row["algorithm"]], side)
            ax.set_xscale("log")
            panels.set_powers(ax.xaxis)
            _name_rows(ax, range(0, -len(names), -1), names)
        if len(above):
            reach = above["mean_regret"].min() / 1.5, above["mean_regret"].max() * 1.5
            drawn.axes[0].set_xlim(*reach)
        for ax in drawn.grid[-1]:
            ax.set_xlabel("mean regret")
        drawn.legend(_fills([f"ε = {epsilon:g}" for epsilon in epsilons]))
        drawn.title(
            "Regret against the best point of the body, at (ε, δ) for one round's losses",
            f"means over {first['replicates']} runs; bars: {100 * first['confidence']:g}% intervals"
            f" (Student's t), all {first['ci_comparisons']} together",
            "bars shorter than their marker are hidden",
            OURS,
        )
        drawn.find(_finding(regrets))
    return drawn.figure


def _finding(regrets: pd.DataFrame) -> str:
    """Count in how many of the longest games each private algorithm has the least regret."""
    free = regrets["algorithm"].isin(["gradient-descent", "multiplicative-weights", UNIFORM])
    longest = regrets[~free & (regrets["T"] == regrets["T"].max())]
    games = longest.groupby(["adversary", "d", "epsilon"])["mean_regret"]
    least = Counter(TITLES[name] for name in longest.loc[games.idxmin(), "algorithm"])
    winners = ", ".join(f"{name} in {count}" for name, count in least.most_common())
    return (
        f"Least regret with privacy after {longest['T'].iloc[0]:,} rounds: {winners} of"
        f" {least.total()} cases (losses, d and ε)."
    )
