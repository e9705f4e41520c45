"""Filling the rows of the entities that play into a panel without gaps."""

from __future__ import annotations

import difflib
import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.errors import DataError
from dpol.core.randomness import Floats
from dpol.core.words import counted, shortened
from dpol.data.capacities import fill_capacities
from dpol.data.parse import Flags
from dpol.data.settings import Cleaning, Periods
from dpol.data.table_format import Dates

Days = NDArray[np.datetime64]

SHOWN = 5
"""Number of rows that a message shows."""
SPARSE_SHARE, SPARSE_FROM = 0.05, 5
"""A period is sparse if at most one entity, or at most this share of the entities, has a row.
Streams with fewer entities than the second number have no sparse periods."""
SELDOM_SHARE = 0.1
"""An entity is seen seldom if it has a row in less than this share of the periods."""
MANY_MISSING = 0.1
"""A calendar in which more than this share of periods is missing has many gaps."""
LONE_FROM = 20
"""The first or last period must not have a single row in streams of at least this size."""
FAR_PERIODS, FAR_MONTHS = 10, 24
"""Nor in any stream, if more than this number of periods and of months lies beside it."""


@dataclass(frozen=True)
class Filled:
    """A stream's part of the panel, and what was done to its cells.

    Args:
        table: a row per period and entity.
        cells: the number of cells that each rule touched.
    """

    table: pd.DataFrame
    cells: Mapping[str, int]


def fill(rows: pd.DataFrame, rules: Cleaning, lasting: Periods, at_most: float = 1.0) -> Filled:
    """Fill a stream into the full grid of periods by entities.

    Args:
        rows: rows of the stream, sorted by period, at most one per period and entity.
        rules: cleaning rules.
        lasting: the length of a period.
        at_most: largest count per capacity; larger shares are clipped to it.
    """
    periods = np.sort(rows["period"].unique())
    latest = rows.drop_duplicates("entity", keep="last").sort_values("entity")
    pairs = pd.MultiIndex.from_product([periods, latest["entity"]], names=["period", "entity"])
    columns = ["suppressed_counts", "count", "capacity", "row"]
    grid = rows.set_index(["period", "entity"])[columns].astype(float).reindex(pairs)
    shape = (len(periods), len(latest))
    suppressed, count, capacity, row = (grid[name].to_numpy().reshape(shape) for name in columns)
    hidden = (suppressed == 1) & np.isnan(count)  # a merged count holds the value already
    count = np.where(hidden, rules.suppressed_value, count)
    count, carried, zero = _fill_counts(count, *_places(periods, lasting), rules.max_carry)
    capacity, forward, backward = fill_capacities(capacity)
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
    """Return the name of the rule that filled each cell; `reported` if none did."""
    return np.select([flags.ravel() for flags in cells.values()], list(cells), "reported")


def _places(dates: Days, periods: Periods) -> tuple[NDArray[np.int64], int]:
    """Return the dates as numbers of days or months, and the length of a period in that unit."""
    length, unit = periods.length
    return dates.astype("datetime64[D]" if unit == "day" else "datetime64[M]").astype(int), length


def _fill_counts(
    count: Floats, places: NDArray[np.int64], length: int, max_carry: int
) -> tuple[Floats, Flags, Flags]:
    """Carry counts forward over less than `max_carry` + 1/2 periods, missing periods included."""
    missing = np.isnan(count)
    reported = np.where(missing, -np.inf, places[:, None])
    age = places[:, None] - np.maximum.accumulate(reported, axis=0)
    recent = age < max_carry * length + length / 2
    carried = missing & recent
    filled = np.where(carried, pd.DataFrame(count).ffill().to_numpy(), count)
    return np.where(missing & ~recent, 0.0, filled), carried, missing & ~recent


def refuse_zeroed(file: str, label: str, filled: Filled, rules: Cleaning) -> None:
    """Refuse a stream in which too many counts are missing for so long that they become 0.

    Args:
        file: path of the table.
        label: label of the stream.
        filled: the stream's cells.
        rules: cleaning rules.

    Raises:
        DataError: more cells become 0; the text names entities that end where others begin, or
            those with the most such cells.
    """
    cells, number = len(filled.table), filled.cells["zero_counts"]
    if number / cells <= rules.max_zeroed:
        return
    zero = filled.table[filled.table["count_source"] == "zero"]
    most = Counter(zero["entity"].map(shortened)).most_common(SHOWN)
    named = _successions(filled.table) or [f"{one}: {counted(n, 'cell')}" for one, n in most]
    lines = [
        f"{file}: stream {label} has {counted(number, 'cell')} of {cells:,} that would become 0,"
        f" with no count in the period nor in the {rules.max_carry} before (max_carry);"
        f" dataset.cleaning.max_zeroed = {rules.max_zeroed:g} allows"
        f" {int(rules.max_zeroed * cells + 1e-9):,}",
        *(f"  {text}" for text in named[:SHOWN]),
        "If two names are one entity, take a column of identifiers as dataset.columns.entity and"
        " the names as dataset.columns.name, or list them under dataset.cleaning.identifiers as"
        " OLD: NEW. If a missing count means 0, raise max_zeroed.",
    ]
    raise DataError("\n".join(lines))


def _successions(table: pd.DataFrame) -> list[str]:
    """Describe the entities whose last count is followed by the first count of another one.

    Of several that begin then, the one with the most similar name is named.
    """
    held = table[table["count_source"].isin(["reported", "suppressed"])].groupby("entity")["period"]
    first, last = held.min(), held.max()
    after = dict(itertools.pairwise(np.sort(table["period"].unique())))
    found = []
    for entity, end in last.items():
        begun = first.index[first == after.get(end)]
        for other in difflib.get_close_matches(str(entity), begun, n=1, cutoff=0):
            found.append(
                f"{shortened(str(entity))} has no count after {end.date()}, {shortened(other)}"
                f" none before {first[other].date()}: one entity?"
            )
    return found


def refuse_clipped(
    file: str, label: str, filled: Filled, most: float, at_most: float = 1.0
) -> None:
    """Refuse a stream in which too many counts exceed the capacity, or a multiple of it.

    Args:
        file: path of the table.
        label: label of the stream.
        filled: the stream's cells.
        most: largest share of cells that may be clipped.
        at_most: the multiple.

    Raises:
        DataError: more cells are clipped; the text shows some of them.
    """
    cells, number = len(filled.table), filled.cells["clipped_densities"]
    if number / cells <= most:
        return
    above = filled.table[filled.table["count"] / filled.table["capacity"] > at_most]
    times = "" if at_most == 1 else f"{at_most:g} times "
    lines = [
        f"{file}: stream {label} has {counted(number, 'cell')} of {cells:,} whose count exceeds"
        f" {times}the capacity; dataset.cleaning.max_clipped = {most:g} allows"
        f" {int(most * cells + 1e-9):,}"
    ]
    shown = above[["entity", "period", "count", "capacity"]][:SHOWN]
    for entity, period, count, capacity in shown.to_numpy().tolist():
        lines.append(f"  {shortened(entity)}, {period.date()}: {count:g} of {capacity:g}")
    lines.append(
        "If one unit of capacity may hold several counts (loans per seat), set a public maximum"
        " that does not come from the counts, such as gain: {at_most: 60}. Otherwise check"
        " dataset.format (1.230 may be 1.23 or 1230) and the columns of count and capacity, or"
        f" raise max_clipped to allow more such cells, clipped to {at_most:g}."
    )
    raise DataError("\n".join(lines))


def refuse_swapped(file: str, label: str, rows: pd.DataFrame) -> None:
    """Refuse a period that consists of dates with day and month swapped.

    Such a period has at most half as many entities as the median period, and none of them has a
    row in the period with day and month in the other order, which other entities have. A new
    entity, or one that reports seldom, does not meet both conditions.

    Args:
        file: path of the table, for messages.
        label: label of the stream.
        rows: rows of the entities that play.

    Raises:
        DataError: there is such a period; the text names its first row and the other date.
    """
    entities = rows.groupby("period")["entity"].agg(set)
    sizes = entities.map(len)
    for day in entities.index[2 * sizes <= sizes.median()]:
        other = _swapped(day)
        if other and other in entities.index and not entities[day] & entities[other]:
            row = rows.loc[rows["period"] == day, "row"].iloc[0]
            raise DataError(
                f"{file}, row {row}: stream {label} has periods {day.date()}, with"
                f" {counted(sizes[day], 'row')}, and {other.date()}, the same date with day and"
                " month swapped, and no entity has both. Fix the wrong date in the table, or keep"
                " both with this block in the config:\ndataset:\n  periods:\n    swapped: keep"
            )


def refuse_swapped_calendar(file: str, label: str, rows: pd.DataFrame, lasting: Periods) -> None:
    """Refuse a calendar that is more regular with day and month of its dates swapped.

    A program that expects the other order swaps every date that it can. More regular means that
    fewer periods are missing, and that no or fewer steps differ from whole periods.

    Args:
        file: path of the table, for messages.
        label: label of the stream.
        rows: rows of the entities that play.
        lasting: the length of a period; months are not checked, since they begin on day 1.

    Raises:
        DataError: the calendar is such; the text gives one of its dates.
    """
    written = pd.DatetimeIndex(rows["period"].unique())
    swapped = pd.DatetimeIndex([_swapped(day) or day for day in written])
    if lasting.months or not swapped.is_unique:
        return
    (missing, uneven), (fewer, less_uneven) = (_gaps(days, lasting) for days in (written, swapped))
    if fewer < missing and less_uneven < max(uneven, 1):
        raise DataError(
            f"{file}: stream {label} lacks {counted(missing, 'period')}, but only {fewer} with day"
            f" and month swapped in dates such as {written[written != swapped].min().date()}; Excel"
            " may have read them in the wrong order. Correct the dates in the table, or keep them"
            " with this block in the config:\ndataset:\n  periods:\n    swapped: keep"
        )


def _gaps(days: pd.DatetimeIndex, lasting: Periods) -> tuple[int, int]:
    """Return the number of missing periods, and of steps that are not whole periods."""
    places, length = _places(days.sort_values().to_numpy(), lasting)
    steps = np.diff(places)
    missing = np.maximum(np.rint(steps / length) - 1, 0)
    return int(missing.sum()), int((steps % length != 0).sum())


def _swapped(day: pd.Timestamp) -> pd.Timestamp | None:
    """Return the date with day and month swapped; None if that is the same date or none."""
    if day.day > 12 or day.day == day.month:
        return None
    return day.replace(month=day.day, day=day.month)


def misplaced(rows: pd.DataFrame, lasting: Periods, written: Dates) -> tuple[str, ...]:
    """Describe a first or last period whose date is probably mistyped.

    No other gap is as long as that beside it. With the next or the last year's number, or with day
    and month swapped, this gap closes, and no other opens. Calendars with many gaps, such as those
    of working days, may fit by chance and are left alone.

    Args:
        rows: rows of the entities that play.
        lasting: the length of a period.
        written: the format of the dates.
    """
    days = pd.DatetimeIndex(np.sort(rows["period"].unique()))
    places, length = _places(days.to_numpy(), lasting)
    lengths = np.diff(places) / length
    missing, uneven = _gaps(days, lasting)
    found = []
    for end in (0, -1) if missing and len(lengths) > 1 else ():
        if lengths[end] <= np.delete(lengths, end).max():
            continue
        others = [_another_year(days[end], years, written) for years in (1, -1)]
        for other in (*others, None if lasting.months else _swapped(days[end])):
            if other is None or other in days:
                continue
            moved = pd.DatetimeIndex([*days.delete(end), other])
            fewer, less = _gaps(moved, lasting)
            beside, most = round(lengths[end]) - 1, MANY_MISSING * len(days)
            if 0 < beside <= missing - fewer and fewer <= most and less <= uneven:
                found.append(
                    f"{days[end].date()}, is it {other.date()}? Then {missing - fewer:,} fewer"
                    " periods are missing"
                )
    return tuple(found)


def _another_year(day: pd.Timestamp, years: int, written: Dates) -> pd.Timestamp | None:
    """Return the date with another year's number; None if that is no date."""
    try:
        if written == "YYYY-Www":
            year, week, _ = day.isocalendar()
            return pd.Timestamp(pd.Timestamp.fromisocalendar(year + years, week, 1))
        return day.replace(year=day.year + years)
    except ValueError:  # 29 February, or week 53
        return None


def entities_seen_seldom(rows: pd.DataFrame) -> tuple[str, ...]:
    """Describe the entities that have a row in few periods; `rows` has each pair once."""
    periods, times = rows["period"].nunique(), rows["entity"].value_counts().sort_index()
    few = times[times < SELDOM_SHARE * periods]
    return tuple(
        f"{shortened(str(entity))} ({n} of {periods} periods)" for entity, n in few.items()
    )


def check_calendar(
    file: str, label: str, rows: pd.DataFrame, lasting: Periods
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Describe gaps longer than a period, and periods in which almost no entity has a row.

    A move from Fridays to Sundays is not a gap. A mistyped date makes a period with few rows.

    Raises:
        DataError: two periods are at most half a period apart; or the first or last period has a
            single row, and the stream is large or no other period is within years.
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
                f"{file}, row {row}: stream {label} has periods {before} and {after}, less than a"
                f" period of {counted(length, unit)} apart ({counted(number, 'row')} with {day},"
                f" this one first). Give all entities the same start of a period, or change"
                f" dataset.periods.{unit}s"
            )
        if (lost := round(apart / length) - 1) > 0:
            missing.append(f"{lost} between {before} and {after}")
    far = max(FAR_PERIODS * length, FAR_MONTHS * (1 if lasting.months else 31))
    beside = np.diff(places, prepend=places[:1], append=places[-1:])
    for key, day, gap in (
        ("first", periods.index[0], beside[1]),
        ("last", periods.index[-1], beside[-2]),
    ):
        number, row = periods.loc[day, ["entities", "row"]].tolist()
        if number == 1 and (n >= LONE_FROM or gap > far):
            raise DataError(
                f"{file}, row {row}: is the only row of the period {day} in stream {label}, which"
                f" has {n} entities. Fix its date, or leave the period out with"
                f" dataset.periods.{key}"
            )
    most = max(1.0, SPARSE_SHARE * n) if n >= SPARSE_FROM else 0.0
    sparse = periods["entities"][periods["entities"] <= most]
    return tuple(missing), tuple(f"{day} ({of} of {n} entities)" for day, of in sparse.items())
