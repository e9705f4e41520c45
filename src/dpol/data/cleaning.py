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

from dpol.config import Cleaning, Columns, Dataset, Periods, Stream
from dpol.data.fetch import Query
from dpol.data.table import RawTable
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


def needed_columns(columns: Columns) -> list[str]:
    """The columns of the raw table that cleaning reads."""
    named = [columns.entity, columns.period, columns.group, columns.name]
    numbers = [columns.count, columns.capacity, *(columns.cases or ())]
    return list(dict.fromkeys(name for name in [*named, *numbers] if name))


def table_query(dataset: Dataset, groups: Iterable[str]) -> Query:
    """What has to be asked of a server for these groups."""
    columns, periods = dataset.columns, dataset.periods
    return Query(
        columns=tuple(needed_columns(columns)),
        entity=columns.entity,
        period=columns.period,
        group=columns.group,
        groups=tuple(groups) if columns.group else (),
        first=periods.first,
        last=periods.last,
    )


def clean_panel(raw: RawTable, dataset: Dataset, streams: Mapping[str, Stream]) -> CleanPanel:
    """Clean a raw table into the panel of the given streams.

    Raises:
        DataError: text where a number or date belongs, a negative number, conflicting
            duplicates, or a stream that keeps fewer than two entities or no period.
    """
    rows = _parse(raw, dataset)
    rows = rows[_inside(rows["period"], dataset.periods)]
    wanted = {group for stream in streams.values() for group in stream.groups}
    chosen = rows[rows["group"].isin(wanted)]
    tables, reports = [], []
    for label, stream in streams.items():
        own = chosen[chosen["group"].isin(stream.groups)]
        if own.empty:
            raise DataError(_nothing_left(raw, label, stream, rows, dataset))
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
    raw: RawTable, label: str, stream: Stream, rows: pd.DataFrame, dataset: Dataset
) -> str:
    known = ", ".join(sorted(rows["group"].unique())[:60]) or "none"
    return (
        f"{raw.file}: no row for stream {label} (group {', '.join(stream.groups)}, periods"
        f" {dataset.periods.first or 'any'} to {dataset.periods.last or 'any'});"
        f" groups within these periods: {known}. Change streams.{label}.groups or dataset.periods"
    )


def _inside(period: pd.Series[Any], periods: Periods) -> pd.Series[bool]:
    first = pd.Timestamp(periods.first or pd.Timestamp.min)
    last = pd.Timestamp(periods.last or pd.Timestamp.max)
    return period.between(first, last)


def _parse(raw: RawTable, dataset: Dataset) -> pd.DataFrame:
    """Typed rows: group, entity, name, period, count, suppressed, capacity, cases, row."""
    columns, rules = dataset.columns, dataset.cleaning
    cells = raw.cells.apply(lambda column: column.str.strip())
    empty = np.flatnonzero(cells[columns.entity] == "")
    if len(empty):
        raise DataError(f"{raw.place(empty[0])}: column {columns.entity} is empty; name the entity")
    count, suppressed = _numbers(raw, cells, columns.count, rules)
    capacity, _ = _numbers(raw, cells, columns.capacity, rules)
    cases = np.zeros(len(cells))
    for name in columns.cases or [columns.count]:
        values, hidden = _numbers(raw, cells, name, rules)
        cases += np.where(hidden, rules.suppressed_value, np.nan_to_num(values))
    return pd.DataFrame(
        {
            "group": cells[columns.group] if columns.group else NO_GROUP,
            "entity": cells[columns.entity],
            "name": cells[columns.name or columns.entity],
            "period": _dates(raw, cells, columns.period),
            "count": count,
            "suppressed": suppressed,
            "capacity": capacity,
            "cases": cases * rules.case_factor,
            "row": np.arange(len(cells)),
        }
    )


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
        row = int(wrong[0])
        raise DataError(
            f"{raw.place(row)}: column {column} holds {texts.iloc[row]!r}, not a number of at least"
            f" 0 ({len(wrong)} such cells). Mend the table, or list the value under"
            " dataset.cleaning.missing_markers or suppressed_markers"
        )
    return np.where(known, values, np.nan), suppressed


def _dates(raw: RawTable, cells: pd.DataFrame, column: str) -> pd.Series[Any]:
    parsed = pd.to_datetime(cells[column], format="ISO8601", errors="coerce", utc=True)
    wrong = np.flatnonzero(parsed.isna())
    if len(wrong):
        row = int(wrong[0])
        raise DataError(
            f"{raw.place(row)}: column {column} holds {cells[column].iloc[row]!r}, not a date like"
            f" 2021-01-31 ({len(wrong)} such cells); mend the table or dataset.columns.period"
        )
    return parsed.dt.tz_localize(None).dt.normalize()


def _clean_stream(
    label: str, rows: pd.DataFrame, raw: RawTable, dataset: Dataset
) -> tuple[pd.DataFrame, StreamReport]:
    rules = dataset.cleaning
    unique = _without_duplicates(rows, raw)
    periods = np.sort(unique["period"].unique())
    kept, dropped = _split(unique, rules)
    if kept["entity"].nunique() < 2:
        raise DataError(
            f"{raw.file}: stream {label} keeps {kept['entity'].nunique()} of"
            f" {unique['entity'].nunique()} entities after filtering, at least 2 are needed; lower"
            " dataset.cleaning.min_total_cases or check dataset.columns.capacity"
        )
    table, cells = _fill(kept, periods, rules)
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
    unique = rows.drop_duplicates(values)
    twice = unique[unique.duplicated(["entity", "period"], keep=False)]
    if not twice.empty:
        entity, period = twice.iloc[0][["entity", "period"]]
        same = twice[(twice["entity"] == entity) & (twice["period"] == period)]
        places = " and ".join(str(row + raw.first_line) for row in same["row"][:3])
        raise DataError(
            f"{raw.file}, rows {places}: {entity} has different numbers for the period"
            f" {period.date()} ({twice.groupby(['entity', 'period']).ngroups} such pairs);"
            " keep one row of each"
        )
    return unique


def _split(rows: pd.DataFrame, rules: Cleaning) -> tuple[pd.DataFrame, Iterable[Mapping[str, str]]]:
    """Rows of the entities that stay, and the entities that do not, with the reason."""
    by_entity = rows.groupby("entity").agg(
        name=("name", "last"), cases=("cases", "sum"), capacity=("capacity", "max")
    )
    few = by_entity["cases"] < rules.min_total_cases
    no_capacity = ~(by_entity["capacity"] > 0)
    reasons = np.where(
        no_capacity,
        "never reports a capacity above 0",
        by_entity["cases"].map(lambda cases: f"{cases:g} cases in all")
        + f", fewer than {rules.min_total_cases:g}",
    )
    out = few | no_capacity
    dropped = [
        {"entity": entity, "name": name, "reason": reason}
        for entity, name, reason in zip(
            by_entity.index[out], by_entity["name"][out], reasons[out], strict=True
        )
    ]
    return rows[~rows["entity"].map(out)], dropped


def _fill(
    rows: pd.DataFrame, periods: NDArray[np.datetime64], rules: Cleaning
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
    count, carried, zero = _fill_counts(
        np.where(suppressed, rules.suppressed_value, matrix("count")), rules.max_carry
    )
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


def _fill_counts(count: Floats, max_carry: int) -> tuple[Floats, Flags, Flags]:
    missing = np.isnan(count)
    filled = pd.DataFrame(count).ffill(limit=max_carry).to_numpy() if max_carry else count
    zero = np.isnan(filled)
    return np.where(zero, 0.0, filled), missing & ~zero, zero


def _fill_capacities(capacity: Floats) -> tuple[Floats, Flags, Flags]:
    known = capacity > 0
    forward = pd.DataFrame(np.where(known, capacity, np.nan)).ffill()
    carried = ~known & forward.notna().to_numpy()
    return forward.bfill().to_numpy(), carried, ~known & ~carried


def _gaps(periods: NDArray[np.datetime64], days: int) -> Iterable[str]:
    """Each gap wider than one period (the move from Fridays to Sundays is none)."""
    dates = pd.DatetimeIndex(periods)
    for before, after in itertools.pairwise(dates):
        lost = round((after - before).days / days) - 1
        if lost > 0:
            yield f"{lost} between {before.date()} and {after.date()}"
