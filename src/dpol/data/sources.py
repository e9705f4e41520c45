"""Web endpoints that serve tables: the model of an endpoint, and the tables that dpol knows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, HttpUrl, model_validator

from dpol.core.settings import Label, Settings
from dpol.core.suggestions import nearest
from dpol.core.yaml_files import read_yaml

SOURCES = Path(__file__).with_name("sources.yaml")
"""File of the tables that dpol knows; `data/sources.yaml` of a checkout is a link to it."""


def _digest(text: str) -> str:
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise ValueError("must be 64 hexadecimal digits, as sha256sum prints them")
    return text


Digest = Annotated[str, AfterValidator(_digest)]
"""A SHA-256 in hexadecimal."""


class Endpoint(Settings):
    """Web address of the table as CSV."""

    kind: Literal["socrata", "file"]
    """`socrata`: a Socrata resource that ends in `.csv`. `file`: the table as CSV, plain or gzip.

    A Socrata server is asked only for the rows and columns that are needed."""
    url: HttpUrl
    """Address of the endpoint."""
    sha256: Digest | None = None
    """SHA-256 of a `file` as served; any other file is refused."""
    version: str | None = None
    """Version or date of the table."""
    licence: str | None = None
    """Licence of the table."""

    @model_validator(mode="after")
    def _of_a_file(self) -> Endpoint:
        if self.sha256 and self.kind != "file":
            raise ValueError(f"sha256 is for kind file; the answers of {self.kind} change")
        return self


class _Tables(Settings):
    """A file of tables."""

    tables: dict[Label, Annotated[list[Endpoint], Field(min_length=1)]]
    """The endpoints of each table, in the order in which they are tried."""


@cache
def known_tables() -> Mapping[str, list[Endpoint]]:
    """Return the endpoints of each table in `SOURCES`."""
    return _Tables.model_validate(read_yaml(SOURCES)).tables


def _known(name: str) -> str:
    tables = known_tables()
    if name not in tables:
        raise ValueError(f"is not a table that dpol knows{nearest(name, tables)}")
    return name


TableName = Annotated[str, AfterValidator(_known)]
"""The name of a table that dpol knows."""
