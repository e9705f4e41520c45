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
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.files import atomic_path, output_error
from dpol.core.sqlite import Kind, opened, prepare, transaction
from dpol_weekly.deployment import Deployment, read_deployment
from dpol_weekly.memory import ChainTerms
from dpol_weekly.released import Cells

LOG_NAME = "log.sqlite"
"""The name of the log in a coordinator's folder."""
DEPLOYMENT_NAME = "deployment.yaml"
"""The name of the deployment's copy there."""

_BACK = "put the last backup of the log back"
_NO_LOG = "is not a log of dpol, or is damaged; put its last backup back"
_LOG = Kind(
    name="log",
    script=Path(__file__).with_name("log.sql"),
    application=0x64706F6D,
    version=4,
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
        deployment: that its reports are of.
        sha256: of the deployment's content.
    """

    path: Path
    connection: sqlite3.Connection
    deployment: Deployment
    sha256: str

    def add_report(
        self,
        *,
        sha256: str,
        file: str,
        ledger: str,
        output: str,
        key: str,
        heads: Mapping[int, str],
    ) -> int:
        """Enter a report, and the heads of its ledger that were not known; its number."""
        known = self.ledger_heads(ledger, output)
        number = self._add("report", sha256, file, ledger, output, key)
        self.connection.executemany(
            "INSERT INTO ledger_head VALUES (?, ?, ?)",
            [(number, run, head) for run, head in heads.items() if known.get(run) != head],
        )
        return number

    def ledger_heads(self, ledger: str, output: str) -> dict[int, str]:
        """The heads of a ledger after its runs for an output, as reports that count state them."""
        found = self.connection.execute(
            "SELECT report.number, run, head FROM report JOIN ledger_head"
            " ON report = report.number WHERE ledger = ? AND output = ? AND EXISTS (SELECT 1"
            " FROM listed WHERE listed.report = report.number AND set_aside IS NULL)"
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
        self._link(self._add("act", kind, entity, period, reason))

    def _add(self, table: str, *cells: str) -> int:
        """Enter a row with the next number of the sequence of reports and acts, and the time."""
        last = "SELECT MAX(number) AS number FROM"
        (number,) = self.connection.execute(
            f"SELECT 1 + IFNULL(MAX(number), 0) FROM ({last} report UNION ALL {last} act)"
        ).fetchone()
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        values = ", ".join("?" * (2 + len(cells)))
        self.connection.execute(f"INSERT INTO {table} VALUES ({values})", (number, now, *cells))
        return int(number)

    def add_releases(self, report: int, rows: Sequence[Release]) -> None:
        """Enter rows of a report; a further row for a period supersedes those before."""
        values = [
            row.cells._asdict()
            | row.terms._asdict()
            | {"mu": row.cells.mu, "report": report, "chain": row.chain, "place": row.place}
            for row in rows
        ]
        noise = "mu, count_sensitivity, a, b, unit_weeks, scale, decimals"
        of_row = ":mu, :count_sensitivity, :a, :b, :unit_weeks, :scale, :decimals"
        self.connection.executemany(
            f"INSERT OR IGNORE INTO noise ({noise}) VALUES ({of_row})", values
        )
        self.connection.executemany(
            "INSERT INTO release (report, entity, period, version, noisy_count, capacity,"
            " noisy_share, chain, place, noise) SELECT :report, :entity, :period,"
            " (SELECT 1 + COUNT(*) FROM release WHERE entity = :entity AND period = :period),"
            " :noisy_count, :capacity, :noisy_share, :chain, :place, number"
            f" FROM noise WHERE ({noise}) = ({of_row})",
            values,
        )
        self._link(report)

    def _link(self, number: int) -> None:
        """Add a report with its rows, or an act, to the hash chain."""
        head = self._digest(number, self.head)
        self.connection.execute("INSERT INTO link VALUES (?, ?)", (number, head))

    @property
    def head(self) -> str:
        """The head of the hash chain: what was collected, in the order of arrival."""
        last = "SELECT head FROM link ORDER BY number DESC LIMIT 1"
        return "".join(row["head"] for row in self.connection.execute(last))

    def _digest(self, number: int, before: str) -> str:
        """The head of the chain after a report or act, from the head before it."""
        parts: list[object] = [self.sha256, before]
        for rows in (
            "report WHERE number = ?",
            "act WHERE number = ?",
            "ledger_head WHERE report = ? ORDER BY run",
            "release JOIN noise ON noise.number = noise WHERE report = ? ORDER BY release.number",
        ):
            found = self.connection.execute(f"SELECT * FROM {rows}", (number,))
            parts.append([list(row) for row in found])
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def refuse_changed(self, noted: str = "") -> None:
        """Make sure that the log holds what was collected, in the order of arrival.

        Args:
            noted: a head, or its first digits, that was noted earlier; it must be in the chain.

        Raises:
            DataError: a report, an act or a row was removed, changed or put in another place.
        """
        numbers = "SELECT number FROM report UNION ALL SELECT number FROM act ORDER BY number"
        links = self.connection.execute("SELECT number, head FROM link ORDER BY number").fetchall()
        entered = [row["number"] for row in self.connection.execute(numbers)]
        lost = "SELECT COUNT(*) FROM release WHERE report NOT IN (SELECT number FROM report)"
        good = entered == [row["number"] for row in links] == list(range(1, len(links) + 1))
        if not good or self.connection.execute(lost).fetchone()[0]:
            raise DataError(f"{self.path}: reports or rows were removed or added; {_BACK}")
        before, known = "", not noted
        for row in links:
            if self._digest(row["number"], before) != row["head"]:
                raise DataError(
                    f"{self.path}: number {row['number']} of its reports and acts was changed, or"
                    f" put in another place; {_BACK}"
                )
            before = row["head"]
            known |= before.startswith(noted)
        if not known:
            raise DataError(
                f"{self.path}: was never at the head {noted}: it was written again, or that head is"
                f" of another log; {_BACK}"
            )

    def releases(self, where: str = "1", *values: str) -> list[sqlite3.Row]:
        """Rows by entity, period and version, those that were set aside included.

        A row has the columns of `released` (log.sql), and `ledger`, `output`, `file` and `received`
        of the report that brought it, and the `key` that signed that.
        """
        return self.connection.execute(
            "SELECT released.*, ledger, output, file, received, key"
            " FROM released JOIN report ON report.number = released.report"
            f" WHERE {where} ORDER BY entity, period, version",
            values,
        ).fetchall()

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
    path, copy = folder / LOG_NAME, folder / DEPLOYMENT_NAME
    if path.exists() and not path.is_file():
        raise DataError(f"{path}: {_NO_LOG}")
    if not path.exists():
        if not new:
            raise DataError(
                f"{path}: there is no log yet; make one with dpol collect --into {folder}"
            )
        _agreed(deployment, copy)  # before anything is made
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with opened(path, _LOG) as base, transaction(base, write=new or write):
            base.row_factory = sqlite3.Row
            agreed = _agreed(deployment, copy)
            if prepare(base, path, _LOG, new=new):
                base.execute("INSERT INTO deployment VALUES (?)", (agreed.sha256(),))
            (begun_with,) = base.execute("SELECT sha256 FROM deployment").fetchone()
            if agreed.sha256() != begun_with and deployment:
                raise DataError(
                    f"{deployment}: is another agreement than {copy}, which this folder began with;"
                    " take that one, or another folder"
                )
            if agreed.sha256() != begun_with:
                raise DataError(
                    f"{copy}: was changed after the first report was collected; put it back as it"
                    " was, or begin another folder"
                )
            if deployment and not (copy.exists() and copy.read_bytes() == deployment.read_bytes()):
                with atomic_path(copy) as temporary:  # titles, algorithm and seed may change
                    temporary.write_bytes(deployment.read_bytes())
            yield Log(path=path, connection=base, deployment=agreed, sha256=begun_with)
    except OSError as error:  # one of a write has no name
        raise output_error(error.filename or folder, error) from error


def _agreed(deployment: Path | None, copy: Path) -> Deployment:
    """The deployment of a file, or of its copy in the folder."""
    if deployment is None and not copy.exists():
        raise DataError(
            f"{copy}: is missing; put it back, or name the deployment's file with --deployment"
        )
    return read_deployment(deployment or copy)
