"""The log of a coordinator: every noisy row that was collected, in one SQLite file.

It is all the state there is: decisions are replayed from it. Rows are only ever added.
"""

from __future__ import annotations

import datetime
import hashlib
import itertools
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
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
from dpol_weekly.memory import ChainTerms
from dpol_weekly.released import Cells
from dpol_weekly.sqlite import Kind, opened, prepare, transaction

LOG_NAME = "log.sqlite"
"""The name of the log in a coordinator's folder."""

_BACK = "put the last backup of the log back"
_NO_LOG = "is not a log of dpol, or is damaged; put its last backup back"
_ENTERED = " UNION ALL ".join(
    f"SELECT number FROM {table}" for table in ("deployment", "report", "act")
)
_LOG = Kind(
    name="log",
    script=Path(__file__).with_name("log.sql"),
    application=0x64706F6D,
    version=5,
    foreign=_NO_LOG,
    damaged=_NO_LOG,
)


@dataclass(frozen=True, kw_only=True)
class Release:
    """A row that was checked, as it goes into the log.

    Args:
        cells: as they were released.
        terms: what is public of its noise.
        chain: the name of its chain of noise; empty if it is of none.
        place: in that chain, from 1.
    """

    cells: Cells
    terms: ChainTerms
    chain: str
    place: int


@dataclass(frozen=True, kw_only=True)
class Log:
    """An open log.

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
        return [it.sha256() for it in self.agreements]

    def add_report(
        self,
        rows: Sequence[Release],
        *,
        sha256: str,
        file: str,
        ledger: str,
        output: str,
        key: str,
        heads: Mapping[int, str],
    ) -> None:
        """Enter a report with its rows, and the heads of its ledger that were not known.

        A further row for a period supersedes those before.
        """
        base, number_of = self.connection, self.deployment.number_of
        known = self.ledger_heads(ledger, output)
        report = _add(base, "report", sha256, file, ledger, output, key)
        new = [(report, run, head) for run, head in heads.items() if known.get(run) != head]
        base.executemany("INSERT INTO ledger_head VALUES (?, ?, ?)", new)
        starts = {row.cells.period for row in rows}
        periods = [(number_of(datetime.date.fromisoformat(it)), it) for it in starts]
        base.executemany("INSERT OR IGNORE INTO period VALUES (?, ?)", periods)
        names = sorted({it for row in rows for it in (row.cells.entity, row.chain)})
        base.executemany("INSERT OR IGNORE INTO name (text) VALUES (?)", [(it,) for it in names])
        values = [
            row.cells._asdict()
            | row.terms._asdict()
            | {"mu": row.cells.mu, "report": report, "chain": row.chain, "place": row.place}
            for row in rows
        ]
        noise = "mu, count_sensitivity, a, b, unit_weeks, scale, decimals"
        of_row = ":mu, :count_sensitivity, :a, :b, :unit_weeks, :scale, :decimals"
        base.executemany(f"INSERT OR IGNORE INTO noise ({noise}) VALUES ({of_row})", values)
        base.executemany(
            "INSERT INTO release (report, entity, period, version, noisy_count, capacity,"
            " noisy_share, chain, place, noise) SELECT :report, who.number, week.number,"
            " (SELECT 1 + COUNT(*) FROM release"
            " WHERE entity = who.number AND period = week.number),"
            " :noisy_count, :capacity, :noisy_share, linked.number, :place, noise.number"
            " FROM name AS who, period AS week, name AS linked, noise WHERE who.text = :entity"
            f" AND start = :period AND linked.text = :chain AND ({noise}) = ({of_row})",
            values,
        )
        _link(base, report)

    def ledger_heads(self, ledger: str, output: str) -> dict[int, str]:
        """The heads of a ledger after its runs for an output, as reports that count state them."""
        found = self.connection.execute(
            "SELECT report.number, run, head FROM report JOIN ledger_head"
            " ON report = report.number WHERE ledger = ? AND output = ? AND EXISTS (SELECT 1"
            " FROM released WHERE released.report = report.number AND set_aside IS NULL)"
            " ORDER BY report.number, run",
            (ledger, output),
        )
        heads: dict[int, str] = {}
        for _, rows in itertools.groupby(found, key=lambda row: row["number"]):
            new = {row["run"]: row["head"] for row in rows}
            heads = {run: head for run, head in heads.items() if run < min(new)} | new
        return heads

    def add_act(self, *, kind: str, entity: str, period: str, reason: str) -> None:
        """Note what is done about an entity, see log.sql; period '': about all its periods."""
        _link(self.connection, _add(self.connection, "act", kind, entity, period, reason))

    def verified_head(self, noted: str = "") -> str:
        """The head of the hash chain, if the log holds what was collected, in order of arrival.

        Args:
            noted: a head, or its first digits, that was noted earlier; it must be in the chain.

        Raises:
            DataError: an agreement, a report, an act or a row was removed, changed or put in
                another place.
        """
        links = self.connection.execute("SELECT number, head FROM link ORDER BY number").fetchall()
        entered = [row["number"] for row in self.connection.execute(f"{_ENTERED} ORDER BY number")]
        lost = "SELECT COUNT(*) FROM release WHERE report NOT IN (SELECT number FROM report)"
        good = entered == [row["number"] for row in links] == list(range(len(links)))
        if not good or self.connection.execute(lost).fetchone()[0]:
            raise DataError(
                f"{self.path}: agreements, reports or rows were removed or added; {_BACK}"
            )
        before, known = "", not noted
        for row in links:
            if _digest(self.connection, row["number"], before) != row["head"]:
                raise DataError(
                    f"{self.path}: number {row['number']} of its agreements, reports and acts was"
                    f" changed, or put in another place; {_BACK}"
                )
            before = row["head"]
            known |= before.startswith(noted)
        if not known:
            raise DataError(
                f"{self.path}: was never at the head {noted}: it was written again, or that head is"
                f" of another log; {_BACK}"
            )
        return before

    def releases(self, where: str = "1", *values: str) -> Iterator[sqlite3.Row]:
        """Rows by entity, period and version, those that were set aside included.

        A row has the columns of `released` (log.sql), and `ledger`, `output`, `file` and `received`
        of the report that brought it, and the `key` that signed that.
        """
        return self.connection.execute(
            "SELECT released.*, ledger, output, file, received, key"
            " FROM released JOIN report ON report.number = released.report"
            f" WHERE {where} ORDER BY entity, period, version",
            values,
        )

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
    folder: Path,
    *,
    deployment: Path | None = None,
    new: bool = False,
    write: bool = False,
    as_of: datetime.date | None = None,
) -> Iterator[Log]:
    """Open the log of a folder.

    What is added in the block is added as a whole or not at all; one such block at a time, the
    others wait. A new log keeps the agreement, and gets a `coordinator.yaml` to be edited.

    Args:
        folder: of the coordinator.
        deployment: the file of the agreement, or of an amendment of the last one; None: as before.
        new: whether it is made if there is none; rows may be added then.
        write: whether rows may be added.
        as_of: show the log as it was at the end of that day, in universal time.

    Raises:
        ConfigError: the deployment's file, or the coordinator's, breaks a rule; or the former is
            neither an agreement of the log nor an amendment of the last one.
        DataError: there is no log, no deployment was given for a new one, or the file is not a log.
        OutputError: the log cannot be written, or another run holds it too long.
    """
    path = folder / LOG_NAME
    if path.exists() and not path.is_file():
        raise DataError(f"{path}: {_NO_LOG}")
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
                _keep_rows(base)
                _add_agreement(base, given)
            if as_of is not None:
                _hide_later(base, path, as_of)
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


def _keep_rows(base: sqlite3.Connection) -> None:
    """Let rows of the tables be added only."""
    tables = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (table,) in tables:
        for name, event in (("kept", "DELETE"), ("same", "UPDATE")):
            base.execute(
                f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table}"
                " BEGIN SELECT RAISE(ABORT, 'rows of the log are only ever added'); END"
            )


def _hide_later(base: sqlite3.Connection, path: Path, day: datetime.date) -> None:
    """Hide what was received after a day: temporary views go before the tables they are called as.

    Views of the log are made again, for those that it has read its tables.

    Raises:
        DataError: the log is younger.
    """
    after = (day + datetime.timedelta(days=1)).isoformat()
    for table in ("deployment", "report", "act"):
        base.execute(
            f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE received < '{after}'"
        )
    base.execute(
        "CREATE TEMP VIEW release AS SELECT * FROM main.release"
        " WHERE EXISTS (SELECT 1 FROM report WHERE report.number = release.report)"
    )
    if not base.execute("SELECT COUNT(*) FROM deployment").fetchone()[0]:
        raise DataError(f"{path}: was begun after {day}; give a later day with --as-of")
    views = base.execute("SELECT sql FROM sqlite_master WHERE type = 'view' ORDER BY rowid")
    for view in views.fetchall():
        base.execute(view["sql"].replace("CREATE VIEW", "CREATE TEMP VIEW", 1))


def _add_agreement(base: sqlite3.Connection, agreed: Deployment) -> None:
    _link(base, _add(base, "deployment", agreed.sha256(), agreed.agreement()))


def _add(base: sqlite3.Connection, table: str, *cells: str) -> int:
    """Enter an agreement, a report or an act with the next number, and the time; the number."""
    (number,) = base.execute(f"SELECT IFNULL(MAX(number) + 1, 0) FROM ({_ENTERED})").fetchone()
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    values = ", ".join("?" * (2 + len(cells)))
    base.execute(f"INSERT INTO {table} VALUES ({values})", (number, now, *cells))
    return int(number)


def _link(base: sqlite3.Connection, number: int) -> None:
    """Add an agreement, a report with its rows, or an act to the hash chain."""
    head = _digest(base, number, _head(base))
    base.execute("INSERT INTO link VALUES (?, ?)", (number, head))


def _head(base: sqlite3.Connection) -> str:
    last = "SELECT head FROM link ORDER BY number DESC LIMIT 1"
    return "".join(row["head"] for row in base.execute(last))


def _digest(base: sqlite3.Connection, number: int, before: str) -> str:
    """The head of the chain after an agreement, report or act, from the head before it."""
    parts: list[object] = [before]
    for rows in (
        "deployment WHERE number = ?",
        "report WHERE number = ?",
        "act WHERE number = ?",
        "ledger_head WHERE report = ? ORDER BY run",
        "spelled WHERE report = ? ORDER BY number",
    ):
        found = base.execute(f"SELECT * FROM {rows}", (number,))
        parts.append([list(row) for row in found])
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


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
