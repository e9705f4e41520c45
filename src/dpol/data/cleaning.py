"""Cleaning a raw table into the canonical panel, with every change counted.

The panel has one row per stream, period and entity, without gaps. The report lists each rule with
the number of cells it touched, and every entity dropped.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from dpol.core.errors import DataError
from dpol.core.logs import LOGGER
from dpol.core.words import counted, shortened
from dpol.data.filling import (
    check_calendar,
    entities_seen_seldom,
    fill,
    refuse_clipped,
    refuse_swapped,
    refuse_swapped_calendar,
)
from dpol.data.panel import RULES, CleanPanel, StreamReport
from dpol.data.parse_column import KINDS
from dpol.data.raw_table import RawTable
from dpol.data.selection import choose, refuse_unknown, selection_of
from dpol.data.settings import Dataset, Stream
from dpol.data.typed_rows import drop_rows, read_rows

_OF_ROWS = ["identified_rows", *(f"{kind}_cases" for kind in KINDS)]


def clean_panel(
    raw: RawTable,
    dataset: Dataset,
    streams: Mapping[str, Stream],
    capacities: RawTable | None = None,
    at_most: float = 1.0,
) -> CleanPanel:
    """Clean a raw table into the panel of the given streams.

    Only rows of the streams' groups are read, and only numbers within the periods.

    Args:
        raw: the table of counts.
        dataset: how the table is read and cleaned.
        streams: the streams, by label.
        capacities: the second table, if the dataset's columns name one.
        at_most: the largest count per capacity that a question of the run allows.

    Raises:
        DataError: a cell is neither number nor date where one belongs; an entity has no name; the
            rules refuse a negative number or conflicting rows; too many counts exceed the capacity;
            an entity, group or text of `drop_where` has several spellings; a name is garbled;
            dates have day and month swapped; a group or text of `drop_where` has no row; the
            second table lacks an entity; or a stream keeps fewer than two entities, no period or
            no count.
    """
    groups = {label: stream.groups for label, stream in streams.items()}
    kept = drop_rows(raw, dataset.cleaning, {group for named in groups.values() for group in named})
    rows = read_rows(kept, dataset, groups, capacities)
    refuse_unknown(raw.file, rows["entity"], dataset.cleaning)
    tables, reports = [], []
    for label, stream in streams.items():
        of_stream = rows[rows["group"].isin(stream.groups)]
        table, report = _clean_stream(raw.file, label, of_stream, dataset, at_most)
        tables.append(table)
        reports.append(report)
    return CleanPanel(
        table=pd.concat(tables, ignore_index=True),
        rows_read=len(raw.cells),
        rows_dropped=len(raw.cells) - len(kept.cells),
        rows_outside=len(kept.cells) - len(rows),
        reports=tuple(reports),
    )


def _clean_stream(
    file: str, label: str, rows: pd.DataFrame, dataset: Dataset, at_most: float
) -> tuple[pd.DataFrame, StreamReport]:
    rules, periods = dataset.cleaning, dataset.periods
    unique, duplicates = _without_duplicates(file, rows, rules.conflicting_duplicates == "last")
    played, dropped = choose(file, label, unique, rules)
    if played["count"].isna().all() and not played["suppressed_counts"].any():
        raise DataError(
            f"{file}: stream {label} has no counts: all {len(played):,} cells are missing. Check"
            " dataset.columns.count and dataset.cleaning.missing_markers"
        )
    if periods.swapped == "error":
        refuse_swapped_calendar(file, label, played, periods)
        refuse_swapped(file, label, played)
    missing, sparse = check_calendar(file, label, played, periods)
    seldom = entities_seen_seldom(played)
    for what, texts in (("periods missing", missing), ("entities in few periods", seldom)):
        if texts:
            LOGGER.warning("%s: stream %s: %s: %s", file, label, what, "; ".join(texts))
    for day in sparse:
        LOGGER.warning("%s: stream %s: almost no entity has a row in the period %s; check its date",
                       file, label, day)  # fmt: skip
    filled = fill(played, rules, periods, at_most)
    refuse_clipped(file, label, filled, rules.max_clipped, at_most)
    by_entity = unique[unique["entity"].isin(played["entity"])].groupby("entity")
    counts = {
        **duplicates,
        **played[played.columns.intersection([*RULES])].sum(),
        **unique[_OF_ROWS].sum(),
        **filled.cells,
        "moved_entities": by_entity["moved"].any().sum(),
        "renamed_entities": (by_entity["name"].nunique() > 1).sum(),
    }
    filled.table.insert(0, "stream", label)
    capacities = dataset.needed_columns.capacity is not None
    smallest = filled.table.groupby("period")["capacity"].min()
    report = StreamReport(
        stream=label,
        entities=played["entity"].nunique(),
        periods=played["period"].nunique(),
        cells={rule: int(counts[rule]) for rule in RULES},
        dropped=tuple(dropped),
        selection=selection_of(rules),
        max_carry=rules.max_carry,
        missing_periods=missing,
        sparse_periods=sparse,
        sparse_entities=seldom,
        smallest_capacity=float(smallest.min()) if capacities else None,
        smallest_of_periods=(float(smallest.min()), float(smallest.max())) if capacities else None,
        largest_density=float(filled.table["density"].max()) if capacities else None,
    )
    return filled.table, report


def _without_duplicates(
    file: str, rows: pd.DataFrame, keep_last: bool
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return one row per entity and period, and the number of duplicates dropped, by rule."""
    pair = ["entity", "period"]
    values = [*pair, "count", "suppressed_counts", "capacity", "cases"]
    unique = rows.drop_duplicates(values, keep="last")
    twice = unique[unique.duplicated(pair, keep=False)]
    exact = len(rows) - len(unique)
    if twice.empty:
        return unique, {"exact_duplicates": exact, "conflicting_duplicates": 0}
    if not keep_last:
        entity, period = twice.iloc[0][pair]
        same = twice[(twice["entity"] == entity) & (twice["period"] == period)]
        raise DataError(
            f"{file}, rows {' and '.join(map(str, sorted(same['row'])[:3]))}: {shortened(entity)}"
            f" has different numbers for the period {period.date()}"
            f" ({counted(twice.groupby(pair).ngroups, 'such pair')} of entity and period). Correct"
            " the table, or set dataset.cleaning.conflicting_duplicates: last to keep the last row"
        )
    last = rows.sort_values("row", kind="stable").drop_duplicates(pair, keep="last")
    one = rows[rows.index.isin(last.index)]
    return one, {"exact_duplicates": exact, "conflicting_duplicates": len(unique) - len(one)}
