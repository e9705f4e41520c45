"""Table of the guarantees of each mechanism of a run, from its records in the summary."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from dpol.core.rounding import rounded_up
from dpol.core.words import counted
from dpol.show.footers import MODELS
from dpol.show.table import Column, Line, Table, TableCell, one_section
from dpol.show.words import each, mu_title

_NONE = TableCell("—")


def mechanisms_table(
    columns: Mapping[str, pd.DataFrame],
    levels: Sequence[float],
    *,
    name: str,
    title: str = "Guarantees of each mechanism",
) -> Table | None:
    """Build a table with a line per mechanism; None if no run has privacy noise.

    Args:
        columns: rows of the summary, by title of the table's column that shows them.
        levels: privacy levels in the order of the columns.
        name: name of the table.
        title: title of the table, unique on the page.
    """
    runs = pd.concat(columns, names=["column"]).reset_index("column")
    noisy = runs[runs["model"] != "none"]
    private = noisy[noisy["epsilon"] < math.inf]
    if private.empty:
        return None
    shown = [mu for mu in levels if (private["mu"] == mu).any()]
    names = map(str, runs.columns)
    rounds = [name for name in names if name.startswith("mu_") and name.endswith("_weeks")]
    # Columns of the summary may be empty: for a table of gains, or without stays.
    longer = rounds if noisy[rounds].notna().all(axis=1).any() else []
    carried = ["mu_carried"] if noisy["mu_carried"].notna().any() else []
    stays = ", ".join(column.split("_")[1] for column in rounds)
    lines: list[Line] = []
    for (mechanism, model), own in noisy.groupby(["mechanism", "model"], sort=False):
        # A mechanism has several lines if its guarantees differ between columns of the table.
        of_text: dict[tuple[TableCell, ...], list[str]] = {}
        for column, these in own.groupby("column", sort=False):
            of_text.setdefault(_guarantees(these, shown), []).append(str(column))
        for guarantees, titles in of_text.items():
            factors = [_factors(own, kind) for kind in (longer, carried) if kind]
            words = TableCell(str(model)), TableCell(", ".join(titles))
            lines.append((str(mechanism), (*words, *guarantees, _moved(own), *factors)))
    delta = each(map("{:g}".format, runs["delta"]))
    footers = [
        "μ: the requested level. Sensitivity: the largest change of the release between adjacent"
        " inputs. Each number is the largest of all runs, rounded up."
        f" {' '.join(f'{model.capitalize()}: {text}.' for model, text in MODELS.items())}"
    ]
    if longer:
        footers.append(
            f"Rounds: factor on μ, at most, for a person counted in {stays} rounds, in a row or"
            " not."
        )
    if carried:
        further = counted(int(noisy["carried_weeks"].max()), "further round")
        footers.append(
            "Carried: the guarantee takes the counts as true. If missing counts repeat the last"
            f" one, a person is counted in up to {further}, and this is the factor on μ at most."
        )
    return Table(
        caption=f"{title}: ε at δ = {delta}",
        name=name,
        corner=("mechanism",),
        headers=(
            Column("model", prose=True),
            Column("algorithms", prose=True),
            *map(mu_title, shown),
            Column("sensitivity", prose=True),
            *([Column(f"{stays} rounds", prose=True)] if longer else []),
            *(["carried"] if carried else []),
        ),
        sections=(one_section(lines),),
        footers=tuple(footers),
    )


def _guarantees(runs: pd.DataFrame, levels: Sequence[float]) -> tuple[TableCell, ...]:
    """Return epsilon at each level, with the guaranteed mu where it differs from the level."""
    cells = []
    for mu in levels:
        at_level = runs[runs["mu"] == mu]
        if not at_level["epsilon"].max() < math.inf:  # not run, or run without noise
            cells.append(TableCell("none"))
            continue
        largest, notes = at_level["guaranteed_mu"].max(), list[str]()
        if pd.isna(largest):
            notes = ["not Gaussian DP"]
        elif f"{largest:.3g}" != f"{mu:.3g}":
            notes = [f"guaranteed μ = {_most(at_level['guaranteed_mu'])}"]
        cells.append(TableCell(_most(at_level["epsilon"]), tuple(notes)))
    return tuple(cells)


def _moved(runs: pd.DataFrame) -> TableCell:
    units = runs.groupby("sensitivity_unit", sort=False)["sensitivity"]
    texts = [f"{_most(values)} ({unit})" for unit, values in units]
    return TableCell(", ".join(texts))


def _factors(runs: pd.DataFrame, columns: list[str]) -> TableCell:
    """Return the largest ratio of each column to the level, where known."""
    known = runs[runs[columns].notna().all(axis=1) & (runs["mu"] < math.inf)]
    if known.empty:
        return _NONE
    largest = known[columns].div(known["mu"], axis=0).max()
    return TableCell("× " + ", ".join(rounded_up(factor, 3) for factor in largest))


def _most(values: pd.Series) -> str:
    return rounded_up(values.max(), 3)
