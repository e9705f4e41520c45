"""The figure of measured regret, for experts and for convex losses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from dpol.show import panels
from dpol.show.entries import GREY, OUR_MARK, algorithm_entry, looks_of
from dpol.studies.study import Facts, Frames
from dpol.studies.verdicts import UNDECIDED

_GAME = ["adversary", "d", "epsilon"]
_IDLE = {"uniform_regret": "uniform random", "still_regret": "a point that never moves"}


def draw_learned(frames: Frames, facts: Facts) -> Figure:
    """Draw what each algorithm learns in the longest games, a panel per game and epsilon.

    0 is an action that learns nothing, and 1 is the best learning without privacy.
    """
    name = "convex" if "convex" in frames else "lazy"
    learned, pairs = _learned(_titled(frames[name])), _titled(frames[f"{name}_pairs"])
    ranked = learned.groupby("algorithm")["share"].mean().sort_values().index.tolist()
    sizes = sorted(set(learned["d"]))
    games = learned[["adversary", "epsilon"]].drop_duplicates().to_numpy().tolist()
    cells = sorted(games, key=lambda game: (list(dict(games)).index(game[0]), -game[1]))
    most = max(Counter(game for game, _ in cells).values())
    looks = looks_of(ranked)
    size = max(6.6 / most, 2.2), 0.24 * len(ranked) + 0.5
    with panels.panels(len(cells), most, size, form=facts.form, shared="xy") as drawn:
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
            ax.set_yticks(range(len(ranked)), [algorithm_entry(name).marked for name in ranked])
            ax.tick_params(axis="y", length=0)
            panels.set_percent(ax.xaxis)
        full: dict[str, Any] = {"color": GREY, "marker": "o", "linestyle": "none"}
        drawn.legend([panels.key(f"d = {d}", **full | _fill(side)) for side, d in enumerate(sizes)])
        first = learned.iloc[0]
        free = [_inline(name).split(" (")[0] for name in learned["algorithm_free"].unique()]
        drawn.caption(
            f"What is learned in T = {first['T']:,} rounds",
            f"means over {first['replicates']} runs; bars: {100 * first['confidence']:g}%"
            f" intervals, all {first['ci_comparisons']} together",
            f"0%: {_IDLE[first['idle']]}; 100%: the best without privacy, {' or '.join(free)}",
            OUR_MARK,
        )
        best = learned.loc[learned.groupby(_GAME)["share"].idxmax()]
        (best_one, most), *others = Counter(map(_inline, best["algorithm"])).most_common()
        further = "".join(f", {name} in {count}" for name, count in others)
        level = sum(_is_level(row, pairs) for row in best.to_dict("records"))
        drawn.find(
            f"{best_one[:1].upper()}{best_one[1:]} is best in {most} of {len(best)} games{further}."
            + f" In {level} of them another may be as good." * bool(level)
            + f" The best learns {best['share'].min():.0%} to {best['share'].max():.0%} of the most"
            " that is learned without privacy."
        )
    return drawn.figure


def _inline(algorithm: str) -> str:
    """Return the name of an algorithm within a sentence."""
    name, *variant = algorithm_entry(algorithm).marked.split(", ")
    return " ".join([name, *(f"({it})" for it in variant)])


def _titled(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the title of their losses as adversary."""
    kind = "loss" if "loss" in rows else "adversary"
    return rows.assign(adversary=rows[kind] + " losses")


def _is_level(best: Mapping[Any, Any], pairs: pd.DataFrame) -> bool:
    """Return whether the joint interval of a difference of the best of a game contains 0."""
    game = ["T", *_GAME]
    here = (pairs[game] == [best[name] for name in game]).all(axis=1)
    own = (pairs[["algorithm", "other_algorithm"]] == best["algorithm"]).any(axis=1)
    return bool((pairs[here & own]["verdict"] == UNDECIDED).any())


def _learned(regrets: pd.DataFrame) -> pd.DataFrame:
    """Return the private rows of the longest games, with share and half-width.

    The whole is the regret of the best row without privacy in the same game.
    """
    idle = "still_regret" if "still_regret" in regrets else "uniform_regret"
    rows = regrets[regrets["T"] == regrets["T"].max()]
    free = rows["model"] == "none"
    best = rows[free].groupby(_GAME)["mean_regret"].idxmin()
    floors = rows.loc[best, [*_GAME, "algorithm", "mean_regret"]]
    private: pd.DataFrame = rows[~free].merge(floors, on=_GAME, suffixes=("", "_free"))
    possible = private[idle] - private["mean_regret_free"]
    share = (private[idle] - private["mean_regret"]) / possible
    return private.assign(share=share, half=private["ci_half_width"] / possible, idle=idle)


def _fill(side: int) -> dict[str, Any]:
    """Return the style of a marker: the first is full, the others are hollow."""
    return {"markerfacecolor": "white"} if side else {}
