"""The columns of a result file, with their meaning."""

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
    "right_guesses": "largest share that an attacker guesses right about one person or round",
    "column": "heading of the column in the table",
    "best_of": "family whose best member the row is; empty where it is one algorithm",
}
"""Columns that only tables of the report have."""


def describe(path: Path) -> tuple[str, dict[str, str]]:
    """A result file in words, and its columns with their meaning.

    The file is described as the result table with which it shares most columns; a column that this
    one lacks, as in others.

    Args:
        path: a Parquet file or a table as CSV, of a run.

    Raises:
        DataError: it cannot be read, or is not a result file.
    """
    if path.suffix not in (".parquet", ".csv"):
        raise DataError(f"{path}: is not a table; name a .parquet or .csv file of results/RUN")
    with reading(path):
        names = (
            parquet.read_schema(path).names
            if path.suffix == ".parquet"
            else csv.open_csv(path).schema.names
        )
    schemas = _schemas()
    nearest = max(schemas, key=lambda it: (len(it.columns.keys() & set(names)), -len(it.columns)))
    if not nearest.columns.keys() & set(names):
        raise DataError(f"{path}: has no column of a result file; name one of results/RUN")
    known: dict[str, Column] = {}
    for schema in (nearest, *schemas):
        known = {**schema.columns, **known}
    return nearest.about, {
        name: meaning_of(known[name]) if name in known else _OF_TABLES.get(name, "not described")
        for name in names
    }


def _schemas() -> list[Schema]:
    """Tables of the data, and of the studies, other packages' too."""
    theirs: Iterable[str] = registered(STUDY_GROUP)
    studies = [*load_studies().values(), *(study for it in theirs if (study := find_study(it)))]
    return [*DATA_SCHEMAS.values(), *(it for study in studies for it in schemas_of(study).values())]
