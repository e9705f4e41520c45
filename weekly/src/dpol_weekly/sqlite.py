"""SQLite databases that runs share: rows that are only ever added, under one hash chain.

Whatever is entered has the next number, and a link: the SHA-256 of the link before and of all that
was entered. Each opening compares tables, views and triggers with those of this code, and only then
computes the chain again, through them. So the head of the chain fixes every row.
"""

from __future__ import annotations

import datetime
import functools
import hashlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dpol.core.errors import DataError, OutputError

PATIENCE = 300.0
"""Seconds that a run waits for another one."""

_DISK = (
    *("SQLITE_FULL", "SQLITE_READONLY", "SQLITE_CANTOPEN"),
    *("SQLITE_PERM", "SQLITE_PROTOCOL", "SQLITE_IOERR"),
)
_CHANGED = "SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_ERROR", "SQLITE_SCHEMA"
_LINK = "CREATE TABLE link (number INTEGER PRIMARY KEY, head TEXT NOT NULL UNIQUE)"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of database.

    Args:
        name: what messages call it.
        script: SQL file that makes the tables, and two views: `entered`, all that was entered, with
            its number and its content as a BLOB; and `stray`, rows that belong to none of that.
        application: application number in the header of the files.
        version: version of the tables.
        foreign: message for any other file, with the remedy.
        damaged: message for a file that something else changed, with the remedy.
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
        told = (
            ("SQLITE_NOTADB", DataError, kind.foreign),
            ("SQLITE_CORRUPT", DataError, kind.damaged),
            (
                "SQLITE_BUSY",
                OutputError,
                f"another run has held the {kind.name} for {PATIENCE / 60:.0f} minutes; wait until"
                " that has ended, or end it, and run again",
            ),
            (
                _DISK,
                OutputError,
                f"the {kind.name} cannot be opened, read or written ({error}); make it and its"
                " folder writable, on a local disk with free space, and run again",
            ),
        )
        for names, failure, words in told:
            if _name(error).startswith(names):
                raise failure(f"{path}: {words}") from error
        raise
    except (UnicodeDecodeError, OverflowError) as error:  # of a changed SQL text, or a number
        raise DataError(f"{path}: {kind.damaged}") from error


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


def is_empty(base: sqlite3.Connection) -> bool:
    """Return True if a database was not made yet."""
    (application,) = base.execute("PRAGMA application_id").fetchone()
    (tables,) = base.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    return not (application or tables)


def prepare(base: sqlite3.Connection, path: Path, kind: Kind, *, new: bool = True) -> bool:
    """Make the tables of an empty database if it may be `new`, or verify it; True if it was made.

    Raises:
        DataError: the database is of another kind or version, or something else changed it.
    """
    if new and is_empty(base):
        _make(base, kind)
        return True
    (application,) = base.execute("PRAGMA application_id").fetchone()
    (version,) = base.execute("PRAGMA user_version").fetchone()
    if application != kind.application:
        raise DataError(f"{path}: {kind.foreign}")
    if version != kind.version:
        raise DataError(
            f"{path}: was written by another version of dpol; run the version that wrote it"
        )
    try:
        fault = _fault(base, kind)
    except sqlite3.Error as error:
        if not _name(error).startswith(_CHANGED):
            raise
        fault = "it cannot be read as it was written"
    if fault:
        raise DataError(f"{path}: {kind.damaged} ({fault})")
    return False


def add(base: sqlite3.Connection, table: str, *cells: str | int | None) -> int:
    """Enter a row with the next number, and the time; `link` it when all of it is there."""
    (number,) = base.execute("SELECT COUNT(*) FROM link").fetchone()
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    values = ", ".join("?" * (2 + len(cells)))
    base.execute(f"INSERT INTO {table} VALUES ({values})", (number, now, *cells))
    return int(number)


def link(base: sqlite3.Connection, number: int) -> str:
    """Add what was entered to the hash chain, and return the new head."""
    content = base.execute("SELECT content FROM entered WHERE number = ?", (number,)).fetchone()[0]
    head = _next_head(head_of(base, number - 1), content)
    base.execute("INSERT INTO link VALUES (?, ?)", (number, head))
    return head


def head_of(base: sqlite3.Connection, last: int = 2**62) -> str:
    """Return the head of the chain after a number; empty before the first."""
    found = "SELECT head FROM link WHERE number <= ? ORDER BY number DESC LIMIT 1"
    return "".join(head for (head,) in base.execute(found, (last,)))


def _fault(base: sqlite3.Connection, kind: Kind) -> str:
    """Return what else than dpol has changed; empty if nothing was."""
    # Also that each index fits its table: queries read through indexes, and the chain does not.
    if base.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
        return "its pages or indexes were changed"
    if _schema(base) != _schema_of(kind):
        return "its tables, views or triggers were changed"
    heads = dict(base.execute("SELECT number, CAST(head AS BLOB) FROM link"))
    head, number = "", -1
    entered = base.cursor()
    entered.row_factory = None
    for number, (found, content) in enumerate(
        entered.execute("SELECT number, content FROM entered ORDER BY number")
    ):
        head = _next_head(head, content)
        if found != number or heads.get(number) != head.encode():
            return f"number {number} of what was entered was changed, removed or put elsewhere"
    if len(heads) != number + 1 or base.execute("SELECT 1 FROM stray").fetchone():
        return "what was entered last was removed, or rows were added"
    return ""


def _make(base: sqlite3.Connection, kind: Kind) -> None:
    """Make the tables, and triggers that let rows be added only."""
    statement = ""
    for line in kind.script.read_text(encoding="utf-8").splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            base.execute(statement)
            statement = ""
    base.execute(_LINK)
    for (table,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for name, event in (("kept", "DELETE"), ("same", "UPDATE")):
            base.execute(
                f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table}"
                f" BEGIN SELECT RAISE(ABORT, 'rows of the {kind.name} are only ever added'); END"
            )
    base.execute(f"PRAGMA application_id = {kind.application}")
    base.execute(f"PRAGMA user_version = {kind.version}")


@functools.cache
def _schema_of(kind: Kind) -> frozenset[tuple[object, ...]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as base:
        _make(base, kind)
        return _schema(base)


def _schema(base: sqlite3.Connection) -> frozenset[tuple[object, ...]]:
    columns = ", ".join(f"CAST({name} AS BLOB)" for name in ("type", "name", "tbl_name", "sql"))
    return frozenset(map(tuple, base.execute(f"SELECT {columns} FROM sqlite_master")))


def _next_head(before: str, content: bytes) -> str:
    return hashlib.sha256(before.encode() + content).hexdigest()


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
