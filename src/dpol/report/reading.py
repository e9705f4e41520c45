"""Reading the files of a run; whatever is wrong with one is told with the remedy."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as arrow

from dpol.config.models import Config
from dpol.core.errors import DataError
from dpol.core.frames import check_frame, check_streams
from dpol.studies.audits.core import AUDIT_COLUMNS
from dpol.studies.claims.core import CLAIM_COLUMNS
from dpol.studies.hospitals.average_gain import COLUMNS as SUMMARY_COLUMNS
from dpol.studies.hospitals.average_gain import CSV_COLUMNS


@dataclass(frozen=True)
class Findings:
    """Tables of a run that the answers are computed from.

    Args:
        summary: table of `dpol.studies.hospitals.summary`.
        gains: numbers behind the table of average gains.
        claims: the ledger; None if it was not made.
        audits: None if there were none.
    """

    summary: pd.DataFrame
    gains: pd.DataFrame
    claims: pd.DataFrame | None
    audits: pd.DataFrame | None


def read_findings(folder: Path, config: Config) -> Findings:
    """The tables of the run in `folder`, by what its config asks for.

    Raises:
        DataError: a table is missing, cannot be read, or lacks a column or a stream.
    """
    path = folder / "summary.parquet"
    summary = _read_frame(path, SUMMARY_COLUMNS)
    check_streams(summary, config.streams, str(path))
    audited = config.block("audits") is not None
    return Findings(
        summary,
        _read_frame(folder / "tables/average-gain.csv", CSV_COLUMNS),
        _read_frame(folder / "claims.parquet", CLAIM_COLUMNS) if audited else None,
        _read_frame(folder / "audits.parquet", AUDIT_COLUMNS) if audited else None,
    )


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


def _read_frame(path: Path, columns: Iterable[str]) -> pd.DataFrame:
    try:
        frame = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
    except (OSError, ValueError, arrow.ArrowException) as error:
        raise unreadable(path, error) from None
    check_frame(frame, columns, str(path))
    return frame


def unreadable(path: Path, error: Exception) -> DataError:
    """The error that tells what is wrong with a file, and what to do."""
    if isinstance(error, FileNotFoundError):
        return DataError(f"{path} is missing; run snakemake again, which makes it")
    return DataError(f"{path} cannot be read ({error}); delete it and run snakemake again")
