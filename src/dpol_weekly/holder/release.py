"""Releasing noisy counts: into the ledger first, then into the table that is shared."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dpol.core.errors import DataError, DpolError, OutputError
from dpol.core.files import check_writable
from dpol.privacy.noise import NoiseSampler
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.agreement import Consent, confirm, refuse_unconfirmed
from dpol_weekly.holder.ceiling import Worst, refuse_above, worst_stay
from dpol_weekly.holder.counts import Count, in_time, read_counts
from dpol_weekly.holder.differing import differing, not_the_same, remember
from dpol_weekly.holder.draws import Place, any_chain, draw
from dpol_weekly.holder.entries import (
    Output,
    add_deployment,
    add_output,
    add_rows,
    add_run,
    knows_run,
    output_at,
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
from dpol_weekly.holder.restored import ExportedRow, continue_from, read_export
from dpol_weekly.holder.settings import ColumnUse
from dpol_weekly.holder.views import check_newest, take_as_lost, temporary_files, write_views
from dpol_weekly.keys import Key


@dataclass(frozen=True, kw_only=True)
class Release:
    """The result of a release; it knows no counts.

    Args:
        file: of the last release; None if nothing was released yet.
        ledger: the ledger.
        first: whether the ledger was begun.
        added: rows that this release added to the table.
        skipped: rows of the raw table that the output held already.
        differ: those of them whose count is another one than was released, or left the output.
        outside: rows of the raw table outside the dates in which their entity takes part.
        periods: that this release added.
        remembers: whether the ledger has begun to hold memories of noise.
        worst: the stay that loses most by the ledger, of all that the deployment protects.
    """

    file: Path | None
    ledger: Path
    first: bool
    added: int
    skipped: int
    differ: Sequence[Count]
    outside: int
    periods: Sequence[str]
    remembers: bool
    worst: Worst | None


@dataclass(frozen=True, kw_only=True)
class _Target:
    """The place of rows, and their deployment.

    Args:
        output: the path with which the names of its releases begin.
        ledger: the ledger.
        deployment: the deployment.
        use: the columns that are read.
    """

    output: Path
    ledger: Path
    deployment: Deployment
    use: ColumnUse


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
    target = _Target(output=output, ledger=book, deployment=deployment, use=use)
    consent = Consent(
        agreement=request.agree is not None, sensitivity=request.agree_sensitivity is not None
    )
    token = new_token()
    try:
        table = read_counts(
            hospital,
            deployment,
            over_capacity=request.over_capacity,
            no_final_newline=request.no_final_newline,
        )
        counts = in_time(table, target.deployment, request.today)
        theirs = None
        if request.continue_from is not None:
            theirs = read_export(
                request.continue_from,
                target.deployment,
                members=hospital.texts,
                reported={count.entity for count in counts},
            )
        if first := not target.ledger.exists():
            # What has to be refused is refused before a ledger is made, without noise.
            with open_ledger(target.ledger, in_memory=True) as ledger, transaction(ledger):
                add_deployment(ledger, target.deployment)
                _take_in(ledger, target, theirs, sampler.name, write_again=request.write_again)
                sampler.discrete_gaussian(target.deployment.count_noise().scale, 0)
                new = _unreleased(ledger, target, counts, correct=request.correct, gap=request.gap)
                _put(ledger, target, new, _NoNoise(), token)
            # Last, so that nobody confirms what is then refused.
            refuse_unconfirmed(deployment, consent, use=use, new_ledger=target.ledger)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("nothing was released") from None
    with (
        open_ledger(target.ledger) as ledger,
        _saying_what_is_released(ledger, target.output, token),
    ):
        confirm(ledger, deployment, consent, use)
        with transaction(ledger):
            _take_in(ledger, target, theirs, sampler.name, write_again=request.write_again)
        with transaction(ledger):
            unfinished = _unfinished(ledger, target.output)
            _up_to_date(ledger, target.output, key)
        with transaction(ledger):
            remembered = any_chain(ledger)
            new = _unreleased(ledger, target, counts, correct=request.correct, gap=request.gap)
            if unfinished:  # it may have released the same corrections
                new = not_the_same(ledger, unfinished, new)
            _put(ledger, target, new, sampler, token)
        with transaction(ledger):
            known = output_at(ledger, target.output)
            return Release(
                file=write_views(ledger, target.output, key),
                ledger=target.ledger,
                first=first,
                added=len(new),
                skipped=len(counts) - len(new),
                differ=differing(ledger, known, places(ledger, counts)) if known else (),
                outside=len(table) - len(counts),
                periods=sorted({place.count.period for place in new}),
                remembers=any_chain(ledger) and not remembered,
                worst=worst_stay(ledger, target.deployment),
            )


def _take_in(
    ledger: Ledger,
    target: _Target,
    theirs: Sequence[ExportedRow] | None,
    sampler: str,
    *,
    write_again: bool,
) -> None:
    """Let the ledger know all that was released, by the output or by a coordinator's numbers."""
    if theirs is None:
        check_newest(ledger, target.output, write_again=write_again)
        return
    check_output(ledger, target.output, target.deployment)
    continue_from(
        ledger,
        target.output,
        target.deployment,
        theirs,
        sampler=sampler,
        use=target.use,
    )
    take_as_lost(ledger, target.output)


def _unreleased(
    ledger: Ledger, target: _Target, counts: Sequence[Count], *, correct: Set[str], gap: bool
) -> list[Place]:
    """The counts that are to be released now, if they may be."""
    deployment = target.deployment
    check_output(ledger, target.output, deployment)
    refuse_mixed_columns(ledger, target.use)
    rows = places(ledger, counts)
    new = unreleased(ledger, target.output, deployment, rows, correct=correct, gap=gap)
    return with_beds_of_then(ledger, deployment, new)


def _put(
    ledger: Ledger,
    target: _Target,
    new: Sequence[Place],
    sampler: NoiseSampler,
    token: str,
) -> None:
    """Draw the noise of new counts, and release them into the ledger."""
    if not new:
        return
    deployment = target.deployment
    output = output_at(ledger, target.output) or add_output(ledger, target.output)
    reported = {name for name, entity in deployment.entities.items() if entity.beds is None}
    rows = draw(
        ledger,
        output,
        new,
        deployment.count_noise(),
        deployment.memory(),
        reported,
        sampler,
    )
    run = add_run(
        ledger,
        output,
        deployment,
        token=token,
        sampler=sampler.name,
        use=target.use,
    )
    add_rows(ledger, run, rows)
    remember(ledger, run, new)
    refuse_above(ledger, run, new)


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


def _unfinished(ledger: Ledger, path: Path) -> Output | None:
    """The output, if its last run was killed, or failed, before its file was written."""
    output = output_at(ledger, path)
    return output if output and output.written != runs_of(ledger, output)[-1].number else None


def _up_to_date(ledger: Ledger, path: Path, key: Key | None) -> None:
    """Write what an earlier run could not."""
    for file in temporary_files(path):
        with suppress(OSError):
            file.unlink()
    write_views(ledger, path, key)


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
