"""Queries for the part of a table that a dataset needs."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpol.core.files import read_json
from dpol.data.settings import Dataset


@dataclass(frozen=True)
class Query:
    """A query for the groups of a table that a dataset needs.

    Args:
        dataset: how the table is read.
        groups: the groups; all if there are none, or no column tells them.
    """

    dataset: Dataset
    groups: Collection[str]

    @property
    def where(self) -> str:
        """The condition on rows in SoQL, the language of Socrata servers; empty for all rows."""
        columns, conditions = self.dataset.needed_columns, list[str]()
        if columns.group and self.groups:
            quoted = ",".join("'" + it.replace("'", "''") + "'" for it in sorted(self.groups))
            conditions.append(f"{columns.group} in ({quoted})")
        for sign, day in ((">=", self.dataset.periods.first), ("<=", self.dataset.periods.last)):
            if day:
                conditions.append(f"{columns.period} {sign} '{day}T00:00:00'")
        return " and ".join(conditions)

    @property
    def soql(self) -> dict[str, str]:
        """The parameters of a request for the rows."""
        of = self.dataset.needed_columns
        asked = {"$select": ",".join(self.dataset.must_have), "$where": self.where}
        asked["$order"] = f"{of.period},{of.entity},:id"
        return {key: value for key, value in asked.items() if value}


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
