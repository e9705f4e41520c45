"""Release files: their contents, how they are found, and how they are read.

`dpol privatize` writes one file a release: a zip of a table of noisy counts, a record in JSON and a
statement in words. `Cells` names the columns of the table, in their order. `PATTERNS` says how each
cell is written, `check_numbers` how the numbers of a row hang together. The record states the
chains of noise with memory; `ChainRows` finds the chain of each row.

On their way files are renamed, unpacked and packed again. So `find_releases` goes by what they
hold: a record belongs to the table that fits its checksum. Nobody knows who wrote them, so all
parts are checked before they are used: `read_report` checks all but the cells. Errors name the
file, the fault and the remedy.
"""

from __future__ import annotations

import bisect
import csv
import hashlib
import heapq
import io
import itertools
import json
import math
import re
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, NamedTuple

from dpol.core.errors import DataError
from dpol_weekly.keys import verify
from dpol_weekly.noise import decimal_text, share_of

_NUMBER, _WHOLE = r"[0-9]{1,12}(\.[0-9]{1,20})?", "[0-9]{1,15}"
_REAL = r"-?[0-9]{1,12}(\.[0-9]{1,30})?(e-?[0-9]{1,3})?"
_HEAD = re.compile("[0-9a-f]{64}")
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
_ASK = "ask for the release again"
_NO_RECORD = "is not a record of dpol; ask for the release again"
_NO_RELEASE = (
    "is not a release of dpol. It may hold raw counts, so nothing of it was taken; ask for the .zip"
    " that dpol privatize wrote"
)
_LARGEST = 1 << 28
"""Bytes of a file, or of one in a zip, that may be a part of a release."""
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


_HEADER = ",".join(Cells._fields).encode()


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
class RunHead:
    """A run that a record states.

    Args:
        number: of the run in its ledger.
        head: of the ledger's hash chain after it, 64 hex digits.
        imported: whether its rows were taken in after a ledger was lost.
    """

    number: int
    head: str
    imported: bool


@dataclass(frozen=True, kw_only=True)
class Report:
    """A release, its rows unchecked.

    Args:
        file: from which it was read.
        sha256: of the table and its record.
        deployment: its name.
        agreement: the hash of the agreement of its last run.
        ledger: id of the holder's ledger.
        output: id of the output in it.
        rows: of the table.
        runs: that released the rows.
        key: public half of the key that signed it; empty if it is not signed.
        facts: all that the record states.
    """

    file: Path
    sha256: str
    deployment: str
    agreement: str
    ledger: str
    output: str
    rows: list[Row]
    runs: tuple[RunHead, ...]
    key: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The two parts of a release that fit each other.

    Args:
        file: that holds the table.
        table: its bytes.
        facts: of its record.
    """

    file: Path
    table: bytes
    facts: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Found:
    """The releases that some files hold.

    Args:
        releases: in the order of the files.
        refused: files that hold no release as it was written, and why.
        ignored: how many other files each folder holds.
        files: all that were looked at.
    """

    releases: list[Parts]
    refused: list[tuple[Path, str]]
    ignored: Counter[Path]
    files: list[Path]


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


def checksum(table: bytes, record: Mapping[str, Any]) -> str:
    """SHA-256 of a table and of its record, as JSON with sorted keys, without blanks.

    Args:
        table: its bytes; line ends count as those of Unix, since mail may change them.
        record: all facts; the checksum itself, `sha256`, and its `signature` are left out.
    """
    rest = {key: value for key, value in record.items() if key not in ("sha256", "signature")}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(table.replace(b"\r\n", b"\n") + text.encode()).hexdigest()


def pack(parts: Mapping[str, bytes]) -> bytes:
    """A zip of some files by name; equal contents give equal bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return packed.getvalue()


def find_releases(paths: Sequence[Path]) -> Found:
    """The releases in some files and folders, whatever they are called, packed or not."""
    tables: list[tuple[Path, bytes]] = []
    records: list[tuple[Path, dict[str, Any]]] = []
    refused: list[tuple[Path, str]] = []
    ignored, found = Counter[Path](), dict[Path, Path | None]()  # The folder; None: it is named.
    for path in paths:
        if path.is_dir():
            found |= dict.fromkeys(sorted(filter(Path.is_file, path.rglob("*"))), path)
        else:
            found[path] = None
    # The other half of a file that was unpacked is near it.
    loose = {it.parent for it in found if it.is_file() and not zipfile.is_zipfile(it)}
    beside = sorted(it for folder in loose for it in folder.iterdir() if it.is_file())
    near = set(beside) - found.keys()
    for path in [*found, *near]:
        try:
            held = list(_parts(path))
        except DataError as error:
            refused += [(path, str(error))] if path in found else []
            continue
        tables += [(path, it) for it in held if isinstance(it, bytes)]
        records += [(path, it) for it in held if isinstance(it, dict)]
        if not held and path in found:
            if folder := found[path]:
                ignored[folder] += 1
            else:
                refused.append((path, f"{path}: {_NO_RELEASE}"))
    releases, used = [], set[int]()
    inside = defaultdict[Path, list[int]](list)
    for number, (path, _) in enumerate(records):
        inside[path].append(number)
    by_name = sorted(range(len(records)), key=lambda it: str(records[it][0]))
    names = [str(records[it][0]) for it in by_name]
    for path, table in tables:
        # A table may fit several records: that of its own file or name is meant. The names that are
        # most alike are next to it.
        place = bisect.bisect(names, str(path))
        likely = inside[path] or heapq.merge(
            reversed(by_name[:place]),
            by_name[place:],
            key=lambda it, path=path: -_alike(path, records[it][0]),  # type: ignore[misc]
        )
        for number in likely:
            other, facts = records[number]
            if facts["sha256"] == _checked_sum(table, facts):
                used.add(number)
                if not {path, other} <= near:
                    releases.append(Parts(file=path, table=table, facts=facts))
                break
        else:
            wrong = "no record fits this table: one of them is missing, or was changed or cut short"
            refused += [(path, f"{path}: {wrong}; {_ASK}")] if path in found else []
    for number, (path, _) in enumerate(records):
        if number not in used and path in found and path not in dict(refused):
            wrong = "no table fits this record: one of them is missing, or was changed or cut short"
            refused.append((path, f"{path}: {wrong}; {_ASK}"))
    return Found(releases=releases, refused=refused, ignored=ignored, files=[*found, *near])


def read_release(path: Path) -> Report:
    """The release in a zip, a folder, or a table or record that was unpacked.

    Raises:
        DataError: there is none, or several, or it is damaged. Cells are not looked at.
    """
    found = find_releases([path])
    if found.refused:
        raise DataError(found.refused[0][1])
    if len(found.releases) != 1:
        raise DataError(f"{path}: holds {len(found.releases)} releases; name the file of one")
    return read_report(found.releases[0])


def read_facts(path: Path) -> Mapping[str, Any]:
    """All that the record of a release file states, without a look at its table.

    Raises:
        DataError: it cannot be read, or holds no record.
    """
    records = [it for it in _parts(path) if isinstance(it, dict)]
    if len(records) != 1:
        raise DataError(f"{path}: {_NO_RECORD}")
    return records[0]


def origin_of(path: Path, facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a record about the ledger; it has the ids of ledger and output.

    Raises:
        DataError: the ids are missing or are not ids.
    """
    origin = facts.get("ledger")
    if not isinstance(origin, dict) or not {"id", "output"} <= origin.keys():
        raise DataError(f"{path}: {_NO_RECORD}")
    if not all(isinstance(it, str) and ID.fullmatch(it) for it in (origin["id"], origin["output"])):
        raise DataError(
            f"{path}: the ids of its ledger and output are not 16 signs, 0 to f; {_ASK}"
        )
    return origin


def read_report(parts: Parts) -> Report:
    """A release whose parts fit each other.

    Raises:
        DataError: its record or table is damaged, or signed by another key than it names. Cells are
            not looked at.
    """
    file, facts = parts.file, parts.facts
    agreed = facts.get("deployment")
    if not isinstance(agreed, dict):
        raise DataError(f"{file}: does not say which deployment it is of; {_ASK}")
    origin, key = origin_of(file, facts), str(facts.get("key", ""))
    if key and not verify(key, str(facts.get("signature")), facts["sha256"]):
        raise DataError(f"{file}: its signature is wrong: it was changed, or is forged; {_ASK}")
    return Report(
        file=file,
        sha256=facts["sha256"],
        deployment=str(agreed.get("name")),
        agreement=str(agreed.get("sha256")),
        ledger=origin["id"],
        output=origin["output"],
        rows=_with_chains(file, list(_cells(file, parts.table)), facts.get("chains", [])),
        runs=_runs(file, facts.get("releases", [])),
        key=key,
        facts=facts,
    )


def _runs(file: Path, stated: object) -> tuple[RunHead, ...]:
    """The runs that a record states."""
    try:
        runs = [
            RunHead(number=int(it["run"]), head=it["head"], imported=it["imported"] is True)
            for it in stated  # type: ignore[attr-defined]
        ]
        good = all(_HEAD.fullmatch(it.head) and 0 < it.number < 2**53 for it in runs)
    except (LookupError, TypeError, ValueError):
        good = False
    if not good or len({it.number for it in runs}) < len(runs):
        raise DataError(f"{file}: the heads of its ledger are damaged; {_ASK}")
    return tuple(runs)


def _parts(path: Path) -> Iterator[bytes | dict[str, Any]]:
    """The released tables and the records that a file or zip holds.

    Raises:
        DataError: it cannot be read, or is a damaged zip.
    """
    if not path.is_file():  # a pipe would never end
        raise DataError(f"{path}: is not there, or is not a file; check the path")
    try:
        if not zipfile.is_zipfile(path):
            if path.suffix == ".zip":
                raise DataError(f"{path}: is damaged or cut short; {_ASK}")
            with path.open("rb") as stream:
                yield from _part(stream, path.stat().st_size)
            return
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                with archive.open(member) as stream:
                    yield from _part(stream, member.file_size)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError):
        raise DataError(f"{path}: is damaged or cut short; {_ASK}") from None


def _part(stream: IO[bytes], size: int) -> Iterator[bytes | dict[str, Any]]:
    """The content of a file if it is a released table or a record."""
    start = stream.read(len(_HEADER))
    if size > _LARGEST or not (start == _HEADER or start.lstrip()[:1] == b"{"):
        return
    content = start + stream.read(_LARGEST)
    if start == _HEADER:
        yield content
        return
    with suppress(ValueError, RecursionError):
        facts = json.loads(content)
        if isinstance(facts, dict) and {"sha256", "ledger"} <= facts.keys():
            yield facts


def _alike(path: Path, other: Path) -> int:
    same = itertools.takewhile(
        lambda pair: pair[0] == pair[1], zip(str(path), str(other), strict=False)
    )
    return sum(1 for _ in same)


def _checked_sum(table: bytes, facts: Mapping[str, Any]) -> str | None:
    with suppress(RecursionError):
        return checksum(table, facts)
    return None


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


def _cells(file: Path, table: bytes) -> Iterator[tuple[int, Cells]]:
    """Line and cells of every row."""
    try:
        reader = csv.reader(io.StringIO(table.decode(), newline=""), strict=True)
        header = next(reader, None)
        for row in reader:
            if len(row) != len(Cells._fields) or header != [*Cells._fields]:
                raise DataError(f"{file}, line {reader.line_num}: has other columns; {_ASK}")
            yield reader.line_num, Cells._make(row)
    except (ValueError, csv.Error):
        raise DataError(f"{file}: is not a table of dpol; {_ASK}") from None


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
