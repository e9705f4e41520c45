"""Release noisy counts: into the ledger first, then into the shared file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from dpol.core.errors import DataError, DpolError, OutputError
from dpol.core.files import check_writable
from dpol_weekly.holder.agreement import confirm, refuse_unconfirmed
from dpol_weekly.holder.ceiling import mu_of_stay, refuse_above
from dpol_weekly.holder.counts import Count, read_counts
from dpol_weekly.holder.drawn import newest_near, noisy, refuse_other
from dpol_weekly.holder.due import Due, due, refuse_mixed_columns, refuse_renamed
from dpol_weekly.holder.entries import (
    add_deployment,
    add_rows,
    add_run,
    closed_until,
    heads_of,
    output_of,
    registered,
    version_of,
)
from dpol_weekly.holder.ledger import Ledger, is_new, open_ledger, transaction
from dpol_weekly.holder.request import Request
from dpol_weekly.holder.write import put, write_release
from dpol_weekly.keys import Key, Secret


@dataclass(frozen=True, kw_only=True)
class Release:
    """The result of a release, without counts.

    Args:
        file: file of the last release; None if the output has no rows yet.
        ledger: path of the ledger.
        first: whether this release began the ledger.
        added: number of rows that this release added.
        skipped: number of places and periods that were released before and not again.
        closed: nothing up to this date is released, see `closed_until`; or "".
        above: whether a count is above its capacity.
        impossible: entities and periods that are due, and why they cannot be released.
        again: number of rows of this release for periods that were released before.
        strangers: number of rows of places that nobody has named.
        periods: periods that this release added.
        mu_of_stay: an upper bound on the mu of the longest stay, over all releases of the ledger.
        kept: whether every period of an entity is within its share of the budget.
    """

    file: Path | None
    ledger: Path
    first: bool
    added: int
    skipped: int
    closed: str
    above: bool
    impossible: Mapping[tuple[str, str], str]
    again: int
    strangers: int
    periods: Sequence[str]
    mu_of_stay: float
    kept: bool


def release(request: Request) -> Release:
    """Add noise to the counts of a table and release them, with a record of the guarantee.

    Noisy counts may be negative. Nothing is released unless every row is good. A release enters the
    ledger first, in one transaction; its file is written afterwards. A later run that finds the
    file older than the ledger writes it again before it judges its own rows.

    Args:
        request: the holder's request.

    Raises:
        DataError: a row or file breaks a rule, or a confirmation is missing (`NotConfirmedError`).
        OutputError: ledger or output cannot be written; the message says what is released.
        KeyboardInterrupt: the text says what is released.
    """
    releaser = Releaser(request)
    releaser.check()
    with releaser.opened() as ledger:
        with transaction(ledger):  # it stays confirmed if the rows are refused
            confirm(ledger, request)
        releaser.repair(ledger)
        return releaser.write(ledger)


class Releaser:
    """The steps of a release, in order.

    Args:
        request: the holder's request.

    Raises:
        DataError: a path cannot be used for its file, the key is not the agreed one, or there is no
            secret.
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        self.hospital, self.deployment = request.hospital, request.deployment
        self.published = self.hospital.published(self.deployment)
        self.begin = str(request.begin_after or "")
        self.label, book = self.hospital.label_of(self.deployment), self.hospital.ledger
        # SQLite makes its journal beside the file that a link leads to.
        self.book = Path(os.path.realpath(book)) if book.is_symlink() else book
        check_writable(self.hospital.output)
        check_writable(self.book.parent)
        self.key = Key(self.hospital.key)
        for name in self.hospital.entities:
            if self.deployment.entities[name].key not in (None, self.key.public):
                raise DataError(
                    f"{self.hospital.key}: is not the key in the agreement of {name}; name its file"
                    " in key"
                )
        self.secret = Secret(self.hospital.secret)
        self.head: str | None = None  # of the run that releases, once it is in the ledger

    def check(self) -> None:
        """Read the table, and refuse what can be refused before a ledger exists.

        Raises:
            DataError: as `release`.
        """
        request = self.request
        try:
            self.table = read_counts(request)
            self.first = is_new(self.book)
            if request.begin_after and not self.first:
                raise DataError(
                    f"--begin-after: the ledger {self.book} is there, and knows what it released;"
                    " leave --begin-after out. If it is an older copy, and the newest one is lost,"
                    " move it away first"
                )
            if self.first:  # a rehearsal
                begun = open_ledger(self.book, begin=self.begin, in_memory=True)
                with begun as ledger, transaction(ledger):
                    add_deployment(ledger, self.deployment)
                    self._due(ledger)
                # Last, so that nobody confirms what is then refused.
                refuse_unconfirmed(request, new_ledger=self.book)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("nothing was released") from None

    @contextmanager
    def opened(self) -> Iterator[Ledger]:
        """Open the ledger; a failure in the block says whether the rows are in it."""
        with open_ledger(self.book, begin=self.begin) as ledger:
            try:
                yield ledger
            except (KeyboardInterrupt, DpolError, OSError, sqlite3.Error) as error:
                told = "run the same command again: it says what is released"
                released = False
                with suppress(sqlite3.Error):
                    released = self.head is not None and self.head in heads_of(ledger)
                    told = "nothing was released"
                if released:
                    told = (
                        "the rows are released, and any further run writes their file,"
                        f" {self.hospital.output / self.label}-*.json, from {ledger.path}"
                    )
                if isinstance(error, KeyboardInterrupt):
                    raise KeyboardInterrupt(told) from error
                if isinstance(error, OSError) and not isinstance(error, DpolError):
                    place = error.filename or self.hospital.output
                    error = OutputError(f"cannot write {place}: {error.strerror}")
                raise OutputError(f"{error}; {told}") if released else error from error

    def repair(self, ledger: Ledger) -> None:
        """Rewrite the last release if it is older than the ledger; note what is there before."""
        folders = [*filter(None, [self.hospital.output, self.hospital.copy_to])]
        self.near = newest_near(folders, self.label, self.key.public)  # before it is rewritten
        with transaction(ledger):
            if known := output_of(ledger, self.label, self.deployment):
                write_release(ledger, known, self.key, self.hospital.output)

    def write(self, ledger: Ledger) -> Release:
        """Enter the due rows into the ledger as released, and write the file."""
        with transaction(ledger):
            found = self._due(ledger)
            if found.new:
                self._put(ledger, found.new)
        with transaction(ledger):
            output = output_of(ledger, self.label, self.deployment)
            stay, kept = mu_of_stay(ledger, self.deployment)
            file = None
            if output:
                file = write_release(ledger, output, self.key, self.hospital.output)
            if file and self.hospital.copy_to:
                put(self.hospital.copy_to / file.name, file.read_bytes())
            return Release(
                file=file,
                ledger=self.book,
                first=self.first,
                added=len(found.new),
                skipped=found.skipped,
                closed=closed_until(ledger, self.secret.name),
                above=any(
                    Decimal(it.count) > Decimal(it.capacity) for it in self.table.counts.values()
                ),
                impossible=found.impossible,
                again=found.again,
                strangers=self.table.strangers,
                periods=sorted({count.period for count in found.new}),
                mu_of_stay=stay,
                kept=kept,
            )

    def _due(self, ledger: Ledger) -> Due:
        """Return what is due; all refusals come before the noise."""
        refuse_mixed_columns(ledger, self.hospital.columns.count, self.published)
        closed = closed_until(ledger, self.secret.name)
        found = due(ledger, self.request, self.table, self.label, closed=closed)
        refuse_renamed(ledger, self.request, self.table, found.new)
        refuse_above(ledger, self.deployment, found.new)
        return found

    def _put(self, ledger: Ledger, new: Sequence[Count]) -> None:
        """Enter counts with noise into the ledger."""
        rows = []
        for count in new:
            version = version_of(ledger, self.deployment, count)
            rows.append((count, version, noisy(self.secret, self.deployment, count, version)))
        refuse_other(rows, self.near)
        output = registered(ledger, self.label, self.deployment, self.secret)
        cells = self.hospital.columns.count, self.published, self.key.public, self.secret.name
        run = add_run(ledger, output, self.deployment, *cells)
        add_rows(ledger, run, self.deployment, rows)
        self.head = ledger.link(run)
