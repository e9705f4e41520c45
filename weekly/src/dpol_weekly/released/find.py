"""Find releases among files that anyone may have sent.

A release is found by its contents, whatever the file is called. Nobody knows who wrote it, so its
sizes are bounded before anything is unpacked.
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError
from dpol_weekly.released.format import HEADER, RECORD, TABLE, checksum

MOST_BYTES = 64 << 20
"""Bytes of a file."""
MOST_MEMBERS = 8
"""Files in a zip."""
MOST_TABLE = 16 << 20
"""Bytes of a table, unpacked."""
MOST_RECORD = 1 << 20
"""Bytes of a record, unpacked."""
MOST_RATIO = 200
"""Bytes of a member for each byte that it is packed in."""
ASK = "ask for the release again"
_NO_RELEASE = (
    "is not a release of dpol. It may hold raw counts, so nothing of it was taken; ask for the .zip"
    " that dpol privatize wrote"
)
_UNPACKED = "is a part of a release that was unpacked; ask for the .zip as dpol privatize wrote it"
_END = struct.Struct("<4s4H2LH")  # the end of a zip: its sixth field is the size of the directory


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The table and the record of a release; they fit each other.

    Args:
        file: file of the release.
        table: bytes of the table.
        facts: contents of the record.
    """

    file: Path
    table: bytes
    facts: Mapping[str, Any]


def find_releases(paths: Sequence[Path]) -> Iterator[tuple[Path, Parts | str | None]]:
    """Yield each file, and each file in the folders, with what it holds.

    That is a release; or the reason why it is not an intact one, with the remedy; or None for a
    file in a folder that has nothing to do with releases.
    """
    seen = set[Path]()
    for path in paths:
        inside = path.is_dir()
        for file in sorted(path.rglob("*")) if inside else [path]:
            if file in seen or (inside and file.is_dir()):
                continue
            seen.add(file)
            try:
                yield file, read_parts(file) or (None if inside else f"{file}: {_NO_RELEASE}")
            except DataError as error:
                yield file, str(error)
            except Exception as error:  # nobody foresaw it, and others must not suffer
                yield file, f"{file}: cannot be read ({type(error).__name__}); {ASK}"


def read_parts(path: Path) -> Parts | None:
    """Return the release in a file; None if the file is something else.

    Raises:
        DataError: the file cannot be read, is too large, damaged or cut short, or its table does
        not
            fit its record.
    """
    if not path.is_file():  # a pipe would never end
        raise DataError(f"{path}: is not there, or is not a file; check the path")
    try:
        if not zipfile.is_zipfile(path):
            _refuse_loose(path)
            return None
        if path.stat().st_size > MOST_BYTES:
            raise DataError(f"{path}: is larger than {MOST_BYTES >> 20} MiB; {ASK}")
        if not _is_small(path):
            return None
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if len(names) > MOST_MEMBERS or not {TABLE, RECORD} <= {*names}:
                return None
            facts = _record(_unpacked(archive, RECORD, MOST_RECORD, path), path)
            table = _unpacked(archive, TABLE, MOST_TABLE, path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError):
        raise DataError(f"{path}: is damaged or cut short; {ASK}") from None
    table = table.replace(b"\r\n", b"\n")
    with suppress(RecursionError):
        if facts["sha256"] == checksum(table, facts):
            return Parts(file=path, table=table, facts=facts)
    raise DataError(f"{path}: its record is not about its table: one was changed; {ASK}")


def _refuse_loose(path: Path) -> None:
    """Refuse a truncated release, or a part of one."""
    if path.suffix == ".zip":
        raise DataError(f"{path}: is damaged or cut short; {ASK}")
    with path.open("rb") as stream:
        start = stream.read(4096)
    text = start.decode(errors="replace").lstrip("\ufeff \r\n\t")
    if text.startswith(HEADER) or (text.startswith("{") and '"deployment"' in text):
        raise DataError(f"{path}: {_UNPACKED}")


def _is_small(path: Path) -> bool:
    """Return True if the directory of a zip, still unread, is as short as a release's."""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - (1 << 16) - _END.size))
        tail = stream.read()
    place = tail.rfind(b"PK\x05\x06")
    directory = _END.unpack(tail[place : place + _END.size])[5]
    large = tail[max(0, place - 20) : place].startswith(b"PK\x06\x07")  # zip64
    return not large and directory <= MOST_MEMBERS << 10


def _unpacked(archive: zipfile.ZipFile, name: str, most: int, path: Path) -> bytes:
    """Return the content of a member.

    Raises:
        DataError: the member is too large, or compressed too well for a release.
    """
    member = archive.getinfo(name)
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise zipfile.BadZipFile  # of another method, which may ask for any memory
    if member.file_size > min(most, MOST_RATIO * max(member.compress_size, 1)):
        raise DataError(
            f"{path}: its {name} is larger than {most >> 20} MiB, or than {MOST_RATIO} times what"
            f" it is packed in; {ASK}"
        )
    with archive.open(member) as stream:
        content = stream.read(most + 1)
    if len(content) != member.file_size:
        raise zipfile.BadZipFile
    return content


def _record(content: bytes, path: Path) -> dict[str, Any]:
    facts: object = None
    with suppress(ValueError, RecursionError):
        facts = json.loads(content)
    if not isinstance(facts, dict) or not isinstance(facts.get("sha256"), str):
        raise DataError(f"{path}: its record is damaged; {ASK}")
    return facts
