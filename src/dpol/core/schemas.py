"""Schemas of the result tables, which check the files and generate the manual.

A study's `results.yaml` describes the columns of its tables; `shared_columns.yaml` in this folder
describes columns that many tables share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from dpol.core.errors import DataError
from dpol.core.files import atomic_path

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as arrow

KINDS: Mapping[str, tuple[str, str, str]] = {
    "text": ("text", "OSTU", "object"),
    "whole": ("whole number", "iu", "int64"),
    "number": ("number", "fiu", "float64"),
    "numbers": ("list of numbers", "Of", "object"),
    "truth": ("true or false", "b", "bool"),
    "date": ("date", "M", "datetime64[ms]"),
}
"""The manual's word for each kind of column, NumPy's letters for its types, and the usual type."""


@dataclass(frozen=True)
class ResultColumn:
    """A column of a result table.

    Args:
        kind: a key of `KINDS`.
        meaning: a phrase for the manual.
        unit: unit of the numbers; empty for none.
        optional: whether cells may be empty.
    """

    kind: str
    meaning: str
    unit: str = ""
    optional: bool = False


@dataclass(frozen=True)
class Schema:
    """A result table.

    Args:
        name: path of its file below results/<run>/, without suffix.
        about: what the table holds, and what a row is.
        columns: the columns, in the order of the file.
        may_be_empty: whether it may have no row.
    """

    name: str
    about: str
    columns: Mapping[str, ResultColumn]
    may_be_empty: bool = False

    def check(self, frame: pd.DataFrame, place: str) -> pd.DataFrame:
        """Check a table, and return it with its columns in order.

        Args:
            frame: a table that was computed or read.
            place: its name in messages.

        Raises:
            DataError: the table has no row, a column is missing, unknown or of another kind, or a
                required cell is empty.
        """
        if frame.empty and self.may_be_empty:
            return _without_rows(self.columns)
        if wrong := next(self._problems(frame), ""):
            raise DataError(f"{place}: {wrong}; delete it and run snakemake again")
        return frame[list(self.columns)]

    def _problems(self, frame: pd.DataFrame) -> Iterator[str]:
        if frame.empty:
            yield "has no rows"
        yield from (f"lacks column {name}" for name in self.columns if name not in frame)
        yield from (f"has an unknown column {name}" for name in frame if name not in self.columns)
        for name, column in self.columns.items():
            word, letters, _ = KINDS[column.kind]
            cells = frame[name]
            if cells.dtype.kind not in letters:
                yield f"column {name} must be {word}, got {cells.dtype}"
            if not column.optional and (empty := cells.isna().to_numpy()).any():
                yield f"column {name}, row {int(empty.argmax())}, is empty"


def _without_rows(columns: Mapping[str, ResultColumn]) -> pd.DataFrame:
    import pandas as pd

    types = {name: KINDS[column.kind][2] for name, column in columns.items()}
    return pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in types.items()})


@cache
def read_schemas(path: Path) -> Mapping[str, Schema]:
    """Read the result tables of a `results.yaml`, by name.

    Raises:
        ValueError: the kind of a column is unknown.
        KeyError: a group of shared columns is unknown.
    """
    shared = _load(Path(__file__).with_name("shared_columns.yaml"))
    schemas = {}
    for name, table in _load(path).items():
        columns: dict[str, ResultColumn] = {}
        for key, value in table["columns"].items():
            group = shared[key] if value is None else {key: value}
            columns |= {each: _column(path, each, parts) for each, parts in group.items()}
        empty = table.get("may_be_empty", False)
        schemas[name] = Schema(name, table["about"].strip(), columns, empty)
    return schemas


def _load(path: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(path.read_text(encoding="utf-8")))


def _column(path: Path, name: str, parts: list[str]) -> ResultColumn:
    kind, meaning, unit = [*parts, ""][:3]
    optional, kind = kind.startswith("optional "), kind.removeprefix("optional ")
    if kind not in KINDS:
        raise ValueError(f"{path}, column {name}: {kind} is not one of {', '.join(KINDS)}")
    return ResultColumn(kind, meaning, unit, optional)


def unreadable(path: Path, error: Exception | str) -> DataError:
    """Return the error for a file of a run that cannot be read, with the remedy."""
    if isinstance(error, FileNotFoundError):
        return DataError(f"{path} is missing; run snakemake again to make it")
    return DataError(f"{path} cannot be read ({error}); delete it and run snakemake again")


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Guard a block that reads a file. Raises DataError if the file is missing or invalid."""
    try:
        yield
    except (OSError, LookupError, SyntaxError, TypeError, ValueError) as error:
        raise unreadable(path, error) from None


def read_frame(path: Path, schema: Schema) -> pd.DataFrame:
    """Read a result table.

    Raises:
        DataError: the file is missing, cannot be read, or does not match the schema.
    """
    import pandas as pd
    import pyarrow as arrow

    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError, arrow.ArrowException) as error:
        raise unreadable(path, error) from None
    return schema.check(frame, str(path))


def write_frame(frame: pd.DataFrame | arrow.Table, path: Path | str) -> None:
    """Write a table as Parquet, with equal bytes for equal tables; Arrow tables keep metadata."""
    import pyarrow as arrow
    from pyarrow import parquet

    table = frame
    if not isinstance(table, arrow.Table):
        table = arrow.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
    with atomic_path(path) as temporary:
        parquet.write_table(table, temporary)
