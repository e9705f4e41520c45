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
from dpol.studies.hospitals.average_gain import COLUMNS

SUMMARY_COLUMNS = (
    *(*COLUMNS, "reported_verdict", "gain_without_noise"),
    *("noise_cost", "noise_cost_half_width", "noise_cost_share"),
)
"""Columns of the summary that the page needs."""


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
        DataError: a table is missing, cannot be read, or lacks a column or a stream.
    """
    path = folder / "summary.parquet"
    summary = _read_frame(path, SUMMARY_COLUMNS)
    check_streams(summary, config.streams, str(path))
    return Results(
        summary,
        _read_frame(folder / "ranking.parquet", ("source", "verdict")),
        _read_frame(folder / "claims.parquet", CLAIM_COLUMNS) if config.block("claims") else None,
        _read_frame(folder / "audits.parquet", AUDIT_COLUMNS) if config.block("audits") else None,
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


def _read_frame(path: Path, columns: Iterable[str]) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError, arrow.ArrowException) as error:
        raise unreadable(path, error) from None
    check_frame(frame, columns, str(path))
    return frame


def unreadable(path: Path, error: Exception) -> DataError:
    """The error that tells what is wrong with a file, and what to do."""
    if isinstance(error, FileNotFoundError):
        return DataError(f"{path} is missing; run snakemake again, which makes it")
    return DataError(f"{path} cannot be read ({error}); delete it and run snakemake again")
