"""Reading a report: a table of noisy counts and its record."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError
from dpol.release import views
from dpol.release.chains import ChainRows
from dpol.release.deployment import Deployment
from dpol.release.views import record_of

CELLS = "noisy_count", "noisy_share", "mu", "count_sensitivity"
"""Columns of every report, besides those that the deployment names."""


@dataclass(frozen=True)
class Report:
    """A report as it was read, unchecked but for its checksum and columns.

    Args:
        file: the table.
        sha256: of the table and its record.
        ledger: id of the holder's ledger.
        output: id of the output in it.
        mechanism: as in the record.
        rows: line, entity, period, capacity, and the cells `CELLS`.
        chains: of the record.
    """

    file: Path
    sha256: str
    ledger: str
    output: str
    mechanism: str
    rows: list[tuple[int, list[str]]]
    chains: list[dict[str, Any]]


def read_report(file: Path, deployment: Deployment, checksum: str) -> Report:
    """A report and its record.

    Raises:
        DataError: one of them cannot be read, they do not fit, or are of another deployment.
    """
    record, path = _record(file)
    agreed = record.get("deployment")
    if not isinstance(agreed, dict):
        raise DataError(
            f"{path}: does not say which deployment it is of; the holder runs dpol privatize with"
            " --deployment"
        )
    if agreed.get("sha256") != checksum:
        raise DataError(
            f"{path}: is of another deployment ({agreed.get('name')}), or of another version of its"
            " file; everybody takes the same file"
        )
    try:
        table = file.read_bytes()
        origin, found = record["ledger"], views.checksum(table, record)
        known = str(origin["id"]), str(origin["output"]), str(record["mechanism"])
        claimed, chains = record["sha256"], list(record.get("chains", ()))
    except OSError as error:
        raise DataError(f"{file}: cannot be read ({error.strerror}); check the path") from None
    except (LookupError, TypeError, RecursionError) as error:
        raise DataError(f"{path}: is not a record of dpol ({error}); ask for it again") from None
    if found != claimed:
        raise DataError(
            f"{file}: does not fit {path.name}: one of them was changed or cut short on the way;"
            " ask for both again"
        )
    return Report(file, found, *known, _rows(file, table, deployment), chains)


def _record(file: Path) -> tuple[dict[str, Any], Path]:
    path = record_of(file)
    if not file.is_file():
        raise DataError(f"{file}: is not there, or is not a file; check the path")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(
            f"{file}: its record {path.name} is not next to it. The table may hold raw"
            " counts, so it was not read; ask for both files that dpol privatize wrote"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: cannot be read ({error}); ask for it again") from None
    if not isinstance(record, dict):
        raise DataError(f"{path}: is not a record of dpol; ask for it again")
    return record, path


def _rows(file: Path, table: bytes, deployment: Deployment) -> list[tuple[int, list[str]]]:
    """Line and cells of every row: entity, period, capacity, `CELLS`."""
    it = deployment.columns
    names = it.entity, it.period, it.capacity, *CELLS
    try:
        reader = csv.reader(io.StringIO(table.decode(), newline=""), strict=True)
        header = next(reader, [])
        if missing := [name for name in names if name not in header]:
            raise DataError(
                f"{file}: lacks the column {missing[0]}, which this deployment's reports have; ask"
                " for the table that dpol privatize wrote"
            )
        places = [header.index(name) for name in names]
        return [(reader.line_num, [row[place] for place in places]) for row in reader]
    except (ValueError, IndexError, csv.Error) as error:
        raise DataError(f"{file}: is not a table of dpol ({error}); ask for it again") from None


def chain_rows(report: Report) -> ChainRows:
    """The chain in a report's record of each row.

    Raises:
        DataError: the record does not say that as it should.
    """
    try:
        return ChainRows(report.chains)
    except (LookupError, TypeError, ValueError) as error:
        path = record_of(report.file)
        raise DataError(f"{path}: its chains are damaged ({error}); ask for it again") from None
