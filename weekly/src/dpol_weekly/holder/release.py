"""Releasing noisy counts: into the ledger first, then into the table that is shared."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dpol.core.errors import DataError, DpolError, OutputError
from dpol.core.files import check_writable
from dpol_weekly.holder.agreement import confirm, refuse_unconfirmed
from dpol_weekly.holder.ceiling import Worst, refuse_above, worst_stay
from dpol_weekly.holder.counts import Count, in_time, read_counts
from dpol_weekly.holder.differing import differing, not_the_same, remember
from dpol_weekly.holder.draws import Place, draw
from dpol_weekly.holder.entries import (
    Output,
    add_deployment,
    add_rows,
    add_run,
    knows_run,
    output_at,
    registered,
    runs_of,
)
from dpol_weekly.holder.ledger import Ledger, new_token, open_ledger, transaction
from dpol_weekly.holder.repeats import (
    check_output,
    places,
    refuse_mixed_columns,
    unreleased,
    with_beds_of_then,
)
from dpol_weekly.holder.request import Request
from dpol_weekly.holder.restored import continue_from, read_export
from dpol_weekly.holder.views import check_newest, take_as_lost, write_views
from dpol_weekly.keys import Key
from dpol_weekly.sampler import NoiseSampler


@dataclass(frozen=True, kw_only=True)
class Release:
    """The result of a release; it knows no counts.

    Args:
        file: of the last release.
        ledger: the ledger.
        first: whether the ledger was begun.
        added: rows that this release added to the table.
        skipped: rows of the raw table that the output held already.
        differ: those of them whose count is another one than was released, or left the output.
        outside: rows of the raw table outside the dates in which their entity takes part.
        periods: that this release added.
        worst: the stay that loses most by the ledger, of all that the deployment protects.
    """

    file: Path
    ledger: Path
    first: bool
    added: int
    skipped: int
    differ: Sequence[Count]
    outside: int
    periods: Sequence[str]
    worst: Worst


def release(request: Request, sampler: NoiseSampler) -> Release:
    """Add noise to the counts of a table and release them, with a record of the guarantee.

    Noisy counts may be negative. Nothing is released unless every row is good. What is released is
    in the ledger first, in one transaction; its file is written after that, and again by any
    further run that finds it older than the ledger, before that run judges its own rows.

    Args:
        request: what is to be released.
        sampler: where the noise comes from.

    Raises:
        DataError: a row or file breaks a rule, or something has to be asked (`NotConfirmedError`).
        OutputError: ledger or output cannot be written; the message says what is released.
        KeyboardInterrupt: with a text that says what is released.
    """
    hospital, deployment = request.hospital, request.deployment
    use = hospital.use(deployment)
    output, book = _files(hospital.table, hospital.output_of(deployment), hospital.ledger)
    key = _key(hospital.key, [deployment.entities[name].key for name in hospital.texts])
    agree, token, theirs = request.agree is not None, new_token(), None

    def take_in(ledger: Ledger) -> None:
        """Let the ledger know all that the output or the coordinator's numbers show."""
        if theirs is None:
            check_newest(ledger, output, write_again=request.write_again)
            return
        check_output(ledger, output, deployment)
        continue_from(ledger, output, deployment, theirs, sampler=sampler.name, use=use)
        take_as_lost(ledger, output)

    def put(ledger: Ledger, noise: NoiseSampler, unfinished: Output | None = None) -> list[Place]:
        """Release the counts that may be and are not yet into the ledger."""
        check_output(ledger, output, deployment)
        refuse_mixed_columns(ledger, use)
        known, rows = registered(ledger, output), places(ledger, counts)
        correct, gap = request.correct, request.gap
        new = unreleased(ledger, known, deployment, rows, correct=correct, gap=gap)
        new = with_beds_of_then(ledger, deployment, new)
        if unfinished:  # it may have released the same corrections
            new = not_the_same(ledger, unfinished, new)
        if new:
            drawn = draw(ledger, known, new, deployment, noise)
            run = add_run(ledger, known, deployment, token=token, sampler=noise.name, use=use)
            add_rows(ledger, run, drawn)
            remember(ledger, run, new)
            refuse_above(ledger, run, new)
        return new

    try:
        table = read_counts(
            hospital,
            deployment,
            over_capacity=request.over_capacity,
            no_final_newline=request.no_final_newline,
        )
        counts = in_time(table, deployment, request.today)
        if request.continue_from is not None:
            reported = {count.entity for count in counts}
            members = hospital.texts
            theirs = read_export(
                request.continue_from, deployment, members=members, reported=reported
            )
        if first := not book.exists():
            # What has to be refused is refused before a ledger is made, without noise.
            with open_ledger(book, in_memory=True) as ledger, transaction(ledger):
                add_deployment(ledger, deployment)
                take_in(ledger)
                sampler.discrete_gaussian(deployment.count_noise().scale, 0)
                put(ledger, _NoNoise())
            # Last, so that nobody confirms what is then refused.
            refuse_unconfirmed(deployment, use, agree=agree, new_ledger=book)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("nothing was released") from None
    with open_ledger(book) as ledger, _saying_what_is_released(ledger, output, token):
        confirm(ledger, deployment, use, agree=agree)
        with transaction(ledger):
            take_in(ledger)
        with transaction(ledger):
            unfinished = None
            if known := output_at(ledger, output):
                last = runs_of(ledger, known)[-1]
                # Its run was killed, or failed, before its file was written.
                unfinished = known if known.written != last.number else None
                write_views(ledger, known, output, key)
        with transaction(ledger):
            new = put(ledger, sampler, unfinished)
        with transaction(ledger):
            known = registered(ledger, output)
            return Release(
                file=write_views(ledger, known, output, key),
                ledger=book,
                first=first,
                added=len(new),
                skipped=len(counts) - len(new),
                differ=differing(ledger, known, places(ledger, counts)),
                outside=len(table) - len(counts),
                periods=sorted({place.count.period for place in new}),
                worst=worst_stay(ledger, deployment),
            )


class _NoNoise:
    """A sampler without noise, for checks that release nothing."""

    name: Literal["seeded"] = "seeded"

    def discrete_gaussian(self, scale: int, size: int) -> list[int]:
        return [0] * size


def _files(table: Path, output: Path, book: Path) -> tuple[Path, Path]:
    """The output and the ledger, links resolved, if the files can be what they are for."""
    try:
        output = _followed(output.parent) / output.name
        book = _followed(book)
        str(output.resolve()).encode()
    except (OSError, RuntimeError, UnicodeEncodeError) as error:
        why = getattr(error, "strerror", None) or "symbolic links in a circle, or not UTF-8"
        raise DataError(f"{output}: cannot be a file ({why}); choose another path") from None
    check_writable(output.parent)
    check_writable(book.parent)
    if book.resolve() == table.resolve():
        raise DataError(f"{book}: cannot be the ledger too; choose another file in ledger")
    return output, book


def _key(path: Path | None, agreed: Sequence[str | None]) -> Key | None:
    """The key that signs, if it is the one that the agreement names for all entities."""
    key = Key(path) if path else None
    if wrong := [it for it in agreed if it and not (key and key.public == it)]:
        what = f"{path}: is not the key" if path else "key: is missing, and there is one"
        raise DataError(f"{what} in the agreement ({wrong[0][:12]}...); name its file in key")
    return key


def _followed(path: Path) -> Path:
    """The target of a path that is a symbolic link. Raises RuntimeError for links in a circle."""
    found = path.resolve() if path.is_symlink() else path
    if found.is_symlink():  # of a circle, Python 3.13 says nothing
        raise RuntimeError
    return found


@contextmanager
def _saying_what_is_released(ledger: Ledger, output: Path, token: str) -> Iterator[None]:
    """A failure in the block says whether the rows are in the ledger."""
    try:
        yield
    except (KeyboardInterrupt, DpolError, OSError, sqlite3.Error) as error:
        released = None
        with suppress(sqlite3.Error):
            released = knows_run(ledger, token)
        written = (
            f"the rows are released, and any further run writes their file, {output}-*.zip, from"
            f" {ledger.path}"
        )
        if isinstance(error, KeyboardInterrupt):
            unknown = "run the same command again: it says what is released"
            said = {None: unknown, True: written, False: "nothing was released"}[released]
            raise KeyboardInterrupt(said) from None
        if isinstance(error, OSError):
            error = OutputError(f"cannot write {error.filename or output}: {error.strerror}")
        if released:
            raise OutputError(f"{error}; {written}") from error
        raise error
