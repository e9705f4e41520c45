"""The tables of fitted exponents: how measured regret grows with T and d and falls with epsilon."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from dpol.core.exponents import fit_exponent
from dpol.core.settings import Settings
from dpol.show import footers
from dpol.show.names import OURS
from dpol.show.papers import LAZY
from dpol.show.table import Group, Section, Table, TableCell
from dpol.studies.lazy.regrets_shown import TITLES
from dpol.studies.lazy.settings import BLOCKS, LEADERS, PRESET
from dpol.studies.study import Facts, Frames

Row = Mapping[Any, Any]
LEARNS_LITTLE = 0.5
"""Share of the regret of staying at the centre above which an exponent is vacuous."""
_SIGNS = {"T": "T", "d": "d", "epsilon": "ε"}


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Exponents of one result table, and the texts of their table.

    Args:
        stated: stated powers of each size that varies, by their names.
        game: columns of a game besides these sizes, and of the algorithm.
        fitted: algorithms whose regrets are fitted.
        caption: caption of the table.
        corner: names of its first columns.
        sections: columns that name a section.
        section: returns the note of a section.
        groups: column that names a group of lines.
        group: returns the title of a group.
        notes: returns the notes below an exponent, from its row and the stated powers in it.
        about: footer about the numbers.
        covers: what the intervals cover.
        counted: whether to count the intervals of L2P that contain each stated power.
        sources: footers about the stated powers.
        numbers: returns the numbers for CSV from the fitted exponents.
    """

    stated: Mapping[str, Mapping[str, float]]
    game: tuple[str, ...]
    fitted: Collection[str]
    caption: str
    corner: tuple[str, ...]
    sections: list[str]
    section: Callable[[Any], str]
    groups: str
    group: Callable[[Any], str]
    notes: Callable[[Row, list[str]], list[str]]
    about: str
    covers: str
    counted: bool
    sources: tuple[str, ...]
    numbers: Callable[[pd.DataFrame], pd.DataFrame]

    def within(self, row: Row) -> list[str]:
        """Return the names of the stated powers in the interval of a fitted exponent."""
        powers = self.stated[row["exponent_in"]].items()
        return [
            name for name, power in powers if abs(row["exponent"] - power) <= row["ci_half_width"]
        ]


def _expert_notes(row: Row, within: list[str]) -> list[str]:
    off = [f"off by {math.expm1(row['curvature']):.0%}"] if row["sizes"] > 2 else []
    return [", ".join(within) or "no stated power", *off]


def _expert_numbers(fits: pd.DataFrame) -> pd.DataFrame:
    rows = fits.to_dict("records")
    at = [row["epsilon" if row["exponent_in"] == "T" else "T"] for row in rows]
    named = fits.assign(at=at).rename(columns={"exponent_in": "of", "ci_half_width": "half_width"})
    columns = ["adversary", "of", "d", "at", "algorithm", "exponent", "half_width", "curvature"]
    return named[[*columns, "sizes", "confidence", "ci_comparisons"]]


def _convex_notes(row: Row, within: list[str]) -> list[str]:
    notes = [f"in the interval: {', '.join(within)}"] if within else []
    if row["sizes"] > 2:
        notes.append(f"off: {row['curvature']:.0%}")
    if row["share_of_still"] > LEARNS_LITTLE:
        notes.append(f"still: {row['share_of_still']:.0%}")
    return notes


_CONVEX_POWERS = {
    "T": {"1/3": 1 / 3, "1/2": 1 / 2},
    "d": {"1/3": 1 / 3, "1/2": 1 / 2},
    "epsilon": {"-2/3": -2 / 3},
}
SWEEPS: Mapping[str, Sweep] = {
    "lazy": Sweep(
        # By Theorem 3.10, by footnote 1, and the rate without privacy or by prior work.
        stated={
            "T": {"T^(1/3)": 1 / 3, "T^(2/5)": 2 / 5, "T^(1/2)": 1 / 2},
            "epsilon": {"ε^(-2/3)": -2 / 3, "ε^(-4/5)": -4 / 5, "1/ε": -1.0},
        },
        game=("adversary", "d", "algorithm"),
        fitted=("l2p-sound", PRESET, BLOCKS, *LEADERS),
        caption="Fitted exponents of regret, experts",
        corner=("losses", "experts", "at"),
        sections=["adversary", "exponent_in"],
        section=lambda size: f"exponent of {_SIGNS[size]}",
        groups="d",
        group=lambda d: f"d = {d}",
        notes=_expert_notes,
        about="Least-squares slopes of log mean regret on log T or log ε. Below: the stated powers"
        " in the interval, and the largest distance of a mean from the line. A dash: only one"
        " size, a mean of 0 or less, or not played.",
        covers="They cover the randomness of the runs on these losses, not a bend in the growth.",
        counted=True,
        sources=(
            "Stated: T^(1/3) and ε^(-2/3) by Theorem 3.10, T^(2/5) and ε^(-4/5) by footnote 1 of"
            f" “{LAZY}”; T^(1/2) is the rate without privacy, 1/ε is from prior work. {OURS}.",
        ),
        numbers=_expert_numbers,
    ),
    "convex": Sweep(
        stated=_CONVEX_POWERS,
        game=("loss", "body", "algorithm"),
        fitted=TITLES,
        caption="Exponents of regret, convex",
        corner=("losses", "exponent in", "at"),
        sections=["loss", "body"],
        section=lambda body: f"on a {body}",
        groups="exponent_in",
        group=lambda size: f"{_SIGNS[size]} ({', '.join(_CONVEX_POWERS[size])})",
        notes=_convex_notes,
        about="Slope of log mean regret on the log of a size, by least squares. In brackets:"
        " exponents in the paper. In the interval: which of these the interval contains. Off:"
        " the largest distance of a mean from the line, which the interval does not cover."
        " Still: the largest regret in percent of the regret of a point that never moves, if it"
        f" is above {LEARNS_LITTLE:.0%}; little is learned there: the exponent is vacuous.",
        covers="The intervals cover the randomness of the runs on these losses.",
        counted=False,
        sources=(
            "The paper's bound is T^(1/2) + T^(1/3) d^(1/2) / ε^(2/3) without logarithms; its"
            " section 5 conjectures d^(1/3). A bound is for the worst losses, and these may not be"
            " the worst, so a smaller exponent does not prove that the bound is loose.",
            f"“{LAZY}”, Theorem 3.12. {OURS}.",
        ),
        numbers=lambda fits: fits,
    ),
}
"""Fitted exponents by result table."""


def fitted_exponents(regrets: pd.DataFrame, sweep: Sweep, confidence: float) -> pd.DataFrame:
    """Return a row for each exponent that can be fitted, with intervals that hold together.

    A fit needs two sizes, and means above 0. Leaders share their noise between epsilons, so their
    half-width over k epsilons is sqrt(k) times the half-width for independent means, which covers
    any dependence (Cauchy-Schwarz).
    """
    regrets = regrets[regrets["algorithm"].isin(sweep.fitted)]
    sizes = list(sweep.stated)
    fixed = {size: [*sweep.game, *(each for each in sizes if each != size)] for size in sizes}
    groups = [
        (size, rows)
        for size in sizes
        for _, rows in regrets.groupby(fixed[size], sort=False)
        if len(rows) > 1 and (rows["mean_regret"] > 0).all()
    ]
    fits = []
    for size, rows in groups:
        first = rows.iloc[0]
        dependent = size == "epsilon" and first["algorithm"] in LEADERS
        fit = fit_exponent(
            rows[size],
            rows["mean_regret"],
            rows["standard_error"] * (math.sqrt(len(rows)) if dependent else 1.0),
            replicates=int(first["replicates"]),
            confidence=confidence,
            comparisons=len(groups),
        )
        row = {
            **{name: first[name] for name in fixed[size]},
            "exponent_in": size,
            "sizes": len(rows),
            "exponent": fit.slope,
            "ci_half_width": fit.half_width,
            "curvature": fit.curvature,
        }
        if "still_regret" in rows:
            row["share_of_still"] = float((rows["mean_regret"] / rows["still_regret"]).max())
        fits.append(row | {"confidence": confidence, "ci_comparisons": len(groups)})
    return pd.DataFrame(fits)


def exponents_table(frames: Frames, settings: Settings, facts: Facts) -> Table:
    """Build the table of exponents of regret in each size, with the powers of the paper."""
    ((name, regrets),) = frames.items()
    sweep = SWEEPS[name]
    fits = fitted_exponents(regrets, sweep, facts.confidence)
    none = Group("", (("", (TableCell("—", ("no mean is above 0 at two sizes",)),)),))
    nothing = Table(
        caption=sweep.caption,
        name=f"{name}-exponents",
        corner=sweep.corner,
        headers=("exponent",),
        sections=(Section("none", "", (none,)),),
        numbers=fits,
    )
    if fits.empty:
        return nothing
    algorithms = [name for name in TITLES if name in set(fits["algorithm"])]
    return replace(
        nothing,
        headers=tuple(TITLES[name] for name in algorithms),
        sections=tuple(
            Section(f"{losses} losses", sweep.section(of), _groups(rows, sweep, algorithms))
            for (losses, of), rows in fits.groupby(sweep.sections, sort=False)
        ),
        footers=(
            sweep.about,
            footers.describe_interval(facts.confidence, len(fits), "exponents", sweep.covers),
            *(_count(fits, size, sweep) for size in fits["exponent_in"].unique() if sweep.counted),
            *sweep.sources,
        ),
        numbers=sweep.numbers(fits),
    )


def _groups(fits: pd.DataFrame, sweep: Sweep, algorithms: list[str]) -> tuple[Group, ...]:
    """Return the groups of a section, with a line for each value of the sizes that are fixed."""
    groups = []
    for value, of_group in fits.groupby(sweep.groups):
        others = [size for size in sweep.stated if size != of_group["exponent_in"].iloc[0]]
        lines = []
        # Lines of one size are sorted; others keep the order of the games.
        for values, rows in of_group.groupby(others, sort=len(others) == 1):
            label = ", ".join(
                f"{_SIGNS[name]} = {at:{'g' if name == 'epsilon' else ',.0f'}}"
                for name, at in zip(others, values, strict=True)
            )
            by_name = {row["algorithm"]: row for row in rows.to_dict("records")}
            lines.append((label, tuple(_cell(by_name.get(name), sweep) for name in algorithms)))
        groups.append(Group(sweep.group(value), tuple(lines)))
    return tuple(groups)


def _cell(row: Row | None, sweep: Sweep) -> TableCell:
    if row is None:
        return TableCell("—")
    text = f"{row['exponent']:.2f}{footers.plus_minus(row['ci_half_width'])}"
    return TableCell(text, tuple(sweep.notes(row, sweep.within(row))))


def _count(fits: pd.DataFrame, size: str, sweep: Sweep) -> str:
    """Count the intervals of L2P that contain each stated power of a size."""
    ours = fits[(fits["exponent_in"] == size) & (fits["algorithm"] == "l2p-sound")]
    within = list(itertools.chain(*map(sweep.within, ours.to_dict("records"))))
    counts = (f"{power} in {within.count(power)}" for power in sweep.stated[size])
    return f"{TITLES['l2p-sound']}: of {len(ours)} intervals, {', '.join(counts)}."
