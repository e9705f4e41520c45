"""Extracting one table from an archive: a zip file, wheel, tar file or Debian package."""

from __future__ import annotations

import difflib
import io
import lzma
import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeAlias

from dpol.core.errors import DataError
from dpol.core.files import atomic_path, sha256, write_json
from dpol.core.words import printable, shortened
from dpol.data.panel import provenance_of

LARGEST = 2 << 30
"""Size of the largest file that is extracted, in bytes."""
_DAMAGES = (zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError)
_File: TypeAlias = tuple[int, Callable[[], Any]]
"""A file in an archive: its size in bytes, and a function that opens it."""


def extract_table(archive: Path, member: str, table: Path, pinned: str | None = None) -> None:
    """Extract one file from an archive; write nothing else of it, and execute nothing.

    `<table>.member.json` records its origin, and how the archive was fetched.

    Args:
        archive: a `.zip`, `.whl`, `.deb` or `.tar` file; the last may be compressed (`.tar.gz`).
        member: path of the file in the archive.
        table: the file to write, with the suffix of the member.
        pinned: SHA-256 that the archive must have; None for any.

    Raises:
        DataError: the archive has another SHA-256, is damaged or cut short, or lacks the file.
        OutputError: the table cannot be written.
    """
    origin = provenance_of(archive, simulated=False)
    digest = origin["sha256"]
    if pinned not in (None, digest):
        raise DataError(
            f"{archive}: has SHA-256 {digest} instead of {pinned}; correct dataset.source.sha256,"
            " or delete the file and run again to fetch it again"
        )
    with atomic_path(table) as temporary:
        _unpack(archive, member, temporary)
        record = {
            **origin.get("fetched", {}),
            "archive": archive.name,
            "archive_sha256": digest,
            "member": member,
            "sha256": sha256(temporary),
        }
        write_json(f"{table}.member.json", record)


def _unpack(archive: Path, member: str, table: Path) -> None:
    try:
        with _files_of(archive) as files:
            if member not in files:
                raise _missing(archive, member, [*files])
            size, open_file = files[member]
            if size > LARGEST:
                raise DataError(
                    f"{archive}: {member} has {size:,} bytes, more than {LARGEST:,}; unpack it by"
                    " hand and give it as a source of kind local"
                )
            with open_file() as packed, table.open("wb") as unpacked:
                shutil.copyfileobj(packed, unpacked, 1 << 20)
    except _DAMAGES as error:
        if isinstance(error, OSError) and error.errno:  # a fault of the disk, not of the archive
            raise
        raise _damaged(archive, str(error)) from None
    except RuntimeError as error:  # zipfile: encrypted, or unknown compression
        raise DataError(f"{archive}: {error}; unpack it by hand") from None


@contextmanager
def _files_of(archive: Path) -> Iterator[dict[str, _File]]:
    """Yield the files of an archive by their path in it, without folders and links."""
    if archive.suffix in (".zip", ".whl"):
        with zipfile.ZipFile(archive) as packed:
            yield {
                entry.filename: (entry.file_size, partial(packed.open, entry))
                for entry in packed.infolist()
                if not entry.is_dir() and entry.external_attr >> 28 in (0, stat.S_IFREG >> 12)
            }
        return
    with archive.open("rb") as stream:
        data = _data_of_deb(archive, stream) if archive.suffix == ".deb" else stream
        with tarfile.open(fileobj=data) as unpacked:
            yield {
                entry.name.removeprefix("./"): (entry.size, partial(unpacked.extractfile, entry))
                for entry in unpacked
                if entry.isreg()
            }


def _data_of_deb(archive: Path, stream: IO[bytes]) -> IO[bytes]:
    """Return the files of a Debian package: the part data.tar of an `ar` archive."""
    is_ar = stream.read(8) == b"!<arch>\n"
    # The header of a part: name 0:16, decimal size 48:58, end 58:60.
    while is_ar and (header := stream.read(60))[58:] == b"`\n" and header[48:58].strip().isdigit():
        size = int(header[48:58])
        if header.startswith(b"data.tar") and size <= LARGEST:
            return io.BytesIO(stream.read(size))
        stream.seek(size + size % 2, os.SEEK_CUR)
    raise _damaged(archive, "no part data.tar")


def _damaged(archive: Path, cause: str) -> DataError:
    cause = " ".join(cause[:200].split())
    return DataError(
        f"{archive}: is damaged, cut short or not a {archive.suffix} file that dpol can read"
        f" ({cause}); get an intact copy of it"
    )


def _missing(archive: Path, member: str, names: list[str]) -> DataError:
    """Return the error for a missing member; it lists the members, the most similar first."""

    def likeness(name: str) -> float:
        pairs = (name, member), (PurePosixPath(name).name, PurePosixPath(member).name)
        return max(difflib.SequenceMatcher(None, *pair).ratio() for pair in pairs)

    nearest = [shortened(printable(name)) for name in sorted(names, key=likeness, reverse=True)]
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return DataError(
        f"{archive}: has no file {member}; it has {', '.join(nearest[:5]) or 'none'}{more}. Name"
        " one of them in dataset.source.member"
    )
