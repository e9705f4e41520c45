"""The log of a coordinator: every noisy row that was collected, in one SQLite file.

It is all the state there is: decisions are replayed from it. Rows are only ever added.
"""

from __future__ import annotations

import datetime
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpol.core.errors import DataError, OutputError
from dpol.core.files import atomic_path, output_error
from dpol.core.randomness import Floats
from dpol_weekly.deployment import Deployment, read_deployment

LOG_NAME = "log.sqlite"
"""The name of the log in a coordinator's folder."""
DEPLOYMENT_NAME = "deployment.yaml"
"""The name of the deployment's copy there."""

_APPLICATION = 0x64706F6D
_VERSION = 2
_PATIENCE = 300.0  # Seconds that a run waits for another one.


class Released(NamedTuple):
    """A row of the log, see log.sql."""

    entity: str
    period: str
    version: int
    noisy_count: str
    capacity: str
    noisy_share: str
    chain: str
    place: int
    mu: str
    count_sensitivity: str
    a: str
    b: str
    unit_weeks: int
    scale: int
    decimals: int

    @property
    def terms(self) -> tuple[str | int, ...]:
        """The public terms of its noise, see `TERMS`."""
        return self[-len(TERMS) :]

    @property
    def fresh(self) -> float:
        """Standard deviation of what is fresh in the noise on the share."""
        return self.scale / 10.0**self.decimals / float(self.capacity)

    @property
    def noise(self) -> float:
        """Standard deviation of all noise on the share."""
        return float(self.fresh * noise_growth(float(self.a), float(self.b), self.place))


class Entry(NamedTuple):
    """A row of the log, and where it came from.

    Args:
        row: as it was released.
        report: number of the report that brought it.
        ledger: id of the holder's ledger.
        output: id of the output in it.
        file: name of the table.
        received: when the report was collected, in universal time.
        set_aside: why the row does not count; None: it does.
    """

    row: Released
    report: int
    ledger: str
    output: str
    file: str
    received: str
    set_aside: str | None


TERMS = "mu", "count_sensitivity", "a", "b", "unit_weeks", "scale", "decimals"
"""Columns of the log's table of noise, which many rows share. The last fields of a row."""


def noise_growth(a: ArrayLike, b: ArrayLike, place: ArrayLike) -> Floats:
    """Standard deviation of a chain's noise at a place in it, counted from 1, over fresh noise."""
    a, b, place = np.asarray(a), np.asarray(b), np.asarray(place)
    return np.asarray(np.sqrt(1 + (a - b) ** 2 * (1 - a ** (2.0 * (place - 1))) / (1 - a**2)))


@dataclass(frozen=True)
class Log:
    """An open log.

    Args:
        path: its file.
        connection: to the database.
        deployment: that its reports are of.
        sha256: of the deployment's content.
    """

    path: Path
    connection: sqlite3.Connection
    deployment: Deployment
    sha256: str

    def add_report(self, *, sha256: str, file: str, ledger: str, output: str) -> int:
        """Enter a report; its number."""
        return self._add("report", sha256=sha256, file=file, ledger=ledger, output=output)

    def set_aside(self, entity: str, period: str, reason: str) -> None:
        """Let nothing count that an entity released before for a period; '': for all periods."""
        self._add("act", kind="set aside", entity=entity, period=period, reason=reason)

    def accept_ledger(self, entity: str, reason: str) -> None:
        """Note that an entity reports from another ledger from now on."""
        self._add("act", kind="new ledger", entity=entity, period="", reason=reason)

    def _add(self, table: str, **values: str) -> int:
        """Add a row to a table of the sequence; its number."""
        last = "SELECT MAX(number) AS number FROM"
        (number,) = self.connection.execute(
            f"SELECT 1 + IFNULL(MAX(number), 0) FROM ({last} report UNION ALL {last} act)"
        ).fetchone()
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        row = {"number": number, "received": now, **values}
        marks = ", ".join("?" * len(row))
        insert = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"
        self.connection.execute(insert, tuple(row.values()))
        return int(number)

    def add_releases(self, report: int, rows: list[Released]) -> None:
        """Enter rows of a report."""
        insert = f"INSERT OR IGNORE INTO noise ({', '.join(TERMS)}) VALUES (?, ?, ?, ?, ?, ?, ?)"
        self.connection.executemany(insert, dict.fromkeys(row.terms for row in rows))
        noise = {terms: number for number, terms in self.noises().items()}
        own = Released._fields[: -len(TERMS)]
        insert = (
            f"INSERT INTO release (report, {', '.join(own)}, noise)"
            f" VALUES (?, {', '.join('?' * len(own))}, ?)"
        )
        values = ((report, *row[: len(own)], noise[row.terms]) for row in rows)
        self.connection.executemany(insert, values)

    def noises(self) -> dict[int, tuple[str | int, ...]]:
        """The kinds of noise by their numbers, see `TERMS`."""
        found = self.connection.execute(
            f"SELECT number, {', '.join(TERMS)} FROM noise ORDER BY number"
        )
        return {number: tuple(terms) for number, *terms in found}

    def releases(self, where: str = "1", *values: str | int) -> list[Entry]:
        """Rows by entity, period and version, those that were set aside included."""
        columns = *Released._fields, "report", "ledger", "output", "file", "received", "set_aside"
        found = self.connection.execute(
            f"SELECT {', '.join(columns)} FROM released JOIN report ON report.number = report"
            f" WHERE {where} ORDER BY entity, period, version",
            values,
        )
        n = len(Released._fields)
        return [Entry(Released._make(row[:n]), *row[n:]) for row in found]

    @contextmanager
    def as_a_whole(self) -> Iterator[None]:
        """Add all that the block adds, or nothing if it raises."""
        self.connection.execute("SAVEPOINT whole")
        try:
            yield
        except BaseException:
            if self.connection.in_transaction:  # a full disk ends all of it
                self.connection.execute("ROLLBACK TO whole")
            raise
        self.connection.execute("RELEASE whole")


@contextmanager
def open_log(
    folder: Path, *, deployment: Path | None = None, new: bool = False, write: bool = False
) -> Iterator[Log]:
    """Open the log of a folder.

    What is added in the block is added as a whole or not at all; one such block at a time, the
    others wait. The deployment is copied into the folder when the log is made.

    Args:
        folder: of the coordinator.
        deployment: the file; None: the copy in the folder.
        new: whether it is made if there is none; rows may be added then.
        write: whether rows may be added.

    Raises:
        DataError: there is no log or deployment, the file is not a log, or the log is of another
            deployment.
        OutputError: the log cannot be written, or another run holds it too long.
    """
    path, write = folder / LOG_NAME, write or new
    if path.exists() and not path.is_file():
        raise DataError(f"{path}: {_NO_LOG}")
    begun = path.exists() and path.stat().st_size > 0
    if not new and not begun:
        raise DataError(f"{path}: there is no log yet; make one with dpol collect --into {folder}")
    if not begun:
        copy = folder / DEPLOYMENT_NAME
        if deployment is None and not copy.exists():
            raise DataError(f"{copy}: is missing; name the deployment's file with --deployment")
        read_deployment(deployment or copy)
    with _saying_what_failed(path):
        folder.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as base:
            _patiently(base, "PRAGMA synchronous = EXTRA")
            _patiently(base, "BEGIN IMMEDIATE" if write else "BEGIN")
            if new:
                _make(base, path, folder / DEPLOYMENT_NAME, deployment)
            yield Log(path, base, *_agreed(base, folder / DEPLOYMENT_NAME))
            _patiently(base, "COMMIT")


@contextmanager
def _saying_what_failed(path: Path) -> Iterator[None]:
    """Raise what a disk or SQLite cannot do as errors that name the file and the remedy."""
    try:
        yield
    except OSError as error:
        raise output_error(error.filename or path.parent, error) from error
    except sqlite3.Error as error:
        what = getattr(error, "sqlite_errorname", "")
        if what.startswith("SQLITE_BUSY"):
            held = f"another run has held the log for {_PATIENCE / 60:.0f} minutes"
            raise OutputError(f"{path}: {held}; wait until it has ended, and run again") from error
        if what.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
            raise DataError(f"{path}: {_NO_LOG}") from error
        wrong = f"{path}: {error}; nothing was added; check the disk, and run again"
        raise OutputError(wrong) from error


_NO_LOG = "is not a log of dpol, or is damaged; put its last backup back"


def _make(base: sqlite3.Connection, path: Path, copy: Path, deployment: Path | None) -> None:
    """Make the tables of a new log, and agree on the deployment."""
    if not base.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
        if deployment is not None:  # a copy that is there was never used
            with atomic_path(copy) as temporary:
                temporary.write_bytes(deployment.read_bytes())
        agreed = read_deployment(copy)
        script = Path(__file__).with_name("log.sql").read_text(encoding="utf-8")
        for statement in script.split("\n\n"):
            base.execute(statement)
        base.execute("INSERT INTO deployment VALUES (?)", (agreed.sha256(),))
        base.execute(f"PRAGMA application_id = {_APPLICATION}")
        base.execute(f"PRAGMA user_version = {_VERSION}")
    if deployment is None:
        return
    if read_deployment(deployment).sha256() != read_deployment(copy).sha256():
        raise DataError(
            f"{deployment}: is another agreement than {copy}, which this folder began with; take"
            " that one, or another folder"
        )
    if (content := deployment.read_bytes()) != copy.read_bytes():  # titles, algorithm, seed
        with atomic_path(copy) as temporary:
            temporary.write_bytes(content)


def _agreed(base: sqlite3.Connection, copy: Path) -> tuple[Deployment, str]:
    """The deployment that a log began with, and the checksum of its content."""
    (application,) = base.execute("PRAGMA application_id").fetchone()
    (version,) = base.execute("PRAGMA user_version").fetchone()
    if application != _APPLICATION:
        raise DataError(f"{copy.with_name(LOG_NAME)}: {_NO_LOG}")
    if version != _VERSION:
        raise DataError(
            f"{copy.with_name(LOG_NAME)}: was written by another version of dpol; run that one"
        )
    (known,) = base.execute("SELECT sha256 FROM deployment").fetchone()
    if not copy.exists() or (agreed := read_deployment(copy)).sha256() != known:
        raise DataError(
            f"{copy}: is missing, or was changed after the first report was collected; put it back"
            " as it was, or begin another folder"
        )
    return agreed, str(known)


def _patiently(base: sqlite3.Connection, statement: str) -> None:
    """Execute, and wait while another run holds the log, so that Ctrl-C still works."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            base.execute(statement)
            return
        except sqlite3.OperationalError as error:
            busy = getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY")
            if not busy or time.monotonic() > end:
                raise
        time.sleep(0.05)
