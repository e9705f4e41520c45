"""Choice of the entities of a stream that play."""

from __future__ import annotations

import difflib
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from dpol.core.errors import DataError
from dpol.data.settings import Cleaning
from dpol.data.table import RawTable

Selection: TypeAlias = Literal["counts", "warm-up", "given", "all"]

SELECTIONS: dict[Selection, str] = {
    "counts": "the entities with at least dataset.cleaning.min_total_cases over all periods, so"
    " the private counts decide who plays",
    "warm-up": "the entities with at least dataset.cleaning.min_total_cases up to"
    " dataset.cleaning.warm_up_last, in periods that are public and not played",
    "given": "those that dataset.cleaning.entities lists, whatever their counts",
    "all": "all entities, whatever their counts",
}
"""Origins of the list of entities. An entity without any capacity never plays."""
_MORE: dict[Selection, str] = {
    "counts": "lower dataset.cleaning.min_total_cases or ",
    "warm-up": "lower dataset.cleaning.min_total_cases, make the warm-up longer or ",
    "given": "list more of its entities under dataset.cleaning.entities or ",
    "all": "",
}
"""Ways to let more entities play, besides a correct column of capacities."""


def selection_of(rules: Cleaning) -> Selection:
    """The way in which the rules choose the entities that play."""
    if rules.entities == "all" or (rules.entities is None and rules.min_total_cases == 0):
        return "all"
    if rules.entities is not None:
        return "given"
    return "counts" if rules.warm_up_last is None else "warm-up"


def refuse_unknown(raw: RawTable, rows: pd.DataFrame, rules: Cleaning) -> None:
    """Refuse a list of entities of which some have no row in any stream.

    Raises:
        DataError: those identifiers, each with the nearest ones of the table.
    """
    known = sorted(rows["entity"].unique())
    lines = []
    for entity in sorted({*_listed(rules)} - {*known}):
        near = difflib.get_close_matches(entity, known, n=3, cutoff=0.5)
        hint = f"nearest: {', '.join(near)}" if near else f"such as: {', '.join(known[:3])}"
        lines.append(f"\n  {entity!r}; {hint}")
    if lines:
        raise DataError(
            f"{raw.file}: dataset.cleaning.entities lists {len(lines)} without a row in the chosen"
            f" groups and periods:{''.join(lines[:20])}"
        )


def _listed(rules: Cleaning) -> list[str]:
    return rules.entities if isinstance(rules.entities, list) else []


def choose(
    raw: RawTable, label: str, rows: pd.DataFrame, rules: Cleaning
) -> tuple[pd.DataFrame, list[dict[str, str]]]:
    """The rows that are played, and the entities that do not play, with the reason.

    Args:
        raw: the table, for messages.
        label: of the stream.
        rows: of the stream, the warm-up included.
        rules: of the cleaning.

    Raises:
        DataError: no period after the warm-up or none in it, an entity of the given list that
            never reports a capacity, or fewer than two entities left.
    """
    judged = played = rows
    if rules.warm_up_last is not None:
        judged, played = rows[rows["warm_up_rows"]], rows[~rows["warm_up_rows"]]
        if judged.empty or played.empty:
            what = "no period is left to play" if played.empty else "no period belongs to it"
            first, last = rows["period"].min().date(), rows["period"].max().date()
            raise DataError(
                f"{raw.file}: with dataset.cleaning.warm_up_last = {rules.warm_up_last} {what};"
                f" stream {label} has periods from {first} to {last}"
            )
    reasons = _reasons(judged, played, rules)
    out = reasons[reasons != ""]
    if without := sorted({*_listed(rules)} & {*out.index}):
        raise DataError(
            f"{raw.file}: dataset.cleaning.entities lists {', '.join(without[:20])}, but stream"
            f" {label} has no capacity above 0 for {'it' if len(without) == 1 else 'them'};"
            " take such entities out of the list, or check dataset.columns.capacity"
        )
    if (kept := len(reasons) - len(out)) < 2:
        more = f"{_MORE[selection_of(rules)]}check dataset.columns.capacity"
        remedy = more if len(reasons) > 1 else f"add groups to streams.{label}.groups"
        raise DataError(
            f"{raw.file}: stream {label} keeps {kept} of {len(reasons)} entities after filtering,"
            f" at least 2 are needed; {remedy}"
        )
    names = pd.concat([judged, played]).groupby("entity")["name"].last()
    dropped = [{"entity": it, "name": names[it], "reason": out[it]} for it in out.index]
    return played[~played["entity"].isin(out.index)], dropped


def _reasons(judged: pd.DataFrame, played: pd.DataFrame, rules: Cleaning) -> pd.Series[str]:
    """The reason why each entity does not play; empty for those that do."""
    entities = sorted({*judged["entity"], *played["entity"]})
    cases = judged.groupby("entity")["cases"].sum().reindex(entities, fill_value=0.0)
    capacity = played.groupby("entity")["capacity"].max().reindex(entities)
    kind = selection_of(rules)
    reasons = pd.Series("", index=entities, dtype=object)
    if kind in ("counts", "warm-up"):
        when = "in all" if kind == "counts" else "in the warm-up"
        few, least = cases < rules.min_total_cases, f"fewer than {rules.min_total_cases:.10g}"
        reasons[few] = cases[few].map(lambda total: f"{total:.10g} cases {when}, {least}")
    reasons[~(capacity > 0)] = "never reports a capacity above 0"
    if kind == "given":
        reasons[~np.isin(entities, _listed(rules))] = "not listed in dataset.cleaning.entities"
    return reasons
