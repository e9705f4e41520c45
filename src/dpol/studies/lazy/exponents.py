"""The tables of fitted exponents: how measured regret grows with T and d and falls with epsilon."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
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
"""Share of the regret of an action that learns nothing above which an exponent is vacuous."""
_SIGNS = {"T": "T", "d": "d", "epsilon": "ε"}


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Exponents of one result table.

    Args:
        stated: stated powers of each size whose exponent is fitted, by their names.
        game: columns of a game besides the sizes.
        fitted: algorithms whose regrets are fitted.
        title: what is played.
        still: the action that learns nothing, for the footer.
        sources: the footer about the stated powers.
    """

    stated: Mapping[str, Mapping[str, float]]
    game: tuple[str, ...]
    fitted: Collection[str]
    title: str
    still: str
    sources: str

    def within(self, row: Row) -> list[str]:
        """Return the names of the stated powers in the interval of a fitted exponent."""
        powers = self.stated[row["exponent_in"]].items()
        return [
            name for name, power in powers if abs(row["exponent"] - power) <= row["ci_half_width"]
        ]


SWEEPS: Mapping[str, Sweep] = {
    "lazy": Sweep(
        stated={
            "T": {"1/3": 1 / 3, "2/5": 2 / 5, "1/2": 1 / 2},
            "epsilon": {"-2/3": -2 / 3, "-4/5": -4 / 5, "-1": -1.0},
        },
        game=("adversary", "algorithm"),
        fitted=("l2p-sound", PRESET, BLOCKS, *LEADERS),
        title="experts",
        still="a uniform draw in every round",
        sources="Stated: T^(1/3) and ε^(-2/3) by Theorem 3.10, T^(2/5) and ε^(-4/5) by footnote 1"
        f" of “{LAZY}”; T^(1/2) is the rate without privacy, 1/ε is from prior work. {OURS}.",
    ),
    "convex": Sweep(
        stated={
            "T": {"1/3": 1 / 3, "1/2": 1 / 2},
            "d": {"1/3": 1 / 3, "1/2": 1 / 2},
            "epsilon": {"-2/3": -2 / 3},
        },
        game=("loss", "body", "algorithm"),
        fitted=TITLES,
        title="convex",
        still="a point that never moves",
        sources=f"“{LAZY}”, Theorem 3.12: T^(1/2) + T^(1/3) d^(1/2) / ε^(2/3) without logarithms;"
        f" its section 5 conjectures d^(1/3). {OURS}.",
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
    still = "still_regret" if "still_regret" in regrets else "uniform_regret"
    fixed = {size: [*sweep.game, *(other for other in _SIGNS if other != size)] for size in _SIGNS}
    groups = [
        (size, rows)
        for size in sweep.stated
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
            "share_of_still": float((rows["mean_regret"] / rows[still]).max()),
        }
        fits.append(row | {"confidence": confidence, "ci_comparisons": len(groups)})
    return pd.DataFrame(fits)


def exponents_table(frames: Frames, settings: Settings, facts: Facts) -> Table:
    """Build the table of exponents of regret in each size, with the powers of the paper."""
    ((name, regrets),) = frames.items()
    sweep = SWEEPS[name]
    fits = fitted_exponents(regrets, sweep, facts.confidence)
    none = Group("", (("", (TableCell("—", ("no mean is above 0 at two sizes",)),)),))
    nothing = Table(
        caption=f"Fitted exponents of regret, {sweep.title}",
        corner=("losses", "exponent in", "at"),
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
            Section(
                f"{kind} losses",
                "".join(f"on a {body}" for body in on),
                _groups(rows, sweep, algorithms),
            )
            for (kind, *on), rows in fits.groupby([*sweep.game[:-1]], sort=False)
        ),
        footers=(
            "Slope of log mean regret on the log of a size, by least squares. In brackets: stated"
            " exponents. In the interval: which of these the interval contains. Off: the largest"
            " distance of a mean from the line, which the interval does not cover. Still: the"
            f" largest regret in percent of the regret of {sweep.still}, if it is above"
            f" {LEARNS_LITTLE:.0%}; little is learned there: the exponent is vacuous. A dash: only"
            " one size, a mean of 0 or less, or not played.",
            footers.describe_interval(
                facts.confidence,
                len(fits),
                "exponents",
                "The intervals cover the randomness of the runs on these losses.",
            ),
            f"{sweep.sources} A bound is for the worst losses, and these may not be the worst, so a"
            " smaller exponent does not prove that a bound is loose.",
        ),
    )


def _groups(fits: pd.DataFrame, sweep: Sweep, algorithms: list[str]) -> tuple[Group, ...]:
    """Return a group for each fitted size, with a line for each value of the other sizes."""
    groups = []
    for size, of_size in fits.groupby("exponent_in", sort=False):
        others, lines = [name for name in _SIGNS if name != size], []
        for values, rows in of_size.groupby(others):
            label = ", ".join(
                f"{_SIGNS[name]} = {at:{'g' if name == 'epsilon' else ',.0f'}}"
                for name, at in zip(others, values, strict=True)
            )
            by_name = {row["algorithm"]: row for row in rows.to_dict("records")}
            lines.append((label, tuple(_cell(by_name.get(name), sweep) for name in algorithms)))
        title = f"{_SIGNS[str(size)]} ({', '.join(sweep.stated[str(size)])})"
        groups.append(Group(title, tuple(lines)))
    return tuple(groups)


def _cell(row: Row | None, sweep: Sweep) -> TableCell:
    if row is None:
        return TableCell("—")
    within = sweep.within(row)
    notes = [f"in the interval: {', '.join(within)}"] if within else []
    if row["sizes"] > 2:
        notes.append(f"off: {math.expm1(row['curvature']):.0%}")
    if row["share_of_still"] > LEARNS_LITTLE:
        notes.append(f"still: {row['share_of_still']:.0%}")
    text = f"{row['exponent']:.2f}{footers.plus_minus(row['ci_half_width'])}"
    return TableCell(text, tuple(notes))
