"""Writing files so that a reader never sees a partial one."""

from __future__ import annotations

import errno
import glob
import gzip
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from filelock import FileLock

from dpol.core.errors import OutputError

_IN_THE_WAY = (
    "a part of the path is a file, or a link to nothing, and no folder; rename it or choose another"
    " folder"
)
_REMEDIES = {
    errno.ENOSPC: "the disk is full; free some space and run again",
    errno.EDQUOT: "the disk quota is used up; free some space and run again",
    errno.EACCES: "permission denied; make the folder writable or choose another one",
    errno.EPERM: "permission denied; make the folder writable or choose another one",
    errno.EROFS: "the file system is read-only; choose another folder",
    errno.ENOTDIR: _IN_THE_WAY,
    errno.EEXIST: _IN_THE_WAY,
    errno.EISDIR: "a folder has that name; rename it or choose another name",
    errno.EFBIG: "the file exceeds the limit on file size; raise it (ulimit -f) and run again",
    errno.EIO: "the disk reports an error; check it, or choose another folder",
}


_WRITTEN = ContextVar[dict[Path, str]]("_WRITTEN")


@contextmanager
def sums_of_written() -> Iterator[Mapping[Path, str]]:
    """Yield the SHA-256 of each file that `atomic_path` writes in the block, by its path."""
    sums = dict[Path, str]()
    token = _WRITTEN.set(sums)
    try:
        yield sums
    finally:
        _WRITTEN.reset(token)


@contextmanager
def atomic_path(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path next to `path` that becomes `path` on success.

    The temporary file has the suffixes of `path`, which writers look at. It is flushed to disk
    before it is renamed, and removed if the block raises.

    Raises:
        OutputError: the folder cannot be written, the disk is full, and so on. OS errors about
            other files pass unchanged, unless this module has a remedy for them.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp("".join(path.suffixes), f".{path.name}~", path.parent)
        os.close(handle)
    except OSError as error:
        raise output_error(path, error) from error
    temporary = Path(name)
    try:
        yield temporary
        os.umask(mask := os.umask(0))
        temporary.chmod(0o666 & ~mask)
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
            _WRITTEN.get({})[path] = hashlib.file_digest(stream, "sha256").hexdigest()
        temporary.replace(path)
    except OSError as error:
        named = error.filename is None or Path(os.fsdecode(error.filename)) in (temporary, path)
        if named or error.errno in _REMEDIES:
            raise output_error(path, error) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def remove_temporary(path: Path | str) -> None:
    """Remove what a killed process left of `path`; no other may be writing it."""
    for left in Path(path).parent.glob(f".{glob.escape(Path(path).name)}~*"):
        left.unlink()


@contextmanager
def packed_file(path: Path) -> Iterator[gzip.GzipFile]:
    """Open a gzip file for writing without name and time, so that equal content has equal bytes."""
    with path.open("wb") as stream, gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as packed:
        yield packed


def write_text(path: Path | str, text: str) -> None:
    """Write `text` as UTF-8, atomically."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path | str, value: Any) -> None:
    """Write `value` as indented JSON with sorted keys, atomically."""
    write_text(path, json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


@contextmanager
def locked(path: Path | str) -> Iterator[None]:
    """Let only one block at a time work on `path`; the others wait.

    First it removes what a killed process left of `path`. The lock is on an empty hidden file next
    to `path`, and ends with the process that holds it.

    Raises:
        OutputError: the folder cannot be written, or does not support locks.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        held = FileLock(path.with_name(f".{path.name}.lock")).acquire()
    except OSError as error:
        raise output_error(path, error) from error
    with held:
        remove_temporary(path)
        yield


def check_writable(folder: Path | str) -> None:
    """Refuse a folder in which nothing can be created, without creating anything.

    Raises:
        OutputError: a part of the path is a file or not writable.
    """
    folder = Path(folder)
    existing = next(path for path in [folder, *folder.absolute().parents] if path.exists())
    if not existing.is_dir():
        raise OutputError(f"cannot write {folder}: {existing} is a file, not a folder; rename it")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise OutputError(
            f"cannot write {folder}: no permission to write in {existing}; make it writable or"
            " choose another folder"
        )


def read_json(path: Path | str) -> Any:
    """Read a JSON file that anyone may have written.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not JSON, or nested too deeply.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def sha256(path: Path | str) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def output_error(path: Path | str, error: OSError) -> OutputError:
    """Return the error for a file that the system could not write, with cause and remedy."""
    said = _REMEDIES.get(error.errno or 0) or f"{error.strerror or error}; choose another folder"
    return OutputError(f"cannot write {path}: {said}")
