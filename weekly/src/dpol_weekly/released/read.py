"""Find and read releases among files that anyone may have sent.

A release is found by its contents, whatever the file is called. Nobody knows who wrote it, so its
size is bounded before it is read, and its signature is checked before anything is believed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError
from dpol_weekly.keys import verify
from dpol_weekly.records import MOST_BYTES, parse, signed_text
from dpol_weekly.released.row import Released

ASK = "ask for the release again"
_MARK, _START = b'"dpol_release"', 4096
_NO_RELEASE = (
    "is not a release of dpol. It may hold raw counts, so nothing of it was taken; ask for the"
    " .json that dpol privatize wrote"
)


@dataclass(frozen=True, kw_only=True)
class Report:
    """A release that its key has signed.

    Args:
        file: the file.
        data: its bytes.
        agreement: SHA-256 of the agreement of the last run.
        key: public half of the key that signed the release.
        facts: what the file holds, see `dpol_weekly.records`.
        rows: its rows.
    """

    file: Path
    data: bytes
    agreement: str
    key: str
    facts: Mapping[str, Any]
    rows: tuple[Released, ...]


def files_of(paths: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """Yield each file, and each file in folders that is not hidden; and whether it is of a folder.

    No file comes twice.
    """
    seen = set[Path]()
    for path in paths:
        inside = path.is_dir()
        for file in sorted(path.rglob("[!.]*")) if inside else [path]:
            if file not in seen and not (inside and file.is_dir()):
                seen.add(file)
                yield file, inside


def read_release(path: Path) -> Report:
    """Return the release in a file.

    Raises:
        DataError: as `find_release`, or the file is something else.
    """
    if found := find_release(path):
        return found
    raise DataError(f"{path}: {_NO_RELEASE}")


def find_release(path: Path, keys: Collection[str] = ()) -> Report | None:
    """Return the release in a file; None if the file is something else.

    Args:
        path: the file.
        keys: public halves of keys: a file that names none of them is something else.

    Raises:
        DataError: the file cannot be read; or the release is too large, damaged or cut short, or
            not signed by the key that it names. Its rows are not checked against an agreement.
    """
    if not path.is_file():  # a pipe would never end
        raise DataError(f"{path}: is not there, or is not a file; check the path")
    try:
        with path.open("rb") as stream:
            data = stream.read(_START)
            if _MARK not in data:
                return None
            data += stream.read(MOST_BYTES + 1 - len(data))
        if keys and not any(key.encode() in data for key in keys):
            return None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    try:
        facts = parse(data)
    except ValueError as error:
        raise DataError(f"{path}: {error}; {ASK}") from None
    if not verify(facts["key"], facts["signature"], signed_text(facts)):
        raise DataError(
            f"{path}: is not signed by the key that it names: it was changed, or is forged; {ASK}"
        )
    return Report(
        file=path,
        data=data,
        agreement=facts["agreement"],
        key=facts["key"],
        facts=facts,
        rows=tuple(Released._make(row) for row in facts["rows"]),
    )
