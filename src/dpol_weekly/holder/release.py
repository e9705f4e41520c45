"""Releasing noisy counts: into the ledger first, then into the table that is shared."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from dpol.core.errors import DataError, DpolError, OutputError
from dpol.core.files import check_writable
from dpol.privacy.guarantee import Guarantee
from dpol.privacy.noise import NoiseSampler
from dpol_weekly.holder import ceiling, chains, entries
from dpol_weekly.holder.agreed import Agreed
from dpol_weekly.holder.agreement import confirm, keep_agreement, refuse_unconfirmed
from dpol_weekly.holder.ceiling import Worst
from dpol_weekly.holder.clock import in_time
from dpol_weekly.holder.columns import keep_columns, refuse_mixed_columns
from dpol_weekly.holder.counts import read_counts
from dpol_weekly.holder.ledger import LEDGER_NAME, Ledger, new_token, open_ledger, transaction
from dpol_weekly.holder.outputs import take_in
from dpol_weekly.holder.overlaps import most_in_a_period
from dpol_weekly.holder.repeats import check_deployment, places, refuse_repeats, unreleased
from dpol_weekly.holder.request import Request
from dpol_weekly.holder.restored import continue_from
from dpol_weekly.holder.views import (
    guarantee_of,
    record_of,
    temporary_files,
    write_views,
)
from dpol_weekly.memory import draw_noise
from dpol_weekly.noise import Count, CountNoise, cells_with, decimal_text, noisy_cells


@dataclass(frozen=True)
class Release:
    """The result of a release; it knows no counts.

    Args:
        output: the table of noisy counts.
        ledger: the ledger.
        first: whether the ledger was begun.
        added: rows that this release added to the table.
        rows: rows of the whole table.
        guarantee: of the whole table: an entity's period that was released twice counts twice.
        mu_over_all_outputs: the largest mu of an entity's period, over all periods of any output of
            the ledger that overlap it.
        noise: noise of the rows that were added.
        parts: the chains of the table, where noise has memory.
        remembers: whether the ledger has begun to hold memories of noise.
        skipped: rows of the raw table that the output held already.
        outside: rows of the raw table outside the dates in which their entity takes part.
        periods: that this release added.
        agreed: what the deployment says, if it was made for one.
        worst: the stay that loses most by the ledger, of all that the deployment protects.
    """

    output: Path
    ledger: Path
    first: bool
    added: int
    rows: int
    guarantee: Guarantee
    mu_over_all_outputs: float
    noise: CountNoise
    parts: Sequence[chains.Part]
    remembers: bool
    skipped: int = 0
    outside: int = 0
    periods: Sequence[str] = ()
    agreed: Agreed | None = None
    worst: Worst | None = None


def release(request: Request, sampler: NoiseSampler) -> Release:
    """Add noise to the counts of a CSV table and release them, with a record of the guarantee.

    The columns of the output are those of `CountColumns.output_header`. Noisy counts may be
    negative. Nothing is released unless every row is good. What is released is in the ledger first,
    in one transaction; output and record are written after that, and again by any further run that
    finds them older than the ledger, before it judges its own rows.

    Args:
        request: what is to be released.
        sampler: where the noise comes from.

    Raises:
        DataError: a row or file breaks a rule, or something has to be asked (`NotConfirmedError`).
        OutputError: ledger or output cannot be written; the message says what is released.
        KeyboardInterrupt: with a text that says what is released.
    """
    request, book = _with_files(request)
    output, token = request.output, new_token()
    try:
        table = read_counts(request.table, request.columns, request.choices, request.agreed)
        counts = in_time(request, table)
        if request.memory or request.agreed:
            counts.sort(key=lambda count: count.period)  # the order of a chain
        if first := not book.exists():
            _rehearse(book, request, counts, sampler)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("nothing was released") from None
    with open_ledger(book) as ledger, _saying_what_is_released(ledger, output, token):
        confirm(ledger, request)
        with transaction(ledger):
            _take_in(ledger, request, counts, sampler)
        with transaction(ledger):
            repaired = _up_to_date(ledger, output)
        with _saying_that_repaired(output, repaired), transaction(ledger):
            remembered = chains.any_chain(ledger)
            known, new = _put(ledger, request, counts, sampler, token)
        with transaction(ledger):
            write_views(ledger, known, output)
            remembers = chains.any_chain(ledger) and not remembered
            done = _result(ledger, request, known, new, first=first, remembers=remembers)
    return replace(done, skipped=len(counts) - len(new), outside=len(table) - len(counts))


def _result(
    ledger: Ledger,
    request: Request,
    output: entries.Output,
    new: Sequence[Count],
    *,
    first: bool,
    remembers: bool,
) -> Release:
    """The result of a release, but for the rows that were left out."""
    agreed = request.agreed
    return Release(
        output=request.output,
        ledger=ledger.path,
        first=first,
        added=len(new),
        rows=sum(run.rows for run in entries.runs_of(ledger, output)),
        guarantee=guarantee_of(ledger, output),
        mu_over_all_outputs=most_in_a_period(entries.weighed_rows(ledger)),
        noise=request.noise,
        parts=chains.parts_of(ledger, output),
        remembers=remembers,
        periods=tuple(sorted({count.period for count in new})),
        agreed=agreed,
        worst=ceiling.worst_stay(ledger, agreed.terms) if agreed else None,
    )


def _target(path: Path) -> Path:
    """The target of a path that is a symbolic link. Raises RuntimeError for links in a circle."""
    found = path.resolve() if path.is_symlink() else path
    if found.is_symlink():  # of a circle, Python 3.13 says nothing
        raise RuntimeError
    return found


def _with_files(request: Request) -> tuple[Request, Path]:
    """The request and its ledger, links to files resolved, if files can be what they are for."""
    table, output, book = request.table, request.output, request.ledger
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
    return replace(request, output=output), book


def _rehearse(book: Path, request: Request, counts: Sequence[Count], sampler: NoiseSampler) -> None:
    """Refuse what has to be refused before a ledger is made, without noise."""
    with open_ledger(book, in_memory=True) as memory, transaction(memory):
        if request.agreed:
            keep_agreement(memory, request.agreed)
        _take_in(memory, request, counts, sampler)
        sampler.discrete_gaussian(request.noise.scale, 0)
        _put(memory, request, counts, _NoNoise(), new_token())
    # Last, so that nobody confirms what is then refused.
    refuse_unconfirmed(request, new_ledger=book)


def _take_in(
    ledger: Ledger, request: Request, counts: Sequence[Count], sampler: NoiseSampler
) -> None:
    """Let the ledger know all that was released, by the output or by a coordinator's numbers."""
    if request.choices.continue_from:
        entities = {count.entity for count in counts}
        continue_from(ledger, request, entities, sampler.name)
    else:
        take_in(ledger, request)


class _NoNoise:
    """A sampler without noise, for checks that release nothing."""

    name: Literal["seeded"] = "seeded"

    def discrete_gaussian(self, scale: int, size: int) -> list[int]:
        return [0] * size


def _up_to_date(ledger: Ledger, path: Path) -> bool:
    """Write what an earlier run could not; whether something was written."""
    known = entries.output_at(ledger, path)
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


def _put(
    ledger: Ledger, request: Request, table: Sequence[Count], sampler: NoiseSampler, token: str
) -> tuple[entries.Output, list[Count]]:
    """Release the new rows into the ledger; the output, and their counts."""
    path, agreed = request.output, request.agreed
    known = entries.output_at(ledger, path)
    rows = _new_rows(ledger, request, known, table)
    to, counts = [place for place, _ in rows], [count for _, count in rows]
    if known and not counts:
        return known, []
    sensitivity = decimal_text(request.noise.count_sensitivity)
    output = known or entries.add_output(ledger, path, request.columns.output_header(), sensitivity)
    keep_columns(ledger, output, request)
    chain_numbers: list[int] = []
    if request.memory:
        drawn = draw_noise(ledger, output, rows, request.noise, request.memory, sampler)
        cells = cells_with(counts, request.noise, [(value, sd) for value, sd, _ in drawn])
        chain_numbers = [number for *_, number in drawn]
    else:
        cells = noisy_cells(counts, request.noise, sampler)
    terms = agreed.terms if agreed else None
    days = request.days
    run = entries.add_run(ledger, output, token, sampler.name, terms=terms, days=days)
    entries.add_rows(ledger, run, zip(to, cells, strict=True), chain_numbers)
    ceiling.refuse_above(ledger, run, request, to)
    return output, counts


def _new_rows(
    ledger: Ledger, request: Request, known: entries.Output | None, counts: Sequence[Count]
) -> list[tuple[entries.Place, Count]]:
    """The rows of the table to release and their places, if they may be added."""
    path, choices, agreed = request.output, request.choices, request.agreed
    adding = choices.append or choices.again or agreed is not None
    check_deployment(ledger, path, known, agreed.terms if agreed else None)
    refuse_mixed_columns(ledger, known, request)
    header = tuple(request.columns.output_header())
    sensitivity = decimal_text(request.noise.count_sensitivity)
    if known and adding and (known.header, known.count_sensitivity) != (header, sensitivity):
        raise DataError(
            f"{path}: was released with other columns or another count sensitivity; give the same"
            " as then, or choose another output"
        )
    keys = ((count.line, count.entity, count.period) for count in counts)
    rows = list(zip(places(ledger, request.table, keys, choices), counts, strict=True))
    if agreed:
        rows = unreleased(ledger, known, request, agreed, rows)
    refuse_repeats(ledger, request, [place for place, _ in rows])
    if known and not adding:
        raise DataError(
            f"{path}: exists already, and nothing is overwritten; choose another output, or add"
            " further periods to it with --append"
        )
    return rows


@contextmanager
def _saying_what_is_released(ledger: Ledger, output: Path, token: str) -> Iterator[None]:
    """A failure in the block says whether the rows are in the ledger."""
    try:
        yield
    except (KeyboardInterrupt, DpolError, OSError, sqlite3.Error) as error:
        released = None
        with suppress(sqlite3.Error):
            released = entries.knows_run(ledger, token)
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
