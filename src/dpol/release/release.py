"""Releasing noisy counts: into the ledger first, then into the table that is given away."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from dpol.core.errors import DataError, DpolError, OutputError
from dpol.core.files import check_writable
from dpol.privacy.guarantee import Guarantee
from dpol.privacy.noise import NoiseSampler
from dpol.release import chains, entries
from dpol.release.counts import read_counts
from dpol.release.ledger import LEDGER_NAME, Ledger, new_token, open_ledger, transaction
from dpol.release.memory import draw_noise
from dpol.release.noise import Count, CountNoise, cells_with, decimal_text, noisy_cells
from dpol.release.outputs import take_in
from dpol.release.repeats import places, refuse_repeats
from dpol.release.request import Request
from dpol.release.views import (
    guarantee_of,
    record_of,
    temporary_files,
    write_views,
)


@dataclass(frozen=True)
class Release:
    """What a release did; it knows no counts.

    Args:
        output: the table of noisy counts.
        ledger: the ledger.
        first: whether the ledger was begun.
        added: rows that this release added to the table.
        rows: rows of the whole table.
        guarantee: of the whole table: an entity's period that was released twice counts twice.
        mu_over_all_outputs: the largest mu of an entity's period over all outputs of the ledger.
        noise: noise of the rows that were added.
        parts: the chains of the table, where noise has memory.
        remembers: whether the ledger has begun to hold memories of noise.
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


def release(request: Request, sampler: NoiseSampler) -> Release:
    """Add noise to the counts of a CSV table and release them, with a record of the guarantee.

    The output has the columns entity, period, noisy_count, with a capacity also capacity and
    noisy_share (noisy count / capacity), mu and count_sensitivity. Noisy counts may be negative.
    Nothing is released unless every row is good. What is released is in the ledger first, in one
    transaction; output and record are written after that, and again by any further run that
    finds them missing or older than the ledger, before it judges its own rows.

    Args:
        request: what is to be released.
        sampler: where the noise comes from.

    Raises:
        DataError: a row or file breaks a rule, or something has to be asked.
        OutputError: ledger or output cannot be written; the message says what is released.
        KeyboardInterrupt: with a text that says what is released.
    """
    request, book = _with_files(request)
    output, choices, token = request.output, request.choices, new_token()
    try:
        counts = read_counts(request.table, request.columns, choices)
        if request.memory:
            counts.sort(key=lambda count: count.period)  # the order of a chain
        first = not book.exists()
        if first:
            _rehearse(book, request, counts, sampler)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("nothing was released") from None
    with open_ledger(book) as ledger, _saying_what_is_released(ledger, output, token):
        with transaction(ledger):
            take_in(ledger, output, choices)
        with transaction(ledger):
            remembered = chains.any_chain(ledger)
            known = _put(ledger, request, counts, sampler, token)
        with transaction(ledger):
            write_views(ledger, known, output)
            rows = sum(run.rows for run in entries.runs_of(ledger, known))
            guarantee, over_all = guarantee_of(ledger, known), entries.spent(ledger)
            remembers = chains.any_chain(ledger) and not remembered
            parts = chains.parts_of(ledger, known)
    done = output, book, first, len(counts), rows, guarantee, over_all, request.noise
    return Release(*done, parts, remembers)


def _with_files(request: Request) -> tuple[Request, Path]:
    """The request and its ledger, links to files resolved, if files can be what they are for."""
    table, output, book = request.table, request.output, request.ledger
    try:
        output = output.resolve() if output.is_symlink() else output
        book = book or output.parent / LEDGER_NAME
        book = book.resolve() if book.is_symlink() else book
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
        take_in(memory, request.output, request.choices)
        _places(memory, request, counts)
        sampler.discrete_gaussian(request.noise.scale, 0)


def _put(
    ledger: Ledger, request: Request, counts: Sequence[Count], sampler: NoiseSampler, token: str
) -> entries.Output:
    """Bring the output up to date, and release the new rows into the ledger."""
    path = request.output
    known = entries.output_at(ledger, path)
    for file in temporary_files(path):
        with suppress(OSError):
            file.unlink()
    repaired = known is not None and write_views(ledger, known, path)
    try:
        to = _places(ledger, request, counts)
    except DataError as error:
        more = f"; {path} was not up to date and was written again" if repaired else ""
        raise DataError(f"{error}{more}") from None
    sensitivity = decimal_text(request.noise.count_sensitivity)
    output = known or entries.add_output(ledger, path, request.columns.output_header(), sensitivity)
    chain_numbers: list[int] = []
    if request.memory:
        rows = list(zip(to, counts, strict=True))
        drawn = draw_noise(ledger, output, rows, request.noise, request.memory, sampler)
        cells = cells_with(counts, request.noise, [value for value, _ in drawn])
        chain_numbers = [number for _, number in drawn]
    else:
        cells = noisy_cells(counts, request.noise, sampler)
    run = entries.add_run(ledger, output, token, sampler.name)
    entries.add_rows(ledger, run, zip(to, cells, strict=True), chain_numbers)
    return output


def _places(ledger: Ledger, request: Request, counts: Sequence[Count]) -> list[entries.Place]:
    """Where the rows go, if the output may be added to."""
    path, choices = request.output, request.choices
    known, adding = entries.output_at(ledger, path), choices.append or choices.again
    header = tuple(request.columns.output_header())
    sensitivity = decimal_text(request.noise.count_sensitivity)
    if known and adding and (known.header, known.count_sensitivity) != (header, sensitivity):
        raise DataError(
            f"{path}: was released with other columns or another count sensitivity; give the same"
            " as then, or choose another output"
        )
    keys = ((count.line, count.entity, count.period) for count in counts)
    to = places(ledger, request.table, keys, choices)
    refuse_repeats(ledger, request, to)
    if known and not adding:
        raise DataError(
            f"{path}: exists already, and nothing is overwritten; choose another output, or add"
            " further periods to it with --append"
        )
    return to


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
