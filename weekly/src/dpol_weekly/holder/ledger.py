"""The ledger: all releases of a holder, in one SQLite file.

It is the truth; release files are views of it. A release is one transaction, so it is in the ledger
as a whole or not at all. It holds no raw count and no secret of the noise.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dpol.core.errors import DataError, OutputError
from dpol_weekly import sqlite
from dpol_weekly.sqlite import Kind, is_empty, opened, prepare

LEDGER_NAME = "dpol-ledger.sqlite"
"""The name of a ledger, unless another one is given."""

_LEDGER = Kind(
    name="ledger",
    script=Path(__file__).with_name("ledger.sql"),
    application=0x64706F6C,
    version=15,
    foreign="is not a ledger of dpol; choose another file in ledger",
    damaged="the ledger is damaged, or something else than dpol changed it; put its last backup"
    " back; if there is none, move it away and begin a new one with --begin-after",
)
# No page reaches the file before the commit, and no draw a temporary file.
_SETTINGS = "cache_spill = OFF", "temp_store = MEMORY"


@dataclass(frozen=True)
class Ledger:
    """An open ledger.

    Args:
        path: file of the ledger.
        connection: connection to the database; `transaction` begins and ends a write.
        begin: for a ledger that is made now: nothing up to this date is released, or "".
    """

    path: Path
    connection: sqlite3.Connection
    begin: str = ""

    @property
    def id(self) -> str:
        """Random identifier, chosen when the ledger was made."""
        return str(self.execute("SELECT id FROM ledger").fetchone()[0])

    @property
    def begin_after(self) -> str:
        """Nothing up to this date is released, for any entity; "" if it was begun without one."""
        return str(self.execute("SELECT begin_after FROM ledger").fetchone()[0])

    def execute(self, statement: str, *values: str | int | None) -> sqlite3.Cursor:
        """Execute one SQL statement with values for its question marks."""
        return self.connection.execute(statement, values)

    def add(self, table: str, *cells: str | int | None) -> int:
        """Enter a row with the next number; `link` it when all of it is there."""
        return sqlite.add(self.connection, table, *cells)

    def link(self, number: int) -> str:
        """Add what was entered to the hash chain, and return the new head."""
        return sqlite.link(self.connection, number)


def is_new(path: Path) -> bool:
    """Return True if there is no ledger yet; a first run that was killed leaves an empty file."""
    if not path.exists() or (path.is_file() and not path.stat().st_size):
        return True
    if not path.is_file():
        return False
    _make(path)
    with suppress(DataError), opened(path, _LEDGER) as base:
        return is_empty(base)
    return False


@contextmanager
def open_ledger(path: Path, *, begin: str = "", in_memory: bool = False) -> Iterator[Ledger]:
    """Open a ledger; a missing one is made, readable only by its owner.

    Args:
        path: file of the ledger.
        begin: a new ledger releases nothing up to this date.
        in_memory: open an empty one in memory, to try something out.

    Raises:
        DataError: the file is not a ledger, of another version, or damaged.
        OutputError: the file cannot be opened, read or written, here or in the block.
    """
    if not in_memory:
        _make(path)
    with opened(path, _LEDGER, in_memory=in_memory) as base:
        yield Ledger(path, base, begin)


@contextmanager
def transaction(ledger: Ledger) -> Iterator[None]:
    """Write all of the block or nothing; one block at a time, the others wait.

    Raises:
        DataError, OutputError: as `open_ledger`.
    """
    base = ledger.connection
    with sqlite.transaction(base, settings=_SETTINGS):
        if prepare(base, ledger.path, _LEDGER):
            ledger.link(ledger.add("ledger", new_id(), ledger.begin))
        yield


def new_id() -> str:
    """Return a new random identifier."""
    return secrets.token_hex(8)


def _make(path: Path) -> None:
    """Make an empty file that only its owner can read, or restrict an existing one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        if path.is_file() and path.stat().st_mode & 0o077:
            path.chmod(0o600)
    except OSError as error:
        wrong = f"the ledger cannot be opened ({error.strerror}); make it and its folder writable"
        raise OutputError(f"{path}: {wrong}") from error
