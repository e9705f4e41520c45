"""The part of a table that a dataset needs, and whether a server's answer is that part."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpol.core.errors import FetchError
from dpol.core.words import counted, printable, shortened
from dpol.data.format import DEFAULT, Format
from dpol.data.settings import Dataset, PackageSource, WebSource
from dpol.data.texts import EARLIEST, LATEST
from dpol.data.values import columns_of

if TYPE_CHECKING:
    import pandas as pd

    from dpol.data.table import RawTable


@dataclass(frozen=True, kw_only=True)
class Query:
    """The part of a table that a dataset needs; the whole of an archive.

    Args:
        columns: names of the columns, each once; empty for all, as of a wide table.
        group: the column of the group.
        groups: its wanted values; empty for all.
        entity: the column of the entity, by which rows are ordered.
        period: the columns that name the period; empty for an archive.
        first: the first date, if the period is one column; None for no bound.
        last: the last one.
        form: how the table is written.
    """

    columns: tuple[str, ...] = ()
    group: str | None = None
    groups: tuple[str, ...] = ()
    entity: str | None = None
    period: tuple[str, ...] = ()
    first: datetime.date | None = None
    last: datetime.date | None = None
    form: Format = DEFAULT

    @property
    def where(self) -> str:
        """The rows, as a condition in the language of Socrata servers; empty for all."""
        conditions = []
        if self.group and self.groups:
            quoted = ",".join("'" + group.replace("'", "''") + "'" for group in self.groups)
            conditions.append(f"{self.group} in ({quoted})")
        first, last = (day and f"'{day}T00:00:00'" for day in (self.first, self.last))
        period = ",".join(self.period)
        if first and last:
            conditions.append(f"{period} between {first} and {last}")
        elif first:
            conditions.append(f"{period} >= {first}")
        elif last:
            conditions.append(f"{period} <= {last}")
        return " and ".join(conditions)

    @property
    def soql(self) -> dict[str, str]:
        """The parameters of a request to a Socrata server."""
        by = [*self.period, *([self.entity] if self.entity else []), ":id"]
        order = ",".join(by) if self.period else ""
        parts = {"$select": ",".join(self.columns), "$where": self.where, "$order": order}
        return {name: part for name, part in parts.items() if part}


def query_for(dataset: Dataset, groups: Iterable[str]) -> Query:
    """The query for a dataset's part of its table, with these values of the group column.

    An archive is fetched whole, without a query.
    """
    if isinstance(dataset.source, PackageSource | WebSource) and dataset.source.member:
        return Query()
    columns, periods = dataset.needed_columns, dataset.periods
    wide = dataset.format.layout == "wide"
    # Cleaning chooses among years and months.
    bounded = isinstance(columns.period, str)
    return Query(
        columns=tuple(dataset.read_columns or ()),
        group=columns.group,
        groups=tuple(sorted(groups)) if columns.group else (),
        entity=None if wide else columns.entity,
        period=tuple(columns_of(columns.period)),
        first=periods.first if bounded else None,
        last=periods.last if bounded else None,
        form=dataset.format,
    )


def refuse_unasked(table: RawTable, query: Query) -> None:
    """Refuse an answer with rows that the query does not ask for.

    The number of rows may agree all the same, as of another state or year.

    Raises:
        FetchError: the first such row, with what it holds.
    """
    import pandas as pd  # not where a query is only planned: it takes a while

    from dpol.data.cells import dates_of

    def refuse(column: str, wrong: pd.Series[bool], why: str) -> None:
        if (number := int(wrong.sum())) == 0:
            return
        row = wrong.idxmax()
        held = printable(shortened(str(table.cells.at[row, column])))
        raise FetchError(
            f"row {row} has {held!r} in {column} ({counted(number, 'such row')}), {why}"
        )

    unasked = "which the query excludes, so the server answered another one; try again later"
    if query.group and query.groups:
        refuse(query.group, ~table.cells[query.group].isin(query.groups), unasked)
    if query.first or query.last:
        (column,) = query.period
        days = dates_of(table.cells[column], query.form)
        undated = f"not a date like {query.form.date}; set dataset.format.date to how it is written"
        refuse(column, days.isna(), undated)
        first, last = query.first or EARLIEST, query.last or LATEST
        refuse(column, ~days.between(pd.Timestamp(first), pd.Timestamp(last)), unasked)
