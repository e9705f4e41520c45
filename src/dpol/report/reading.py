"""Reading the files of a run; whatever is wrong with one is told with the remedy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dpol.config.models import Config
from dpol.core.errors import DataError
from dpol.core.schemas import read_frame
from dpol.studies import hospitals
from dpol.studies.registry import load_study
from dpol.studies.study import schemas_of


@dataclass(frozen=True)
class Results:
    """Tables of a run that the answers are computed from.

    Args:
        summary: table of `dpol.studies.hospitals.findings.conclude`.
        ranking: table of `dpol.studies.hospitals.findings.rank_meta`.
        claims: the ledger; None if it was not made.
        audits: None if there were none.
    """

    summary: pd.DataFrame
    ranking: pd.DataFrame
    claims: pd.DataFrame | None
    audits: pd.DataFrame | None


def read_results(folder: Path, config: Config) -> Results:
    """The tables of the run in `folder`, by what its config asks for.

    Raises:
        DataError: a table is missing, cannot be read, or is not what its schema says.
    """
    schemas = {name: hospitals.schema(name) for name in ("summary", "ranking")}
    for study in (load_study(name) for name in ("claims", "audits") if config.block(name)):
        schemas |= schemas_of(study)

    def table(name: str) -> pd.DataFrame:
        return read_frame(folder / f"{name}.parquet", schemas[name])

    return Results(
        table("summary"),
        table("ranking"),
        table("claims") if "claims" in schemas else None,
        table("audits") if "audits" in schemas else None,
    )


def read_fragment(path: Path) -> str:
    """A table as HTML. Raises DataError if it is missing, or is no table."""
    text = read_text(path)
    if "</table>" not in text:
        raise unreadable(path, ValueError("it holds no table"))
    return text


def read_text(path: Path) -> str:
    """The text of a file. Raises DataError if it is missing, or is no text."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from None


def read_json(path: Path) -> Any:
    """What a JSON file holds. Raises DataError if it is missing, or is not JSON."""
    try:
        return json.loads(read_text(path))
    except ValueError as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: Exception) -> DataError:
    """The error that tells what is wrong with a file, and what to do."""
    if isinstance(error, FileNotFoundError):
        return DataError(f"{path} is missing; run snakemake again, which makes it")
    return DataError(f"{path} cannot be read ({error}); delete it and run snakemake again")
