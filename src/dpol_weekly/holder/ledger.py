"""The ledger: all that a holder has released, in one SQLite file.

It is the truth; outputs and their records are views of it. A release is one transaction, so it is
in the ledger as a whole or not at all. Raw counts are never in it.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dpol.core.errors import DataError, OutputError
from dpol_weekly.holder.seal import is_sealed, seal

LEDGER_NAME = "dpol-ledger.sqlite"
"""The name of a ledger, unless another one is given."""

_APPLICATION = 0x64706F6C
_VERSION = 5
_PATIENCE = 300.0  # Seconds that a run waits for another one.

_NO_LEDGER = "is not a ledger of dpol; choose another file with --ledger"
_DAMAGED = (
    "the ledger is damaged, or something else than dpol changed it; put its last backup back, or"
    " move it away and run again, which says how to go on"
)
# What a failure of the database means to a user, by the beginning of its name.
_FAILURES = {
    "SQLITE_NOTADB": _NO_LEDGER,
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_BUSY": f"another run has held the ledger for {_PATIENCE / 60:.0f} minutes; wait until"
    " that has ended, or end it, and run again",
    "SQLITE_FULL": "the disk is full; free some space and run again",
    "SQLITE_READONLY": "the ledger or its folder is read-only; make both writable",
    "SQLITE_CANTOPEN": "the ledger cannot be opened; make it and its folder writable",
    "SQLITE_PERM": "the ledger cannot be opened; make it and its folder writable",
    "SQLITE_PROTOCOL": "the ledger cannot be locked there; choose a local folder with --ledger",
    "SQLITE_IOERR": "the ledger could not be read or written; check the disk and run again, which"
    " says what is released",
}


@dataclass(frozen=True)
class Ledger:
    """An open ledger.

    Args:
        path: its file.
        connection: to the database; `transaction` begins and ends what is written.
    """

    path: Path
    connection: sqlite3.Connection

    @property
    def id(self) -> str:
        """Random identifier, chosen when the ledger was made."""
        return str(self.execute("SELECT id FROM ledger").fetchone()[0])

    def execute(self, statement: str, *values: str | int | None) -> sqlite3.Cursor:
        """Execute one SQL statement with the values of its question marks."""
        return self.connection.execute(statement, values)

    def insert(self, statement: str, *values: str | int | None) -> int:
        """Insert one row; its number."""
        return int(self.execute(statement, *values).lastrowid or 0)


@contextmanager
def open_ledger(path: Path, *, in_memory: bool = False) -> Iterator[Ledger]:
    """Open a ledger; if there is none, it is made, readable for nobody else.

    Args:
        path: its file.
        in_memory: open an empty one in memory, to try something out.

    Raises:
        DataError: the file is not a ledger, of another version, or damaged.
        OutputError: it cannot be opened, read or written, here or in the block.
    """
    try:
        if not in_memory:
            _make(path)
        file = ":memory:" if in_memory else path.absolute()  # A file may be named ":memory:".
        with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as base:
            yield Ledger(path, base)
    except sqlite3.Error as error:
        for name, meaning in _FAILURES.items():
            if _name(error).startswith(name):
                kind = DataError if meaning in (_NO_LEDGER, _DAMAGED) else OutputError
                raise kind(f"{path}: {meaning}") from error
        raise


@contextmanager
def transaction(ledger: Ledger) -> Iterator[None]:
    """All that is written in the block, or nothing; one block at a time, the others wait.

    Raises:
        DataError, OutputError: as `open_ledger`.
    """
    # No page reaches the file before the commit, and no draw a temporary file. EXTRA is FULL that
    # also syncs the folder, so that a power failure cannot undo what outputs already show.
    for setting in ("cache_spill = OFF", "temp_store = MEMORY", "synchronous = EXTRA"):
        _patiently(ledger, f"PRAGMA {setting}")
    _patiently(ledger, "BEGIN IMMEDIATE")
    try:
        _check(ledger)
        yield
        seal(ledger.connection)
        _patiently(ledger, "COMMIT")
    finally:
        if ledger.connection.in_transaction:
            with suppress(sqlite3.Error):
                ledger.execute("ROLLBACK")


def new_token() -> str:
    """A text that nothing else has."""
    return secrets.token_hex(8)


def _make(path: Path) -> None:
    """Make an empty file that nobody else can read, or take that right away."""
    if path.is_dir():
        raise DataError(f"{path}: is a folder; choose another file with --ledger")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        if path.is_file() and path.stat().st_mode & 0o077:
            path.chmod(0o600)
    except OSError as error:
        wrong = f"the ledger cannot be opened ({error.strerror}); make it and its folder writable"
        raise OutputError(f"{path}: {wrong}") from error


def _check(ledger: Ledger) -> None:
    """Refuse a file that is not a ledger, and make the tables of a new one."""
    application, version, tables = ledger.execute(
        "SELECT application_id, user_version, (SELECT COUNT(*) FROM sqlite_master)"
        " FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    new = not tables and not application
    if not new and application != _APPLICATION:
        raise DataError(f"{ledger.path}: {_NO_LEDGER}")
    if not new and version != _VERSION:
        raise DataError(
            f"{ledger.path}: was written by another version of dpol; run the version that wrote it"
        )
    whole = ledger.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
    if not (whole and (new or is_sealed(ledger.connection))):
        raise DataError(f"{ledger.path}: {_DAMAGED}")
    if new:
        text = Path(__file__).with_name("ledger.sql").read_text(encoding="utf-8")
        for statement in (*text.split(";"), f"PRAGMA user_version = {_VERSION}"):
            ledger.execute(statement)
        ledger.execute("INSERT INTO ledger VALUES (?, '')", new_token())
        ledger.execute(f"PRAGMA application_id = {_APPLICATION}")


def _patiently(ledger: Ledger, statement: str) -> None:
    """Execute, and wait while another run holds the ledger, so that Ctrl-C still works."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            ledger.execute(statement)
            return
        except sqlite3.OperationalError as error:
            if not _name(error).startswith("SQLITE_BUSY") or time.monotonic() > end:
                raise
        time.sleep(0.05)


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", "")
