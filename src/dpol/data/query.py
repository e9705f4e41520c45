"""Queries for the part of a table that a dataset needs."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpol.core.files import read_json
from dpol.data.settings import DEFAULT, Dataset, Read


@dataclass(frozen=True, kw_only=True)
class Query:
    """A query for the part of a table that a dataset needs.

    Args:
        columns: names of the columns, each once.
        needed: columns that any answer must have; a whole file may lack the others.
        where: the condition on rows in SoQL, the language of Socrata servers; empty for all rows.
        order: columns that order the rows.
        read: how the table is read.
    """

    columns: tuple[str, ...]
    needed: tuple[str, ...]
    where: str
    order: tuple[str, ...]
    read: Read = DEFAULT

    @property
    def soql(self) -> dict[str, str]:
        """The parameters of a request for the rows."""
        columns, order = ",".join(self.columns), ",".join([*self.order, ":id"])
        return {"$select": columns, **self._where, "$order": order}

    @property
    def counting(self) -> dict[str, str]:
        """The parameters of a request for the number of rows."""
        return {"$select": "count(*)", **self._where}

    @property
    def _where(self) -> dict[str, str]:
        return {"$where": self.where} if self.where else {}


def query_for(dataset: Dataset, groups: Iterable[str]) -> Query:
    """Return the query for the groups of a table that a dataset needs."""
    columns, conditions = dataset.needed_columns, list[str]()
    if columns.group and (wanted := sorted(groups)):
        quoted = ",".join("'" + group.replace("'", "''") + "'" for group in wanted)
        conditions.append(f"{columns.group} in ({quoted})")
    if (first := dataset.periods.first) or dataset.periods.last:
        start, end = f"'{first}T00:00:00'", f"'{dataset.periods.last}T00:00:00'"
        bounds = f"between {start} and {end}" if dataset.periods.last else f">= {start}"
        conditions.append(f"{columns.period} {bounds if first else f'<= {end}'}")
    return Query(
        columns=tuple(dict.fromkeys([*dataset.must_have, *columns.may_lack])),
        needed=tuple(dataset.must_have),
        where=" and ".join(conditions),
        order=(columns.period, columns.entity),
        read=dataset.read,
    )


def must_fetch(query: Query, destination: Path) -> bool:
    """Return whether a table is missing, or was fetched by dpol for another query.

    A table without provenance was placed by hand, and is used as it is.
    """
    if not destination.exists():
        return True
    recorded = record_of(destination).get("query")
    return recorded is not None and recorded != query.soql


def record_of(table: Path | str) -> dict[str, Any]:
    """Return the record of a table's download, which stands next to it; empty without one."""
    with suppress(OSError, ValueError):
        record = read_json(f"{table}.provenance.json")
        return record if isinstance(record, dict) else {}
    return {}
