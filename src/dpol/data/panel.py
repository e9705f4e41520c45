"""From typed rows to the canonical panel of a stream: one row per entity and period, filled."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.errors import DataError, Key, Text, in_lines, keyed
from dpol.core.schemas import read_schemas
from dpol.core.words import counted, did_you_mean, listed, one_line
from dpol.data import tidy
from dpol.data.question import Gain
from dpol.data.settings import EARLIEST, LATEST, Cleaning, Dataset, Periods, lacks_weekday
from dpol.data.stream import ZERO_OR_HIDDEN
from dpol.data.table import (
    LARGEST,
    PAIR,
    SMALLEST_CAPACITY,
    BadCells,
    Rows,
    bad_dates,
    refuse_cells,
)
from dpol.data.understood import period_of

DATA_SCHEMAS = read_schemas(Path(__file__).with_name("results.yaml"))
PANEL = DATA_SCHEMAS["streams/STREAM/panel"]
"""Schema of the canonical panel."""
HIDDEN = ["suppressed_counts", "hidden_sum_counts", "uncovered_counts"]
"""Rules of counts that nobody published."""
_UNKNOWN = ("suppressed", "missing", "negative")
_OF_SUMS = ("summed", "hidden_sum", "uncovered")
_OF_CAPACITIES = [*(f"{it}_capacities" for it in (*_UNKNOWN, *_OF_SUMS)), "zero_capacities"]
EXAMPLES = 5
"""Number of entities, cells or rows that a message names."""


# ---- rows of a stream ---------------------------------------------------------------------------


def rows_of_stream(rows: Rows, label: str, groups: Sequence[str], dataset: Dataset) -> pd.DataFrame:
    """Return the rows of a stream's groups within the periods, with what its rules make of them.

    Returns:
        The rows, sorted by period and entity. Columns: group, entity, name, period, moment, row (of
        the file), repeated, count, days (behind an averaged count), capacity, cases, whether the
        entity has rows in several groups (`moved`), and for each rule the number of the row's cells
        that it touched.

    Raises:
        DataError: a cell is neither number nor date where one belongs, an entity has no name, the
            rules refuse a negative number, or a group has no row.
    """
    columns, rules, every = dataset.needed_columns, dataset.rules, rows.table
    asked = every[every["group"].isin(groups).to_numpy()]
    first, last = dataset.periods.first or EARLIEST, dataset.periods.last or LATEST
    inside = asked["period"].between(pd.Timestamp(first), pd.Timestamp(last))
    refuse_cells(rows.file, [*_undated(rows, asked, dataset), *_bad_cells(asked[inside], dataset)])
    if lost := sorted({*groups} - {*asked.loc[inside, "group"]}):
        raise _lost(rows, label, lost, columns.group)
    own = asked[inside].reset_index(drop=True)
    for name in ("group", "entity", "name"):
        own[name] = own[name].astype("str")
    own["name"] = own["name"].mask(own["name"] == "", own["entity"])
    if not columns.capacity:  # no question needs one, and no count may exceed it
        own = own.assign(capacity=np.inf, capacity_kind="number")
    count, count_kind, days = _measured(own, "count", dataset.periods, rules)
    capacity, capacity_kind, _ = _measured(own, "capacity", dataset.periods, None)
    beds = capacity.mask(capacity < SMALLEST_CAPACITY, 0.0)
    roles = [role for role in columns.numbers if role.startswith("cases_")]
    of_cases = [_measured(own, role, dataset.periods, rules) for role in roles]
    cases = [values for values, _, _ in of_cases] or [count]
    table = own[["group", "entity", "name", "moment", "period", "row", "repeated", "moved"]].assign(
        count=count,
        **{f"{kind}_counts": count_kind == kind for kind in (*_UNKNOWN, *_OF_SUMS)},
        days=days,
        capacity=beds / columns.capacity_per,
        **{f"{kind}_capacities": capacity_kind == kind for kind in (*_UNKNOWN, *_OF_SUMS)},
        zero_capacities=beds == 0,
        idle_counts=(count > 0) & ((beds == 0) | (capacity_kind == "negative")),
        cases=rules.case_factor * sum(it.fillna(0) for it in cases),
        **{f"{it}_cases": sum((kinds == it) * 1 for _, kinds, _ in of_cases) for it in _UNKNOWN},
    )
    order = ["period", "entity", "group", "name"]
    return table.sort_values(order, kind="stable", ignore_index=True)


def _undated(every: Rows, rows: pd.DataFrame, dataset: Dataset) -> Iterator[BadCells]:
    name, periods, moments = dataset.needed_columns.period, dataset.periods, rows["moment"]
    texts = _cells(rows, moments.isna(), "date", name)
    units = len(texts) == 1 and texts.index[0] == every.table["row"].min()
    lines = tidy.of_dates(name, every.facts["parts"], [*texts.unique()], units=units)
    form = periods.format or "ISO8601"
    if any(texts) and moments.notna().any() and not lacks_weekday(form):
        lines += tidy.told("mixed", week=name, form=form)
    yield bad_dates(texts, periods.format, lines)
    if dataset.rules.several_rows == "error":
        timed = _cells(rows, moments > moments.dt.floor("D"), "moment", name)
        wanted = keyed(
            "a date without a time of day, unless {dataset.cleaning.several_rows} or"
            " {dataset.periods.of} says what to make of the rows of a period"
        )
        yield BadCells(timed, wanted, tidy.told("cut", week=name)[1:])
    if periods.months:
        late = _cells(rows, rows["period"].dt.day > 1, "period", name).astype("str")
        day: Text = tidy.told("month", week=name, form=form)[1:]
        if change := _change_of_length(rows, periods):
            day = in_lines([("If periods have another length, ", change, "."), day])
        yield BadCells(late, "the first day of a month", day)


def _bad_cells(rows: pd.DataFrame, dataset: Dataset) -> Iterator[BadCells]:
    columns = dataset.needed_columns
    blank = _cells(rows, rows["entity"] == "", "entity", columns.entity)
    told = "Leave these rows out with {dataset.cleaning.drop_where}: {{{name}: ''}}."
    lines = tidy.told("names", place=columns.entity)
    yield BadCells(blank, "the name of an entity", keyed(told, name=columns.entity), lines)
    for role, name in columns.numbers.items():
        kind, is_count = rows[f"{role}_kind"], role == "count" or role.startswith("cases_")
        remedy = keyed(
            "Name texts that mean a missing number in {dataset.cleaning.missing_markers}, and those"
            " for one too small to publish in {dataset.cleaning.suppressed_markers}; say which"
            " signs stand in numbers in {dataset.read.decimal} and {dataset.read.thousands};"
            " leave rows out with {dataset.cleaning.drop_where}; or change the table."
        )
        bad = _cells(rows, kind == "bad", f"{role}_text", name)
        share = "percent" if columns.capacity else "rate"
        signs = [share] if bad.str.endswith("%").any() else ["signs", "zeros"]
        lines = tidy.told(*signs, count=name, capacity=columns.capacity)
        yield BadCells(bad, f"a number from 0 to {LARGEST:,}", remedy, lines)
        if is_count and dataset.cleaning.negative_counts == "error":
            low = _cells(rows, kind == "negative", role, name).map("{:g}".format)
            wanted = keyed("a number from 0, unless {dataset.cleaning.negative_counts} is missing")
            remedy = keyed(
                "Change the table; name a number that means too small to publish in"
                " {dataset.cleaning.suppressed_markers}, or one that means missing in"
                " {dataset.cleaning.missing_markers}; or set"
                " {dataset.cleaning.negative_counts}: missing."
            )
            yield BadCells(low, wanted, remedy)


def _cells(rows: pd.DataFrame, bad: pd.Series[bool], of: str, column: str) -> pd.Series[Any]:
    """Return what bad rows hold, by row of the file, under the name of a column of the file."""
    return rows[bad].set_index("row")[of].rename(column)


def _lost(rows: Rows, label: str, lost: Sequence[str], column: str | None) -> DataError:
    """Return the error for a stream whose groups have no row within the periods."""
    dated = rows.table[rows.table["period"].notna()]
    start = f"{rows.file}: stream {label} has no row within the periods"
    span = [str(day.date()) for day in (dated["period"].min(), dated["period"].max())]
    if column is None:
        change = keyed(". Change {dataset.periods}. Periods in the table: ")
        return DataError(start, change, " to ".join(span))
    there = [one_line(it) for it in sorted(dated["group"].astype("str").unique()) if it]
    each = [repr(name) + did_you_mean(name, there) * (name not in there) for name in lost]
    return DataError(
        "\n  ".join([f"{start} of {counted(len(lost), 'group')}:", *each]),
        keyed("\nChange {groups} or {dataset.periods}. ", groups=Key(("streams", label, "groups"))),
        f"Groups in column {column}: {listed(there, 60)}; periods in the table: {' to '.join(span)}"
        if len(dated)
        else "No row has a date.",
    )


def _measured(
    rows: pd.DataFrame, role: str, periods: Periods, rules: Cleaning | None
) -> tuple[pd.Series[float], pd.Series[Any], pd.Series[float]]:
    """Return averages, their kinds and the days behind each; NaN where one is unknown.

    A suppressed average is told by its sum over the days: it is `summed` where the sum is a number;
    `hidden_sum` where it is read as the rules say; and `uncovered` where nobody knows the number of
    days. Without rules, an average that nobody published is unknown.
    """
    kinds = rows[f"{role}_kind"].astype(object)
    values, days = rows[role].where(kinds == "number"), pd.Series(np.nan, rows.index)
    hidden = kinds == "suppressed"
    if f"{role}_days" in rows:
        length, unit = periods.length
        most = length if unit == "day" else 31 * length
        days = rows[f"{role}_days"].where(rows[f"{role}_days_kind"] == "number")
        days = days.where((days > 0) & (days <= most))
        known = rows[f"{role}_sum_kind"] == "number"
        sums = rows[f"{role}_sum"].where(known, rules.suppressed_sum if rules else np.nan)
        covered = hidden & days.notna()
        values = values.mask(covered, sums / days)
        kinds = kinds.mask(hidden, "uncovered").mask(covered, "hidden_sum")
        kinds = kinds.mask(covered & known, "summed")
        hidden &= ~covered
    return values.mask(hidden, rules.suppressed_value if rules else np.nan), kinds, days


# ---- one row for each entity and period ---------------------------------------------------------


def one_row_each(
    file: str, rows: pd.DataFrame, dataset: Dataset
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Apply `several_rows` to the rows of a stream.

    Returns:
        One row per entity and period, and the number of rows that each rule dropped.

    Raises:
        DataError: the rule refuses the rows.
    """
    rules, columns = dataset.rules, dataset.needed_columns
    again, unique = rows[rows["repeated"]], rows[~rows["repeated"]]
    held = unique[unique.duplicated(PAIR, keep=False)]
    often = again[again.duplicated(PAIR)]  # as events do; two rows may be one that was repeated
    bad, why = again, "equal another in every column"
    if rules.several_rows == "error":
        bad = often
        if often.empty:
            bad, why = held, "are of an entity and period with several"
    if len(bad) and rules.several_rows != "last":
        told = f"{file}: {counted(len(bad), 'row')} {why} ({_rows_named(bad)})."
        if rules.merges_rows:
            raise DataError(told, tidy.told("twice", "parts"))
        names = {"place": columns.entity, "week": columns.period, "count": columns.count}
        names["group"] = columns.group or ""
        raise DataError(
            f"{told} Say what to make of them in ",
            keyed("{dataset.cleaning.several_rows}: sum, mean, max or last (the last in the file)"),
            keyed("; if they have any day of a period, in {dataset.periods.of}; if only some play"),
            keyed(", leave the others out with {dataset.cleaning.drop_where}."),
            tidy.told("events", "city", **names),
        )
    merged = int(unique.duplicated(PAIR).sum())
    dropped = {"exact_duplicates": len(again), "merged_rows": merged}
    every = rows if rules.several_rows == "last" else unique  # the last may equal the first
    return (_merge(file, every, dataset) if merged else unique), dropped


def _rows_named(rows: pd.DataFrame) -> str:
    first = rows.iloc[0]
    same = rows[(rows["entity"] == first["entity"]) & (rows["period"] == first["period"])]
    return (
        f"{one_line(first['entity'])}, {first['period'].date()}: row"
        f" {listed(map(str, sorted(same['row'])), EXAMPLES)}"
    )


def _merge(file: str, rows: pd.DataFrame, dataset: Dataset) -> pd.DataFrame:
    """Return the last row of each entity and period, with the numbers of all its rows."""
    rule: Any = dataset.rules.several_rows
    columns, pairs = dataset.needed_columns, rows.groupby(PAIR)
    unlike = pairs["capacity"].nunique() > 1
    if rule == "sum" and unlike.any():
        pair: Any = unlike.idxmax()
        names = {"place": columns.entity, "week": columns.period, "capacity": columns.capacity}
        raise DataError(
            f"{file}: the rows of {one_line(pair[0])}, {pair[1].date()}, have different"
            f" capacities, as those of {counted(int(unlike.sum()), 'pair')} of an entity and a"
            " period.",
            tidy.told("added", "largest", **names),
        )
    if dataset.rules.merges_rows:
        place, count = pairs.ngroup(), pairs["count"].transform(rule)
        if rule == "sum":
            count = count.mask(rows["count"].isna().groupby(place).transform("any"))
        known = rows["capacity"].where(rows["capacity"] > 0)
        capacity = known.groupby(place).transform("max" if rule == "max" else "mean")
        lost, missing = count.isna(), pairs["missing_counts"].transform("any")
        rows = rows.assign(
            count=count,
            **{flag: pairs[flag].transform("any") & ~lost for flag in [*HIDDEN, "summed_counts"]},
            missing_counts=missing & lost,
            negative_counts=~missing & lost,
            idle_counts=pairs["idle_counts"].transform("any") & capacity.isna(),
            days=pairs["days"].transform("min"),
            capacity=capacity,
            cases=pairs["cases"].transform(rule),
            **{f"{kind}_cases": pairs[f"{kind}_cases"].transform("sum") for kind in _UNKNOWN},
            **{column: rows[column] & capacity.isna() for column in _OF_CAPACITIES},
        )
    in_order = rows.sort_values(["moment", "row"], kind="stable")
    return in_order.drop_duplicates(PAIR, keep="last").sort_index()


def above(rows: pd.DataFrame, gains: Collection[Gain]) -> list[pd.Series[bool]]:
    """Return for each question whether the count of each row is above its capacity, or bound."""
    return [rows["count"] > (gain.bound or gain.largest * rows["capacity"]) for gain in gains]


def carry_capacities(
    capacity: pd.Series[float], entity: str | pd.Series[str]
) -> tuple[pd.Series[float], pd.Series[float]]:
    """Return the capacities above 0, carried forward, and then also backward.

    Args:
        capacity: the capacities, by period.
        entity: the entity of each, or the level of the index that has it.
    """
    forward = capacity.where(capacity > 0).groupby(entity).ffill()
    return forward, forward.groupby(entity).bfill()


# ---- the full grid ------------------------------------------------------------------------------


def fill(
    rows: pd.DataFrame, rules: Cleaning, lasting: Periods, at_most: float
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Fill a stream into the full grid of periods by entities.

    Counts are carried forward over less than `max_carry` + 1/2 periods, missing periods included.
    Capacities are carried forward, and the first one of an entity backward. `capacity_zero: absent`
    reads a count beside a capacity of 0 as 0. Periods in which nobody has a count are left out.

    Args:
        rows: rows of the stream, sorted by period, at most one per period and entity.
        rules: cleaning rules.
        lasting: the length of a period.
        at_most: largest count per capacity; larger shares are clipped to it.

    Returns:
        A row per period and entity, and the number of cells that each rule touched.
    """
    latest = rows.drop_duplicates("entity", keep="last").set_index("entity").sort_index()
    grid = pd.MultiIndex.from_product([rows["period"].unique(), latest.index], names=PAIR[::-1])
    rows = rows.set_index(grid.names)
    hidden, summed, idle, summed_beds = (
        rows[flags].any(axis=1).reindex(grid, fill_value=False)
        for flags in (HIDDEN, ["summed_counts"], ["idle_counts"], ["summed_capacities"])
    )
    count, capacity, row = (rows[name].reindex(grid) for name in ("count", "capacity", "row"))
    stays = count.notna().groupby("period").transform("any")
    absent = idle & (rules.capacity_zero == "absent")
    count = count.mask(absent)  # so that it is not carried into later periods
    missing = count.isna()
    numbers, length = places_of(grid.get_level_values("period"), lasting)
    places = pd.Series(numbers, grid)
    age = places - places.mask(missing).groupby("entity").ffill()
    carried = missing & ~absent & (age < (rules.max_carry + 0.5) * length)
    zero = missing & ~absent & ~carried
    known = capacity > 0
    forward, capacity = carry_capacities(capacity, "entity")
    beds_carried, backfilled = ~known & forward.notna(), ~known & forward.isna()
    count = count.where(~carried, count.groupby("entity").ffill()).mask(zero | absent, 0.0)
    density = count / capacity
    table = pd.DataFrame(
        {
            "count": count,
            "capacity": capacity,
            "density": density.clip(upper=at_most),
            "count_source": _sources(
                absent=absent,
                zero=zero,
                suppressed=hidden,
                sum=summed,
                carried=carried,
                **{ZERO_OR_HIDDEN: (count == 0) & rules.zeros_hide},
            ),
            "capacity_source": _sources(
                zero=idle, sum=summed_beds & known, carried=beds_carried, backfilled=backfilled
            ),
        }
    )
    touched = {
        "absent_rows": row.isna(),
        "carried_counts": carried,
        "zero_counts": zero,
        "carried_capacities": beds_carried,
        "backfilled_capacities": backfilled,
        "clipped_densities": density > at_most,
    }
    whole = table[stays].reset_index().join(latest[["group", "name"]], on="entity")
    return whole, {rule: int(cells[stays].sum()) for rule, cells in touched.items()}


def _sources(**cells: pd.Series[bool]) -> NDArray[np.str_]:
    return np.select([*cells.values()], [*cells], "reported")


def places_of(dates: pd.Index[Any], periods: Periods) -> tuple[NDArray[np.int64], int]:
    """Return the dates as numbers of days or months, and the length of a period in that unit."""
    length, unit = periods.length
    days = dates.to_numpy().astype("datetime64[D]" if unit == "day" else "datetime64[M]")
    return days.astype(int), length


def check_calendar(file: str, label: str, rows: pd.DataFrame, lasting: Periods) -> list[str]:
    """Describe gaps longer than a period. A move from Fridays to Sundays is none.

    Raises:
        DataError: two periods are at most half a period apart; or all are further apart than a
            period, and most of them equally far.
    """
    periods = rows.groupby("period")["row"].agg(["size", "min"])
    places, length = places_of(periods.index, lasting)
    unit, change = lasting.length[1], _change_of_length(rows, lasting)
    days, missing = [day.date() for day in periods.index], []
    steps = np.diff(places)
    for at, apart in enumerate(steps.tolist()):
        before, after = days[at : at + 2]
        if apart <= length / 2:
            rarer = at + int(periods["size"].iloc[at : at + 2].argmin())
            day, (number, row) = days[rarer], periods.iloc[rarer].tolist()
            raise DataError(
                f"{file}, row {row}: stream {label} has periods {before} and {after}, less than a"
                f" period of {counted(length, unit)} apart ({counted(number, 'row')} with {day},"
                " this one first). Give all entities the same start of a period",
                ("; or ", change) if change else "",
                keyed("; or, if rows have any day of their period, set {dataset.periods.of}")
                if unit == "day"
                else "",
            )
        if (lost := round(apart / length) - 1) > 0:
            missing.append(f"{lost} between {before} and {after}")
    usual = np.median(steps) if len(missing) > 1 else np.nan
    alike = np.abs(steps - usual) <= usual / 8
    if len(missing) == len(steps) < 2 * alike.sum():  # gaps would have any length
        raise DataError(
            f"{file}: no two periods of stream {label} are {counted(length, unit)} apart"
            f" ({listed(map(str, days), EXAMPLES)}), so those between them would count as missing."
            " If the table has all its periods, ",
            change,
        )
    return missing


def _change_of_length(rows: pd.DataFrame, lasting: Periods) -> Text:
    """Say which length of a period the dates of most entities have; nothing if it is the given."""
    length, unit = lasting.length
    seen = period_of(rows["moment"], rows["entity"])
    if not seen:  # no entity has two dates
        return keyed(f"change {{dataset.periods.{unit}s}}")
    ((key, number),) = seen.items()
    text = f"set {{dataset.periods.{key}}}: {number}"
    if key == f"{unit}s":
        return "" if number == length else keyed(text)
    return keyed(f"{text} instead of {{dataset.periods.{unit}s}}")


def cells_named(rows: pd.DataFrame) -> str:
    """Name the entity, period and count of up to five rows, and say how many more there are."""
    shown = rows[[*PAIR, "count"]][:EXAMPLES].itertuples(index=False)
    named = [f"{one_line(who)}, {period.date()}: {count:g}" for who, period, count in shown]
    return "; ".join(named + [f"and {len(rows) - EXAMPLES:,} more"] * (len(rows) > EXAMPLES))
