"""Query of a fetch: columns, groups and periods, in the names of an endpoint."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass, replace

from dpol.core.errors import FetchError
from dpol.data.settings import Columns, Dataset
from dpol.data.sources import Endpoint

_MOVED = datetime.timedelta(days=3)


@dataclass(frozen=True)
class Query:
    """The part of a table that a dataset needs.

    Args:
        named: what the table calls its columns.
        groups: values of the group column; empty for all.
        first: period, included; None for the first there is.
        last: period, included; None for the last there is.
    """

    named: Columns
    groups: tuple[str, ...] = ()
    first: datetime.date | None = None
    last: datetime.date | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to select, each once."""
        return tuple(self.named.needed())

    @property
    def where(self) -> str:
        """The rows, as a condition in the language of Socrata servers; empty for all."""
        quoted = ",".join("'" + group.replace("'", "''") + "'" for group in self.groups)
        where = [f"{self.named.group} in ({quoted})"] if quoted else []
        period, first, last = self.named.period, self.first, self.last
        if first and last:
            where.append(f"{period} between '{first}T00:00:00' and '{last}T00:00:00'")
        elif day := first or last:
            where.append(f"{period} {'>=' if first else '<='} '{day}T00:00:00'")
        return " and ".join(where)

    @property
    def soql(self) -> dict[str, str]:
        """The parameters of a request to a Socrata server; no two rows are equal in its order."""
        order = f"{self.named.period},{self.named.entity},:id"
        parts = {"$select": ",".join(self.columns), "$where": self.where, "$order": order}
        return {name: part for name, part in parts.items() if part}

    def at(self, endpoint: Endpoint) -> Query:
        """The query in the names that a place has.

        Raises:
            FetchError: the place does not hold all of it.
        """
        if endpoint.groups is not None:
            missing = [it for it in self.groups if it not in endpoint.groups]
            if missing or not self.groups:
                held = ", ".join(endpoint.groups)
                wanted = ", ".join(missing) or "all groups"
                raise FetchError(f"not asked: it holds {held} only, not {wanted}")
        names = endpoint.columns
        if names is None:
            return self
        if missing := [name for name in self.columns if name not in names]:
            raise FetchError(
                f"not asked: it is not known to hold {', '.join(missing)}; if it does, name them"
                " in its columns"
            )
        there = {
            key: [names[it] for it in name] if isinstance(name, list) else names[name]
            for key, name in self.named.model_dump(exclude={"titles"}, exclude_none=True).items()
        }
        return replace(self, named=Columns(**there))


def query_for(dataset: Dataset, groups: Iterable[str]) -> Query:
    """The query for a dataset's part of its table, with these values of the group column."""
    columns = dataset.untitled.needed_columns
    first, last = dataset.periods.first, dataset.periods.last
    if dataset.periods.align:  # weeks that are moved into the periods
        first, last = first and first - _MOVED, last and last + _MOVED
    wanted = tuple(sorted(groups)) if columns.group else ()
    return Query(columns, wanted, first, last)
