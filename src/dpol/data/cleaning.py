"""From the raw table to the canonical panel, every change counted.

The panel has one row per stream, period and entity, without holes. What was done to
get there is in the report: each rule, the cells it touched, and every entity dropped.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.config import Cleaning, Dataset, Periods, Stream
from dpol.data.table import RawTable, read_dates
from dpol.errors import DataError
from dpol.randomness import Floats

Flags = NDArray[np.bool_]
NO_GROUP = "all"

RULES = {
    "exact_duplicates": "repeated rows dropped",
    "suppressed_counts": "suppressed counts set to cleaning.suppressed_value",
    "carried_counts": "missing counts carried forward (at most cleaning.max_carry periods)",
    "zero_counts": "missing counts set to 0",
    "carried_capacities": "missing or zero capacities carried forward",
    "backfilled_capacities": "capacities missing at the start taken from the first known one",
    "clipped_densities": "densities above 1 clipped to 1",
}


@dataclass(frozen=True)
class StreamReport:
    """What cleaning did to one stream: cells by rule, entities dropped and why, and the rest."""

    stream: str
    entities: int
    periods: int
    cells: Mapping[str, int]
    dropped: tuple[Mapping[str, str], ...]
    missing_periods: tuple[str, ...]
    smallest_capacity: float
    largest_density: float


@dataclass(frozen=True)
class CleanPanel:
    """The canonical panel and the reports of its streams.

    `table` has the columns of `dpol.data.panel.PANEL_COLUMNS`.
    """

    table: pd.DataFrame
    rows_read: int
    rows_outside: int
    reports: tuple[StreamReport, ...] = field(default=())


def clean_panel(raw: RawTable, dataset: Dataset, streams: Mapping[str, Stream]) -> CleanPanel:
    """Clean a raw table into the panel of the given streams.

    Raises:
        DataError: text where a number or date belongs, a negative number, conflicting
            duplicates, or a stream that keeps fewer than two entities or no period.
    """
    where = _locate(raw, dataset)
    inside = _inside(where["period"], dataset.periods)
    wanted = {group for stream in streams.values() for group in stream.groups}
    chosen = _parse(raw, dataset, where[inside & where["group"].isin(wanted)])
    tables, reports = [], []
    for label, stream in streams.items():
        own = chosen[chosen["group"].isin(stream.groups)]
        if own.empty:
            raise DataError(_nothing_left(raw, label, stream, where, dataset))
        table, report = _clean_stream(label, own, raw, dataset)
        tables.append(table)
        reports.append(report)
    return CleanPanel(
        pd.concat(tables, ignore_index=True),
        len(raw.cells),
        len(raw.cells) - len(chosen),
        tuple(reports),
    )


def _nothing_left(
    raw: RawTable, label: str, stream: Stream, where: pd.DataFrame, dataset: Dataset
) -> str:
    inside = where[_inside(where["period"], dataset.periods)]
    known = ", ".join(sorted(inside["group"].unique())[:60]) or "none"
    first, last = where["period"].min(), where["period"].max()
    return (
        f"{raw.file}: no row for stream {label} (group {', '.join(stream.groups)}, periods"
        f" {dataset.periods.first or 'any'} to {dataset.periods.last or 'any'});"
        f" groups within these periods: {known}; the table's periods: {first.date()} to"
        f" {last.date()}. Change streams.{label}.groups or dataset.periods"
    )


def _inside(period: pd.Series[Any], periods: Periods) -> pd.Series[bool]:
    first = pd.Timestamp(periods.first or pd.Timestamp.min)
    last = pd.Timestamp(periods.last or pd.Timestamp.max)
    return period.between(first, last)


def _locate(raw: RawTable, dataset: Dataset) -> pd.DataFrame:
    """Entity, group and period of every row, and its number."""
    columns = dataset.needed_columns
    entity = raw.cells[columns.entity].str.strip()
    empty = np.flatnonzero(entity == "")
    if len(empty):
        raise DataError(f"{raw.place(empty[0])}: column {columns.entity} is empty; name the entity")
    return pd.DataFrame(
        {
            "group": raw.cells[columns.group].str.strip() if columns.group else NO_GROUP,
            "entity": entity,
            "period": read_dates(raw, columns.period, "dataset.columns.period"),
            "row": np.arange(len(entity)),
        }
    )


def _parse(raw: RawTable, dataset: Dataset, where: pd.DataFrame) -> pd.DataFrame:
    """The located rows with name, count, suppressed, capacity and cases, by period and entity."""
    columns, rules = dataset.needed_columns, dataset.cleaning
    cells = raw.cells.iloc[where["row"]].apply(lambda column: column.str.strip())
    count, suppressed = _numbers(raw, cells, columns.count, rules)
    capacity, _ = _numbers(raw, cells, columns.capacity, rules)
    cases = np.zeros(len(cells))
    for name in columns.cases or [columns.count]:
        values, hidden = _numbers(raw, cells, name, rules)
        cases += np.where(hidden, rules.suppressed_value, np.nan_to_num(values))
    parsed = where.assign(
        name=cells[columns.name or columns.entity],
        count=count,
        suppressed=suppressed,
        capacity=capacity,
        cases=cases * rules.case_factor,
    )
    return parsed.sort_values(["period", "entity", "name"], kind="stable")


def _numbers(
    raw: RawTable, cells: pd.DataFrame, column: str, rules: Cleaning
) -> tuple[Floats, Flags]:
    """A column as numbers, NaN where missing or suppressed, and where it is suppressed."""
    texts = cells[column]
    values = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=float)
    missing = texts.isin(rules.missing_markers).to_numpy()
    # The same marker may be printed as -999999 or -999999.0.
    as_numbers = pd.to_numeric(pd.Series(rules.suppressed_markers), errors="coerce").dropna()
    suppressed = texts.isin(rules.suppressed_markers).to_numpy() | np.isin(values, as_numbers)
    known = ~missing & ~suppressed
    wrong = np.flatnonzero(known & ~(np.isfinite(values) & (values >= 0)))
    if len(wrong):
        place, text = raw.place(int(cells.index[wrong[0]])), texts.iloc[wrong[0]]
        found = f"holds {text!r}, not a number of at least 0" if text else "is empty"
        value = "the value" if text else '""'
        raise DataError(
            f"{place}: column {column} {found} ({len(wrong)} such cells). Mend the table, or list"
            f" {value} under dataset.cleaning.missing_markers or suppressed_markers"
        )
    return np.where(known, values, np.nan), suppressed


def _clean_stream(
    label: str, rows: pd.DataFrame, raw: RawTable, dataset: Dataset
) -> tuple[pd.DataFrame, StreamReport]:
    rules = dataset.cleaning
    unique = _without_duplicates(rows, raw)
    kept, dropped = _split(unique, rules)
    if kept["entity"].nunique() < 2:
        remedy = "lower dataset.cleaning.min_total_cases or check dataset.columns.capacity"
        raise DataError(
            f"{raw.file}: stream {label} keeps {kept['entity'].nunique()} of"
            f" {unique['entity'].nunique()} entities after filtering, at least 2 are needed;"
            f" {remedy if dropped else f'add groups to streams.{label}.groups'}"
        )
    periods = np.sort(kept["period"].unique())
    _refuse_overlap(raw, label, periods, dataset.periods.days)
    table, cells = _fill(kept, periods, rules, dataset.periods.days)
    table.insert(0, "stream", label)
    report = StreamReport(
        stream=label,
        entities=kept["entity"].nunique(),
        periods=len(periods),
        cells={"exact_duplicates": len(rows) - len(unique), **cells},
        dropped=tuple(dropped),
        missing_periods=tuple(_gaps(periods, dataset.periods.days)),
        smallest_capacity=float(table["capacity"].min()),
        largest_density=float(table["density"].max()),
    )
    return table, report


def _without_duplicates(rows: pd.DataFrame, raw: RawTable) -> pd.DataFrame:
    values = ["group", "entity", "period", "count", "suppressed", "capacity", "cases"]
    unique = rows.drop_duplicates(values, keep="last")
    twice = unique[unique.duplicated(["entity", "period"], keep=False)]
    if not twice.empty:
        entity, period = twice.iloc[0][["entity", "period"]]
        same = twice[(twice["entity"] == entity) & (twice["period"] == period)]
        places = " and ".join(str(raw.line(row)) for row in sorted(same["row"])[:3])
        raise DataError(
            f"{raw.file}, rows {places}: {entity} has different numbers for the period"
            f" {period.date()} ({twice.groupby(['entity', 'period']).ngroups} such pairs);"
            " keep one row of each"
        )
    return unique


def _split(rows: pd.DataFrame, rules: Cleaning) -> tuple[pd.DataFrame, list[Mapping[str, str]]]:
    """Rows of the entities that stay, and the entities that do not, with the reason."""
    by_entity = rows.groupby("entity").agg(
        name=("name", "last"), cases=("cases", "sum"), capacity=("capacity", "max")
    )
    few = by_entity["cases"] < rules.min_total_cases
    no_capacity = ~(by_entity["capacity"] > 0)
    reasons = np.where(
        no_capacity,
        "never reports a capacity above 0",
        by_entity["cases"].map(lambda cases: f"{cases:.10g} cases in all")
        + f", fewer than {rules.min_total_cases:.10g}",
    )
    out = few | no_capacity
    dropped: list[Mapping[str, str]] = [
        {"entity": entity, "name": name, "reason": reason}
        for entity, name, reason in zip(
            by_entity.index[out], by_entity["name"][out], reasons[out], strict=True
        )
    ]
    return rows[~rows["entity"].map(out)], dropped


def _fill(
    rows: pd.DataFrame, periods: NDArray[np.datetime64], rules: Cleaning, days: int
) -> tuple[pd.DataFrame, dict[str, int]]:
    """The full grid of periods by entities, and how many cells each rule touched."""
    latest = rows.drop_duplicates("entity", keep="last").sort_values("entity")
    entities = latest["entity"].to_numpy()
    grid = rows.set_index(["period", "entity"])
    full = pd.MultiIndex.from_product([periods, entities], names=["period", "entity"])
    shape = (len(periods), len(entities))

    def matrix(column: str) -> Floats:
        return np.asarray(grid[column].reindex(full).to_numpy(dtype=float)).reshape(shape)

    suppressed = matrix("suppressed") == 1
    known = np.where(suppressed, rules.suppressed_value, matrix("count"))
    count, carried, zero = _fill_counts(known, periods, rules.max_carry * days + days / 2)
    capacity, forward, backward = _fill_capacities(matrix("capacity"))
    density = count / capacity
    table = pd.DataFrame(
        {
            "group": np.tile(latest["group"].to_numpy(), shape[0]),
            "entity": np.tile(entities, shape[0]),
            "name": np.tile(latest["name"].to_numpy(), shape[0]),
            "period": np.repeat(periods, shape[1]),
            "count": count.ravel(),
            "capacity": capacity.ravel(),
            "density": np.minimum(density, 1.0).ravel(),
            "count_source": np.select(
                [suppressed.ravel(), carried.ravel(), zero.ravel()],
                ["suppressed", "carried", "zero"],
                "reported",
            ),
            "capacity_source": np.select(
                [forward.ravel(), backward.ravel()], ["carried", "backfilled"], "reported"
            ),
        }
    )
    touched = {
        "suppressed_counts": suppressed,
        "carried_counts": carried,
        "zero_counts": zero,
        "carried_capacities": forward,
        "backfilled_capacities": backward,
        "clipped_densities": density > 1,
    }
    return table, {rule: int(cells.sum()) for rule, cells in touched.items()}


def _fill_counts(
    count: Floats, periods: NDArray[np.datetime64], days: float
) -> tuple[Floats, Flags, Flags]:
    """Carry counts forward for less than `days`, so that a gap in the calendar counts too."""
    missing = np.isnan(count)
    date = (periods - periods[0]) / np.timedelta64(1, "D")
    reported = np.where(missing, -np.inf, date[:, None])
    recent = date[:, None] - np.maximum.accumulate(reported, axis=0) < days
    carried = missing & recent
    filled = np.where(carried, pd.DataFrame(count).ffill().to_numpy(), count)
    return np.where(missing & ~recent, 0.0, filled), carried, missing & ~recent


def _fill_capacities(capacity: Floats) -> tuple[Floats, Flags, Flags]:
    known = capacity > 0
    forward = pd.DataFrame(np.where(known, capacity, np.nan)).ffill()
    carried = ~known & forward.notna().to_numpy()
    return forward.bfill().to_numpy(), carried, ~known & ~carried


def _refuse_overlap(raw: RawTable, label: str, periods: NDArray[np.datetime64], days: int) -> None:
    dates = pd.DatetimeIndex(periods)
    for before, after in itertools.pairwise(dates):
        if (after - before).days <= days / 2:
            raise DataError(
                f"{raw.file}: stream {label} has periods {before.date()} and {after.date()}, less"
                f" than a period of {days} days apart; give all entities the same start of a"
                " period, or change dataset.periods.days"
            )


def _gaps(periods: NDArray[np.datetime64], days: int) -> Iterable[str]:
    """Each gap wider than one period (the move from Fridays to Sundays is none)."""
    dates = pd.DatetimeIndex(periods)
    for before, after in itertools.pairwise(dates):
        lost = round((after - before).days / days) - 1
        if lost > 0:
            yield f"{lost} between {before.date()} and {after.date()}"
