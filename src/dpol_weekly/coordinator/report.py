"""Reading a report: a table of noisy counts and its record.

Nobody knows who wrote them, so every part is checked before it is used.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from dpol.core.errors import DataError
from dpol.core.words import printable, shortened
from dpol_weekly import released
from dpol_weekly.deployment import Deployment
from dpol_weekly.noise import decimal_text
from dpol_weekly.released import ChainRows, record_of

_ID = re.compile("[0-9a-f]{16}")
_WHOLE = "first_row", "releases", "unit_weeks", "chain_periods", "decimals", "scale"
_NUMBERS = "a", "b", "mu"


class Cells(NamedTuple):
    """The cells of a row, in the order in which `dpol privatize` writes them."""

    entity: str
    period: str
    noisy_count: str
    capacity: str
    noisy_share: str
    mu: str
    count_sensitivity: str
    noise_sd: str
    low: str
    high: str


class Row(NamedTuple):
    """A row of a report, its cells unchecked.

    Args:
        line: of the table, from 1.
        cells: as they were written.
        part: the chain of its noise in the record; None if it is of none.
        place: in that chain, from 1.
    """

    line: int
    cells: Cells
    part: Mapping[str, Any] | None
    place: int


@dataclass(frozen=True, kw_only=True)
class Report:
    """A report, its rows unchecked.

    Args:
        file: the table.
        sha256: of the table and its record.
        ledger: id of the holder's ledger.
        output: id of the output in it.
        rows: of the table.
    """

    file: Path
    sha256: str
    ledger: str
    output: str
    rows: list[Row]


def read_report(file: Path, deployment: Deployment, checksum: str) -> Report:
    """A report and its record.

    Raises:
        DataError: one of them cannot be read, they do not fit, or are of another deployment.
            Cells are not looked at.
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
            f"{path}: is of another deployment ({_shown(agreed.get('name'))}), or of another"
            " version of its file; everybody takes the same file"
        )
    try:
        table = file.read_bytes()
        origin, found = record["ledger"], released.checksum(table, record)
        ids = [origin["id"], origin["output"]]
        claimed, chains = record["sha256"], record.get("chains", [])
    except OSError as error:
        raise DataError(f"{file}: cannot be read ({error.strerror}); check the path") from None
    except (LookupError, TypeError, AttributeError, RecursionError):
        raise DataError(f"{path}: is not a record of dpol; ask for it again") from None
    if found != claimed:
        raise DataError(
            f"{file}: does not fit {path.name}: one of them was changed or cut short on the way;"
            " ask for both again"
        )
    if not all(isinstance(it, str) and _ID.fullmatch(it) for it in ids):
        raise DataError(
            f"{path}: the ids of its ledger and output are not 16 signs, 0 to f; {_ASK}"
        )
    cells = list(_cells(file, table, deployment))
    rows = _with_chains(path, cells, chains)
    return Report(file=file, sha256=found, ledger=ids[0], output=ids[1], rows=rows)


_ASK = "ask for table and record again"


def _shown(value: object) -> str:
    """Anything from a report, as a message may show it."""
    return printable(shortened(str(value)))


def _record(file: Path) -> tuple[dict[str, Any], Path]:
    path = record_of(file)
    if not file.is_file():
        raise DataError(f"{file}: is not there, or is not a file; check the path")
    if not path.exists():
        raise DataError(
            f"{file}: its record {path.name} is not next to it. The table may hold raw"
            " counts, so it was not read; ask for both files that dpol privatize wrote"
        )
    if not path.is_file():  # a pipe would never end
        raise DataError(f"{path}: is not a file; ask for it again")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except (ValueError, RecursionError):
        raise DataError(f"{path}: is not a record of dpol; ask for it again") from None
    if not isinstance(record, dict):
        raise DataError(f"{path}: is not a record of dpol; ask for it again")
    return record, path


def _cells(file: Path, table: bytes, deployment: Deployment) -> Iterator[tuple[int, Cells]]:
    """Line and cells of every row."""
    names = deployment.columns.header()
    try:
        reader = csv.reader(io.StringIO(table.decode(), newline=""), strict=True)
        if next(reader, None) != names:
            raise DataError(
                f"{file}: its columns are not those of this deployment's reports, which are"
                f" {', '.join(names)}; ask for the table that dpol privatize wrote"
            )
        for row in reader:
            if len(row) != len(names):
                raise DataError(f"{file}, line {reader.line_num}: has other columns; {_ASK}")
            yield reader.line_num, Cells(*row)
    except (ValueError, csv.Error):
        raise DataError(f"{file}: is not a table of dpol; ask for it again") from None


def _with_chains(path: Path, cells: list[tuple[int, Cells]], chains: object) -> list[Row]:
    """The rows with the chains that the record states for them; each must fit its rows."""
    if not isinstance(chains, list) or not all(map(_is_part, chains)):
        raise DataError(f"{path}: the chains of its noise are damaged; {_ASK}")
    parts, rows = ChainRows(chains), []
    for number, (line, own) in enumerate(cells, start=1):
        row = Row(line, own, *parts.of(number, own.entity))
        if row.part and row.place == 1 and not _begins(row.part, own):
            raise DataError(f"{path}: a chain of its noise does not fit line {line}; {_ASK}")
        rows.append(row)
    lengths = dict.fromkeys(parts.first, 0)
    for row in rows:
        if row.part:
            lengths[row.part["first_row"]] = row.place
    stated = {first: part["releases"] for first, part in parts.first.items()}
    if lengths != stated or len(stated) != len(chains):
        raise DataError(f"{path}: the chains of its noise do not fit the rows; {_ASK}")
    return rows


def _is_part(part: object) -> bool:
    """True if this describes a chain, with a number wherever one belongs."""
    return (
        isinstance(part, dict)
        and all(type(part.get(key)) is int and 0 <= part[key] < 2**53 for key in _WHOLE)
        and all(type(part.get(key)) in (int, float) for key in _NUMBERS)
        and all(abs(part[key]) <= 100 for key in _NUMBERS)
        and 1 <= part["releases"] <= part["chain_periods"]
    )


def _begins(part: Mapping[str, Any], cells: Cells) -> bool:
    """True if a chain may begin with this row."""
    known = part.get("entity"), part.get("first_period"), decimal_text(Decimal(str(part["mu"])))
    return known == (cells.entity, cells.period, cells.mu)
