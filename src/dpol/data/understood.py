"""What was understood of a table: its columns, and a few lines that its owner confirms at a glance.

Arithmetic can only guess what a table means. The lines say numbers and never stop a run; the heat
map (`dpol.show.heat_map`) is drawn beside them. They tell what plays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.words import counted, listed, one_line, shortened
from dpol.data.settings import Dataset, Read
from dpol.data.table import Rows, Table, dates_of, texts_of, values_of

MOST_COLUMNS = 40
"""Largest number of columns that are shown."""
LONGEST = 160
"""Largest number of characters of a line."""
_NUMBER = re.compile("^[0-9.e+]+ | in [0-9,]+ periods?$")  # of an entity, in the reason


def kinds_of(table: Table, read: Read, form: str | None) -> dict[str, str]:
    """Return whether each column is of a `date`, a `number` or a `text`.

    Args:
        table: all columns.
        read: how the file is read.
        form: the format of dates, in the signs of `strptime`; 2021-01-31 if None.
    """
    kinds = dict[str, str]()
    for name, cells in table.cells.items():
        there = (texts_of(cells) != "").to_numpy()
        dates = dates_of(cells, form).notna()[there].mean()
        numbers = pd.Series(values_of(cells, read)).notna()[there].mean()
        kinds[str(name)] = "date" if dates > 0.9 else "number" if numbers > 0.5 else "text"
    return kinds


def columns_in_words(table: Table, kinds: Mapping[str, str]) -> list[str]:
    """Return a line for each column: its name, its kind and three of its texts."""
    lines = []
    for name, kind in [*kinds.items()][:MOST_COLUMNS]:
        texts = texts_of(table.cells[name]).astype("str").unique()[:3]
        lines.append(f"{name} ({kind}): {listed(repr(shortened(it)) for it in texts)}")
    more = len(kinds) - MOST_COLUMNS
    return lines + [f"and {counted(more, 'other column')}"] * (more > 0)


def period_of(days: pd.Series[pd.Timestamp], of: pd.Series[Any] | Sequence[str]) -> dict[str, int]:
    """Return the length of a period: the commonest distance of dates of an entity; months if all
    are firsts of a month, or lasts.

    >>> quarters = pd.Series(pd.to_datetime(["2024-01-01", "2024-04-01", "2024-07-01"]))
    >>> period_of(quarters, of=["north", "north", "north"])
    {'months': 3}
    """
    dates = pd.DataFrame({"of": of, "day": days.dt.floor("D")}).dropna().drop_duplicates()
    day = dates.sort_values("day")["day"].dt
    monthly = bool(day.is_month_start.all() or day.is_month_end.all())
    number = day.year * 12 + day.month if monthly else (day.normalize() - pd.Timestamp(0)).dt.days
    steps = number.groupby(dates["of"], observed=True).diff().dropna().mode()
    return {("months" if monthly else "days"): int(it) for it in steps[:1]}


def understood(
    rows: Rows,
    read: pd.DataFrame,
    panel: pd.DataFrame,
    dropped: Sequence[Mapping[str, str]],
    dataset: Dataset,
) -> list[str]:
    """Return at most six lines on a stream, each of at most `LONGEST` characters.

    Args:
        rows: the rows of the table.
        read: the stream's rows, from `rows_of_stream`.
        panel: its panel.
        dropped: the entity, name and reason of each of its entities that do not play.
        dataset: how the table is read.
    """
    names = [one_line(it) for it in panel["entity"].unique()]
    playing, every = int(read["entity"].isin(panel["entity"]).sum()), rows.facts["read"]
    lines = [f"{playing:,} of {every:,} rows play, of {counted(len(names), 'entity')}: "]
    lines[0] += listed(names, 5)
    why = dict[str, list[str]]()
    for one in dropped:
        why.setdefault(_NUMBER.sub("", one["reason"]), []).append(one_line(one["entity"]))
    if why:
        each = (f"{len(names):,} ({reason}: {listed(names)})" for reason, names in why.items())
        lines.append(f"do not play: {'; '.join(each)}")
    first, periods = rows.facts["dated"], panel["period"].unique()
    lines.append(
        f"{first['text']!r} in row {first['row']} is {_day(pd.Timestamp(first['date']))};"
        f" {counted(len(periods), 'period')} of {counted(*dataset.periods.length)} from"
        f" {_day(periods[0])} to {_day(periods[-1])}"
    )
    largest = panel.iloc[int(panel["count"].to_numpy().argmax())]
    entity, period, capacity = largest[["entity", "period", "capacity"]]
    made = read[(read["entity"] == entity) & (read["period"] == period)]
    beside = f" beside a capacity of {capacity:g}" if np.isfinite(capacity) else ""
    numbers, places = listed(f"{it:g}" for it in made["count"]), listed(map(str, made["row"]))
    lines.append(
        f"the largest: {one_line(entity)}, {_day(period)}: {largest['count']:g}{beside}, from"
        f" {f'{numbers} in row {places}' if len(made) else 'another period'}"
    )
    cells = list[str]()
    for what in ("count", "capacity") if dataset.needed_columns.capacity else ("count",):
        shares = panel[f"{what}_source"].value_counts(normalize=True)
        told = [f"{str(it).replace('_', ' ')} {100 * part:.3g}%" for it, part in shares.items()]
        cells.append(f"{what}: {listed(told, 9)}")
    lines.append(f"cells: {'; '.join(cells)}")
    return [it if len(it) <= LONGEST else f"{it[: LONGEST - 4]} ..." for it in lines]


def _day(day: Any) -> str:
    return f"{day:%a} {day.day} {day:%b %Y}"
