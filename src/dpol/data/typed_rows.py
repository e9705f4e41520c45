"""Reading a table of counts of any layout: as a long table of text, then with types.

Last, one row for each entity and period: rows that repeat another are dropped, others are merged.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from dpol.core.errors import DataError, Key, keyed
from dpol.core.files import sha256
from dpol.core.randomness import Floats
from dpol.core.shipped import way_back
from dpol.core.words import counted, did_you_mean, shortened
from dpol.data.settings import Dataset
from dpol.data.sources import LocalSource
from dpol.data.tables.bad_cells import BadCells, Texts, refuse_cells
from dpol.data.tables.identifiers import refuse_alike
from dpol.data.tables.parse import (
    CELL_KINDS,
    OF_SUMS,
    SMALLEST_CAPACITY,
    Numbers,
    bad_dates,
    date_formats,
    parse_cells,
    parse_dates,
    starts_of_months,
    starts_of_periods,
    without_time,
)
from dpol.data.tables.raw_table import (
    AGAIN,
    RawTable,
    period_texts,
    read_raw_table,
    to_long,
    without_notes,
)
from dpol.data.tables.settings import CapacityTable, Cleaning, DayColumns
from dpol.data.tables.table_format import EARLIEST, LATEST

MOST_LOST = 20
"""Number of entities without a capacity that a message lists."""
PAIR = ["entity", "period"]
"""Columns that name a cell of the panel."""
HIDDEN = ["suppressed_counts", "hidden_sum_counts", "uncovered_counts"]
"""Rules of counts that nobody published."""
_OF_CAPACITIES = [*(f"{kind}_capacities" for kind in (*CELL_KINDS, *OF_SUMS)), "zero_capacities"]
_SMALL = 50 * 10**6
"""Size of a file, in bytes, below which dpol also reads columns that a config does not name."""
_FIRST_DAY = keyed("the first day of a month, since {dataset.periods.months} is set")
_MEND_MONTHS = keyed(
    "Write that day, or the last day of each month in all rows, or write months like 2021-01 and"
    " set {dataset.format.date}: YYYY-M."
)


def read_counts(file: Path | str, dataset: Dataset) -> RawTable:
    """Read a table of counts of any layout as a long table; see `read_raw_table`.

    Raises:
        DataError: the table cannot be read, or is not the one whose SHA-256 the source gives.
    """
    source, form, columns = dataset.source, dataset.format, dataset.needed_columns
    pinned = source.sha256 if isinstance(source, LocalSource) and Path(file).exists() else None
    if pinned and (digest := sha256(file)) != pinned:
        raise DataError(
            f"{file}: has SHA-256 {digest} instead of {pinned}, so it was changed;"
            f" {way_back(str(file)) or AGAIN}; or, if the change is meant, remove ",
            keyed("{dataset.source.sha256}"),
        )
    large = Path(file).exists() and Path(file).stat().st_size >= _SMALL
    others = columns.of_days() if large else None  # any column may tell rows apart
    raw = without_notes(read_raw_table(file, dataset.read_columns, form, others=others), form)
    read = {
        "counts": f"read as {dataset.cleaning.suppressed_value:g} (cleaning.suppressed_value)",
        "capacities": "taken as missing",
    }
    costs = [
        f"no column {', '.join(lacks)}: suppressed {what}, whose sums would tell most of them, are"
        f" {read[what]}"
        for what, days in (("counts", columns.count_days), ("capacities", columns.capacity_days))
        if days and (lacks := [x for x in (days.sum, days.coverage) if x not in raw.cells])
    ]
    raw = replace(raw, changed=(*raw.changed, *(["; ".join(costs)] if costs else [])))
    if large and dataset.read_columns is not None:  # unread columns may tell rows apart
        raw = replace(raw, repeated=frozenset())
    if columns.count_rows:
        raw = replace(raw, cells=raw.cells.assign(**{columns.count: "1"}))
        raw = replace(raw, formats={**raw.formats, columns.count: form})
    if columns.entity_with:
        names = raw.cells[[columns.entity, *columns.entity_with]].agg(", ".join, axis=1)
        raw = replace(raw, cells=raw.cells.assign(**{columns.entity: names}))
    if form.layout == "long":
        return raw
    made = columns.entity if form.layout == "wide" else str(columns.period)
    named = dict.fromkeys([*columns.needed(), *dataset.cleaning.drop_where, *dataset.cleaning.keep])
    kept = [name for name in named if name not in (made, columns.count)]
    return to_long(raw, form, kept, name=made, number=columns.count)


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
        count, days (behind an averaged count), capacity, cases, row (of the file), whether it
        repeats another row of the file (`repeated`), whether the entity has rows in several groups
        (`moved`), and for each rule the number of the row's cells that it touched.

    Raises:
        DataError: a cell is neither number nor date where one belongs, an entity has no name, the
            rules refuse a negative number, an entity or group has several spellings, a group has
            no row, or the second table lacks an entity.
    """
    columns, rules, months = dataset.needed_columns, dataset.cleaning, dataset.periods.months
    days, written = period_texts(raw, columns.period)
    dates = parse_dates(days, written)
    starts = starts_of_months(dates, months) if months else dates
    if dataset.periods.of:
        starts = starts_of_periods(dates, dataset.periods.length[0])
    every = pd.DataFrame(
        {
            "day": days,
            "period": starts,
            "group": raw.cells[columns.group] if columns.group else "all",
            "entity": raw.cells[columns.entity].replace(rules.identifiers),
        }
    )
    wanted = [name for groups in streams.values() for name in groups]
    ours = every["group"].isin(wanted)
    inside = every["period"].between(
        pd.Timestamp(dataset.periods.first or EARLIEST),
        pd.Timestamp(dataset.periods.last or LATEST),
    )
    rows, cells = every[ours & inside], raw.cells[ours & inside]
    of_counts = dict.fromkeys([columns.count, *(columns.cases or ())], True)
    of_counts |= dict.fromkeys(columns.capacities, False)
    # A negative sum of beds, or number of days, is missing, whatever the rule for counts.
    sums = columns.count_days and columns.count_days.sum
    of_counts |= {name: name == sums for name in columns.of_days() if name in cells}
    numbers = {
        name: parse_cells(cells[name], rules, raw.formats[name], counts=counts)
        for name, counts in of_counts.items()
    }

    refuse_alike(raw.file, rows["entity"].rename(columns.entity), rules)
    bad = bad_dates(days[ours], Key(("dataset", "columns", "period")), written)
    if dataset.format.layout == "wide-periods":
        remedy = keyed(
            "In the layout wide-periods every column not in {dataset.columns} is a period; list"
            " other columns in {dataset.cleaning.drop_where}: {{{name}: [...]}}.",
            name=str(days.name),
        )
        bad = replace(bad, remedies=(*bad.remedies, remedy))
    late = (rows["period"].dt.day != 1) & bool(months)
    refuse_cells(
        raw.file,
        [
            bad,
            BadCells(rows["day"].rename(str(days.name))[late], _FIRST_DAY, (_MEND_MONTHS,)),
            _nameless(rows["entity"].rename(columns.entity)),
            *_bad_numbers(rows, numbers, dataset),
        ],
    )
    for label, groups in streams.items():
        if lost := sorted({*groups} - {*rows["group"]}):
            raise _lost(raw.file, label, lost, every[inside], every["period"].dropna())
    left_out = [*raw.changed]
    if columns.group:
        group = every.loc[inside, "group"].rename(columns.group)
        refuse_alike(raw.file, group, rules, wanted, keyed("{streams.*.groups}"))
        if len(blank := group.index[group == ""]):
            left_out.append(
                f"{counted(len(blank), 'row')} without a group left out, first in row {blank[0]}"
            )

    capacity = _capacity(rows, numbers, dataset, capacities)
    capacity, _ = _with_sums(capacity, numbers, columns.capacity_days, dataset, math.nan)
    beds = np.where(capacity.values < SMALLEST_CAPACITY, 0.0, capacity.values)
    count, days_reported = _with_sums(
        numbers[columns.count], numbers, columns.count_days, dataset, rules.suppressed_sum
    )
    people = _read_as(count, rules)
    of_cases = [numbers[name] for name in columns.cases or ()]
    table = rows.drop(columns="day").assign(
        name=cells[columns.name] if columns.name else rows["entity"],
        time=_order(rows["day"], dates, raw, dataset),
        row=cells.index,
        repeated=cells.index.isin([*raw.repeated]),
        moved=rows.groupby("entity")["group"].transform("nunique") > 1,
        identified_rows=rows["entity"] != cells[columns.entity],
        count=people,
        **count.counters("counts"),
        days=days_reported,
        capacity=beds / columns.capacity_per,
        **capacity.counters("capacities"),
        zero_capacities=beds == 0,
        idle_counts=(people > 0) & ((beds == 0) | (capacity.kinds == "negative")),
        cases=rules.case_factor
        * sum(np.nan_to_num(_read_as(each, rules)) for each in of_cases or [count]),
    )
    for kind in CELL_KINDS:
        table[f"{kind}_cases"] = sum((column.kinds == kind).astype(int) for column in of_cases)
    order = ["period", "entity", "group", "name"]
    return table.sort_values(order, kind="stable", ignore_index=True), left_out


def _order(days: Texts, dates: Texts, raw: RawTable, dataset: Dataset) -> Texts:
    """Return texts by which the rows of an entity and period are in order: times of day, or dates.

    Raises:
        DataError: a cell of `latest_by` is no date.
    """
    texts = days
    if column := dataset.cleaning.latest_by:
        texts = raw.cells.loc[days.index, column]
        known = date_formats(texts.unique())
        form = raw.formats[column]
        form = form.model_copy(update={"date": known[0]}) if len(known) == 1 else form
        key = Key(("dataset", "cleaning", "latest_by"))
        refuse_cells(raw.file, [bad_dates(texts[texts != ""], key, form)])
        dates = parse_dates(texts, form)
    times = texts.map({text: without_time(text)[1] for text in texts.unique()})
    if not (column or dataset.periods.of):
        return times
    return dates[days.index].dt.strftime("%Y-%m-%d ").fillna("") + times


def _bad_numbers(
    rows: pd.DataFrame, numbers: Mapping[str, Numbers], dataset: Dataset
) -> Iterator[BadCells]:
    """Yield the cells without a number; those of a wide table under the column that holds them."""
    layout = dataset.format.layout
    heads = rows["day" if layout == "wide-periods" else "entity"]
    for name, column in numbers.items():
        if layout == "long" or name != dataset.needed_columns.count:
            yield column.bad
            continue
        for head, texts in column.bad.texts.groupby(heads[column.kinds == "bad"].to_numpy()):
            yield replace(column.bad, texts=texts.rename(head))


def _lost(
    file: str, label: str, lost: Sequence[str], inside: pd.DataFrame, dates: pd.Series[pd.Timestamp]
) -> DataError:
    """Return the error for a stream whose groups have no row within the periods."""
    there = [shortened(name) for name in sorted(inside["group"].unique()) if name][:60]
    each = "".join(f"\n  {name!r}{did_you_mean(name, there)}" for name in lost)
    span = f"{dates.min().date()} to {dates.max().date()}" if len(dates) else "none"
    return DataError(
        f"{file}: stream {label} has no row within the periods of"
        f" {counted(len(lost), 'group')}:{each}\n",
        keyed("Change {groups} or {dataset.periods}. ", groups=Key(("streams", label, "groups"))),
        f"Groups within the periods: {', '.join(there) or 'none'}; periods in the table: {span}",
    )


def _capacity(
    rows: pd.DataFrame,
    numbers: Mapping[str, Numbers],
    dataset: Dataset,
    second: RawTable | None,
) -> Numbers:
    """Return each row's capacity: from a column, the second table, or boundless without either."""
    named, counts = dataset.needed_columns.capacity, numbers[dataset.needed_columns.count]
    if named is None:
        # Then no question needs capacities, and no count may exceed them.
        return Numbers(np.full(len(rows), np.inf), np.full(len(rows), "number"), counts.bad)
    if parts := [numbers[name] for name in dataset.needed_columns.capacities]:
        kinds = parts[0].kinds  # of several, a sum needs a number in each
        for part in parts:
            kinds = np.where(kinds == "number", part.kinds, kinds)
        return Numbers(np.sum([part.values for part in parts], axis=0), kinds, parts[0].bad)
    if second is None or not isinstance(named, CapacityTable):
        raise ValueError("the columns name a second table; give it as capacities")
    return _joined(rows[PAIR], second, named, dataset.cleaning)


def _joined(
    rows: pd.DataFrame, second: RawTable, columns: CapacityTable, rules: Cleaning
) -> Numbers:
    """Return each row's capacity: the latest one that starts in its period or before.

    Args:
        rows: entity and period of each row of the counts.
        second: the table of capacities.
        columns: names of its columns.
        rules: cleaning rules: markers, and the spellings of entities.

    Raises:
        DataError: a cell of the second table cannot be used, it gives an entity two capacities for
            one day, or it lacks an entity that may play.
    """
    known, name = second.cells[columns.entity].replace(rules.identifiers), columns.capacity
    numbers = parse_cells(second.cells[name], rules, second.formats[name], counts=False)
    bad, since = [_nameless(known), numbers.bad], pd.Series(pd.Timestamp(EARLIEST), known.index)
    if columns.period:
        days, written = period_texts(second, columns.period)
        bad.append(bad_dates(days, Key(("dataset", "columns", "capacity", "period")), written))
        since = parse_dates(days, written)
    refuse_cells(second.file, bad)
    table = pd.DataFrame({"entity": known, "period": since.astype("datetime64[us]")})
    table = table.assign(value=numbers.values, kind=numbers.kinds, row=known.index)
    table = table.drop_duplicates([*PAIR, "value", "kind"])
    for _, twice in table[table.duplicated(PAIR, keep=False)].groupby(PAIR, sort=False):
        raise DataError(
            f"{second.file}, rows {' and '.join(map(str, twice['row'][:2]))}:"
            f" {shortened(twice['entity'].iloc[0])} has different capacities. ",
            keyed(
                "Keep one row per entity, or set {dataset.columns.capacity.period} to the column of"
                " the day from which each capacity holds"
            ),
        )
    entities = {*rows["entity"]}
    playing = {*rules.entities} if isinstance(rules.entities, list) else entities
    if lost := sorted((entities & playing) - {*known}):
        there = known.unique().tolist()
        lines = "".join(f"\n  {name!r}{did_you_mean(name, there)}" for name in lost[:MOST_LOST])
        raise DataError(
            f"{second.file}: column {known.name} lacks {counted(len(lost), 'entity')} of the"
            f" counts:{lines}\n",
            keyed(
                "Add their capacities, map spellings of one entity to each other in"
                " {dataset.cleaning.identifiers}, or leave their rows out with"
                " {dataset.cleaning.drop_where}"
            ),
        )
    wanted = rows.astype({"period": "datetime64[us]"}).assign(place=np.arange(len(rows)))
    joined = pd.merge_asof(
        wanted.sort_values("period"), table.sort_values("period"), on="period", by="entity"
    ).sort_values("place")
    kinds = joined["kind"].fillna("missing").to_numpy()
    return Numbers(joined["value"].to_numpy(float), kinds, numbers.bad)


def _nameless(entities: Texts) -> BadCells:
    blank = entities[entities == ""]
    return BadCells(blank, "the name of an entity", ("Name the entity of each row.",))


def _with_sums(
    averages: Numbers,
    numbers: Mapping[str, Numbers],
    of: DayColumns | None,
    dataset: Dataset,
    hidden_sum: float,
) -> tuple[Numbers, Floats]:
    """Return averages with what their sums tell, if the table has these, and the days reported."""
    days = np.full(len(averages.values), np.nan)
    if of is None or not {of.sum, of.coverage} <= {*numbers}:
        return averages, days
    length, unit = dataset.periods.length
    days = numbers[of.coverage].values
    days = np.where((days > 0) & (days <= (length if unit == "day" else 31 * length)), days, np.nan)
    return averages.from_sums(numbers[of.sum], days, hidden_sum), days


def _read_as(column: Numbers, rules: Cleaning) -> Floats:
    """Return the numbers, with the value of suppressed ones; NaN where they are missing."""
    hidden = np.isin(column.kinds, ["suppressed", "uncovered"])
    return np.where(hidden, rules.suppressed_value, column.values)


def drop_rows(raw: RawTable, rules: Cleaning, groups: Collection[str]) -> RawTable:
    """Return the table without the rows that `drop_where` names, and with those of `keep` only.

    Raises:
        DataError: no row holds a text of `drop_where`, or a row holds a text that looks like it
            and is neither named nor one of the groups.
    """
    dropped = pd.Series(False, raw.cells.index)
    named = [(key, *it) for key in ("drop_where", "keep") for it in getattr(rules, key).items()]
    for key, name, texts in named:
        there = raw.cells[name]
        for text in {*texts} - {*there}:
            raise DataError(
                f"{raw.file}: no row has {text!r} in column {name}"
                f"{did_you_mean(text, there.unique()) or '.'} Change ",
                Key(("dataset", "cleaning", key)),
            )
        others = there[~there.isin(groups) | there.isin(texts)]
        refuse_alike(raw.file, others, rules, texts, Key(("dataset", "cleaning", key)))
        dropped |= there.isin(texts) == (key == "drop_where")
    return replace(raw, cells=raw.cells[~dropped])


def one_row_each(rows: pd.DataFrame, rules: Cleaning) -> tuple[pd.DataFrame, dict[str, int]]:
    """Apply `several_rows` to the rows of a stream; `error`, which is asked about, as `last`.

    Args:
        rows: rows of the stream from `read_rows`.
        rules: cleaning rules.

    Returns:
        One row per entity and period, and the number of rows that each rule dropped.
    """
    repeated = repeats(rows, rules)
    unique = rows[~repeated]
    merged = int(unique.duplicated(PAIR).sum())
    one = _merge(unique, rules) if merged else unique
    return one, {"exact_duplicates": int(repeated.sum()), "merged_rows": merged}


def repeats(rows: pd.DataFrame, rules: Cleaning) -> pd.Series[bool]:
    """Return which rows repeat another in all columns of the table, and so count once."""
    return rows["repeated"] & (rules.equal_rows != "add")


def _merge(rows: pd.DataFrame, rules: Cleaning) -> pd.DataFrame:
    """Return the last row of each entity and period, with the numbers of all its rows."""
    last = rows.sort_values(["time", "row"], kind="stable").drop_duplicates(PAIR, keep="last")
    last = last.sort_index()
    if not rules.merges_rows:
        return last
    pairs = rows.assign(capacity=rows["capacity"].where(rows["capacity"] > 0)).groupby(PAIR)
    count = pairs["count"].agg(rules.several_rows)
    if rules.several_rows == "sum":
        count = count.where(pairs["count"].count() == pairs.size())
    rule = "max" if rules.several_rows == "max" else rules.several_capacities or "mean"
    capacity = pairs["capacity"].agg(rule)
    if rule == "sum":
        capacity = capacity.where(pairs["capacity"].count() == pairs.size())
    lost, missing = count.isna(), pairs["missing_counts"].any()
    indexed = last.set_index(PAIR)
    merged = indexed.assign(
        count=count,
        **{rule: pairs[rule].any() & ~lost for rule in [*HIDDEN, "summed_counts"]},
        missing_counts=missing & lost,
        negative_counts=~missing & lost,
        idle_counts=pairs["idle_counts"].any() & capacity.isna(),
        days=pairs["days"].min(),
        capacity=capacity,
        cases=pairs["cases"].agg(rules.several_rows),
        **{f"{kind}_cases": pairs[f"{kind}_cases"].sum() for kind in CELL_KINDS},
        **{column: indexed[column] & capacity.isna() for column in _OF_CAPACITIES},
    )
    return merged.reset_index().set_index(last.index)[last.columns]
