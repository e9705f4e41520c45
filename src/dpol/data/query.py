"""Queries for the part of a table that a dataset needs."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpol.core.files import read_json
from dpol.data.settings import Dataset
from dpol.data.tables.setting_types import columns_of
from dpol.data.tables.table_format import DEFAULT, Format


@dataclass(frozen=True, kw_only=True)
class Query:
    """A query for the part of a table that a dataset needs.

    Args:
        columns: names of the columns, each once; empty for all columns, as in a wide table.
        needed: columns that any answer must have; a whole file may lack the others.
        where: the condition on rows in SoQL, the language of Socrata servers; empty for all rows.
        order: columns that order the rows.
        form: the format of the table.
    """

    columns: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    where: str = ""
    order: tuple[str, ...] = ()
    form: Format = DEFAULT

    @property
    def soql(self) -> dict[str, str]:
        """The parameters of a request for the rows."""
        columns, order = ",".join(self.columns), ",".join([*self.order, ":id"])
        asked = {"$select": columns, "$where": self.where, "$order": order}
        return {name: text for name, text in asked.items() if text}

    @property
    def counting(self) -> dict[str, str]:
        """The parameters of a request for the number of rows."""
        return {"$select": "count(*)", **({"$where": self.where} if self.where else {})}


def query_for(dataset: Dataset, groups: Iterable[str]) -> Query:
    """Return the query for the groups of a table that a dataset needs."""
    columns, layout, conditions = dataset.needed_columns, dataset.format.layout, []
    period = [] if layout == "wide-periods" else columns_of(columns.period)
    named = (*period, columns.entity) if layout != "wide" else tuple(period)
    if columns.group and (wanted := sorted(groups)):
        quoted = ",".join("'" + group.replace("'", "''") + "'" for group in wanted)
        conditions.append(f"{columns.group} in ({quoted})")
    first, last = dataset.periods.first, dataset.periods.last
    if len(period) == 1 and (first or last):  # years and months are selected later, by cleaning
        start, end = f"'{first}T00:00:00'", f"'{last}T00:00:00'"
        bounds = f"between {start} and {end}" if last else f">= {start}"
        conditions.append(f"{period[0]} {bounds if first else f'<= {end}'}")
    read = dataset.read_columns or []
    more = columns.of_days() if read else []
    return Query(
        columns=tuple(dict.fromkeys([*read, *more])),
        needed=tuple(read) or named,
        where=" and ".join(conditions),
        order=named,
        form=dataset.format,
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
