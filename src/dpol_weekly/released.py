"""A released table and its record: their columns, their cells, and how they are read.

`dpol privatize` writes a table of noisy counts and, next to it, a record in JSON. The columns of a
table are `Columns.header` of its deployment, and `Cells` names them in that order. `PATTERNS` says
how each cell is written, `check_numbers` how the numbers of a row hang together. The record states
the chains of noise with memory; `ChainRows` finds the chain of each row.

`read_record` reads a record alone, `read_report` a table with its record, for one deployment.
Nobody knows who wrote them, so all parts are checked before they are used: `read_report` checks
all but the cells. Each function raises DataError that names the file, the fault and the remedy.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from dpol.core.errors import DataError
from dpol.core.words import printable, shortened
from dpol_weekly.deployment import Columns, Deployment
from dpol_weekly.noise import decimal_text, share_of

_NUMBER, _WHOLE = r"[0-9]{1,12}(\.[0-9]{1,20})?", "[0-9]{1,15}"
_REAL = r"-?[0-9]{1,12}(\.[0-9]{1,30})?(e-?[0-9]{1,3})?"
ID = re.compile("[0-9a-f]{16}")
"""An id of a ledger or of an output."""
PATTERNS = {
    "period": re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    "noisy_count": re.compile(f"-?{_NUMBER}"),
    # As in a raw table: below 1e9, a public bound where capacities are reported.
    "capacity": re.compile(r"(?=.*[1-9])[0-9]{1,9}(\.[0-9]{0,40})?"),
    "noisy_share": re.compile(_REAL),
    "mu": re.compile(r"[0-9]{1,4}(\.[0-9]{1,20})?"),
    "count_sensitivity": re.compile(r"[0-9]{1,4}(\.[0-9]{1,20})?"),
    "noise_sd": re.compile(_REAL),
    # Of the chain of a row, as a coordinator exports it.
    "version": re.compile(_WHOLE),
    "chain": re.compile(f"({ID.pattern}/{ID.pattern}/{_WHOLE})?"),
    "place": re.compile("[1-9][0-9]{0,14}"),
    "a": re.compile(f"-?{_NUMBER}"),
    "b": re.compile(f"-?{_NUMBER}"),
    "unit_weeks": re.compile(_WHOLE),
    "scale": re.compile(_WHOLE),
    "decimals": re.compile("[0-9]{1,2}"),
    "ledger": ID,
    "report": re.compile(_WHOLE),
}
"""Patterns that a cell of each column matches as a whole; entities are any plain text."""

_NOT_WRITTEN = "is not a number as dpol privatize writes it; ask for the table that it wrote"
_ASK = "ask for table and record again"
_NO_RECORD = "is not a record of dpol; ask for it again"
_WHOLE_NUMBERS = "first_row", "releases", "unit_weeks", "chain_periods", "decimals", "scale"
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


@dataclass(frozen=True, kw_only=True)
class Row:
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
    """A released table, its rows unchecked.

    Args:
        file: the table.
        sha256: of the table and its record.
        agreement: hash of the agreement of its last run.
        ledger: id of the holder's ledger.
        output: id of the output in it.
        rows: of the table.
    """

    file: Path
    sha256: str
    agreement: str
    ledger: str
    output: str
    rows: list[Row]


@dataclass(frozen=True, kw_only=True)
class Record:
    """A record.

    Args:
        facts: all that it states.
        sha256: the checksum that it states, of the table and the other facts.
        ledger: id of the ledger.
        output: id of the output in it.
        token: of the last run that released rows of the output; empty if it states none.
    """

    facts: Mapping[str, Any]
    sha256: str
    ledger: str
    output: str
    token: str


class ChainRows:
    """A map from the rows of a record to their chains: a chain is its entity's rows from one on.

    Args:
        parts: the chains of the record.

    Raises:
        LookupError, TypeError, ValueError: they are damaged.
    """

    def __init__(self, parts: Sequence[Mapping[str, Any]]) -> None:
        self.first = {int(part["first_row"]): part for part in parts}
        self.begun: dict[Hashable, tuple[Mapping[str, Any], int]] = {}

    def of(self, number: int, entity: Hashable) -> tuple[Mapping[str, Any] | None, int]:
        """The chain of the next row, and the row's place in it; None if it is of none."""
        if number in self.first:
            self.begun[entity] = self.first[number], 0
        if entity not in self.begun:
            return None, 1
        part, place = self.begun[entity]
        if place >= int(part["releases"]):
            return None, 1
        self.begun[entity] = part, place + 1
        return part, place + 1


def record_of(table: Path) -> Path:
    """Path of the record that holds the guarantee of a released table."""
    return table.parent / f"{table.name}.guarantee.json"


def checksum(table: bytes, record: Mapping[str, Any]) -> str:
    """SHA-256 of a table and of its record, as JSON with sorted keys, without blanks.

    Args:
        table: its bytes.
        record: all facts; the checksum itself, `sha256`, is left out.
    """
    rest = {key: value for key, value in record.items() if key != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(table + text.encode()).hexdigest()


def read_facts(path: Path) -> dict[str, Any]:
    """All that a record states, unchecked.

    Raises:
        DataError: it cannot be read, or is not a record.
    """
    if path.exists() and not path.is_file():  # a pipe would never end
        raise DataError(f"{path}: is not a file; ask for it again")
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except (ValueError, RecursionError):
        raise DataError(f"{path}: {_NO_RECORD}") from None
    if not isinstance(facts, dict):
        raise DataError(f"{path}: {_NO_RECORD}")
    return facts


def read_record(path: Path) -> Record:
    """A record, with the ids of its ledger and output.

    Raises:
        DataError: as `read_facts`, or the ids are missing or are not ids.
    """
    facts = read_facts(path)
    origin = facts.get("ledger")
    if not isinstance(origin, dict) or not {"id", "output"} <= origin.keys():
        raise DataError(f"{path}: {_NO_RECORD}")
    ids = origin["id"], origin["output"]
    if not all(isinstance(it, str) and ID.fullmatch(it) for it in ids):
        raise DataError(
            f"{path}: the ids of its ledger and output are not 16 signs, 0 to f; {_ASK}"
        )
    token, claimed = origin.get("token"), facts.get("sha256")
    return Record(
        facts=facts,
        sha256=claimed if isinstance(claimed, str) else "",
        ledger=ids[0],
        output=ids[1],
        token=token if isinstance(token, str) else "",
    )


def read_report(file: Path, agreements: Sequence[Deployment]) -> Report:
    """A released table with its record.

    Args:
        file: the table; its record is next to it.
        agreements: of one of which it has to be.

    Raises:
        DataError: one of them cannot be read, they do not fit, or are of another deployment.
            Cells are not looked at.
    """
    if not file.is_file():
        raise DataError(f"{file}: is not there, or is not a file; check the path")
    path = record_of(file)
    if not path.exists():
        raise DataError(
            f"{file}: its record {path.name} is not next to it. The table may hold raw"
            " counts, so it was not read; ask for both files that dpol privatize wrote"
        )
    agreed = read_facts(path).get("deployment")
    if not isinstance(agreed, dict):
        raise DataError(
            f"{path}: does not say which deployment it is of; ask for the record that dpol"
            " privatize wrote"
        )
    known = {it.sha256(): it for it in agreements}
    if (sha256 := str(agreed.get("sha256"))) not in known:
        name = printable(shortened(str(agreed.get("name"))))
        raise DataError(
            f"{path}: is of another deployment ({name}), or of an amendment that is not known here;"
            " everybody takes the same file: dpol collect --deployment FILE takes an amendment"
        )
    deployment = known[sha256]
    record = read_record(path)
    try:
        table = file.read_bytes()
        found = checksum(table, record.facts)
    except OSError as error:
        raise DataError(f"{file}: cannot be read ({error.strerror}); check the path") from None
    except RecursionError:
        raise DataError(f"{path}: {_NO_RECORD}") from None
    if found != record.sha256:
        raise DataError(
            f"{file}: does not fit {path.name}: one of them was changed or cut short on the way;"
            " ask for both again"
        )
    cells = list(_cells(file, table, deployment.columns))
    return Report(
        file=file,
        sha256=found,
        agreement=sha256,
        ledger=record.ledger,
        output=record.output,
        rows=_with_chains(path, cells, record.facts.get("chains", [])),
    )


def check_numbers(
    *, noisy_count: str, capacity: str, noisy_share: str, decimals: int
) -> tuple[float, float]:
    """The noisy count and the capacity of a row, if its cells are what `dpol privatize` writes.

    Args:
        noisy_count: on the grid of the noise each number has one text.
        capacity: of the entity.
        noisy_share: the noisy count over the capacity.
        decimals: the grid has steps of 10^-decimals people.

    Raises:
        DataError: one of them is not; the text says which, without its number.
    """
    if not PATTERNS["capacity"].fullmatch(capacity):
        raise DataError(f"its capacity {_NOT_WRITTEN}")
    count = math.nan
    if PATTERNS["noisy_count"].fullmatch(noisy_count):
        steps = Decimal(int(noisy_count.replace(".", "")))
        count = float(noisy_count) if f"{steps.scaleb(-decimals):f}" == noisy_count else math.nan
    if math.isnan(count):
        raise DataError(f"its noisy count {_NOT_WRITTEN}")
    if share_of(noisy_count, capacity) != noisy_share:
        raise DataError("its noisy share is not the noisy count over the capacity; ask again")
    return count, float(capacity)


def _cells(file: Path, table: bytes, columns: Columns) -> Iterator[tuple[int, Cells]]:
    """Line and cells of every row."""
    names = columns.header()
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
            yield reader.line_num, Cells._make(row)
    except (ValueError, csv.Error):
        raise DataError(f"{file}: is not a table of dpol; ask for it again") from None


def _with_chains(path: Path, cells: list[tuple[int, Cells]], chains: object) -> list[Row]:
    """The rows with the chains that the record states for them; each must fit its rows."""
    if not isinstance(chains, list) or not all(map(_is_part, chains)):
        raise DataError(f"{path}: the chains of its noise are damaged; {_ASK}")
    parts, rows = ChainRows(chains), []
    lengths = dict.fromkeys(parts.first, 0)
    for number, (line, of_row) in enumerate(cells, start=1):
        part, place = parts.of(number, of_row.entity)
        if part and place == 1 and not _begins(part, of_row):
            raise DataError(f"{path}: a chain of its noise does not fit line {line}; {_ASK}")
        if part:
            lengths[part["first_row"]] = place
        rows.append(Row(line=line, cells=of_row, part=part, place=place))
    stated = {first: part["releases"] for first, part in parts.first.items()}
    if lengths != stated or len(stated) != len(chains):
        raise DataError(f"{path}: the chains of its noise do not fit the rows; {_ASK}")
    return rows


def _is_part(part: object) -> bool:
    """True if this describes a chain, with a number wherever one belongs."""
    return (
        isinstance(part, dict)
        and all(type(part.get(key)) is int and 0 <= part[key] < 2**53 for key in _WHOLE_NUMBERS)
        and all(type(part.get(key)) in (int, float) for key in _NUMBERS)
        and all(abs(part[key]) <= 100 for key in _NUMBERS)
        and 1 <= part["releases"] <= part["chain_periods"]
    )


def _begins(part: Mapping[str, Any], cells: Cells) -> bool:
    """True if a chain may begin with this row."""
    stated = part.get("entity"), part.get("first_period"), decimal_text(Decimal(str(part["mu"])))
    return stated == (cells.entity, cells.period, cells.mu)
