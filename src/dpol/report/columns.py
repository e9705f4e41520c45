"""Describe the columns of a result file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pyarrow import csv, parquet

from dpol.config.docs import meaning_of
from dpol.core.errors import DataError
from dpol.core.plugins import registered
from dpol.core.schemas import Column, Schema
from dpol.data.panel import DATA_SCHEMAS
from dpol.report.reading import reading
from dpol.studies.registry import STUDY_GROUP, find_study, load_studies
from dpol.studies.study import schemas_of

_OF_TABLES = {
    "stream_title": "title of the stream",
    "system": "name of the algorithm with its noise; `stream` is empty for means over streams",
    "right_guesses": "largest share of right guesses of an attacker about one person or round",
    "column": "heading of the column in the table",
    "best_of": "family whose best member the row shows; empty for a single algorithm",
}
"""Columns that occur only in tables of the report."""


def describe(path: Path) -> tuple[str, dict[str, str]]:
    """Describe a result file: what it holds, and the meaning of each column.

    It is described as the result table that shares most columns with it; other columns are
    described as in other tables.

    Args:
        path: A Parquet file of a run, or one of its tables as CSV.

    Raises:
        DataError: The file cannot be read, or is not a result file.
    """
    if path.suffix not in (".parquet", ".csv"):
        raise DataError(f"{path}: is not a table; name a .parquet or .csv file of results/RUN")
    with reading(path):
        names = (
            parquet.read_schema(path).names
            if path.suffix == ".parquet"
            else csv.open_csv(path).schema.names
        )
    schemas, there = _schemas(), set(names)
    nearest = max(schemas, key=lambda one: (len(one.columns.keys() & there), -len(one.columns)))
    if not nearest.columns.keys() & there:
        raise DataError(f"{path}: has no column of a result file; name a file of results/RUN")
    known: dict[str, Column] = {}
    for schema in (nearest, *schemas):
        known = {**schema.columns, **known}
    return nearest.about, {
        name: meaning_of(known[name]) if name in known else _OF_TABLES.get(name, "not described")
        for name in names
    }


def _schemas() -> list[Schema]:
    theirs: Iterable[str] = registered(STUDY_GROUP)
    studies = [*load_studies().values(), *(study for name in theirs if (study := find_study(name)))]
    return [*DATA_SCHEMAS.values(), *(x for study in studies for x in schemas_of(study).values())]
