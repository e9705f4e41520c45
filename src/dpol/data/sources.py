"""Settings of a source: where a table is, and what it is."""

from __future__ import annotations

import datetime
import math
import re
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, HttpUrl

from dpol.core.settings import Label, Settings
from dpol.data.tables.setting_types import TableFile, without_braces


def relative(path: str) -> str:
    """Return a path of a `.csv.gz` below the working folder. Raises ValueError for any other."""
    parts = PurePosixPath(path).parts
    if not path.endswith(".csv.gz") or parts[0] == "/" or ".." in parts:
        raise ValueError("must be a path below the working folder, like data/raw/table.csv.gz")
    return without_braces(path)


def number_or_column(value: object) -> object:
    """Return a finite number above 0, or a name. Raises ValueError for anything else."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (isinstance(value, str) and value) and not (number and 0 < float(str(value)) < math.inf):
        raise ValueError("must be a number above 0, or the name of a column")
    return value


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

    dpol asks a Socrata server only for the rows and columns that it needs."""
    url: HttpUrl
    """Address of the endpoint."""
    sha256: Digest | None = None
    """SHA-256 of the table as served; any other is refused."""
    version: str | None = None
    """Version or date of the table."""
    licence: str | None = None
    """Licence of the table."""


class WebSource(Settings):
    """A table that is fetched once and kept."""

    kind: Literal["web"]
    """Kind of source."""
    endpoints: Annotated[list[Endpoint], Field(min_length=1)]
    """The endpoints that serve it, tried in order."""
    file: Annotated[str, AfterValidator(relative)]
    """Where to keep the table (`.csv.gz`); an existing file is used as it is."""


class LocalSource(Settings):
    """A table on this machine."""

    kind: Literal["local"]
    """Kind of source."""
    file: TableFile
    """The table: `.csv`, `.csv.gz`, `.tsv`, `.parquet` or `.xlsx`."""
    sha256: Digest | None = None
    """SHA-256 of the table; any other file is refused."""
    simulated: bool = False
    """Whether the table is made up, as tables and figures then say."""


class GainsSource(Settings):
    """A table of gains on this machine: a row per round, a column per expert, no capacities.

    Every column is an expert, except the period and the sensitivity.
    """

    kind: Literal["gains"]
    """Kind of source."""
    file: TableFile
    """The table, as with `local`; rows in the order of the rounds."""
    sensitivity: Annotated[float | str, BeforeValidator(number_or_column)]
    """Largest protected change of one round's gains (L2 norm): a number, or the column with one
    per round.

    sqrt(n) times `gain_range`, for n experts, protects any change."""
    gain_range: Annotated[float, Field(ge=1e-9, le=1e9)] = 1.0
    """Largest gain; the smallest is 0."""
    period: str | None = None
    """Column with the date of the round; default: rounds are numbered."""
    simulated: bool = False
    """Whether the table is made up, as tables and figures then say."""

    @property
    def others(self) -> list[str]:
        """Columns without gains."""
        named = (self.period, self.sensitivity)
        return [name for name in named if isinstance(name, str)]


class SimulatedSource(Settings):
    """A simulated table in the schema of the HHS dataset."""

    kind: Literal["simulated"]
    """Kind of source."""
    hospitals: Annotated[dict[Label, Annotated[int, Field(ge=2, le=100_000)]], Field(min_length=1)]
    """Hospitals in each group (state); cleaning drops two more."""
    weeks: Annotated[int, Field(ge=2, le=2_000)]
    """Number of weeks."""
    first_week: datetime.date = datetime.date(2020, 8, 7)
    """Start of the first week."""


TableSource = Annotated[
    WebSource | LocalSource | SimulatedSource | GainsSource, Field(discriminator="kind")
]
