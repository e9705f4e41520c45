"""Rates of the second paper with measured regrets, and what its presets really guarantee."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from dpol.core.frames import check_frame
from dpol.show import footers
from dpol.show.papers import LAZY
from dpol.show.table import Entry, Group, Section, TextTable

PAPER = f"“{LAZY}”"
RATES: Mapping[str, tuple[str, str]] = {
    "experts": (
        "sqrt(T log d) + T^(1/3) log(d) / ε^(2/3)",
        "sqrt(T log d) + min(sqrt(d), T^(1/3)) log(d) / ε",
    ),
    "convex": (
        "sqrt(T) + T^(1/3) sqrt(d) / ε^(2/3)",
        "min(d^(1/4) sqrt(T) / sqrt(ε), sqrt(T) + T^(1/3) sqrt(d) / ε + T^(3/8) sqrt(d) / ε^(3/4))",
    ),
}
"""The paper's Table 1: rates of L2P and of prior work; logarithms of T and 1/delta left out."""

SETTINGS: Mapping[str, str] = {"lazy": "experts", "convex": "convex"}
"""What the rates are for, by the study that measures regrets."""

_TITLES: Mapping[str, str] = {
    "l2p-sound": "L2P, sound accountant †",
    "l2p-published": "L2P, published accountant",
    "l2p-theorem-3.10": "L2P, Theorem 3.10",
    "l2p-theorem-3.12": "L2P, Theorem 3.12",
    "tree-ftpl-min-noise": "tree FTPL",
    "dp-ftrl": "DP-FTRL",
    "multiplicative-weights": "no privacy",
    "gradient-descent": "no privacy",
}
_NEEDED = (
    *("T", "d", "epsilon", "delta", "algorithm", "mean_regret", "ci_half_width", "replicates"),
    *("confidence", "ci_comparisons"),
)
_COVERS = "The intervals cover the randomness of the runs on these losses, not other losses."


def regret_table(regrets: pd.DataFrame, setting: str) -> TextTable:
    """Measured regrets beside the rates.

    Args:
        regrets: table of `study_lazy` (setting `experts`) or `study_convex` (`convex`).
        setting: a key of `RATES`.

    Raises:
        DataError: a column is missing, or the table is empty.
    """
    kind = "adversary" if setting == "experts" else "family"
    check_frame(regrets, (kind, *_NEEDED), f"{setting} regrets")
    algorithms = [name for name in _TITLES if name in set(regrets["algorithm"])]
    sections = []
    for (losses, d), of_size in regrets.groupby([kind, "d"], sort=False):
        groups = []
        for T in sorted(set(of_size["T"])):
            rows = of_size[of_size["T"] == T]
            lines = [
                (f"ε = {epsilon:g}", _entries(rows[rows["epsilon"] == epsilon], algorithms))
                for epsilon in sorted(set(rows["epsilon"]))
            ]
            groups.append(Group(f"{T:,}", tuple(lines)))
        sections.append(Section(f"{losses} losses", f"d = {d}", tuple(groups)))
    new, prior = RATES[setting]
    first = regrets.iloc[0]
    return TextTable(
        caption=f"Measured regret, {setting}",
        name=f"lazy-{setting}",
        corner=("losses", "T", "privacy"),
        headers=tuple(_TITLES[name] for name in algorithms),
        sections=tuple(sections),
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
            f"{PAPER}, Table 1. †: ours, not in the paper.",
        ),
    )


def _entries(rows: pd.DataFrame, algorithms: Sequence[str]) -> tuple[Entry, ...]:
    cells = []
    for name in algorithms:
        found = rows[rows["algorithm"] == name]
        if found.empty:
            cells.append(Entry("—"))
            continue
        row = found.iloc[0]
        text = f"{row['mean_regret']:,.0f}{footers.plus_minus(row['ci_half_width'], 0)}"
        accounted = row.get("accounted_epsilon", math.nan)
        notes = () if pd.isna(accounted) else (f"accounted ε = {accounted:.3g}",)
        cells.append(Entry(text, notes))
    return tuple(cells)
