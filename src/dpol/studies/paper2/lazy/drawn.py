"""Exhibits of L2P: measured regret, and the rates that the paper states."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from dpol.core.randomness import Floats
from dpol.show import panels
from dpol.show.entries import BAND, BEYOND_MARK, GREY, REFERENCES, algorithm_entry, looks_of
from dpol.show.table import Column, Group, Line, Table, TableCell, TableSection
from dpol.show.words import LAZY
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
            BEYOND_MARK,
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


# ---- stated rates --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Term:
    """A product of powers of T, d, log d and 1/ε."""

    T: float
    d: float = 0.0
    log_d: float = 0.0
    privacy: float = 0.0

    def value(self, T: float, d: float, epsilon: float) -> float:
        """Return the product."""
        powers = math.pow(T, self.T) * math.pow(d, self.d) * math.pow(math.log(d), self.log_d)
        return powers / math.pow(epsilon, self.privacy)

    def exponent(self, a: Floats, power_of_d: float) -> Floats:
        """Return b of T^b, the term without logarithms if ε = T^-a and d is a power of T."""
        return self.T + self.d * power_of_d + self.privacy * a


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A rate from Table 1 or footnote 1, without constants and logarithms of T and 1/delta.

    Args:
        of: algorithm of the rate.
        formula: formula in the paper.
        ways: the rate is the smallest of these sums of terms.
    """

    of: str
    formula: str
    ways: tuple[tuple[Term, ...], ...]

    def value(self, T: float, d: float, epsilon: float) -> float:
        """Return the rate."""
        return min(sum(term.value(T, d, epsilon) for term in way) for way in self.ways)


LOSSES = {"lazy": "experts", "convex": "convex losses"}
"""What is played, by result table."""
_EXPERTS, _CONVEX = Term(T=1 / 2, log_d=1 / 2), Term(T=1 / 2)
"""The rates without privacy."""
RATES: Mapping[str, tuple[Rate, ...]] = {
    "lazy": (
        Rate(
            of="L2P",
            formula="sqrt(T log d) + T^(1/3) log(d) / ε^(2/3)",
            ways=((_EXPERTS, Term(T=1 / 3, log_d=1, privacy=2 / 3)),),
        ),
        Rate(
            of="prior work",
            formula="sqrt(T log d) + min(sqrt(d), T^(1/3)) log(d) / ε",
            ways=(
                (_EXPERTS, Term(T=0, d=1 / 2, log_d=1, privacy=1)),
                (_EXPERTS, Term(T=1 / 3, log_d=1, privacy=1)),
            ),
        ),
        Rate(
            of="prior work, footnote 1",
            formula="T^(2/5) / ε^(4/5)",
            ways=((Term(T=2 / 5, privacy=4 / 5),),),
        ),
    ),
    "convex": (
        Rate(
            of="L2P",
            formula="sqrt(T) + T^(1/3) sqrt(d) / ε^(2/3)",
            ways=((_CONVEX, Term(T=1 / 3, d=1 / 2, privacy=2 / 3)),),
        ),
        Rate(
            of="prior work",
            formula="min(d^(1/4) sqrt(T) / sqrt(ε), sqrt(T) + T^(1/3) sqrt(d) / ε"
            " + T^(3/8) sqrt(d) / ε^(3/4))",
            ways=(
                (Term(T=1 / 2, d=1 / 4, privacy=1 / 2),),
                (
                    _CONVEX,
                    Term(T=1 / 3, d=1 / 2, privacy=1),
                    Term(T=3 / 8, d=1 / 2, privacy=3 / 4),
                ),
            ),
        ),
    ),
}
"""Rates of Table 1, by result table; L2P is the first."""


def rates_table(frames: Frames, facts: Facts) -> Table:
    """Build the paper's Table 1 for one kind of losses: formulas, and values at the run's sizes."""
    (name,) = RATES.keys() & frames.keys()
    regrets, rates = frames[name], RATES[name]
    sizes = regrets[["d", "T", "epsilon"]].drop_duplicates().sort_values(["d", "T", "epsilon"])
    places = list(sizes.itertuples(index=False, name=None))
    for rate in rates:
        sizes[rate.of] = [rate.value(T, d, epsilon) for d, T, epsilon in places]
    cells = (*(TableCell(rate.formula) for rate in rates), TableCell("—"))
    formulas = Group("any", (("any", cells),))
    return Table(
        caption=f"The paper’s Table 1: rates for {LOSSES[name]}",
        corner=("rate", "T", "privacy"),
        headers=(*(Column(rate.of, prose=True) for rate in rates), "prior work over L2P"),
        sections=(
            TableSection("formula", "", (formulas,)),
            *(TableSection(f"d = {d}", "", _by_rounds(rows)) for d, rows in sizes.groupby("d")),
        ),
        footers=(
            "Not measured. Constants, and logarithms of T and 1/δ, are left out: the values compare"
            " rates, they are not bounds.",
            *["Footnote 1 also leaves out d and the rate without privacy."] * (name == "lazy"),
            f"“{LAZY}”, Table 1.",
        ),
        numbers=sizes,
    )


def _by_rounds(rows: pd.DataFrame) -> tuple[Group, ...]:
    """Return a group for each T, with a line for each epsilon."""
    return tuple(
        Group(f"{T:,}", tuple(map(_line, of_T.itertuples(index=False, name=None))))
        for T, of_T in rows.groupby("T")
    )


def _line(row: tuple[Any, ...]) -> Line:
    """Return the rates at one size, and the rate of prior work over that of L2P."""
    _, _, epsilon, *values = row
    cells = (TableCell(f"{value:,.0f}") for value in values)
    return f"ε = {epsilon:g}", (*cells, TableCell(f"{values[1] / values[0]:.2f}"))


_NEW, _PRIOR = REFERENCES["l2p-rate"], REFERENCES["prior-rate"]
_LOWER_BOUND = REFERENCES["switches-lower-bound"]


RATE_PANELS = {
    "convex losses, d = polylog T": ("convex", 0),
    "convex losses, d = ∛T": ("convex", 1 / 3),
    "experts, d = T": ("lazy", 1),
}
"""Rates of each panel of the paper's Figure 1 and the power of T that d is, by title."""


def exponent(rates: Sequence[Rate], a: Floats, power_of_d: float) -> Floats:
    """Return b <= 1, where T^b is the smallest of some rates and ε = T^-a.

    Logarithms are left out, and no rate is below T^(1/2), the rate without privacy.
    """
    sums = [
        np.max([term.exponent(a, power_of_d) for term in way], axis=0)
        for rate in rates
        for way in rate.ways
    ]
    return np.asarray(np.clip(np.min(sums, axis=0), 1 / 2, 1))


def draw_rates(frames: Frames, facts: Facts) -> Figure:
    """Draw the paper's Figure 1: rates of L2P, of prior work, and the lower bound if known.

    The figure is the same for all results.
    """
    a, findings = np.linspace(0, 1, 401), []
    with panels.panels(
        3, 3, (panels.WIDTH / 3, 1.9), "b, where regret = Tᵇ", form=facts.form, shared="y"
    ) as drawn:
        for ax, (title, (name, power)) in zip(drawn.axes, RATE_PANELS.items(), strict=True):
            new, prior = (exponent(rates, a, power) for rates in (RATES[name][:1], RATES[name][1:]))
            ax.plot(a, prior, **_PRIOR.line)
            ax.plot(a, new, **_NEW.line)
            worse = a[new > prior + 1e-9]
            if len(worse):
                ax.axvspan(worse[0], worse[-1], color=BAND, linewidth=0, zorder=0)
                note = "L2P is worse\nthan prior\nwork here"
                ax.text(worse.mean(), 0.6, note, ha="center", fontsize=7)
                findings.append(f"for {title}, where a is {worse[0]:.2f} to {worse[-1]:.2f}")
            if name == "lazy":
                ax.plot(a, new, **_LOWER_BOUND.line)
            ax.set(title=title, xlabel="a, where ε = T⁻ᵃ", xlim=(0, 1), ylim=(0.45, 1.02))
        names = {"L2P": _NEW, "prior work": _PRIOR, "lower bound for few switches": _LOWER_BOUND}
        drawn.legend([panels.key(name, **look.line) for name, look in names.items()])
        stated = "Rates stated in the paper, without logarithms"
        drawn.caption(stated, "lower is better", "nothing is measured, so there are no intervals")
        new, prior = (exponent(rates, a, 0) for rates in (RATES["lazy"][:1], RATES["lazy"][1:]))
        worse = a[new > prior + 1e-9]  # a case that the paper does not draw
        findings.append(f"for few experts, where a is {worse[0]:.2f} to {worse[-1]:.2f} (no panel)")
        drawn.find(
            f"The stated rate of L2P is above that of prior work {' and '.join(findings)}. In the"
            " other panels it is at most that."
        )
    return drawn.figure
