"""Reading the rows of a table of counts with types, for all later steps of the cleaning."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from dpol.core.errors import DataError
from dpol.core.logs import LOGGER
from dpol.core.near import did_you_mean
from dpol.core.words import counted, shortened
from dpol.data.capacities import capacities_of
from dpol.data.cells import (
    BadCells,
    Numbers,
    dates_of,
    parse_numbers,
    periods_of,
    refuse_cells,
    undated,
)
from dpol.data.identifiers import garbled, identified, refuse_alike, refuse_look_alikes
from dpol.data.settings import Cleaning, Dataset
from dpol.data.table import RawTable
from dpol.data.texts import EARLIEST, LATEST

NO_GROUP = "all"
KINDS = ("suppressed", "missing", "negative")
"""Kinds of cells without a number."""


def read_rows(
    raw: RawTable,
    dataset: Dataset,
    streams: Mapping[str, Sequence[str]],
    capacities: RawTable | None = None,
) -> pd.DataFrame:
    """Return the rows of the streams' groups within the periods.

    Args:
        raw: the table.
        dataset: how the table is read.
        streams: the groups of each stream.
        capacities: the second table, if the columns name one.

    Returns:
        The rows, sorted by period and entity. Columns: group, entity, name, period, count,
        capacity, cases, row (of the file), whether the entity has rows in several groups
        (`moved`), and for each rule the number of the row's cells that it touched.

    Raises:
        DataError: a cell is neither number nor date where one belongs, an entity has no name, the
            rules refuse a negative number, an entity or group has several spellings, a name is
            garbled, a group has no row, or the second table lacks an entity.
    """
    columns, rules, periods = dataset.needed_columns, dataset.cleaning, dataset.periods
    days, written = periods_of(raw, columns.period)
    period = dates_of(days, written)
    first, last = periods.first or EARLIEST, periods.last or LATEST
    inside = period.between(pd.Timestamp(first), pd.Timestamp(last))
    group = raw.cells[columns.group] if columns.group else pd.Series(NO_GROUP, raw.cells.index)
    ours = group.isin({group for groups in streams.values() for group in groups})
    cells, group_of_row = raw.cells[ours & inside], group[ours & inside]
    groups_there = {*group_of_row}

    names = [columns.count, *(columns.cases or ())]
    names += [columns.capacity] if isinstance(columns.capacity, str) else []
    numbers = {
        name: parse_numbers(
            cells[name], rules, raw.formats[name], capacity=name == columns.capacity
        )
        for name in names
    }
    bad = [undated(days[ours], "dataset.columns.period", written)]
    if periods.months:
        wanted = "the first day of a month, since dataset.periods.months is set"
        remedy = "Write that day, or write months like 2021-01 and set dataset.format.date: YYYY-M."
        bad.append(BadCells(days[ours & inside & (period.dt.day != 1)], wanted, (remedy,)))
    if columns.group and any(not groups_there.issuperset(groups) for groups in streams.values()):
        bad.append(garbled(group, raw.encoding))
    entity = identified(cells[columns.entity], rules)
    remedy = "Name the entity of each row."
    bad.append(BadCells(entity[entity == ""], "the name of an entity", (remedy,)))
    bad.append(garbled(cells[columns.entity], raw.encoding))
    # Names are only shown, and published UTF-8 tables hold a few that were garbled long before.
    if columns.name not in (None, columns.entity) and raw.encoding != "utf-8":
        bad.append(garbled(cells[columns.name], raw.encoding))
    layout = dataset.format.layout
    if layout == "wide-periods":
        remedy = (
            "In the layout wide-periods every column not in dataset.columns is a period; list"
            f" other columns in dataset.cleaning.drop_where: {{{days.name}: [...]}}."
        )
        bad[0] = replace(bad[0], remedies=(*bad[0].remedies, remedy))
    heads = cells[columns.period] if layout == "wide-periods" else entity
    for name, column in numbers.items():
        if layout == "long" or name != columns.count:
            bad.append(column.bad)
            continue
        for head, texts in column.bad.texts.groupby(heads[column.kinds == "bad"].to_numpy()):
            bad.append(replace(column.bad, texts=texts.rename(head)))
    refuse_alike(raw.file, entity, rules)
    refuse_cells(raw.file, bad)

    for label, groups in streams.items():
        if lost := sorted({*groups} - groups_there):
            there = [shortened(name) for name in sorted(group[inside].unique()) if name][:60]
            each = "".join(f"\n  {name!r}{did_you_mean(name, there)}" for name in lost)
            raise DataError(
                f"{raw.file}: stream {label} has no row within the periods of"
                f" {counted(len(lost), 'group')}:{each}\nChange streams.{label}.groups or"
                f" dataset.periods. Groups within the periods: {', '.join(there) or 'none'};"
                f" periods in the table: {_span(period)}"
            )

    if columns.group:
        wanted_groups = [group for groups in streams.values() for group in groups]
        refuse_look_alikes(raw.file, group[inside], wanted_groups, "streams.*.groups", rules)
        if len(unnamed := group.index[inside & (group == "")]):
            LOGGER.warning("%s: left out %s within the periods but without a group, first row %s",
                           raw.file, counted(len(unnamed), "row"), unnamed[0])  # fmt: skip

    if columns.capacity is None:
        # Then no question needs capacities, and no count may exceed them.
        boundless = np.full(len(cells), np.inf)
        capacity = Numbers(boundless, np.full(len(cells), "number"), bad[0])
    elif isinstance(columns.capacity, str):
        capacity = numbers[columns.capacity]
    elif capacities is None:
        raise ValueError("the columns name a second table; give it as capacities")
    else:
        dates = period[ours & inside]
        capacity = capacities_of(entity, dates, capacities, columns.capacity, rules)
    count = numbers[columns.count]
    cases = [numbers[name] for name in columns.cases or ()]
    total = sum(
        np.where(column.kinds == "suppressed", rules.suppressed_value, np.nan_to_num(column.values))
        for column in cases or [count]
    )
    rows = pd.DataFrame(
        {
            "group": group_of_row,
            "entity": entity,
            "name": cells[columns.name or columns.entity],
            "period": period[ours & inside],
            "row": cells.index,
            "count": count.values,
            "capacity": capacity.values / columns.capacity_per,
            "cases": total * rules.case_factor,
            "moved": group_of_row.groupby(entity).transform("nunique") > 1,
            "identified_rows": entity != cells[columns.entity],
            "zero_capacities": capacity.values == 0,
        }
    )
    for kind in KINDS:
        rows[f"{kind}_counts"] = count.kinds == kind
        rows[f"{kind}_capacities"] = capacity.kinds == kind
        rows[f"{kind}_cases"] = sum((column.kinds == kind).astype(int) for column in cases)
    order = ["period", "entity", "group", "name"]
    return rows.sort_values(order, kind="stable", ignore_index=True)


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
