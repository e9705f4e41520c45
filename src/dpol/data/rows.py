"""The rows of a table of counts, with types: what all later steps of the cleaning see."""

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
"""Kinds of cells that hold no number."""


def read_rows(
    raw: RawTable,
    dataset: Dataset,
    streams: Mapping[str, Sequence[str]],
    capacities: RawTable | None = None,
) -> pd.DataFrame:
    """The rows of the groups of some streams, within the periods.

    Args:
        raw: the table.
        dataset: how it is read.
        streams: the groups of each.
        capacities: the second table, if the columns name one.

    Returns:
        The rows by period and entity. Columns: group, entity, name, period, count, capacity, cases,
        row (of the file), whether the entity has rows in several groups (`moved`), and for each
        rule of rows and cells how many cells of the row it concerns.

    Raises:
        DataError: text where a number or date belongs, an entity without a name, a negative number
            where the rules refuse it, an entity with several spellings, a garbled name, a group
            without a row or with several spellings, or an entity that the second table lacks.
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
        wanted = "the first day of a month, since dataset.periods.months is given"
        remedy = "Write that day, or months as dataset.format.date: YYYY-M reads them (2021-01)."
        bad.append(BadCells(days[ours & inside & (period.dt.day != 1)], wanted, (remedy,)))
    if columns.group and any(not groups_there.issuperset(groups) for groups in streams.values()):
        bad.append(garbled(group, raw.encoding))
    entity = identified(cells[columns.entity], rules)
    remedy = "Name the entity of each row."
    bad.append(BadCells(entity[entity == ""], "the name of an entity", (remedy,)))
    bad.append(garbled(cells[columns.entity], raw.encoding))
    # A name is only shown: published tables in UTF-8 hold a few that were garbled long before.
    if columns.name not in (None, columns.entity) and raw.encoding != "utf-8":
        bad.append(garbled(cells[columns.name], raw.encoding))
    layout = dataset.format.layout
    if layout == "wide-periods":
        remedy = (
            "In the layout wide-periods all columns but those of dataset.columns are periods; name"
            f" others in dataset.cleaning.drop_where: {{{days.name}: [...]}}."
        )
        bad[0] = replace(bad[0], remedies=(*bad[0].remedies, remedy))
    heads = cells[columns.period] if layout == "wide-periods" else entity
    for name, column in numbers.items():
        if layout == "long" or name != columns.count:
            bad.append(column.bad)
            continue
        for own, texts in column.bad.texts.groupby(heads[column.kinds == "bad"].to_numpy()):
            bad.append(replace(column.bad, texts=texts.rename(own)))
    refuse_alike(raw.file, entity, rules)
    refuse_cells(raw.file, bad)

    for label, groups in streams.items():
        if lost := sorted({*groups} - groups_there):
            there = [shortened(name) for name in sorted(group[inside].unique()) if name][:60]
            each = "".join(f"\n  {name!r}{did_you_mean(name, there)}" for name in lost)
            raise DataError(
                f"{raw.file}: stream {label} has no row within the periods of"
                f" {counted(len(lost), 'group')}:{each}\nGroups within these periods:"
                f" {', '.join(there) or 'none'}; the table's periods: {_span(period)}."
                f" Change streams.{label}.groups or dataset.periods"
            )

    if columns.group:
        wanted_groups = [it for groups in streams.values() for it in groups]
        refuse_look_alikes(raw.file, group[inside], wanted_groups, "streams.*.groups", rules)
        if len(unnamed := group.index[inside & (group == "")]):
            LOGGER.warning("%s: %s of the periods without a group left out, first row %s",
                           raw.file, counted(len(unnamed), "row"), unnamed[0])  # fmt: skip

    if columns.capacity is None:
        # No question needs capacities then: any count is within them.
        boundless = np.full(len(cells), np.inf)
        capacity = Numbers(boundless, np.full(len(cells), "number"), bad[0])
    elif isinstance(columns.capacity, str):
        capacity = numbers[columns.capacity]
    elif capacities is None:
        raise ValueError("the columns name a second table, which is not given")
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
    """The table without the rows that hold one of the texts of `drop_where` for a column.

    Raises:
        DataError: a text that no row holds, or one that looks like it and is neither named nor one
            of the groups.
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
    """The first and the last date, in words."""
    dates = periods.dropna()
    return "none" if dates.empty else f"{dates.min().date()} to {dates.max().date()}"
