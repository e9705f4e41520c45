"""A holder's own file, `hospital.yaml`: its table and the destination of releases. Never sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, ValidationError

from dpol.core.errors import ConfigError, DataError
from dpol.core.refusals import problems_of, refusal
from dpol.core.settings import MISSING, Problem, Settings
from dpol.core.suggestions import nearest
from dpol.core.yaml_files import read_yaml
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.ledger import LEDGER_NAME
from dpol_weekly.tables import DEFAULT, Format

KEY_NAME = "dpol.key"
"""The name of a holder's private key, unless another one is given."""
MANUAL = "The page For a hospital, in the documentation of dpol weekly,"


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


@dataclass(frozen=True, kw_only=True)
class ColumnUse:
    """The columns of a table by their use.

    Args:
        counts: columns that get noise.
        capacities: columns that are published unchanged.
        keys: columns that name the entity and the period of a row.
    """

    counts: tuple[str, ...]
    capacities: tuple[str, ...]
    keys: tuple[str, ...]


class Hospital(Settings):
    """A holder's table and the destination of its releases; paths are relative to the file."""

    deployment: Path
    """The file that all holders share."""
    entity: str | None = None
    """The identifier in the deployment of the only entity in the table."""
    entities: Annotated[dict[str, str], BeforeValidator(_by_identifier)] = {}
    """Several identifiers: a list, or a block with the text that the table has for each."""
    table: Path
    """The raw counts: CSV, or a workbook (`.xlsx`)."""
    columns: Columns = Columns()
    """The columns of the table."""
    format: Format = DEFAULT
    """How the table is written."""
    output: Path = Path("released")
    """Folder for the releases."""
    ledger: Path = Path(LEDGER_NAME)
    """The ledger of all releases; as secret as the table."""
    key: Path = Path(KEY_NAME)
    """The private key that signs releases; the first release makes it."""

    def rules(self) -> Iterator[Problem]:
        """Yield the broken rules that involve several keys."""
        if bool(self.entities) == (self.entity is not None):
            yield Problem(("entity",), MISSING, "give entity, or entities if there are several")
        texts = [*self.texts.values()]
        if len({*texts}) < len(texts):
            yield Problem(("entities",), self.entities, "must not name one text twice")
        if len(texts) > 1 and self.columns.entity is None:
            allowed = "is missing: several entities are told apart by a column"
            yield Problem(("columns", "entity"), MISSING, allowed)
        named = [name for name in self.columns.model_dump().values() if name is not None]
        if len({*named}) < len(named):
            yield Problem(("columns",), MISSING, "must be different columns")

    @property
    def texts(self) -> dict[str, str]:
        """The identifiers of the entities, and the table's text for each."""
        return self.entities or {str(self.entity): str(self.entity)}

    def use(self, deployment: Deployment) -> ColumnUse:
        """Return the columns by their use.

        Raises:
            DataError: the agreement lacks an entity, or asks for capacities that no column holds.
        """
        for name in self.texts:
            if name not in deployment.entities:
                raise DataError(
                    f"entity: the deployment {deployment.name} has no entity"
                    f" {name!r}{nearest(name, deployment.entities)}"
                )
        reported = any(deployment.entities[name].beds is None for name in self.texts)
        columns = self.columns
        if reported and columns.capacity is None:
            raise DataError(
                "columns.capacity: name the column of capacities, since the deployment"
                f" {deployment.name} says reported"
            )
        return ColumnUse(
            counts=(columns.count,),
            capacities=(str(columns.capacity),) if reported else (),
            keys=(*filter(None, [columns.entity]), columns.period),
        )

    def output_of(self, deployment: Deployment) -> Path:
        """Return the path prefix of all releases: the agreement, and the entity if it is one."""
        only = f"-{next(iter(self.texts))}" if len(self.texts) == 1 else ""
        return self.output / f"{deployment.name}{only}"


def read_hospital(path: Path) -> Hospital:
    """Read and check a holder's file.

    Raises:
        ConfigError: the file cannot be read, or breaks rules; all are listed.
    """
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: holds no keys; `dpol privatize --init TABLE` writes a file")
    try:
        hospital = Hospital.model_validate(raw)
    except ValidationError as error:
        raise refusal(str(path), problems_of(error, Hospital, raw), MANUAL) from None
    if problems := [*hospital.rules()]:
        raise refusal(str(path), problems, MANUAL)
    paths: Sequence[str] = ("deployment", "table", "output", "ledger", "key")
    return hospital.model_copy(update={key: path.parent / getattr(hospital, key) for key in paths})
