"""Queries for the part of a table that a dataset needs, and checks of what was fetched."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dpol.core.errors import FetchError
from dpol.core.words import counted, printable, shortened
from dpol.data.setting_types import columns_of
from dpol.data.settings import Dataset
from dpol.data.table_format import DEFAULT, EARLIEST, LATEST, Format

if TYPE_CHECKING:
    import pandas as pd

    from dpol.data.raw_table import RawTable


@dataclass(frozen=True, kw_only=True)
class Query:
    """A query for the part of a table that a dataset needs.

    Args:
        columns: names of the columns, each once; empty for all columns, as in a wide table.
        group: the column of the group.
        groups: the wanted groups; empty for all.
        entity: the column of the entity; it orders the rows.
        period: the columns that name the period.
        first: the first date, if the period is one column; None for no bound.
        last: the last date, likewise.
        form: the format of the table.
    """

    columns: tuple[str, ...] = ()
    group: str | None = None
    groups: tuple[str, ...] = ()
    entity: str | None = None
    period: tuple[str, ...]
    first: datetime.date | None = None
    last: datetime.date | None = None
    form: Format = DEFAULT

    @property
    def where(self) -> str:
        """The condition on rows in SoQL, the language of Socrata servers; empty for all rows."""
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
    """Return the query for the groups of a table that a dataset needs."""
    columns, periods = dataset.needed_columns, dataset.periods
    wide = dataset.format.layout == "wide"
    # Years and months are selected later, by cleaning.
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


def must_fetch(query: Query, destination: Path) -> bool:
    """Return whether a table is missing, or was fetched by dpol for another query.

    A table without provenance was placed by hand, and is used as it is.
    """
    if not destination.exists():
        return True
    try:
        record = json.loads(Path(f"{destination}.provenance.json").read_text(encoding="utf-8"))
        recorded = record["query"]
    except (OSError, ValueError, LookupError, TypeError):
        return False
    return recorded is not None and recorded != query.soql


def refuse_unasked(table: RawTable, query: Query) -> None:
    """Refuse an answer that has rows outside the query.

    Counting rows would not find them: another state or year may have as many.

    Raises:
        FetchError: a row is outside the query; the text gives the first one and its value.
    """
    import pandas as pd  # slow to import; planning a query does not need it

    from dpol.data.parse import parse_dates

    def refuse(column: str, wrong: pd.Series[bool], why: str) -> None:
        if (number := int(wrong.sum())) == 0:
            return
        row = wrong.idxmax()
        held = printable(shortened(str(table.cells.at[row, column])))
        raise FetchError(
            f"row {row} has {held!r} in {column} ({counted(number, 'such row')}), {why}"
        )

    unasked = "which the query excludes: the server answered another query; try again later"
    if query.group and query.groups:
        refuse(query.group, ~table.cells[query.group].isin(query.groups), unasked)
    if query.first or query.last:
        (column,) = query.period
        days = parse_dates(table.cells[column], query.form)
        undated = f"not a date like {query.form.date}; set dataset.format.date to its format"
        refuse(column, days.isna(), undated)
        first, last = query.first or EARLIEST, query.last or LATEST
        refuse(column, ~days.between(pd.Timestamp(first), pd.Timestamp(last)), unasked)
