"""Reading the rows of a table of counts with types, for all later steps of the cleaning."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from dpol.core.errors import DataError
from dpol.core.near import did_you_mean
from dpol.core.words import counted, shortened
from dpol.data.bad_cells import BadCells, Texts, refuse_cells
from dpol.data.capacities import capacities_of, capacity_counters, parse_capacities
from dpol.data.identifiers import garbled, identified, refuse_alike, refuse_look_alikes
from dpol.data.parse import (
    KINDS,
    Numbers,
    bad_dates,
    parse_by_rules,
    parse_dates,
    starts_of_months,
    without_time,
)
from dpol.data.raw_table import RawTable, period_texts
from dpol.data.settings import Cleaning, Dataset
from dpol.data.table_format import EARLIEST, LATEST, Format

NO_GROUP = "all"
SHOWN = 3
"""Number of rows that a warning names."""


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """Rows of a table of counts: their text, and what names each of them.

    Args:
        cells: the text of the columns.
        days: the text of the period.
        period: the period; NaT where the text is no date.
        group: the group.
        entity: the entity.
    """

    cells: pd.DataFrame
    days: Texts
    period: Texts
    group: Texts
    entity: Texts

    def where(self, kept: pd.Series[bool]) -> _Rows:
        """Return the rows for which `kept` is True."""
        return _Rows(**{name: column[kept] for name, column in vars(self).items()})


def read_rows(
    raw: RawTable,
    dataset: Dataset,
    streams: Mapping[str, Sequence[str]],
    capacities: RawTable | None = None,
) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows of the streams' groups within the periods, and warnings of rows left out.

    Args:
        raw: the table.
        dataset: how the table is read.
        streams: the groups of each stream.
        capacities: the second table, if the columns name one.

    Returns:
        The rows, sorted by period and entity. Columns: group, entity, name, period, time (of day),
        count, capacity, cases, row (of the file), whether it repeats another row of the file
        (`repeated`), whether the entity has rows in several groups (`moved`), and for each rule
        the number of the row's cells that it touched.

    Raises:
        DataError: a cell is neither number nor date where one belongs, an entity has no name, the
            rules refuse a negative number, an entity or group has several spellings, a name is
            garbled, a group has no row, or the second table lacks an entity.
    """
    every, written = _read(raw, dataset)
    ours = every.group.isin({group for groups in streams.values() for group in groups})
    first, last = dataset.periods.first or EARLIEST, dataset.periods.last or LATEST
    inside = every.period.between(pd.Timestamp(first), pd.Timestamp(last))
    rows = every.where(ours & inside)
    numbers = _parse(rows.cells, raw.formats, dataset)
    lost = {label: sorted({*groups} - {*rows.group}) for label, groups in streams.items()}

    bad = [_bad_dates(every.days[ours], written, dataset)]
    if dataset.periods.months:
        bad.append(_bad_months(rows))
    if dataset.needed_columns.group and any(lost.values()):
        bad.append(garbled(every.group, raw.encoding))
    bad += _bad_names(rows, raw.encoding, dataset)
    bad += _bad_numbers(rows, numbers, dataset)
    refuse_alike(raw.file, rows.entity, dataset.cleaning)
    refuse_cells(raw.file, bad)
    _refuse_lost(raw.file, lost, every, inside)
    left_out = [f"row {row} repeats the header, and is left out" for row in raw.headers]
    if number := len(raw.controls):
        rows_of = f"{counted(number, 'row')} read as ?, first in row {raw.controls[0]}"
        left_out.append(f"control characters in {rows_of}")
    if dataset.needed_columns.group:
        wanted = [name for groups in streams.values() for name in groups]
        group = every.group[inside]
        refuse_look_alikes(raw.file, group, wanted, "streams.*.groups", dataset.cleaning)
        left_out += _without_group(every.where(inside & (every.group == "")))

    capacity = _capacity(rows, numbers, dataset, capacities)
    return _tabulate(rows, numbers, capacity, raw.repeated, dataset), left_out


def _read(raw: RawTable, dataset: Dataset) -> tuple[_Rows, Format]:
    """Return all rows of a table, and the format of their periods."""
    columns, cells = dataset.needed_columns, raw.cells
    days, written = period_texts(raw, columns.period)
    dates, months = parse_dates(days, written), dataset.periods.months
    rows = _Rows(
        cells=cells,
        days=days,
        period=starts_of_months(dates, months) if months else dates,
        group=cells[columns.group] if columns.group else pd.Series(NO_GROUP, cells.index),
        entity=identified(cells[columns.entity], dataset.cleaning),
    )
    return rows, written


def _parse(
    cells: pd.DataFrame, formats: Mapping[str, Format], dataset: Dataset
) -> dict[str, Numbers]:
    """Return the columns of numbers, by name: count, cases and capacity."""
    columns, rules = dataset.needed_columns, dataset.cleaning
    numbers = {
        name: parse_by_rules(cells[name], rules, formats[name], negative=rules.negative_counts)
        for name in (columns.count, *(columns.cases or ()))
    }
    if isinstance(name := columns.capacity, str):
        numbers[name] = parse_capacities(cells[name], rules, formats[name])
    return numbers


def _bad_dates(days: Texts, written: Format, dataset: Dataset) -> BadCells:
    bad = bad_dates(days, "dataset.columns.period", written)
    if dataset.format.layout != "wide-periods":
        return bad
    remedy = (
        "In the layout wide-periods every column not in dataset.columns is a period; list"
        f" other columns in dataset.cleaning.drop_where: {{{days.name}: [...]}}."
    )
    return replace(bad, remedies=(*bad.remedies, remedy))


def _bad_months(rows: _Rows) -> BadCells:
    wanted = "the first day of a month, since dataset.periods.months is set"
    remedy = (
        "Write that day, or the last day of each month in all rows, or write months like 2021-01"
        " and set dataset.format.date: YYYY-M."
    )
    return BadCells(rows.days[rows.period.dt.day != 1], wanted, (remedy,))


def _bad_names(rows: _Rows, encoding: str, dataset: Dataset) -> Iterator[BadCells]:
    """Yield the identifiers and names of entities that are empty or garbled."""
    columns = dataset.needed_columns
    remedy = "Name the entity of each row."
    yield BadCells(rows.entity[rows.entity == ""], "the name of an entity", (remedy,))
    yield garbled(rows.cells[columns.entity], encoding)
    # Names are only shown, and published UTF-8 tables hold a few that were garbled long before.
    if columns.name not in (None, columns.entity) and encoding != "utf-8":
        yield garbled(rows.cells[columns.name], encoding)


def _bad_numbers(
    rows: _Rows, numbers: Mapping[str, Numbers], dataset: Dataset
) -> Iterator[BadCells]:
    """Yield the cells without a number; those of a wide table under the column that holds them."""
    layout = dataset.format.layout
    heads = rows.days if layout == "wide-periods" else rows.entity
    for name, column in numbers.items():
        if layout == "long" or name != dataset.needed_columns.count:
            yield column.bad
            continue
        for head, texts in column.bad.texts.groupby(heads[column.kinds == "bad"].to_numpy()):
            yield replace(column.bad, texts=texts.rename(head))


def _refuse_lost(
    file: str, lost: Mapping[str, Sequence[str]], every: _Rows, inside: pd.Series[bool]
) -> None:
    """Refuse streams whose groups have no row within the periods."""
    for label, groups in lost.items():
        if groups:
            there = [shortened(name) for name in sorted(every.group[inside].unique()) if name][:60]
            each = "".join(f"\n  {name!r}{did_you_mean(name, there)}" for name in groups)
            raise DataError(
                f"{file}: stream {label} has no row within the periods of"
                f" {counted(len(groups), 'group')}:{each}\nChange streams.{label}.groups or"
                f" dataset.periods. Groups within the periods: {', '.join(there) or 'none'};"
                f" periods in the table: {_span(every.period)}"
            )


def _without_group(rows: _Rows) -> Iterator[str]:
    """Yield a warning of the rows without a group, if any."""
    if number := len(rows.cells):
        names = zip(rows.group.index[:SHOWN], rows.entity, rows.period, strict=False)
        first = "; ".join(f"row {row}, {shortened(who)}, {day.date()}" for row, who, day in names)
        more = "" if number <= SHOWN else f" and {number - SHOWN:,} more"
        yield f"{counted(number, 'row')} without a group left out: {first}{more}"


def _capacity(
    rows: _Rows, numbers: Mapping[str, Numbers], dataset: Dataset, second: RawTable | None
) -> Numbers:
    """Return each row's capacity: from a column, the second table, or boundless without either."""
    named = dataset.needed_columns.capacity
    if named is None:
        # Then no question needs capacities, and no count may exceed them.
        size = len(rows.cells)
        none_bad = numbers[dataset.needed_columns.count].bad
        return Numbers(np.full(size, np.inf), np.full(size, "number"), none_bad)
    if isinstance(named, str):
        return numbers[named]
    if second is None:
        raise ValueError("the columns name a second table; give it as capacities")
    return capacities_of(rows.entity, rows.period, second, named, dataset.cleaning)


def _tabulate(
    rows: _Rows,
    numbers: Mapping[str, Numbers],
    capacity: Numbers,
    repeated: Collection[int],
    dataset: Dataset,
) -> pd.DataFrame:
    """Return the table that `read_rows` describes."""
    columns, rules = dataset.needed_columns, dataset.cleaning
    count, cases = numbers[columns.count], [numbers[name] for name in columns.cases or ()]
    total = sum(
        np.where(column.kinds == "suppressed", rules.suppressed_value, np.nan_to_num(column.values))
        for column in cases or [count]
    )
    table = pd.DataFrame(
        {
            "group": rows.group,
            "entity": rows.entity,
            "name": rows.cells[columns.name or columns.entity],
            "period": rows.period,
            "time": rows.days.map({text: without_time(text)[1] for text in rows.days.unique()}),
            "row": rows.cells.index,
            "repeated": rows.cells.index.isin(list(repeated)),
            "count": count.values,
            "capacity": capacity.values / columns.capacity_per,
            "cases": total * rules.case_factor,
            "moved": rows.group.groupby(rows.entity).transform("nunique") > 1,
            "identified_rows": rows.entity != rows.cells[columns.entity],
            **count.counters("counts"),
            **capacity_counters(capacity),
        }
    )
    for kind in KINDS:
        table[f"{kind}_cases"] = sum((column.kinds == kind).astype(int) for column in cases)
    order = ["period", "entity", "group", "name"]
    return table.sort_values(order, kind="stable", ignore_index=True)


def drop_rows(raw: RawTable, rules: Cleaning, groups: Collection[str]) -> RawTable:
    """Return the table without the rows that `drop_where` names.

    Raises:
        DataError: no row holds a text of `drop_where`, or a row holds a text that looks like it
            and is neither named nor one of the groups.
    """
    dropped = pd.Series(False, raw.cells.index)
    for name, texts in rules.drop_where.items():
        there = raw.cells[name]
        for text in texts:
            if not (there == text).any():
                raise DataError(
                    f"{raw.file}: no row has {text!r} in column {name}"
                    f"{did_you_mean(text, there.unique()) or '.'} Change"
                    " dataset.cleaning.drop_where"
                )
        others = there[~there.isin(groups)]
        refuse_look_alikes(raw.file, others, texts, "dataset.cleaning.drop_where", rules)
        dropped |= there.isin(texts)
    return replace(raw, cells=raw.cells[~dropped])


def _span(periods: pd.Series[pd.Timestamp]) -> str:
    """Return the first and the last date, in words."""
    dates = periods.dropna()
    return "none" if dates.empty else f"{dates.min().date()} to {dates.max().date()}"
