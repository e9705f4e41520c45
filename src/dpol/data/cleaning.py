"""Cleaning: from the raw table to the canonical panel, with every change counted.

The panel has one row per stream, period and entity, without holes. What was done to
get there is in the report: each rule, the cells it touched, and every entity dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pandas as pd

from dpol.core.errors import DataError
from dpol.core.logs import LOGGER
from dpol.core.words import counted, shortened
from dpol.data.cells import (
    BadCells,
    Numbers,
    Texts,
    parse_dates,
    parse_numbers,
    read_dates,
    refuse_cells,
    remedies,
)
from dpol.data.filling import check_calendar, fill, refuse_clipped, refuse_swapped
from dpol.data.identifiers import garbled, identified, refuse_alike, refuse_lost_groups
from dpol.data.periods import EARLIEST, LATEST, Periods, Weekday
from dpol.data.selection import Selection, choose, refuse_unknown, selection_of
from dpol.data.settings import Cleaning, Columns, Dataset, Stream
from dpol.data.table import RawTable

NO_GROUP = "all"

RULES = {
    "exact_duplicates": "repeated rows dropped",
    "conflicting_duplicates": "rows dropped for a later row of the same entity and period with"
    " other numbers",
    "identified_rows": "rows whose entity has the identifier that dataset.cleaning.identifiers"
    " gives",
    "warm_up_rows": "rows of the warm-up, not played",
    "aligned_rows": "rows of weeks that began on another day, moved to periods.align",
    "moved_entities": "entities with rows in several groups, shown in their latest",
    "renamed_entities": "entities with several names, shown by their latest",
    "suppressed_cases": "suppressed cells of dataset.columns.cases, added as"
    " cleaning.suppressed_value",
    "missing_cases": "missing cells of dataset.columns.cases, added as 0",
    "negative_cases": "negative cells of dataset.columns.cases, added as 0",
    "absent_rows": "rows that an entity lacks, their counts and capacities missing",
    "missing_counts": "cells without a count",
    "negative_counts": "negative counts taken as missing",
    "suppressed_counts": "suppressed counts set to cleaning.suppressed_value",
    "carried_counts": "missing counts carried forward (at most cleaning.max_carry periods)",
    "zero_counts": "missing counts set to 0",
    "missing_capacities": "cells without a capacity",
    "negative_capacities": "negative capacities taken as missing",
    "suppressed_capacities": "suppressed capacities taken as missing",
    "zero_capacities": "capacities of 0 taken as missing",
    "carried_capacities": "missing capacities carried forward",
    "backfilled_capacities": "capacities missing at the start taken from the first known one",
    "clipped_densities": "densities above 1 clipped to 1",
}
"""Counters of the cleaning rules. Duplicates, the warm-up and cases are counted in all rows of the
stream, everything else in the cells of the entities that play. Numbers of missing and of filled
cells agree: absent, missing and negative counts are carried or 0; absent, missing, negative,
suppressed and zero capacities are carried or backfilled."""

_KINDS = ("suppressed", "missing", "negative")
_OF_ROWS = [
    "identified_rows",
    "warm_up_rows",
    "aligned_rows",
    *(f"{kind}_cases" for kind in _KINDS),
]


@dataclass(frozen=True)
class StreamReport:
    """Report on the cleaning of one stream: cells by rule, entities dropped and why, and the rest.

    Args:
        stream: its label.
        entities: that play.
        periods: that are played.
        cells: how many each of `RULES` touched.
        dropped: entities that do not play: entity, name and reason.
        selection: how the list of entities came about, see `dpol.data.selection.SELECTIONS`.
        max_carry: for how many periods a missing count repeats the last one, at most.
        missing_periods: gaps of the calendar, in words.
        sparse_periods: periods in which almost no entity has a row, in words.
        smallest_capacity: of a cell.
        largest_density: of a cell.
    """

    stream: str
    entities: int
    periods: int
    cells: Mapping[str, int]
    dropped: tuple[Mapping[str, str], ...]
    selection: Selection
    max_carry: int
    missing_periods: tuple[str, ...]
    sparse_periods: tuple[str, ...]
    smallest_capacity: float
    largest_density: float


@dataclass(frozen=True)
class CleanPanel:
    """The canonical panel and the reports of its streams.

    `table` has the columns of `dpol.data.panel.PANEL`.
    """

    table: pd.DataFrame
    rows_read: int
    rows_outside: int
    reports: tuple[StreamReport, ...] = ()


def clean_panel(raw: RawTable, dataset: Dataset, streams: Mapping[str, Stream]) -> CleanPanel:
    """Clean a raw table into the panel of the given streams.

    Only rows of the streams' groups are looked at, and only numbers within the periods.

    Raises:
        DataError: text where a number or date belongs, an entity without a name, a negative
            number or different rows for one cell where the rules refuse them, too many counts
            above the capacity, an entity with several spellings, a garbled name, a date with day
            and month swapped, a group without a row, or a stream that keeps fewer than two
            entities or no period.
    """
    chosen = _chosen(raw, dataset, {group for it in streams.values() for group in it.groups})
    rows = {label: chosen[chosen["group"].isin(it.groups)] for label, it in streams.items()}
    for label, own in rows.items():
        if lost := sorted({*streams[label].groups} - {*own["group"]}):
            if dataset.needed_columns.group:
                refuse_cells(raw, [garbled(_groups(raw, dataset), raw)])
            if own.empty:
                raise DataError(_nothing_left(raw, label, streams[label], dataset))
            refuse_lost_groups(raw, label, lost, _known_groups(raw, dataset))
    refuse_unknown(raw, chosen, dataset.cleaning)
    parts = [_clean_stream(label, own, raw, dataset) for label, own in rows.items()]
    return CleanPanel(
        pd.concat([table for table, _ in parts], ignore_index=True),
        len(raw.cells),
        len(raw.cells) - len(chosen),
        tuple(report for _, report in parts),
    )


def _groups(raw: RawTable, dataset: Dataset) -> pd.Series[str]:
    name = dataset.needed_columns.group
    return raw.cells[name].str.strip() if name else pd.Series(NO_GROUP, index=raw.cells.index)


def _nothing_left(raw: RawTable, label: str, stream: Stream, dataset: Dataset) -> str:
    known = ", ".join(map(shortened, _known_groups(raw, dataset)[:60])) or "none"
    dates = _periods(raw, dataset).dropna()
    held = "none" if dates.empty else f"{dates.min().date()} to {dates.max().date()}"
    return (
        f"{raw.file}: no row for stream {label} (group {', '.join(stream.groups)}, periods"
        f" {dataset.periods.first or 'any'} to {dataset.periods.last or 'any'});"
        f" groups within these periods: {known}; the table's periods: {held}."
        f" Change streams.{label}.groups or dataset.periods"
    )


def _periods(raw: RawTable, dataset: Dataset) -> pd.Series[pd.Timestamp]:
    """The period of each row of the whole table; NaT where it has no date."""
    name = dataset.needed_columns.period
    period = parse_dates(raw.cells[name].str.strip(), raw.dates_of(name))
    return _aligned(period, dataset.periods)


def _known_groups(raw: RawTable, dataset: Dataset) -> list[str]:
    """The groups with a row within the periods."""
    inside = _groups(raw, dataset)[_inside(_periods(raw, dataset), dataset.periods)]
    return sorted(group for group in inside.unique() if group)


def _inside(period: pd.Series[pd.Timestamp], periods: Periods) -> pd.Series[bool]:
    first, last = periods.first or EARLIEST, periods.last or LATEST
    return period.between(pd.Timestamp(first), pd.Timestamp(last))


def _aligned(period: pd.Series[pd.Timestamp], periods: Periods) -> pd.Series[pd.Timestamp]:
    """Starts of weeks, moved to the nearest day of the week that `periods.align` names, if any."""
    if periods.align is None:
        return period
    late = (period.dt.day_of_week - get_args(Weekday).index(periods.align)) % 7
    return period - pd.to_timedelta(late.where(late <= 3, late - 7), unit="D")


def _chosen(raw: RawTable, dataset: Dataset, groups: set[str]) -> pd.DataFrame:
    """The rows of the groups within the periods, parsed, by period and entity.

    Columns: group, entity, name, period, count, capacity, cases, row (of the raw table), whether
    the entity has rows in several groups, and for each rule of rows and cells how many cells of
    the row it concerns.
    """
    columns, rules = dataset.needed_columns, dataset.cleaning
    group = _groups(raw, dataset).set_axis(range(len(raw.cells)))
    group = group[group.isin(groups)]
    cells = raw.cells.iloc[group.index].set_axis(group.index).apply(lambda it: it.str.strip())
    day, of = columns.period, raw.format_of
    start, undated = read_dates(cells[day], "dataset.columns.period", raw.dates_of(day))
    period = _aligned(start, dataset.periods)
    inside = _inside(period, dataset.periods)
    cells, period, group = cells[inside], period[inside], group[inside]
    entity = identified(cells[columns.entity], rules)
    nameless = _nameless(entity)
    count = parse_numbers(cells[columns.count], rules, of(columns.count))
    capacity = parse_numbers(cells[columns.capacity], rules, of(columns.capacity), capacity=True)
    cases = [parse_numbers(cells[name], rules, of(name)) for name in columns.cases or ()]
    numbers = [count, capacity, *cases]
    # A column may be both the count and one of the cases.
    bad = {it.bad.texts.name: it.bad for it in numbers}.values()
    unread = _unread(raw, cells, columns)
    refuse_cells(raw, [undated, nameless, *unread, *bad], remedies(numbers, rules))
    refuse_alike(raw, entity, rules)
    parsed = pd.DataFrame(
        {
            "group": group,
            "entity": entity,
            "name": cells[columns.name or columns.entity],
            "period": period,
            "start": start[inside],
            "row": cells.index,
            "moved": group.groupby(entity).transform("nunique") > 1,
            "identified_rows": entity != cells[columns.entity],
            "aligned_rows": period != start[inside],
            "warm_up_rows": period <= pd.Timestamp(rules.warm_up_last or pd.Timestamp.min),
            **_parsed(count, capacity, cases, rules),
        }
    )
    return parsed.sort_values(["period", "entity", "group", "name"], kind="stable")


def _nameless(entity: Texts) -> BadCells:
    return BadCells(entity[entity == ""], "the name of an entity", "Name the entity of each row.")


def _unread(raw: RawTable, cells: pd.DataFrame, columns: Columns) -> list[BadCells]:
    """Garbled cells of the columns of identifiers and names."""
    found = [garbled(cells[columns.entity], raw)]
    # A name is only shown: published tables in UTF-8 hold a few that were garbled long before.
    if columns.name not in (None, columns.entity) and raw.format.encoding != "utf-8":
        found.append(garbled(cells[columns.name], raw))
    return found


def _parsed(
    count: Numbers, capacity: Numbers, cases: list[Numbers], rules: Cleaning
) -> dict[str, Any]:
    """Count, capacity and cases of the rows, and the cells that each rule concerns."""
    total = sum(
        np.where(it.flags["suppressed"], rules.suppressed_value, np.nan_to_num(it.values))
        for it in cases or [count]
    )
    parsed = {
        "count": count.values,
        "capacity": capacity.values,
        "cases": total * rules.case_factor,
        "zero_capacities": capacity.values == 0,
    }
    for kind in _KINDS:
        parsed[f"{kind}_cases"] = sum(it.flags[kind].astype(int) for it in cases)
        parsed[f"{kind}_counts"] = count.flags[kind]
        parsed[f"{kind}_capacities"] = capacity.flags[kind]
    return parsed


def _clean_stream(
    label: str, rows: pd.DataFrame, raw: RawTable, dataset: Dataset
) -> tuple[pd.DataFrame, StreamReport]:
    rules, columns, days = dataset.cleaning, dataset.needed_columns, dataset.periods.days
    unique, duplicates = _without_duplicates(rows, raw, rules)
    played, dropped = choose(raw, label, unique, rules)
    refuse_swapped(raw, label, played, dataset.periods)
    missing, sparse = check_calendar(raw, label, played, days)
    for day in sparse:
        LOGGER.warning("%s: stream %s: almost no entity has a row in the period %s; check its date",
                       raw.file, label, day)  # fmt: skip
    periods = np.sort(played["period"].unique())
    filled = fill(played, periods, rules, days)
    refuse_clipped(raw, label, filled, rules.max_clipped, (columns.count, columns.capacity))
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
    report = StreamReport(
        stream=label,
        entities=played["entity"].nunique(),
        periods=len(periods),
        cells={rule: int(counts[rule]) for rule in RULES},
        dropped=tuple(dropped),
        selection=selection_of(rules),
        max_carry=rules.max_carry,
        missing_periods=missing,
        sparse_periods=sparse,
        smallest_capacity=float(filled.table["capacity"].min()),
        largest_density=float(filled.table["density"].max()),
    )
    return filled.table, report


def _without_duplicates(
    rows: pd.DataFrame, raw: RawTable, rules: Cleaning
) -> tuple[pd.DataFrame, dict[str, int]]:
    """One row of each entity and period, and how many rows of each kind were dropped."""
    pair = ["entity", "period"]
    values = [*pair, "start", "count", "suppressed_counts", "capacity", "cases"]
    unique = rows.drop_duplicates(values, keep="last")
    twice = unique[unique.duplicated(pair, keep=False)]
    exact = len(rows) - len(unique)
    if twice.empty:
        return unique, {"exact_duplicates": exact, "conflicting_duplicates": 0}
    pairs = twice.groupby(pair).ngroups
    if rules.conflicting_duplicates == "error":
        entity, period = twice.iloc[0][pair]
        same = twice[(twice["entity"] == entity) & (twice["period"] == period)]
        lines = raw.lines(sorted(same["row"])[:3])
        places = " and ".join(map(str, sorted(lines.values())))
        what = "different numbers" if same["start"].nunique() == 1 else "several weeks, aligned,"
        raise DataError(
            f"{raw.file}, rows {places}: {shortened(entity)} has {what} for the period"
            f" {period.date()} ({counted(pairs, 'such pair')} of entity and period). Correct the"
            " table, or keep the last row of each with dataset.cleaning.conflicting_duplicates:"
            " last"
        )
    last = rows.sort_values("row", kind="stable").drop_duplicates(pair, keep="last")
    one = rows[rows.index.isin(last.index)]
    return one, {"exact_duplicates": exact, "conflicting_duplicates": len(unique) - len(one)}
