"""The table of measured regrets beside the rates that the paper states."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from dpol.show import footers
from dpol.show.table import Entry, Group, Section, Table
from dpol.studies.lazy.settings import Lazy
from dpol.studies.lazy.shown import EXPERTS, OURS, PAPER, TITLES, Game
from dpol.studies.study import Facts, Frames

_COVERS = "The intervals cover the randomness of the runs on these losses, not other losses."


def regret_table(regrets: pd.DataFrame, game: Game) -> Table:
    """Measured regrets beside the rates.

    Raises:
        DataError: a column is missing, or the table is empty.
    """
    regrets = game.checked(regrets)
    algorithms = [name for name in TITLES if name in set(regrets["algorithm"])]
    sections = tuple(
        Section(f"{adversary} losses", f"d = {d}", _groups(rows, algorithms))
        for (adversary, d), rows in regrets.groupby(["adversary", "d"], sort=False)
    )
    new, prior = game.rates
    first = regrets.iloc[0]
    return Table(
        caption=f"Measured regret, {game.name}",
        name=f"lazy-{game.name}",
        corner=("losses", "T", "privacy"),
        headers=tuple(TITLES[name] for name in algorithms),
        sections=sections,
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
            f"{PAPER}, Table 1. {OURS}.",
        ),
    )


def _groups(regrets: pd.DataFrame, algorithms: Sequence[str]) -> tuple[Group, ...]:
    """A group for each T, a line for each epsilon."""
    return tuple(
        Group(
            f"{T:,}",
            tuple(
                (f"ε = {epsilon:g}", _entries(rows.set_index("algorithm"), algorithms))
                for epsilon, rows in of_rounds.groupby("epsilon")
            ),
        )
        for T, of_rounds in regrets.groupby("T")
    )


def _entries(rows: pd.DataFrame, algorithms: Sequence[str]) -> tuple[Entry, ...]:
    """The cells of a line; `rows` are by algorithm."""
    cells = []
    for name in algorithms:
        if name not in rows.index:
            cells.append(Entry("—"))
            continue
        row = rows.loc[name].to_dict()
        text = f"{row['mean_regret']:,.0f}{footers.plus_minus(row['ci_half_width'], 0)}"
        accounted = row.get("accounted_epsilon", math.nan)
        notes = () if pd.isna(accounted) else (f"accounted ε = {accounted:.3g}",)
        cells.append(Entry(text, notes))
    return tuple(cells)


def experts(frames: Frames, settings: Lazy, facts: Facts) -> Table:
    """The table of regrets for experts."""
    return replace(regret_table(frames["lazy"], EXPERTS), numbers=frames["lazy"])
