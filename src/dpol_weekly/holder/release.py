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
from dpol.privacy.noise import NoiseSampler
from dpol_weekly.holder.agreement import confirm, refuse_unconfirmed
from dpol_weekly.holder.ceiling import Worst, refuse_above, worst_stay
from dpol_weekly.holder.counts import Count, in_time, read_counts, reads_capacity
from dpol_weekly.holder.draws import any_chain, draw
from dpol_weekly.holder.entries import (
    Output,
    add_deployment,
    add_output,
    add_rows,
    add_run,
    knows_run,
    output_at,
)
from dpol_weekly.holder.ledger import LEDGER_NAME, Ledger, new_token, open_ledger, transaction
from dpol_weekly.holder.repeats import check_output, places, refuse_mixed_columns, unreleased
from dpol_weekly.holder.request import Request
from dpol_weekly.holder.restored import continue_from
from dpol_weekly.holder.views import check_newest, temporary_files, write_views
from dpol_weekly.released import record_of


@dataclass(frozen=True, kw_only=True)
class Release:
    """The result of a release; it knows no counts.

    Args:
        output: the table of noisy counts.
        ledger: the ledger.
        first: whether the ledger was begun.
        added: rows that this release added to the table.
        skipped: rows of the raw table that the output held already.
        outside: rows of the raw table outside the dates in which their entity takes part.
        periods: that this release added.
        remembers: whether the ledger has begun to hold memories of noise.
        worst: the stay that loses most by the ledger, of all that the deployment protects.
    """

    output: Path
    ledger: Path
    first: bool
    added: int
    skipped: int
    outside: int
    periods: Sequence[str]
    remembers: bool
    worst: Worst | None


def release(request: Request, sampler: NoiseSampler) -> Release:
    """Add noise to the counts of a CSV table and release them, with a record of the guarantee.

    The columns of the output are those of `Columns.header`. Noisy counts may be negative. Nothing
    is released unless every row is good. What is released is in the ledger first, in one
    transaction; output and record are written after that, and again by any further run that finds
    them older than the ledger, before it judges its own rows.

    Args:
        request: what is to be released.
        sampler: where the noise comes from.

    Raises:
        DataError: a row or file breaks a rule, or something has to be asked (`NotConfirmedError`).
        OutputError: ledger or output cannot be written; the message says what is released.
        KeyboardInterrupt: with a text that says what is released.
    """
    deployment, entity = request.deployment, request.entity
    agree, agree_sensitivity = request.agree, request.agree_sensitivity
    output, book = _files(request.table, request.output, request.ledger)
    capacity_read, token = reads_capacity(deployment, entity), new_token()

    def take_in(ledger: Ledger, counts: Sequence[Count]) -> None:
        """Let the ledger know all that was released, by the output or a coordinator's numbers."""
        if request.continue_from is None:
            check_newest(ledger, output, write_again=request.write_again)
            return
        continue_from(
            ledger,
            output,
            request.continue_from,
            deployment,
            members=[entity] if entity else deployment.entities,
            reported={count.entity for count in counts},
            sampler=sampler.name,
            capacity_read=capacity_read,
        )

    def put(
        ledger: Ledger, counts: Sequence[Count], noise: NoiseSampler
    ) -> tuple[Output, list[Count]]:
        """Release the new counts into the ledger: the output, and what was new."""
        known = output_at(ledger, output)
        check_output(ledger, output, known, deployment)
        refuse_mixed_columns(ledger, deployment, capacity_read=capacity_read)
        new = unreleased(
            ledger,
            known,
            deployment,
            places(ledger, counts),
            correct=request.correct,
            gap=request.gap,
        )
        if known and not new:
            return known, []
        to = known or add_output(ledger, output)
        rows = draw(ledger, to, new, deployment.count_noise(), deployment.memory(), noise)
        run = add_run(
            ledger,
            to,
            deployment,
            token=token,
            sampler=noise.name,
            capacity_read=capacity_read,
        )
        add_rows(ledger, run, rows)
        refuse_above(ledger, run, new)
        return to, [place.count for place in new]

    try:
        table = read_counts(
            request.table,
            deployment,
            entity,
            over_capacity=request.over_capacity,
            no_final_newline=request.no_final_newline,
        )
        counts = in_time(table, deployment, request.today)
        if first := not book.exists():
            # What has to be refused is refused before a ledger is made, without noise.
            with open_ledger(book, in_memory=True) as ledger, transaction(ledger):
                add_deployment(ledger, deployment)
                take_in(ledger, counts)
                sampler.discrete_gaussian(deployment.count_noise().scale, 0)
                put(ledger, counts, _NoNoise())
            # Last, so that nobody confirms what is then refused.
            refuse_unconfirmed(deployment, agree, agree_sensitivity, new_ledger=book)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("nothing was released") from None
    with open_ledger(book) as ledger, _saying_what_is_released(ledger, output, token):
        confirm(ledger, deployment, agree, agree_sensitivity)
        with transaction(ledger):
            take_in(ledger, counts)
        with transaction(ledger):
            repaired = _up_to_date(ledger, output)
        with _saying_that_repaired(output, repaired), transaction(ledger):
            remembered = any_chain(ledger)
            to, new = put(ledger, counts, sampler)
        with transaction(ledger):
            write_views(ledger, to, output)
            return Release(
                output=output,
                ledger=book,
                first=first,
                added=len(new),
                skipped=len(counts) - len(new),
                outside=len(table) - len(counts),
                periods=sorted({count.period for count in new}),
                remembers=any_chain(ledger) and not remembered,
                worst=worst_stay(ledger, deployment),
            )


class _NoNoise:
    """A sampler without noise, for checks that release nothing."""

    name: Literal["seeded"] = "seeded"

    def discrete_gaussian(self, scale: int, size: int) -> list[int]:
        return [0] * size


def _files(table: Path, output: Path, book: Path | None) -> tuple[Path, Path]:
    """The output and the ledger, links resolved, if the files can be what they are for."""
    try:
        output = _target(output)
        book = _target(book or output.parent / LEDGER_NAME)
        str(output.resolve()).encode()
    except (OSError, RuntimeError, UnicodeEncodeError) as error:
        why = getattr(error, "strerror", None) or "symbolic links in a circle, or not UTF-8"
        raise DataError(f"{output}: cannot be a file ({why}); choose another path") from None
    if output.suffix != ".csv":
        raise DataError(f"{output}: the output is CSV text; choose a name that ends in .csv")
    for path in (output, record_of(output)):
        if path.is_dir():
            raise DataError(f"{path}: exists already, and is a folder; choose another output")
    check_writable(output.parent)
    check_writable(book.parent)
    if book.resolve() in (output.resolve(), record_of(output).resolve(), table.resolve()):
        raise DataError(f"{book}: cannot be the ledger too; choose another file with --ledger")
    return output, book


def _target(path: Path) -> Path:
    """The target of a path that is a symbolic link. Raises RuntimeError for links in a circle."""
    found = path.resolve() if path.is_symlink() else path
    if found.is_symlink():  # of a circle, Python 3.13 says nothing
        raise RuntimeError
    return found


def _up_to_date(ledger: Ledger, path: Path) -> bool:
    """Write what an earlier run could not; whether something was written."""
    known = output_at(ledger, path)
    for file in temporary_files(path):
        with suppress(OSError):
            file.unlink()
    return known is not None and write_views(ledger, known, path)


@contextmanager
def _saying_that_repaired(path: Path, repaired: bool) -> Iterator[None]:
    """A refusal in the block says that table and record were written again, if they were."""
    try:
        yield
    except DataError as error:
        if not repaired:
            raise
        raise DataError(f"{error}; {path} was not up to date and was written again") from None


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
            f"the rows are released, and any further run with this output writes {output} from"
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
