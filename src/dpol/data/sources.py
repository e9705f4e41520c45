"""The places on the web that hold a table: the model of one, and those that dpol knows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, HttpUrl, ValidationError, model_validator

from dpol.core.refusals import nearest, problems_of, refusal
from dpol.core.settings import Label, Settings
from dpol.core.yaml_files import read_yaml

SOURCES = Path(__file__).with_name("sources.yaml")
"""The tables that dpol knows; `data/sources.yaml` of a checkout is a link to it."""
_MANUAL = "config/README.md"


def _digest(text: str) -> str:
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise ValueError("must be 64 digits from 0 to f, as sha256sum prints them")
    return text


class Endpoint(Settings):
    """One place on the web that serves the table."""

    kind: Literal["socrata", "file", "epidata"]
    """`socrata`: a resource URL of a Socrata server, ending in `.csv`; only the needed rows and
    columns are asked for. `file`: the whole table as one CSV file, plain or gzip. `epidata`: a
    source of hospitals of Delphi's Epidata API, asked state by state."""
    url: HttpUrl
    """Address of the endpoint."""
    columns: Annotated[dict[str, str], Field(min_length=1)] | None = None
    """The endpoint's name of each column that it holds, by the name in `dataset.columns`; the
    fetched table has the latter. Without it all names are those of `dataset.columns`."""
    groups: Annotated[list[str], Field(min_length=1)] | None = None
    """The groups that the place holds; without it all. It is not asked for others."""
    sha256: Annotated[str, AfterValidator(_digest)] | None = None
    """SHA-256 of a `file` that never changes, as it travels; another file is refused."""
    version: str | None = None
    """Version or date of the table there, for the record."""
    licence: str | None = None
    """Licence of the table there, for the record."""

    @model_validator(mode="after")
    def _fit(self) -> Endpoint:
        if self.sha256 and self.kind != "file":
            raise ValueError(f"sha256 belongs to a file; the answers of {self.kind} change")
        names = list((self.columns or {}).values())
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"columns names {', '.join(sorted(twice))} twice")
        return self


class KnownTable(Settings):
    """A table that dpol knows, and the places that hold it."""

    title: str
    """Title of the table."""
    primary: Endpoint
    """The publisher's endpoint, which is tried first."""
    mirrors: tuple[Endpoint, ...] = ()
    """Other servers that keep it; tried next."""
    archive: tuple[Endpoint, ...] = ()
    """Files that never change, with `sha256` and `version`; tried last."""

    @property
    def endpoints(self) -> list[Endpoint]:
        """All places, in the order in which they are tried."""
        return [self.primary, *self.mirrors, *self.archive]

    @model_validator(mode="after")
    def _archived(self) -> KnownTable:
        if any(not (it.sha256 and it.version) for it in self.archive):
            raise ValueError("archive: each file needs sha256 and version; or list it in mirrors")
        return self


class _Tables(Settings):
    """A file of tables."""

    tables: dict[Label, KnownTable]
    """The tables by name."""


def parse_sources(raw: object, place: str) -> Mapping[str, KnownTable]:
    """Check a file of tables that was read from `place`; its tables by name.

    Raises:
        ConfigError: rules are broken; the text lists each key, its value and what is allowed.
    """
    try:
        return _Tables.model_validate(raw).tables
    except ValidationError as error:
        raise refusal(place, problems_of(error, _Tables), _MANUAL) from None


@cache
def known_tables() -> Mapping[str, KnownTable]:
    """The tables of `SOURCES`. Raises ConfigError if the file is damaged."""
    return parse_sources(read_yaml(SOURCES), str(SOURCES))


def _known(name: str) -> str:
    tables = known_tables()
    if name not in tables:
        raise ValueError(f"is not a table that dpol knows{nearest(name, tables)}")
    return name


TableName = Annotated[str, AfterValidator(_known)]
"""The name of a table that dpol knows."""
