"""The log of a coordinator: every noisy row that was collected, in one SQLite file.

It is all the state there is: decisions are played again from it. Rows are only ever added. A hash
chain over all of it is verified whenever the log is opened.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.files import output_error, write_text
from dpol_weekly.coordinator.settings import FILE, TEMPLATE, Coordination, read_coordination
from dpol_weekly.deployment import (
    Deployment,
    checked_deployment,
    read_deployment,
    refuse_amendment,
)
from dpol_weekly.released.read import Report
from dpol_weekly.released.row import Released
from dpol_weekly.sqlite import Kind, add, head_of, link, opened, prepare, transaction

LOG_NAME = "log.sqlite"
"""The name of the log in a coordinator's folder."""

_NO_LOG = "is not a log of dpol, or is damaged; put its last backup back"
_LOG = Kind(
    name="log",
    script=Path(__file__).with_name("log.sql"),
    application=0x64706F6D,
    version=10,
    foreign=_NO_LOG,
    damaged=_NO_LOG,
)


@dataclass(frozen=True, kw_only=True)
class Log:
    """An open log, whose hash chain was verified.

    Args:
        path: its file.
        connection: to the database.
        agreements: that its reports are of, each an amendment of the one before, at least one.
        coordination: the coordinator's own choices.
    """

    path: Path
    connection: sqlite3.Connection
    agreements: tuple[Deployment, ...]
    coordination: Coordination

    @property
    def deployment(self) -> Deployment:
        """The agreement that holds now; it names all entities that ever took part."""
        return self.agreements[-1]

    @cached_property
    def hashes(self) -> list[str]:
        """The hashes of its agreements."""
        return [agreement.sha256() for agreement in self.agreements]

    @property
    def head(self) -> str:
        """The head of its hash chain."""
        return head_of(self.connection)

    def refuse_unknown(self, head: str) -> None:
        """Refuse a head that its hash chain never had.

        Raises:
            DataError: the log does not go on from that head.
        """
        known = self.connection.execute("SELECT 1 FROM link WHERE head = ?", (head,))
        if known.fetchone() is None:
            raise DataError(
                f"{self.path}: its hash chain never had the head {head}: it was put back from an"
                " older copy, or written again, or that head is of another log. Put the newest copy"
                f" of {LOG_NAME} back"
            )

    def add_report(self, report: Report, file: str, rows: Sequence[Released]) -> None:
        """Enter a report with its new rows.

        A further row for a period supersedes the earlier ones.
        """
        base = self.connection
        cells = report.sha256, file, report.ledger, report.output, report.key
        number = add(base, "report", *cells)
        base.executemany(
            "INSERT INTO release SELECT ?1, ?2, ?3, 1 + COUNT(*), ?4, ?5 FROM release"
            " WHERE entity = ?2 AND period = ?3",
            [(number, *row) for row in rows],
        )
        link(base, number)

    def add_act(self, *, kind: str, entity: str, reason: str, period: str | None = None) -> None:
        """Note an act about an entity (see log.sql); without a period, about all its periods."""
        base = self.connection
        link(base, add(base, "act", kind, entity, period, reason))

    def releases(self, where: str = "1", *values: str | None, columns: str = "*") -> sqlite3.Cursor:
        """Return the rows by entity, period and version, with the rows that were set aside.

        A row has the columns of `release` (log.sql), and `ledger`, `output`, `file` and `received`
        of the report that brought it, and the `key` that signed that. `set_aside` is the reason;
        None: the row counts.
        """
        return self.connection.execute(
            f"SELECT {columns} FROM reported WHERE {where} ORDER BY entity, period, version",
            values,
        )

    @property
    def newest(self) -> str | None:
        """The last period with a row that counts, YYYY-MM-DD; None without one."""
        last = "SELECT MAX(period) FROM reported WHERE set_aside IS NULL"
        found: str | None = self.connection.execute(last).fetchone()[0]
        return found

    def set_aside(self, entity: str) -> set[str]:
        """Return the periods of an entity that were set aside one by one."""
        found = "SELECT period FROM act WHERE kind = 'set aside' AND entity = ? AND period NOT NULL"
        return {period for (period,) in self.connection.execute(found, (entity,))}

    def knows(self, output: str) -> bool:
        """Return True if a report of this output of a ledger was collected."""
        found = self.connection.execute("SELECT 1 FROM report WHERE output = ?", (output,))
        return found.fetchone() is not None


@contextmanager
def open_log(
    folder: Path, *, deployment: Path | None = None, new: bool = False, write: bool = False
) -> Iterator[Log]:
    """Open the log of a folder, and verify its hash chain.

    What is added in the block is added as a whole or not at all; one such block at a time, the
    others wait. A new log keeps the agreement, and gets a `coordinator.yaml` to be edited.

    Args:
        folder: of the coordinator.
        deployment: the file of the agreement, or of an amendment of the last one; None: as before.
        new: whether it is made if there is none; rows may be added then.
        write: whether rows may be added.

    Raises:
        ConfigError: the deployment's file, or the coordinator's, breaks a rule; or the former is
            neither an agreement of the log nor an amendment of the last one.
        DataError: there is no log, no deployment was given for a new one, the file is not a log,
            or something in it was removed, changed or put in another place.
        OutputError: the log cannot be written, or another run holds it too long.
    """
    path = folder / LOG_NAME
    given = None if deployment is None else read_deployment(deployment)
    if not path.exists():  # before anything is made
        if not new:
            raise DataError(
                f"{path}: there is no log yet; make one with dpol collect --into {folder}"
            )
        if given is None:
            raise DataError(f"{folder}: is new; name the deployment's file with --deployment")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with opened(path, _LOG) as base, transaction(base, write=new or write):
            base.row_factory = sqlite3.Row
            if prepare(base, path, _LOG, new=new) and given is not None:
                _add_agreement(base, given)
            agreements = _agreements(base, path)
            if given is not None and given not in agreements:
                refuse_amendment(agreements[-1], given, str(deployment))
                _add_agreement(base, given)
                agreements.append(given)
            if (new or write) and not (folder / FILE).exists():
                write_text(folder / FILE, TEMPLATE.read_text(encoding="utf-8"))
            yield Log(
                path=path,
                connection=base,
                agreements=tuple(agreements),
                coordination=read_coordination(folder, agreements[-1]),
            )
    except OSError as error:  # one of a write has no name
        raise output_error(error.filename or folder, error) from error


def _add_agreement(base: sqlite3.Connection, agreed: Deployment) -> None:
    link(base, add(base, "deployment", agreed.sha256(), agreed.agreement()))


def _agreements(base: sqlite3.Connection, path: Path) -> list[Deployment]:
    """The agreements of a log, the first one first. Raises DataError for a damaged log."""
    found = []
    for row in base.execute("SELECT sha256, agreement FROM deployment ORDER BY number"):
        agreed = checked_deployment(json.loads(row["agreement"]), f"{path}, its agreement")
        if agreed.sha256() != row["sha256"]:
            raise DataError(f"{path}: {_NO_LOG}")
        found.append(agreed)
    if not found:
        raise DataError(f"{path}: holds no agreement; name its file with --deployment")
    return found
