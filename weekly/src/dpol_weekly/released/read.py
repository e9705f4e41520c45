"""Read a release and check everything in its record and table but the cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError
from dpol_weekly.keys import verify
from dpol_weekly.released.find import ASK, Parts, read_parts
from dpol_weekly.released.format import HEAD, ID
from dpol_weekly.released.row import Released


@dataclass(frozen=True, kw_only=True)
class Reported:
    """A row of a report, its cells unchecked.

    Args:
        line: line of the table, from 1.
        cells: the cells as they were written.
    """

    line: int
    cells: Released


@dataclass(frozen=True, kw_only=True)
class Report:
    """A received release.

    Args:
        file: file of the release.
        sha256: hash of the table and its record.
        deployment: name of the agreement.
        agreement: SHA-256 of the agreement of the last run.
        ledger: id of the holder's ledger.
        output: id of the output in that ledger.
        heads: heads of the ledger's hash chain by the number of the run.
        key: public half of the key that signed the release.
        guarantee: guarantee that the record states.
        rows: rows of the table.
    """

    file: Path
    sha256: str
    deployment: str
    agreement: str
    ledger: str
    output: str
    heads: Mapping[int, str]
    key: str
    guarantee: Mapping[str, Any]
    rows: tuple[Reported, ...]


def read_release(path: Path) -> Report:
    """Read the release in a file.

    Raises:
        DataError: there is no release, or it is damaged, or not signed by the key that it names.
    """
    parts = read_parts(path)
    if parts is None:
        raise DataError(f"{path}: is not a release of dpol; name a .zip that dpol privatize wrote")
    return read_report(parts)


def read_report(parts: Parts) -> Report:
    """Return the report of a release with matching parts.

    Raises:
        DataError: the record or the table is damaged, or not signed by the key that it names.
            Cells are not checked.
    """
    file, facts = parts.file, parts.facts
    agreed, origin, runs = (facts.get(key) for key in ("deployment", "ledger", "runs"))
    guarantee, key = facts.get("guarantee"), str(facts.get("key"))
    if not isinstance(agreed, dict) or not HEAD.fullmatch(str(agreed.get("sha256"))):
        raise DataError(f"{file}: does not say which agreement it is of; {ASK}")
    ids = [str(origin.get(it)) for it in ("id", "output")] if isinstance(origin, dict) else [""]
    if not all(map(ID.fullmatch, ids)):
        raise DataError(f"{file}: does not say which ledger it is from; {ASK}")
    if not isinstance(guarantee, dict):
        raise DataError(f"{file}: states no guarantee; {ASK}")
    if not verify(key, str(facts.get("signature")), facts["sha256"]):
        raise DataError(
            f"{file}: is not signed, or by another key than it names: it was changed, or is forged;"
            f" {ASK}"
        )
    return Report(
        file=file,
        sha256=facts["sha256"],
        deployment=str(agreed.get("name")),
        agreement=agreed["sha256"],
        ledger=ids[0],
        output=ids[1],
        heads=_heads(file, runs),
        key=key,
        guarantee=guarantee,
        rows=tuple(_rows(file, parts.table)),
    )


def _heads(file: Path, runs: object) -> dict[int, str]:
    """Return the heads that a record states, by the number of the run."""
    try:
        heads = {int(run["number"]): run["head"] for run in runs}  # type: ignore[attr-defined]
        numbers = [int(run["number"]) for run in runs]  # type: ignore[attr-defined]
        good = all(HEAD.fullmatch(head) for head in heads.values())
        good &= numbers == sorted(heads) and all(0 < number < 2**53 for number in numbers)
    except (LookupError, TypeError, ValueError, OverflowError):
        good = False
    if not good:
        raise DataError(f"{file}: the heads of its ledger are damaged; {ASK}")
    return heads


def _rows(file: Path, table: bytes) -> Iterator[Reported]:
    """Return the rows of a table."""
    try:
        reader = csv.reader(io.StringIO(table.decode(), newline=""), strict=True)
        header = next(reader, None)
        for row in reader:
            if len(row) != len(Released._fields) or header != [*Released._fields]:
                raise DataError(f"{file}, line {reader.line_num}: has other columns; {ASK}")
            yield Reported(line=reader.line_num, cells=Released._make(row))
    except (ValueError, csv.Error):
        raise DataError(f"{file}: its table is damaged; {ASK}") from None
