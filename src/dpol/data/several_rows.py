"""One row for each entity and period: rows that repeat another are dropped, others are merged."""

from __future__ import annotations

import pandas as pd

from dpol.data.tables.parse import CELL_KINDS, OF_SUMS
from dpol.data.tables.settings import Cleaning

PAIR = ["entity", "period"]
"""Columns that name a cell of the panel."""
HIDDEN = ["suppressed_counts", "hidden_sum_counts", "uncovered_counts"]
"""Rules of counts that nobody published."""
_OF_CAPACITIES = [*(f"{kind}_capacities" for kind in (*CELL_KINDS, *OF_SUMS)), "zero_capacities"]


def one_row_each(rows: pd.DataFrame, rules: Cleaning) -> tuple[pd.DataFrame, dict[str, int]]:
    """Apply `several_rows` to the rows of a stream; `error`, which is asked about, as `last`.

    Args:
        rows: rows of the stream from `read_rows`.
        rules: cleaning rules.

    Returns:
        One row per entity and period, and the number of rows that each rule dropped.
    """
    repeated = repeats(rows, rules)
    unique = rows[~repeated]
    merged = int(unique.duplicated(PAIR).sum())
    one = _merge(unique, rules) if merged else unique
    return one, {"exact_duplicates": int(repeated.sum()), "merged_rows": merged}


def repeats(rows: pd.DataFrame, rules: Cleaning) -> pd.Series[bool]:
    """Return which rows repeat another in all columns of the table, and so count once."""
    return rows["repeated"] & (rules.equal_rows != "add")


def _merge(rows: pd.DataFrame, rules: Cleaning) -> pd.DataFrame:
    """Return the last row of each entity and period, with the numbers of all its rows."""
    last = rows.sort_values(["time", "row"], kind="stable").drop_duplicates(PAIR, keep="last")
    last = last.sort_index()
    if not rules.merges_rows:
        return last
    pairs = rows.assign(capacity=rows["capacity"].where(rows["capacity"] > 0)).groupby(PAIR)
    count = pairs["count"].agg(rules.several_rows)
    if rules.several_rows == "sum":
        count = count.where(pairs["count"].count() == pairs.size())
    rule = "max" if rules.several_rows == "max" else rules.several_capacities or "mean"
    capacity = pairs["capacity"].agg(rule)
    if rule == "sum":
        capacity = capacity.where(pairs["capacity"].count() == pairs.size())
    lost, missing = count.isna(), pairs["missing_counts"].any()
    indexed = last.set_index(PAIR)
    merged = indexed.assign(
        count=count,
        **{rule: pairs[rule].any() & ~lost for rule in [*HIDDEN, "summed_counts"]},
        missing_counts=missing & lost,
        negative_counts=~missing & lost,
        idle_counts=pairs["idle_counts"].any() & capacity.isna(),
        days=pairs["days"].min(),
        capacity=capacity,
        cases=pairs["cases"].agg(rules.several_rows),
        **{f"{kind}_cases": pairs[f"{kind}_cases"].sum() for kind in CELL_KINDS},
        **{column: indexed[column] & capacity.isna() for column in _OF_CAPACITIES},
    )
    return merged.reset_index().set_index(last.index)[last.columns]
