"""Which entities of a stream play."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
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
"""How the list of entities came about. An entity without any capacity never plays."""


def selection_of(rules: Cleaning) -> Selection:
    """How the entities that play are chosen."""
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
    if not isinstance(rules.entities, list):
        return
    held = set(rows["entity"])
    if unknown := [entity for entity in rules.entities if entity not in held]:
        known = sorted(held)
        lines = []
        for entity in unknown[:20]:
            near = difflib.get_close_matches(entity, known, n=3, cutoff=0.5)
            hint = f"nearest: {', '.join(near)}" if near else f"such as: {', '.join(known[:3])}"
            lines.append(f"  {entity!r}; {hint}")
        raise DataError(
            f"{raw.file}: dataset.cleaning.entities lists {len(unknown)} without a row in the"
            " chosen groups and periods:\n" + "\n".join(lines)
        )


def choose(
    raw: RawTable, label: str, rows: pd.DataFrame, rules: Cleaning
) -> tuple[pd.DataFrame, list[Mapping[str, str]]]:
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
    played = rows
    if rules.warm_up_last is not None:
        later = ~rows["warm_up_rows"]
        played = rows[later]
        if later.all() or not later.any():
            what = "no period is left to play" if played.empty else "no period belongs to it"
            first, last = rows["period"].min().date(), rows["period"].max().date()
            raise DataError(
                f"{raw.file}: with dataset.cleaning.warm_up_last = {rules.warm_up_last} {what};"
                f" stream {label} has periods from {first} to {last}"
            )
        rows = rows[~later]
    reasons = _reasons(rows, played, rules)
    out = reasons.index[reasons != ""]
    listed = set(rules.entities) if isinstance(rules.entities, list) else set()
    if without := sorted(listed & set(out)):
        raise DataError(
            f"{raw.file}: dataset.cleaning.entities lists {', '.join(without[:20])}, but stream"
            f" {label} has no capacity above 0 for {'it' if len(without) == 1 else 'them'};"
            " take such entities out of the list, or check dataset.columns.capacity"
        )
    if len(reasons) - len(out) < 2:
        raise DataError(_too_few(raw, label, len(reasons) - len(out), len(reasons), rules))
    names = pd.concat([rows, played]).groupby("entity")["name"].last()
    dropped: list[Mapping[str, str]] = [
        {"entity": entity, "name": names[entity], "reason": reasons[entity]} for entity in out
    ]
    return played[~played["entity"].isin(out)], dropped


def _reasons(judged: pd.DataFrame, played: pd.DataFrame, rules: Cleaning) -> pd.Series[str]:
    """Why each entity does not play; empty for those that do."""
    entities = sorted({*judged["entity"], *played["entity"]})
    cases = judged.groupby("entity")["cases"].sum().reindex(entities, fill_value=0.0)
    capacity = played.groupby("entity")["capacity"].max().reindex(entities)
    kind = selection_of(rules)
    reasons = pd.Series("", index=entities, dtype=object)
    if kind in ("counts", "warm-up"):
        when = "in all" if kind == "counts" else "in the warm-up"
        few = cases < rules.min_total_cases
        texts = cases.map(lambda total: f"{total:.10g} cases {when}")
        reasons[few] = texts[few] + f", fewer than {rules.min_total_cases:.10g}"
    reasons[~(capacity > 0)] = "never reports a capacity above 0"
    if isinstance(rules.entities, list):
        reasons[~np.isin(entities, rules.entities)] = "not listed in dataset.cleaning.entities"
    return reasons


def _too_few(raw: RawTable, label: str, kept: int, of: int, rules: Cleaning) -> str:
    remedy = {
        "counts": "lower dataset.cleaning.min_total_cases or check dataset.columns.capacity",
        "warm-up": "lower dataset.cleaning.min_total_cases, make the warm-up longer or check"
        " dataset.columns.capacity",
        "given": "list more of its entities under dataset.cleaning.entities",
        "all": "check dataset.columns.capacity",
    }[selection_of(rules)]
    if of < 2:
        remedy = f"add groups to streams.{label}.groups"
    return (
        f"{raw.file}: stream {label} keeps {kept} of {of} entities after filtering, at least 2 are"
        f" needed; {remedy}"
    )
