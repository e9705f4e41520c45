"""The table of fitted exponents of regret, next to the exponents in the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import pandas as pd

from dpol.core.exponents import fit_exponent
from dpol.show import footers
from dpol.show.names import OURS
from dpol.show.papers import LAZY
from dpol.show.table import Entry, Group, Section, Table
from dpol.studies.lazy.convex.settings import Convex
from dpol.studies.lazy.exponents import nothing_fitted
from dpol.studies.lazy.shown import TITLES
from dpol.studies.study import Facts, Frames

AXES = {
    "T": ("T", (Fraction(1, 3), Fraction(1, 2))),
    "d": ("d", (Fraction(1, 3), Fraction(1, 2))),
    "epsilon": ("ε", (Fraction(-2, 3),)),
}
"""Symbol of each size, and the exponents that the paper names for it."""

LEARNS_LITTLE = 0.5
"""Share of the regret of staying at the centre above which an exponent is vacuous."""


def fitted(regrets: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return a row for each exponent: a game, an algorithm, one varying size, the others fixed.

    Exponents are left out unless all mean regrets are above 0.
    """
    groups = list(_groups(regrets))
    rows = []
    for axis, rows_of_fit in groups:
        first = rows_of_fit.iloc[0]
        fit = fit_exponent(
            rows_of_fit[axis],
            rows_of_fit["mean_regret"],
            rows_of_fit["standard_error"],
            replicates=int(first["replicates"]),
            confidence=confidence,
            comparisons=len(groups),
        )
        fixed = {name: first[name] for name in ("loss", "body", "algorithm", *AXES) if name != axis}
        measured = {
            "exponent_in": axis,
            "sizes": len(rows_of_fit),
            "exponent": fit.slope,
            "ci_half_width": fit.half_width,
            "curvature": fit.curvature,
            "share_of_still": float(
                (rows_of_fit["mean_regret"] / rows_of_fit["still_regret"]).max()
            ),
        }
        rows.append({**fixed, **measured, "confidence": confidence, "ci_comparisons": len(groups)})
    return pd.DataFrame(rows)


def _groups(regrets: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each size that varies, with the rows that differ only in this size."""
    for axis in AXES:
        fixed = ["loss", "body", "algorithm", *(name for name in AXES if name != axis)]
        for _, rows in regrets.groupby(fixed, sort=False):
            if len(rows) > 1 and (rows["mean_regret"] > 0).all():
                yield axis, rows


def exponent_table(frames: Frames, settings: Convex, facts: Facts) -> Table:
    """Build the table of fitted exponents of regret in T, d and epsilon."""
    fits = fitted(frames["convex"], facts.confidence)
    corner = ("losses", "exponent in", "at")
    if fits.empty:
        return nothing_fitted("Exponents of regret, convex", "convex-exponents", corner, fits)
    algorithms = [name for name in TITLES if name in set(fits["algorithm"])]
    games = fits.groupby(["loss", "body"], sort=False)
    return Table(
        caption="Exponents of regret, convex",
        name="convex-exponents",
        corner=corner,
        headers=tuple(TITLES[name] for name in algorithms),
        sections=tuple(
            Section(f"{loss} losses", f"on a {body}", tuple(_table_groups(rows, algorithms)))
            for (loss, body), rows in games
        ),
        footers=(
            "Slope of log mean regret on the log of a size, by least squares. In brackets:"
            " exponents in the paper. In the interval: which of these the interval contains. Off:"
            " the largest distance of a mean from the line, which the interval does not cover."
            " Still: the largest regret in percent of the regret of a point that never moves, if it"
            f" is above {LEARNS_LITTLE:.0%}; little is learned there: the exponent is vacuous.",
            footers.describe_interval(
                facts.confidence,
                len(fits),
                "exponents",
                "The intervals cover the randomness of the runs on these losses.",
            ),
            "The paper's bound is T^(1/2) + T^(1/3) d^(1/2) / ε^(2/3) without logarithms; its"
            " section 5 conjectures d^(1/3). A bound is for the worst losses, and these may not be"
            " the worst, so a smaller exponent does not prove that the bound is loose.",
            f"“{LAZY}”, Theorem 3.12. {OURS}.",
        ),
        numbers=fits,
    )


def _table_groups(fits: pd.DataFrame, algorithms: list[str]) -> Iterator[Group]:
    """Yield a group for each size that varies, with a line for each value of the others."""
    for axis, (symbol, named) in AXES.items():
        rows = fits[fits["exponent_in"] == axis]
        if rows.empty:
            continue
        others = [name for name in AXES if name != axis]
        lines = []
        for values, of_line in rows.groupby(others, sort=False):
            label = ", ".join(
                f"{AXES[name][0]} = {value:,g}" for name, value in zip(others, values, strict=True)
            )
            by_name = of_line.set_index("algorithm").to_dict("index")
            lines.append((label, tuple(_cell(by_name.get(name), named) for name in algorithms)))
        yield Group(f"{symbol} ({', '.join(map(str, named))})", tuple(lines))


def _cell(fit: Mapping[Any, Any] | None, named: tuple[Fraction, ...]) -> Entry:
    if fit is None:
        return Entry("—")
    slope, half = fit["exponent"], fit["ci_half_width"]
    inside = [str(exponent) for exponent in named if abs(slope - float(exponent)) <= half]
    notes = [f"in the interval: {', '.join(inside)}"] if inside else []
    if fit["sizes"] > 2:
        notes.append(f"off: {fit['curvature']:.0%}")
    if fit["share_of_still"] > LEARNS_LITTLE:
        notes.append(f"still: {fit['share_of_still']:.0%}")
    return Entry(f"{slope:.2f}{footers.plus_minus(half)}", tuple(notes))
