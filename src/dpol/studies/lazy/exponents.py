"""The table of fitted exponents: how measured regret grows with T and falls with epsilon."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from dpol.core.exponents import fit_exponent
from dpol.show import footers
from dpol.show.names import OURS
from dpol.show.papers import LAZY
from dpol.show.table import Entry, Group, Section, Table
from dpol.studies.lazy.settings import BLOCKS, LEADERS, PRESET, Lazy
from dpol.studies.lazy.shown import TITLES
from dpol.studies.study import Facts, Frames

FITTED = ("l2p-sound", PRESET, BLOCKS, *LEADERS)
"""Algorithms whose regrets are fitted."""
READINGS: Mapping[str, Mapping[str, float]] = {
    "T": {"T^(1/3)": 1 / 3, "T^(2/5)": 2 / 5, "T^(1/2)": 1 / 2},
    "epsilon": {"ε^(-2/3)": -2 / 3, "ε^(-4/5)": -4 / 5, "1/ε": -1.0},
}
"""Stated powers of each size: by Theorem 3.10, by footnote 1, and the root of T without privacy or
the power of epsilon in prior work."""
_OTHER = {"T": "epsilon", "epsilon": "T"}
_SIGNS = {"T": "T", "epsilon": "ε"}


def fitted_exponents(regrets: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return a row for each exponent that can be fitted, with intervals that hold together.

    A fit needs two sizes, and means above 0. Leaders share their noise between epsilons, so their
    half-width over k epsilons is sqrt(k) times the half-width for independent means, which covers
    any dependence (Cauchy-Schwarz).
    """
    kept = regrets[regrets["algorithm"].isin(FITTED)]
    games: list[tuple[dict[str, Any], pd.DataFrame]] = []
    for size, other in _OTHER.items():
        for names, rows in kept.groupby(["adversary", "d", other, "algorithm"], sort=False):
            if rows[size].nunique() > 1 and (rows["mean_regret"] > 0).all():
                adversary, d, at, algorithm = names
                game = {"adversary": adversary, "of": size, "d": d, "at": at}
                games.append(({**game, "algorithm": algorithm}, rows))
    fits = []
    for game, rows in games:
        dependent = game["of"] == "epsilon" and game["algorithm"] in LEADERS
        fit = fit_exponent(
            rows[game["of"]],
            rows["mean_regret"],
            rows["standard_error"] * (math.sqrt(len(rows)) if dependent else 1.0),
            replicates=int(rows["replicates"].iloc[0]),
            confidence=confidence,
            comparisons=len(games),
        )
        numbers = {"exponent": fit.slope, "half_width": fit.half_width, "curvature": fit.curvature}
        about = {"sizes": len(rows), "confidence": confidence, "ci_comparisons": len(games)}
        fits.append(game | numbers | about)
    return pd.DataFrame(fits)


def powers_within(row: Mapping[Any, Any]) -> list[str]:
    """Return the stated powers in the interval of a fitted exponent."""
    powers = READINGS[row["of"]].items()
    return [name for name, power in powers if abs(row["exponent"] - power) <= row["half_width"]]


def exponents_table(frames: Frames, settings: Lazy, facts: Facts) -> Table:
    """Build the table of exponents of regret in T and epsilon, with the powers of the paper."""
    regrets = frames["lazy"]
    exponents = fitted_exponents(regrets, facts.confidence)
    caption, corner = "Fitted exponents of regret, experts", ("losses", "experts", "at")
    if exponents.empty:
        return nothing_fitted(caption, "lazy-exponents", corner, exponents)
    first = exponents.iloc[0]
    algorithms = [name for name in TITLES if name in set(exponents["algorithm"])]
    sections = [
        Section(
            f"{adversary} losses", f"exponent of {_SIGNS[str(size)]}", _groups(rows, algorithms)
        )
        for (adversary, size), rows in exponents.groupby(["adversary", "of"], sort=False)
    ]
    return Table(
        caption=caption,
        name="lazy-exponents",
        corner=corner,
        headers=tuple(TITLES[name] for name in algorithms),
        sections=tuple(sections),
        footers=(
            "Least-squares slopes of log mean regret on log T or log ε. Below: the stated powers in"
            " the interval, and the largest distance of a mean from the line. A dash: only one"
            " size, a mean of 0 or less, or not played.",
            footers.describe_interval(
                first["confidence"],
                first["ci_comparisons"],
                "exponents",
                "They cover the randomness of the runs on these losses, not a bend in the growth.",
            ),
            *(_count(exponents, size) for size in READINGS if (exponents["of"] == size).any()),
            f"Stated: T^(1/3) and ε^(-2/3) by Theorem 3.10, T^(2/5) and ε^(-4/5) by footnote 1 of"
            f" “{LAZY}”; T^(1/2) is the rate without privacy, 1/ε is from prior work. {OURS}.",
        ),
        numbers=exponents,
    )


def nothing_fitted(
    caption: str, name: str, corner: tuple[str, ...], numbers: pd.DataFrame
) -> Table:
    """Return a table that says that no exponent can be fitted."""
    none = Group("", (("", (Entry("—", ("no mean is above 0 at two sizes",)),)),))
    return Table(
        caption=caption,
        name=name,
        corner=corner,
        headers=("exponent",),
        sections=(Section("none", "", (none,)),),
        numbers=numbers,
    )


def _groups(exponents: pd.DataFrame, algorithms: list[str]) -> tuple[Group, ...]:
    """Return a group for each d, a line for each fixed size, a cell for each algorithm."""
    groups = []
    for d, of_size in exponents.groupby("d"):
        lines = []
        for at, rows in of_size.groupby("at"):
            fits = {row["algorithm"]: row for row in rows.to_dict("records")}
            label = f"ε = {at:g}" if rows["of"].iloc[0] == "T" else f"T = {at:,.0f}"
            lines.append((label, tuple(_cell(fits.get(name)) for name in algorithms)))
        groups.append(Group(f"d = {d}", tuple(lines)))
    return tuple(groups)


def _cell(row: Mapping[Any, Any] | None) -> Entry:
    if row is None:
        return Entry("—")
    notes = [", ".join(powers_within(row)) or "no stated power"]
    if row["sizes"] > 2:
        notes.append(f"off by {math.expm1(row['curvature']):.0%}")
    text = f"{row['exponent']:.2f}{footers.plus_minus(row['half_width'])}"
    return Entry(text, tuple(notes))


def _count(exponents: pd.DataFrame, size: str) -> str:
    """Count the intervals of L2P that contain each stated power of a size."""
    ours = exponents[(exponents["of"] == size) & (exponents["algorithm"] == "l2p-sound")]
    within = list(itertools.chain(*map(powers_within, ours.to_dict("records"))))
    counts = (f"{power} in {within.count(power)}" for power in READINGS[size])
    return f"{TITLES['l2p-sound']}: of {len(ours)} intervals, {', '.join(counts)}."
