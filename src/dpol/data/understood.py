"""What was understood of a table: a few lines that its owner confirms at a glance.

Arithmetic can only guess what a table means. The lines say numbers and never stop a run; the heat
map (`dpol.show.heat_map`) is drawn beside them. They tell what plays.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError

from dpol.core.errors import DataError, keyed
from dpol.core.refusals import problems_of, refusal
from dpol.core.shipped import completed
from dpol.core.words import counted, listed, one_line, shortened
from dpol.data.settings import Columns, Dataset, Read
from dpol.data.table import Rows, Table, dates_of, read_file, texts_of, values_of
from dpol.data.tidy import NAMES

MOST_COLUMNS = 40
"""Largest number of columns that are shown."""
LONGEST = 160
"""Largest number of characters of a line."""
_NUMBER = re.compile("^[0-9.e+]+ | in [0-9,]+ periods?$")  # of an entity, in the reason


@dataclass(frozen=True, kw_only=True)
class Found:
    """The columns of a table that nobody has described yet.

    Args:
        table: all columns.
        read: how the file is read.
        form: the format of dates, in the signs of `strptime`; 2021-01-31 if None.
        papers: the columns of `config/paper.yaml`, if the table has all of them.
    """

    table: Table
    read: Read
    form: str | None
    papers: Columns | None

    @property
    def cells(self) -> pd.DataFrame:
        """The cells of all columns."""
        return self.table.cells

    @property
    def kinds(self) -> dict[str, str]:
        """Whether each column is of a `date`, a `number` or a `text`."""
        found = dict[str, str]()
        for name in map(str, self.cells):
            cells = self.cells[name]
            texts = texts_of(cells) != ""
            dated = dates_of(cells, self.form).notna()[texts]
            numbers = ~np.isnan(values_of(cells, self.read)[texts.to_numpy()])
            shares = dated.mean() if len(dated) else 0, numbers.mean() if len(numbers) else 0
            found[name] = "date" if shares[0] > 0.9 else "number" if shares[1] > 0.5 else "text"
        return found

    @property
    def lines(self) -> list[str]:
        """A line for each column: its name, its kind and three of its texts."""
        lines = []
        for name, kind in [*self.kinds.items()][:MOST_COLUMNS]:
            texts = texts_of(self.cells[name]).astype("str").unique()[:3]
            lines.append(f"{name} ({kind}): {listed(repr(shortened(it)) for it in texts)}")
        more = len(self.cells.columns) - MOST_COLUMNS
        return lines + [f"and {counted(more, 'other column')}"] * (more > 0)

    @property
    def groups(self) -> list[str]:
        """The groups of a table with the paper's columns."""
        named = self.papers and self.papers.group
        return sorted(set(texts_of(self.cells[named]).astype("str")) - {""}) if named else []

    @property
    def span(self) -> dict[str, datetime.date]:
        """The first and the last period of a table with the paper's columns."""
        days = dates_of(self.cells[self.papers.period]) if self.papers else pd.Series(dtype="M8[s]")
        return {"first": days.min().date(), "last": days.max().date()}

    def lasting(self, period: str) -> dict[str, int]:
        """Return the length of a period: the commonest distance of dates; months if all are firsts
        of a month, or lasts.
        """
        if period not in self.cells:
            return {}
        days = dates_of(self.cells[period], self.form).dt.floor("D").dropna().drop_duplicates()
        months = days.dt.year * 12 + days.dt.month
        if len(days) < 2:
            return {}
        if days.dt.is_month_start.all() or days.dt.is_month_end.all():
            return {"months": int(months.sort_values().diff().mode().iloc[0])}
        return {"days": int(days.sort_values().diff().dt.days.mode().iloc[0])}


def columns_of(table: Path, keys: Mapping[str, Any], said: Mapping[str, str]) -> Found:
    """Return the columns of a table, read with the keys `read.*` and `periods.format`.

    Args:
        table: the file.
        keys: the keys that are set.
        said: the columns that are named.

    Raises:
        DataError: the table cannot be read.
        ConfigError: a key of `read` has another value than it may have.
    """
    options = {it.removeprefix("read."): keys[it] for it in keys if it.startswith("read.")}
    try:
        read = Read.model_validate(options)
    except ValidationError as error:
        found = problems_of(error, Read, options)
        placed = [replace(it, location=("dataset", "read", *it.location)) for it in found]
        raise refusal(str(table), placed) from None
    names = dict(zip(("entity", "period", "count"), NAMES, strict=False))
    of = Columns.model_validate({name: said.get(name, names[name]) for name in names})
    whole = read_file(table, read, of=of)
    if len(whole.header) == 1:
        raise DataError(
            f"{table}: has one column, {whole.header[0]!r}, whose first text is"
            f" {shortened(str(whole.cells.iloc[0, 0]))!r}. ",
            keyed("Set {dataset.read.sep} or {dataset.read.skiprows}"),
        )
    raw = completed({"like": "paper"}, "dataset")
    papers = Columns.model_validate(raw["columns"]) if isinstance(raw, dict) else None
    known = papers is not None and {*papers.needed, *papers.may_lack} <= {*whole.cells}
    form = keys.get("periods.format")
    return Found(table=whole, read=read, form=form, papers=papers if known else None)


def only_answers(found: Found, said: Mapping[str, str]) -> dict[str, str]:
    """Return the answers to which the table has one column only."""
    if found.papers:
        return {}
    kinds = {name: kind for name, kind in found.kinds.items() if name not in said.values()}
    wanted = {"period": "date", "entity": "text", "count": "number"}
    answers = dict[str, str]()
    for answer, kind in wanted.items():
        names = [name for name, of in kinds.items() if of == kind]
        if answer not in said and len(names) == 1:
            answers[answer] = names[0]
    return answers


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
    ours, every = int(read["entity"].isin(panel["entity"]).sum()), rows.facts["read"]
    lines = [f"{ours:,} of {every:,} rows play, of {counted(len(names), 'entity')}: "]
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
    for what in ("count", "capacity"):
        shares = panel[f"{what}_source"].value_counts(normalize=True)
        told = [f"{str(it).replace('_', ' ')} {100 * part:.3g}%" for it, part in shares.items()]
        cells.append(f"{what}: {listed(told, 9)}")
    lines.append(f"cells: {'; '.join(cells)}")
    return [it if len(it) <= LONGEST else f"{it[: LONGEST - 4]} ..." for it in lines]


def _day(day: Any) -> str:
    return f"{day:%a} {day.day} {day:%b %Y}"
