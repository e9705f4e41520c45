"""A holder's own file, `hospital.yaml`: its table and the destination of releases. Never sent."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from dpol.core.errors import DataError
from dpol.core.settings import MISSING, Problem, Settings
from dpol.core.words import nearest
from dpol_weekly.deployment import Deployment
from dpol_weekly.records import HEX
from dpol_weekly.settings_file import checked, read_keys
from dpol_weekly.tables import Format

MANUAL = "--init takes them as --column KEY=ANSWER. The page For a hospital, in the documentation,"


def _by_identifier(value: object) -> object:
    """Return a list of identifiers as a block: the table uses the same identifiers."""
    return {name: name for name in value} if isinstance(value, list) else value


class Columns(Settings):
    """The columns of a holder's table, as the table names them."""

    entity: str | None = None
    """Column that names the entity of a row; not needed for one entity."""
    period: str = "period"
    """Column with the start of the period."""
    count: str = "count"
    """Column with the number of people counted."""
    capacity: str | None = None
    """Column with the capacity; read, and published, where the deployment says `reported`."""


class Hospital(Settings):
    """A holder's table and the destination of its releases; paths are relative to the file."""

    deployment: Path
    """The file that all holders share."""
    agreed: Annotated[str, Field(pattern=f"^{HEX}$")] | None = None
    """SHA-256 of an agreement that a person has confirmed, before the first release under it."""
    entities: Annotated[dict[str, str], BeforeValidator(_by_identifier), Field(min_length=1)]
    """Identifiers in the deployment: a list, or a block with the text that the table has for each.

    Without a column of entities, all rows are of the only one.
    """
    table: Path
    """The raw counts, a CSV file."""
    zero: Annotated[str, Field(min_length=1)]
    """How the table writes that nobody was there: `missing` (no row), `blank`, `written` as 0, or
    another text, such as NULL."""
    covers: Literal["today", "yesterday"] | None = None
    """Last day that the table covers, unless the export says it with `--through`."""
    reaches: Literal["all"] | Annotated[int, Field(ge=1)] = "all"
    """How far back the table reaches: `all`, or a number of periods."""
    begin_after: datetime.date | None = None
    """No period that begins up to this date is released for the first time."""
    unknown: list[datetime.date] = []
    """First days of periods that were never counted."""
    columns: Columns = Columns()
    """The columns of the table."""
    format: Format
    """How the table is written."""
    output: Path = Path("released")
    """Folder of the releases: the memory of what was released."""
    copy_to: Path | None = None
    """A folder that gets a copy of each release, such as one that the coordinator reads."""
    key: Path = Path("dpol.key")
    """The private key that signs releases; --init makes it."""
    former_keys: list[Annotated[str, Field(pattern=f"^{HEX}$")]] = []
    """Public halves of keys that were lost, whose releases are this holder's own."""
    secret: Path = Path("dpol.secret")
    """The secret that makes the noise; --init makes it."""
    ledger: Path = Path("dpol-ledger.sqlite")
    """The ledger of an earlier version of dpol; its rows must be in signed releases."""

    def rules(self) -> Iterator[Problem]:
        """Yield the broken rules that involve several keys."""
        if len(self.entities) > 1 and self.columns.entity is None:
            allowed = "is missing: several entities are told apart by a column"
            yield Problem(("columns", "entity"), MISSING, allowed)
        named = [name for name in self.columns.model_dump().values() if name is not None]
        if len({*named}) < len(named):
            yield Problem(("columns",), MISSING, "must be different columns")
        if self.format.thousands == self.format.decimal:
            allowed = "must not be the decimal sign too"
            yield Problem(("format", "thousands"), self.format.thousands, allowed)

    def published(self, deployment: Deployment) -> str | None:
        """Return the column of capacities, which is published; None if all of them are agreed.

        Raises:
            DataError: the agreement lacks an entity, or asks for capacities that no column holds.
        """
        for name in self.entities:
            if name not in deployment.entities:
                raise DataError(
                    f"entities: the deployment {deployment.name} has no entity"
                    f" {name!r}{nearest(name, deployment.entities)}"
                )
        reported = any(deployment.entities[name].beds is None for name in self.entities)
        if reported and self.columns.capacity is None:
            raise DataError(
                "columns.capacity: name the column of capacities, since the deployment"
                f" {deployment.name} says reported"
            )
        if reported and self.zero == "missing":
            raise DataError(
                f"zero: missing: the deployment {deployment.name} says reported, and without a row"
                " a place reports no capacity; agree on capacities, or write rows for zeros"
            )
        return self.columns.capacity if reported else None


def read_hospital(path: Path) -> Hospital:
    """Read and check a holder's file.

    Raises:
        ConfigError: the file cannot be read, or breaks rules; all are listed.
    """
    return hospital_of(path, read_keys(path, "`dpol privatize --init TABLE` writes a file"))


def hospital_of(path: Path, raw: Mapping[str, Any]) -> Hospital:
    """Check plain values as a holder's file. Raises as above."""
    raw = {**raw}
    if raw.get("covers", "today") not in ("today", "yesterday") and "reaches" not in raw:
        raw["reaches"] = raw.pop("covers")  # its name in the version before
    hospital = checked(Hospital, raw, str(path), rules=Hospital.rules, manual=MANUAL)
    paths = "deployment", "table", "output", "copy_to", "key", "secret", "ledger"
    given = {key: it for key in paths if (it := getattr(hospital, key)) is not None}
    return hospital.model_copy(update={key: path.parent / it for key, it in given.items()})
