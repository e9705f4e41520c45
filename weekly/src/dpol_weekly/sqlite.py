"""SQLite databases that runs share: one file, tables from a script, one writer at a time."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dpol.core.errors import DataError, OutputError

PATIENCE = 300.0
"""Seconds that a run waits for another one."""

# What a failure means to a user, by the beginning of its name; {} is the kind of database.
_REMEDIES = {
    "SQLITE_BUSY": f"another run has held the {{}} for {PATIENCE / 60:.0f} minutes; wait until that"
    " has ended, or end it, and run again",
    "SQLITE_FULL": "the disk is full; free some space and run again",
    "SQLITE_READONLY": "the {} or its folder is read-only; make both writable",
    "SQLITE_CANTOPEN": "the {} cannot be opened; make it and its folder writable",
    "SQLITE_PERM": "the {} cannot be opened; make it and its folder writable",
    "SQLITE_PROTOCOL": "the {} cannot be locked there; choose a local folder",
    "SQLITE_IOERR": "the {} could not be read or written; check the disk and run again",
}


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of database.

    Args:
        name: what messages call it.
        script: SQL file that makes the tables.
        application: application number in the header of the files.
        version: version of the tables.
        foreign: message for any other file, with the remedy.
        damaged: message for a damaged file, with the remedy.
    """

    name: str
    script: Path
    application: int
    version: int
    foreign: str
    damaged: str


@contextmanager
def opened(path: Path, kind: Kind, *, in_memory: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a database, and make it if it is missing.

    Args:
        path: file of the database.
        kind: kind of the database.
        in_memory: open an empty one in memory, to try something out.

    Raises:
        DataError: here or in the block, the file is not such a database, or damaged.
        OutputError: likewise, it cannot be opened, read or written.
    """
    file = ":memory:" if in_memory else path.absolute()  # A file may be named ":memory:".
    try:
        with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as base:
            yield base
    except sqlite3.Error as error:
        failure = _name(error)
        if failure.startswith("SQLITE_NOTADB"):
            raise DataError(f"{path}: {kind.foreign}") from error
        if failure.startswith("SQLITE_CORRUPT"):
            raise DataError(f"{path}: {kind.damaged}") from error
        for beginning, remedy in _REMEDIES.items():
            if failure.startswith(beginning):
                raise OutputError(f"{path}: {remedy.format(kind.name)}") from error
        raise


@contextmanager
def transaction(
    base: sqlite3.Connection, *, write: bool = True, settings: Sequence[str] = ()
) -> Iterator[None]:
    """Write all of the block or nothing; one writer at a time, others wait.

    Args:
        base: an open database.
        write: whether the block may write.
        settings: pragmas to set first.
    """
    # EXTRA is FULL that also syncs the folder: a power failure undoes nothing that others have.
    for setting in ("synchronous = EXTRA", *settings):
        _patiently(base, f"PRAGMA {setting}")
    _patiently(base, "BEGIN IMMEDIATE" if write else "BEGIN")
    try:
        yield
        _patiently(base, "COMMIT")
    finally:
        if base.in_transaction:
            with suppress(sqlite3.Error):
                base.execute("ROLLBACK")


def prepare(base: sqlite3.Connection, path: Path, kind: Kind, *, new: bool = True) -> bool:
    """Make the tables of an empty database if it may be `new`; return True if they were made.

    Raises:
        DataError: the database is of another kind or version.
    """
    (application,) = base.execute("PRAGMA application_id").fetchone()
    (version,) = base.execute("PRAGMA user_version").fetchone()
    (tables,) = base.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    if new and not tables and not application:
        statement = ""
        for line in kind.script.read_text(encoding="utf-8").splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                base.execute(statement)
                statement = ""
        base.execute(statement)  # what no semicolon ends
        base.execute(f"PRAGMA application_id = {kind.application}")
        base.execute(f"PRAGMA user_version = {kind.version}")
        return True
    if application != kind.application:
        raise DataError(f"{path}: {kind.foreign}")
    if version != kind.version:
        raise DataError(
            f"{path}: was written by another version of dpol; run the version that wrote it"
        )
    return False


def _patiently(base: sqlite3.Connection, statement: str) -> None:
    """Execute a statement; wait for another run in a way that Ctrl-C can interrupt."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            base.execute(statement)
            return
        except sqlite3.OperationalError as error:
            if not _name(error).startswith("SQLITE_BUSY") or time.monotonic() > end:
                raise
        time.sleep(0.05)


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", "")
