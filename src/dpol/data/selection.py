"""Choosing the entities of a stream that play."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpol.core.errors import DataError
from dpol.core.near import did_you_mean
from dpol.core.words import counted
from dpol.data.bad_cells import Texts
from dpol.data.panel import Selection
from dpol.data.settings import Cleaning


def selection_of(rules: Cleaning) -> Selection:
    """Return how the rules choose the entities that play."""
    if isinstance(rules.entities, list):
        return "given"
    return "all" if rules.entities == "all" or rules.min_total_cases == 0 else "counts"


def refuse_unknown(file: str, entities: Texts, rules: Cleaning) -> None:
    """Refuse a list of entities if some have no row in any stream.

    Raises:
        DataError: an entity has no row; the text lists such identifiers, each with the most
            similar one in the table.
    """
    there = sorted(entities.unique())
    if unknown := sorted({*_listed(rules)} - {*there}):
        lines = "".join(f"\n  {name!r}{did_you_mean(name, there)}" for name in unknown[:20])
        raise DataError(
            f"{file}: correct dataset.cleaning.entities, which lists"
            f" {counted(len(unknown), 'entity')} without a row in the chosen groups and"
            f" periods:{lines}"
        )


def _listed(rules: Cleaning) -> list[str]:
    return rules.entities if isinstance(rules.entities, list) else []


def choose(
    file: str, label: str, rows: pd.DataFrame, rules: Cleaning
) -> tuple[pd.DataFrame, list[dict[str, str]]]:
    """Return the rows of the entities that play, and why the other entities do not.

    Args:
        file: path of the table, for messages.
        label: label of the stream.
        rows: rows of the stream.
        rules: cleaning rules.

    Raises:
        DataError: a listed entity never reports a capacity, or fewer than two entities are left.
    """
    by_entity = rows.groupby("entity")
    cases, capacity = by_entity["cases"].sum(), by_entity["capacity"].max()
    selection = selection_of(rules)
    reasons = pd.Series("", index=cases.index, dtype=object)
    if selection == "counts":
        few, least = cases < rules.min_total_cases, f"fewer than {rules.min_total_cases:.10g}"
        reasons[few] = cases[few].map(lambda total: f"{total:.10g} cases in all, {least}")
    reasons[~(capacity > 0)] = "never reports a capacity above 0"
    if selection == "given":
        reasons[~np.isin(reasons.index, _listed(rules))] = "not listed in dataset.cleaning.entities"
    out = reasons[reasons != ""]
    if without := sorted({*_listed(rules)} & {*out.index}):
        raise DataError(
            f"{file}: dataset.cleaning.entities lists {', '.join(without[:20])}, but stream"
            f" {label} has no capacity above 0 for them; remove them from the list, or check"
            " dataset.columns.capacity"
        )
    if (kept := len(reasons) - len(out)) < 2:
        raise DataError(
            f"{file}: stream {label} keeps {kept} of {len(reasons)} entities, but needs at least 2."
            " Lower dataset.cleaning.min_total_cases, list more in dataset.cleaning.entities, add"
            f" groups to streams.{label}.groups, or check dataset.columns.capacity"
        )
    names = by_entity["name"].last()[out.index]
    dropped = [
        {"entity": entity, "name": name, "reason": reason}
        for entity, name, reason in zip(out.index.tolist(), names, out, strict=True)
    ]
    return rows[~rows["entity"].isin(out.index)], dropped
