"""Filling: from the rows of the entities that play to a panel without holes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.errors import DataError
from dpol.core.randomness import Floats
from dpol.core.words import counted, shortened
from dpol.data.settings import Cleaning, Periods

Flags = NDArray[np.bool_]
Dates = NDArray[np.datetime64]

SHOWN = 5
"""Rows that a message shows."""
SPARSE_SHARE, SPARSE_FROM = 0.05, 5
"""A period is sparse if at most this share of the entities, or one, has a row; smaller streams
have no sparse periods."""
SELDOM_SHARE = 0.1
"""An entity that plays is seldom there if it has a row in less than this share of the periods."""
LONE_FROM = 20
"""A row that makes a period of its own is refused in streams of at least so many entities."""


@dataclass(frozen=True)
class Filled:
    """A stream's part of the panel, and what was done to its cells.

    Args:
        table: by period and entity.
        cells: how many each rule touched.
    """

    table: pd.DataFrame
    cells: Mapping[str, int]


def fill(rows: pd.DataFrame, rules: Cleaning, lasting: Periods, at_most: float = 1.0) -> Filled:
    """The full grid of periods by entities; `rows` has each pair at most once, by period.

    Shares above `at_most` are clipped to it.
    """
    periods = np.sort(rows["period"].unique())
    latest = rows.drop_duplicates("entity", keep="last").sort_values("entity")
    pairs = pd.MultiIndex.from_product([periods, latest["entity"]], names=["period", "entity"])
    columns = ["suppressed_counts", "count", "capacity", "row"]
    grid = rows.set_index(["period", "entity"])[columns].astype(float).reindex(pairs)
    shape = (len(periods), len(latest))
    suppressed, count, capacity, row = (grid[name].to_numpy().reshape(shape) for name in columns)
    count = np.where(suppressed == 1, rules.suppressed_value, count)
    count, carried, zero = _fill_counts(count, *_places(periods, lasting), rules.max_carry)
    capacity, forward, backward = _fill_capacities(capacity)
    density = count / capacity
    table = pd.DataFrame(
        {
            **{name: np.tile(latest[name], shape[0]) for name in ("group", "entity", "name")},
            "period": np.repeat(periods, shape[1]),
            "count": count.ravel(),
            "capacity": capacity.ravel(),
            "density": np.minimum(density, at_most).ravel(),
            "count_source": _sources(suppressed=suppressed == 1, carried=carried, zero=zero),
            "capacity_source": _sources(carried=forward, backfilled=backward),
        }
    )
    touched = {
        "absent_rows": np.isnan(row),
        "carried_counts": carried,
        "zero_counts": zero,
        "carried_capacities": forward,
        "backfilled_capacities": backward,
        "clipped_densities": density > at_most,
    }
    return Filled(table, {rule: int(cells.sum()) for rule, cells in touched.items()})


def _sources(**cells: Flags) -> NDArray[np.str_]:
    """Name of the rule that filled each cell; all other cells are reported."""
    return np.select([flags.ravel() for flags in cells.values()], list(cells), "reported")


def _places(dates: Dates, periods: Periods) -> tuple[NDArray[np.int64], int]:
    """The dates as numbers of days, or of months, and the length of a period in them."""
    length, unit = periods.length
    return dates.astype("datetime64[D]" if unit == "day" else "datetime64[M]").astype(int), length


def _fill_counts(
    count: Floats, places: NDArray[np.int64], length: int, max_carry: int
) -> tuple[Floats, Flags, Flags]:
    """Carry counts forward for less than half a period more than `max_carry` periods.

    A gap in the calendar counts too.
    """
    missing = np.isnan(count)
    reported = np.where(missing, -np.inf, places[:, None])
    age = places[:, None] - np.maximum.accumulate(reported, axis=0)
    recent = age < max_carry * length + length / 2
    carried = missing & recent
    filled = np.where(carried, pd.DataFrame(count).ffill().to_numpy(), count)
    return np.where(missing & ~recent, 0.0, filled), carried, missing & ~recent


def _fill_capacities(capacity: Floats) -> tuple[Floats, Flags, Flags]:
    reported = capacity > 0
    forward = pd.DataFrame(np.where(reported, capacity, np.nan)).ffill()
    carried = ~reported & forward.notna().to_numpy()
    return forward.bfill().to_numpy(), carried, ~reported & ~carried


def refuse_clipped(
    file: str, label: str, filled: Filled, most: float, at_most: float = 1.0
) -> None:
    """Refuse a stream in which many counts are above the capacity, or a multiple of it.

    Args:
        file: of the table.
        label: of the stream.
        filled: the stream's cells.
        most: share of the cells in which that may be.
        at_most: the multiple.

    Raises:
        DataError: more cells than that are clipped; some of them are shown.
    """
    cells, number = len(filled.table), filled.cells["clipped_densities"]
    if number / cells <= most:
        return
    above = filled.table[filled.table["count"] / filled.table["capacity"] > at_most]
    times = "" if at_most == 1 else f"{at_most:g} times "
    lines = [
        f"{file}: stream {label} has {counted(number, 'cell')} of {cells:,} in which the count is"
        f" above {times}the capacity; dataset.cleaning.max_clipped = {most:g} allows"
        f" {int(most * cells + 1e-9):,}"
    ]
    shown = above[["entity", "period", "count", "capacity"]][:SHOWN]
    for entity, period, count, capacity in shown.to_numpy().tolist():
        lines.append(f"  {shortened(entity)}, {period.date()}: {count:g} of {capacity:g}")
    lines.append(
        "If one unit of capacity may hold several counts, as a seat does loans, say how many at"
        " most: gain: {at_most: 60}, a public number that does not come from the counts. If not,"
        " check the signs in dataset.format (1.230 may be 1.23 or 1230) and the columns of count"
        " and capacity. If such counts are real but rare, raise max_clipped; their shares become"
        f" {at_most:g}."
    )
    raise DataError("\n".join(lines))


def refuse_swapped(file: str, label: str, rows: pd.DataFrame) -> None:
    """Refuse a period that dates with day and month swapped have made.

    At most half as many entities as usual share it, and every one of them lacks the period, known
    from other rows, in which its date with day and month in the other order would put it. An
    entity that is new, or reports seldom, does not meet both.

    Args:
        file: of the table, for messages.
        label: of the stream.
        rows: that are played.

    Raises:
        DataError: such a date; the text names its row and the other date.
    """
    entities = rows.groupby("period")["entity"].agg(set)
    sizes = entities.map(len)
    for day in entities.index[2 * sizes <= sizes.median()]:
        other = _swapped(day)
        if other and other in entities.index and not entities[day] & entities[other]:
            row = rows.loc[rows["period"] == day, "row"].iloc[0]
            raise DataError(
                f"{file}, row {row}: stream {label} has periods {day.date()}, with"
                f" {counted(sizes[day], 'row')}, and {other.date()}: one date with day and month"
                " swapped, and no entity has both. Fix the date that is wrong in the table; or"
                " keep it as it is, in the config:\ndataset:\n  periods:\n    swapped: keep"
            )


def refuse_swapped_calendar(file: str, label: str, rows: pd.DataFrame, lasting: Periods) -> None:
    """Refuse a calendar that is more regular with day and month of its dates swapped.

    A program that expects the other order swaps them in the whole table wherever it can. More
    regular: fewer periods are missing, and no or fewer steps are other than whole periods.

    Args:
        file: of the table, for messages.
        label: of the stream.
        rows: that are played.
        lasting: the length of a period; months begin on their first day, and are not looked at.

    Raises:
        DataError: such a calendar, with one of its dates.
    """
    written = pd.DatetimeIndex(rows["period"].unique())
    swapped = pd.DatetimeIndex([_swapped(day) or day for day in written])
    if lasting.months or not swapped.is_unique:
        return
    (missing, uneven), (fewer, less_uneven) = (_gaps(it, lasting) for it in (written, swapped))
    if fewer < missing and less_uneven < max(uneven, 1):
        raise DataError(
            f"{file}: stream {label} lacks {counted(missing, 'period')}, but only {fewer} with day"
            f" and month of dates such as {written[written != swapped].min().date()} swapped, as"
            " Excel reads them in the wrong order. Correct the dates in the table; or keep them as"
            " they are, in the config:\ndataset:\n  periods:\n    swapped: keep"
        )


def _gaps(days: pd.DatetimeIndex, lasting: Periods) -> tuple[int, int]:
    """Periods that are missing between some days, and steps that are not whole periods."""
    places, length = _places(days.sort_values().to_numpy(), lasting)
    steps = np.diff(places)
    missing = np.maximum(np.rint(steps / length) - 1, 0)
    return int(missing.sum()), int((steps % length != 0).sum())


def _swapped(day: pd.Timestamp) -> pd.Timestamp | None:
    """The date with day and month in the other order; None if there is no other."""
    if day.day > 12 or day.day == day.month:
        return None
    return day.replace(month=day.day, day=day.month)


def entities_seen_seldom(rows: pd.DataFrame) -> tuple[str, ...]:
    """The entities that have a row in few of the periods, in words; `rows` has each pair once."""
    periods, times = rows["period"].nunique(), rows["entity"].value_counts().sort_index()
    few = times[times < SELDOM_SHARE * periods]
    return tuple(f"{shortened(str(it))} ({n} of {periods} periods)" for it, n in few.items())


def check_calendar(
    file: str, label: str, rows: pd.DataFrame, lasting: Periods
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Gaps wider than a period, and periods in which almost no entity has a row, in words.

    The move from Fridays to Sundays is not a gap; a mistyped date makes a period of a row or few.

    Raises:
        DataError: two periods are at most half a period apart, or a single row makes the first or
            the last period of a large stream.
    """
    n, by_period = int(rows["entity"].nunique()), rows.groupby("period")["row"]
    periods = pd.DataFrame({"entities": by_period.size(), "row": by_period.min()})
    places, length = _places(periods.index.to_numpy(), lasting)
    periods.index = pd.Index([day.date() for day in periods.index])
    missing = []
    for (before, after), apart in zip(
        itertools.pairwise(periods.index), np.diff(places).tolist(), strict=True
    ):
        if apart <= length / 2:
            unit = lasting.length[1]
            day = periods.loc[[before, after], "entities"].idxmin()
            number, row = periods.loc[day, ["entities", "row"]].tolist()
            raise DataError(
                f"{file}: stream {label} has periods {before} and {after}, less than a period of"
                f" {counted(length, unit)} apart; {counted(number, 'row')} with {day}, first in row"
                f" {row}. Give all entities the same start of a period, or change"
                f" dataset.periods.{unit}s"
            )
        if (lost := round(apart / length) - 1) > 0:
            missing.append(f"{lost} between {before} and {after}")
    for key, day in (("first", periods.index[0]), ("last", periods.index[-1])):
        number, row = periods.loc[day, ["entities", "row"]].tolist()
        if number == 1 and n >= LONE_FROM:
            raise DataError(
                f"{file}, row {row}: is the only row of the period {day}, of"
                f" {n} entities of stream {label}. Fix its date, or leave the period out with"
                f" dataset.periods.{key}"
            )
    most = max(1.0, SPARSE_SHARE * n) if n >= SPARSE_FROM else 0.0
    sparse = periods["entities"][periods["entities"] <= most]
    return tuple(missing), tuple(f"{day} ({of} of {n} entities)" for day, of in sparse.items())
