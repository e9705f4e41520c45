"""The tables and figures of measured regret, for experts and for convex losses."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from dpol.core.intervals import UNDECIDED
from dpol.core.settings import Settings
from dpol.show import footers, panels
from dpol.show.looks import ALGORITHMS, GREY, RIVALS, looks_of
from dpol.show.names import OURS
from dpol.show.table import Group, Section, Table, TableCell
from dpol.studies.paper2.lazy.settings import BLOCKS, LIMITED, LOWER_BOUND
from dpol.studies.study import Facts, Frames

UNIFORM = "random-expert"
"""Label of uniform random, an expert drawn in every round, which learns nothing."""
_COVERS = "They cover the losses, which are drawn anew for each run, and the noise."
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
    BLOCKS: "private blocks, our reading, pure ε",
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
_GAME = ["adversary", "d", "epsilon"]
_IDLE = {"uniform_regret": "uniform random", "still_regret": "a point that never moves"}
_NOTES: Mapping[str, str] = {
    BLOCKS: "Private blocks and limited updates have a regret bound on stochastic losses only, so"
    " they are only played there. Their ε is pure.",
}


def _name_of(frames: Frames) -> str:
    """Return the name of the table of regrets; that of pairs has another end."""
    return "convex" if "convex" in frames else "lazy"


def _regrets_of(frames: Frames) -> pd.DataFrame:
    """Return the rows of the table of regrets, and rows of uniform random."""
    regrets = frames[_name_of(frames)]
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
    regrets, name = _regrets_of(frames), _name_of(frames)
    game = "experts" if name == "lazy" else name
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
        numbers=frames[name],
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
    """Draw what each algorithm learns in the longest games, a panel per game and epsilon.

    0 is an action that learns nothing, and 1 is learning without privacy.
    """
    learned = _learned(_regrets_of(frames))
    ranked = learned.groupby("algorithm")["share"].mean().sort_values().index.tolist()
    sizes, epsilons = sorted(set(learned["d"])), sorted(set(learned["epsilon"]), reverse=True)
    cells = list(itertools.product(learned["adversary"].unique(), epsilons))
    looks = looks_of(TITLES, {**ALGORITHMS, **RIVALS})
    size = max(6.6 / len(epsilons), 2.2), 0.24 * len(ranked) + 0.5
    with panels.panels(len(cells), len(epsilons), size, width=facts.width, shared="xy") as drawn:
        for ax, (game, epsilon) in zip(drawn.axes, cells, strict=True):
            panels.name_panel(ax, f"{game}, ε = {epsilon:g}")
            shown = learned[(learned["adversary"] == game) & (learned["epsilon"] == epsilon)]
            for row in shown.to_dict("records"):
                side, share, half = sizes.index(row["d"]), row["share"], row["half"]
                place, look = ranked.index(row["algorithm"]) - 0.18 * side, looks[row["algorithm"]]
                ends = [share - half, share + half]
                ax.plot(ends, [place] * 2, color=look.colour, linewidth=0.9, zorder=1)
                ax.plot([share], [place], **look.points | _fill(side))
            for end in (0.0, 1.0):
                ax.axvline(end, color=GREY, linewidth=0.8, zorder=0)
            ax.set_yticks(range(len(ranked)), [TITLES[name] for name in ranked])
            ax.tick_params(axis="y", length=0)
            panels.set_percent(ax.xaxis)
        full: dict[str, Any] = {"color": GREY, "marker": "o", "linestyle": "none"}
        drawn.legend([panels.key(f"d = {d}", **full | _fill(side)) for side, d in enumerate(sizes)])
        first = learned.iloc[0]
        drawn.caption(
            f"What is learned in T = {first['T']:,} rounds",
            f"means over {first['replicates']} runs; bars: {100 * first['confidence']:g}%"
            f" intervals, all {first['ci_comparisons']} together",
            f"0%: {_IDLE[first['idle']]}; 100%: {TITLES[first['algorithm_free']]}",
            OURS,
        )
        best = learned.loc[learned.groupby(_GAME)["share"].idxmax()]
        most = Counter(TITLES[name] for name in best["algorithm"]).most_common()
        level = sum(_is_level(row, frames) for row in best.to_dict("records"))
        drawn.find(
            f"Learns most: {', '.join(f'{name} in {count}' for name, count in most)} of"
            f" {len(best)} cases (losses, d and ε), in {level} level with another. That is"
            f" {best['share'].min():.0%} to {best['share'].max():.0%} of what is learned without"
            " privacy."
        )
    return drawn.figure


def _is_level(best: Mapping[Any, Any], frames: Frames) -> bool:
    """Return whether the joint interval of a difference of the best of a game contains 0."""
    pairs = frames[f"{_name_of(frames)}_pairs"]
    game = [name for name in ("loss", "body", "T", "d", "epsilon") if name in pairs]
    here = (pairs[game] == [best[name] for name in game]).all(axis=1)
    if "adversary" in pairs:
        here &= pairs["adversary"] + " losses" == best["adversary"]
    own = (pairs[["algorithm", "other_algorithm"]] == best["algorithm"]).any(axis=1)
    return bool((pairs[here & own]["verdict"] == UNDECIDED).any())


def _learned(regrets: pd.DataFrame) -> pd.DataFrame:
    """Return the private rows of the longest games, with share and half-width.

    Without the losses of the lower bound, which leave nothing to learn.
    """
    idle = "still_regret" if "still_regret" in regrets else "uniform_regret"
    longest = (regrets["T"] == regrets["T"].max()) & (regrets["algorithm"] != UNIFORM)
    rows = regrets[longest & (regrets["adversary"] != f"{LOWER_BOUND} losses")]
    free = rows["algorithm"].isin(["multiplicative-weights", "gradient-descent"])
    floors = rows.loc[free, [*_GAME, "algorithm", "mean_regret"]]
    private: pd.DataFrame = rows[~free].merge(floors, on=_GAME, suffixes=("", "_free"))
    possible = private[idle] - private["mean_regret_free"]
    share = (private[idle] - private["mean_regret"]) / possible
    return private.assign(share=share, half=private["ci_half_width"] / possible, idle=idle)


def _fill(side: int) -> dict[str, Any]:
    """Return the style of a marker: the first is full, the others are hollow."""
    return {"markerfacecolor": "white"} if side else {}
