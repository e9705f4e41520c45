"""Types of values in the settings of a table: its file, columns and entities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    StringConstraints,
    Tag,
    WithJsonSchema,
    model_validator,
)

from dpol.core.settings import Settings, all_different
from dpol.data.tables.table_format import Dates


def without_braces(path: str) -> str:
    """Return a path that Snakemake takes as it is. Raises ValueError for any other."""
    if {*"{}"} & {*path}:
        raise ValueError("must have no braces; rename the file")
    return path


def all_or_names(value: object) -> object:
    """Return `all`, or at least two distinct names. Raises ValueError for anything else."""
    if value in (None, "all"):
        return value
    if not isinstance(value, list) or len(value) < 2:
        raise ValueError("must be all, or a list of at least two identifiers")
    for name in value:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"{name!r} must be text; put it in quotes")
    return all_different([name.strip() for name in value])


Identifier = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""The identifier of an entity."""


_TEXT = {"type": "string"}
TextOrTexts = Annotated[
    list[str],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    WithJsonSchema({"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}),
]
"""A text, or a list of texts."""

LookName = Literal["totals", "cumulative", "rates", "rows"]
"""Tests of the second look that `cleaning.checked` may settle."""

TABLES = ".csv", ".csv.gz", ".tsv", ".parquet", ".xlsx"


def _table(path: str) -> str:
    if not path.endswith(TABLES):
        raise ValueError(f"must end in {', '.join(TABLES[:-1])} or {TABLES[-1]}")
    return without_braces(path)


TableFile = Annotated[str, AfterValidator(_table)]


class YearAnd(Settings):
    """Two columns that name a month, or a week."""

    year: str
    """Column with the year (2021)."""
    month: str | None = None
    """Column with the month: 1 to 12, or an English name."""
    week: str | None = None
    """Column with the number of the week, instead of `month`; words before it do not count."""
    system: Literal["iso", "mmwr"] | None = None
    """With `week`: `iso` for weeks from Monday, `mmwr` for the weeks from Sunday of US surveillance
    (epidemiological weeks)."""

    @model_validator(mode="after")
    def _either(self) -> YearAnd:
        if bool(self.month) == bool(self.week) or bool(self.week) != bool(self.system):
            raise ValueError("needs either month, or week and system (iso or mmwr)")
        return self

    @property
    def date(self) -> Dates:
        """The format of the year and the other number, with a hyphen between them."""
        return "YYYY-M" if self.month else "YYYY-ww" if self.system == "iso" else "YYYY-ee"


def _name_or_block(value: object) -> str:
    """Return the tag of a union's member; messages leave out tags in brackets."""
    return "[block]" if isinstance(value, (Mapping, Settings)) else "[column]"


def _names_or_block(value: object) -> str:
    return "[columns]" if isinstance(value, list) else _name_or_block(value)


ColumnName: TypeAlias = Annotated[str, Tag("[column]")]
NAME_OR_BLOCK = Discriminator(_name_or_block)
NAMES_OR_BLOCK = Discriminator(_names_or_block)
Period = Annotated[ColumnName | Annotated[YearAnd, Tag("[block]")], NAME_OR_BLOCK]


def columns_of(period: Period) -> list[str]:
    """Return the columns that name a period."""
    return [period] if isinstance(period, str) else [period.year, period.month or period.week or ""]
