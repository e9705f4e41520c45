"""Filling the rows of the entities that play into a panel without gaps."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.errors import DataError, Key, in_lines, keyed
from dpol.core.words import counted, shortened
from dpol.data.second_look import EXAMPLES, complements, presence
from dpol.data.settings import Periods
from dpol.data.stream import MEASURED, ZERO_OR_HIDDEN
from dpol.data.tables.settings import Cleaning
from dpol.data.typed_rows import HIDDEN


def fill(
    rows: pd.DataFrame, rules: Cleaning, lasting: Periods, at_most: float = 1.0
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
    flagged = {"summed": ["summed_counts"], "hidden": HIDDEN, "idle": ["idle_counts"],
               "summed_beds": ["summed_capacities"]}  # fmt: skip
    rows = rows.assign(**{name: rows[rules_of].any(axis=1) for name, rules_of in flagged.items()})
    names = ["count", "capacity", "row", *flagged]
    wide = rows.pivot(index="period", columns="entity", values=names).astype(float)
    if rules.absent == "zero":
        wide = wide.reindex(_every(wide.index, lasting))
    count, capacity, row, *flags = (pd.DataFrame(wide[name]) for name in names)
    summed, hidden, idle, summed_beds = (flag == 1 for flag in flags)
    if rules.absent == "zero":
        count = count.mask(row.isna(), 0.0)
    stays = count.notna().any(axis=1)
    absent = idle & (rules.capacity_zero == "absent")
    count = count.mask(absent)  # so that it is not carried into later periods
    places, length = _places(count.index, lasting)
    missing = count.isna()
    reported = np.where(missing, np.nan, places[:, None])
    age = places[:, None] - pd.DataFrame(reported, count.index, count.columns).ffill()
    carried = missing & ~absent & (age < (rules.max_carry + 0.5) * length)
    zero = missing & ~absent & ~carried
    known = capacity > 0
    forward = capacity.where(known).ffill()
    beds_carried, backfilled = ~known & forward.notna(), ~known & forward.isna()
    count = count.where(~carried, count.ffill()).mask(zero | absent, 0.0)
    capacity = forward.bfill()
    density = count / capacity

    def flat(cells: pd.DataFrame) -> NDArray[Any]:
        return cells[stays].to_numpy().ravel()

    def sources(**cells: pd.DataFrame) -> NDArray[np.str_]:
        return np.select([flat(flags) for flags in cells.values()], list(cells), "reported")

    table = pd.DataFrame(
        {
            "group": np.tile(latest["group"], stays.sum()),
            "entity": np.tile(latest.index, stays.sum()),
            "name": np.tile(latest["name"], stays.sum()),
            "period": np.repeat(count.index[stays], len(latest)),
            "count": flat(count),
            "capacity": flat(capacity),
            "density": flat(density.clip(upper=at_most)),
            "count_source": sources(
                absent=absent,
                zero=zero,
                suppressed=hidden,
                sum=summed,
                carried=carried,
                **{ZERO_OR_HIDDEN: (count == 0) & rules.zeros_hide},
            ),
            "capacity_source": sources(
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
    return table, {rule: int(flat(cells).sum()) for rule, cells in touched.items()}


def _every(dates: pd.Index[Any], periods: Periods) -> pd.Index[Any]:
    """Return the dates, and the starts of the periods between them of which there is no row."""
    length, unit = periods.length
    step = pd.DateOffset(months=length) if unit == "month" else pd.DateOffset(days=length)
    each = [pd.date_range(*pair, freq=step) for pair in itertools.pairwise(dates)]
    return dates.append(each).unique().sort_values().rename(dates.name)


def _places(dates: pd.Index[Any], periods: Periods) -> tuple[NDArray[np.int64], int]:
    """Return the dates as numbers of days or months, and the length of a period in that unit."""
    length, unit = periods.length
    days = dates.to_numpy().astype("datetime64[D]" if unit == "day" else "datetime64[M]")
    return days.astype(int), length


def refuse_zeroed(file: str, label: str, table: pd.DataFrame, rules: Cleaning) -> None:
    """Refuse a stream in which too many counts are missing for so long that they become 0.

    Args:
        file: path of the table.
        label: label of the stream.
        table: the stream's part of the panel.
        rules: cleaning rules.

    Raises:
        DataError: more cells become 0; the text names entities that end where others begin, or
            those with the most such cells.
    """
    zero = table.loc[table["count_source"] == "zero", "entity"]
    zeros, cells = len(zero), len(table)
    if zeros / cells <= rules.max_zeroed:
        return
    most = zero.map(shortened).value_counts(sort=False).nlargest(EXAMPLES)
    named = successions(table) or [f"{one}: {counted(n, 'cell')}" for one, n in most.items()]
    start = (
        f"{file}: stream {label} has {counted(zeros, 'cell')} of {cells:,} that"
        f" would become 0, with no count in the period nor in the {rules.max_carry} before"
        " (max_carry); ",
        keyed("{dataset.cleaning.max_zeroed}"),
        f" = {rules.max_zeroed:g} allows {int(rules.max_zeroed * cells + 1e-9):,}",
    )
    remedy = keyed(
        "If two names are one entity, take a column of identifiers as {dataset.columns.entity} and"
        " the names as {dataset.columns.name}, or list them under {dataset.cleaning.identifiers} as"
        " OLD: NEW. If no row means none, set {dataset.cleaning.absent}: zero; if a blank cell"
        " does, raise {dataset.cleaning.max_zeroed}."
    )
    raise DataError(in_lines([start, *(f"  {text}" for text in named[:EXAMPLES]), remedy]))


def successions(table: pd.DataFrame) -> list[str]:
    """Describe pairs of entities that may be one; see `complements`."""
    given = table[table["count_source"].isin([*MEASURED, ZERO_OR_HIDDEN, "suppressed"])]
    return [f"{it}: never both in a period" for it in complements(presence(given), "count")]


def check_calendar(file: str, label: str, rows: pd.DataFrame, lasting: Periods) -> tuple[str, ...]:
    """Describe gaps longer than a period. A move from Fridays to Sundays is none.

    Raises:
        DataError: two periods are at most half a period apart.
    """
    by_period = rows.groupby("period")["row"]
    periods = pd.DataFrame({"entities": by_period.size(), "row": by_period.min()})
    places, length = _places(periods.index, lasting)
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
                f" this one first). Give all entities the same start of a period, or change ",
                Key(("dataset", "periods", f"{unit}s")),
            )
        if (lost := round(apart / length) - 1) > 0:
            missing.append(f"{lost} between {before} and {after}")
    return tuple(missing)
