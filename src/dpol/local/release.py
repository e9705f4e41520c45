"""Releasing noisy counts: into the ledger first, then into the table that is given away."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dpol.core.errors import DataError, DpolError, OutputError
from dpol.core.files import check_writable
from dpol.local.count_noise import CountNoise, decimal_text, noisy_cells
from dpol.local.counts import Count, CountColumns, read_counts
from dpol.local.entries import (
    Output,
    Row,
    add_output,
    add_rows,
    add_run,
    knows_run,
    output_at,
    runs_of,
    spent,
)
from dpol.local.ledger import LEDGER_NAME, Ledger, new_token, open_ledger, transaction
from dpol.local.outputs import take_in
from dpol.local.repeats import Choices, Place, places
from dpol.local.views import guarantee_of, record_of, remove_stale_files, write_views
from dpol.privacy.guarantee import Guarantee
from dpol.privacy.noise import NoiseSampler


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
    """

    output: Path
    ledger: Path
    first: bool
    added: int
    rows: int
    guarantee: Guarantee
    mu_over_all_outputs: float
    noise: CountNoise

    @property
    def record(self) -> Path:
        """The file with the guarantee."""
        return record_of(self.output)


@dataclass(frozen=True)
class _Request:
    """What is to be released."""

    table: Path
    output: Path
    counts: Sequence[Count]
    header: Sequence[str]
    noise: CountNoise
    sampler: NoiseSampler
    choices: Choices
    token: str


def release(
    table: Path,
    output: Path,
    columns: CountColumns,
    noise: CountNoise,
    sampler: NoiseSampler,
    *,
    ledger: Path | None = None,
    choices: Choices | None = None,
) -> Release:
    """Add noise to the counts of a CSV table and release them, with a record of the guarantee.

    The output has the columns entity, period, noisy_count, with a capacity also capacity and
    noisy_share (noisy count / capacity), mu and count_sensitivity. Noisy counts may be negative.
    Nothing is released unless every row is good. What is released is in the ledger first, in one
    transaction; output and record are written after that, and again by any further run that
    finds them missing or older than the ledger, before it judges its own rows.

    Args:
        table: the raw counts, CSV in UTF-8.
        output: the CSV file to write; its record is `record_of(output)`.
        columns: which columns of `table` are used.
        noise: the noise of every count.
        sampler: where the noise comes from.
        ledger: the ledger of all outputs; by default `LEDGER_NAME` beside the output.
        choices: what is meant where a release would stop and ask.

    Raises:
        DataError: a row or file breaks a rule, or something has to be asked.
        OutputError: ledger or output cannot be written; the message says what is released.
        KeyboardInterrupt: with a text that says what is released.
    """
    choices = choices or Choices()
    output, book = _files(table, output, ledger)
    with _stopping("nothing was released"):
        counts = read_counts(
            table,
            columns,
            over_capacity=choices.over_capacity,
            no_final_newline=choices.no_final_newline,
        )
        header = columns.output_header()
        asked = _Request(table, output, counts, header, noise, sampler, choices, new_token())
        first = not book.exists()
        if first:
            _rehearse(book, asked)
    with open_ledger(book) as opened, _saying_what_is_released(opened, asked):
        with transaction(opened):
            take_in(opened, output, choices)
        with transaction(opened):
            _put(opened, asked)
        with transaction(opened):
            written = output_at(opened, output)
            assert written is not None
            write_views(opened, written, output)
            return Release(
                output,
                book,
                first,
                len(counts),
                sum(run.rows for run in runs_of(opened, written)),
                guarantee_of(opened, written),
                spent(opened),
                noise,
            )


def _files(table: Path, output: Path, ledger: Path | None) -> tuple[Path, Path]:
    """Output and ledger, symbolic links to files resolved, if both can be what they are for."""
    try:
        output = output.resolve() if output.is_symlink() else output
        book = ledger or output.parent / LEDGER_NAME
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
    return output, book


def _rehearse(book: Path, asked: _Request) -> None:
    """Refuse what has to be refused before a ledger is made, without noise."""
    with open_ledger(book, in_memory=True) as memory, transaction(memory):
        take_in(memory, asked.output, asked.choices)
        _places(memory, asked)
        asked.sampler.discrete_gaussian(asked.noise.scale, 0)


def _put(ledger: Ledger, asked: _Request) -> None:
    """Bring the output up to date, and release the new rows into the ledger."""
    known = output_at(ledger, asked.output)
    remove_stale_files(asked.output)
    repaired = known is not None and write_views(ledger, known, asked.output)
    try:
        to = _places(ledger, asked)
    except DataError as error:
        more = f"; {asked.output} was not up to date and was written again" if repaired else ""
        raise DataError(f"{error}{more}") from None
    output = known or add_output(
        ledger, asked.output, asked.header, decimal_text(asked.noise.count_sensitivity)
    )
    cells = noisy_cells(asked.counts, asked.noise, asked.sampler)
    run = add_run(ledger, output, asked.token, asked.sampler.name)
    rows = (
        Row(place.name, place.entity, count.period, place.version, noisy)
        for place, count, noisy in zip(to, asked.counts, cells, strict=True)
    )
    add_rows(ledger, run, rows)


def _places(ledger: Ledger, asked: _Request) -> list[Place]:
    """Where the rows go, if the output may be added to."""
    known, choices = output_at(ledger, asked.output), asked.choices
    adding = choices.append or choices.again
    if known and adding:
        _check_columns(known, asked)
    to = places(ledger, asked.table, asked.output, asked.counts, asked.noise, choices)
    if known and not adding:
        raise DataError(
            f"{asked.output}: exists already, and nothing is overwritten; choose another output, or"
            " add further periods to it with --append"
        )
    return to


def _check_columns(known: Output, asked: _Request) -> None:
    sensitivity = decimal_text(asked.noise.count_sensitivity)
    if (known.header, known.count_sensitivity) != (tuple(asked.header), sensitivity):
        raise DataError(
            f"{asked.output}: was released with other columns or another count sensitivity; give"
            " the same as then, or choose another output"
        )


@contextmanager
def _stopping(said: str) -> Iterator[None]:
    """Ctrl-C in the block says what is released."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(said) from None


@contextmanager
def _saying_what_is_released(ledger: Ledger, asked: _Request) -> Iterator[None]:
    """A failure in the block says whether the rows are in the ledger."""
    try:
        yield
    except (KeyboardInterrupt, DpolError, OSError, sqlite3.Error) as error:
        released = None
        with suppress(sqlite3.Error):
            released = knows_run(ledger, asked.token)
        written = f"any further run with this output writes {asked.output} from {ledger.path}"
        if isinstance(error, KeyboardInterrupt):
            if released is None:
                said = "run the same command again: it says what is released"
            else:
                said = f"the rows are released; {written}" if released else "nothing was released"
            raise KeyboardInterrupt(said) from None
        if isinstance(error, OSError):
            error = OutputError(f"cannot write {error.filename or asked.output}: {error.strerror}")
        if released:
            raise OutputError(f"{error}; the rows are released, and {written}") from error
        raise error
