"""What a ledger knows of an output that is on the disk, and taking in what it does not know."""

from __future__ import annotations

import csv
import datetime
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.files import sha256
from dpol.local.count_noise import CountNoise
from dpol.local.entries import (
    Output,
    Row,
    add_output,
    add_rows,
    add_run,
    has_runs,
    knows_run,
    move_output,
    output_at,
    output_of_id,
    output_paths,
    releases_of,
)
from dpol.local.ledger import Ledger, new_token
from dpol.local.repeats import Choices, numbers_of_names
from dpol.local.views import Record, read_record, record_of, starts_with_released, temporary_files


def take_in(ledger: Ledger, path: Path, choices: Choices) -> None:
    """Make sure that the ledger knows all that an output holds, or refuse.

    An output of a version of dpol without ledger is taken in once. One whose ledger is lost, or
    whose ledger is an older copy, is taken in if the choices say so.

    Raises:
        DataError: the output, its record, or another record nearby knows of releases that the
            ledger does not know; or the output does not fit its record.
    """
    file = record_of(path)
    record, mine = read_record(file), ledger.id
    at = output_at(ledger, path)
    if record and record.ledger == mine and knows_run(ledger, record.token):
        _move(ledger, record, at, path)
    elif record and record.ledger:
        if not choices.forget_ledger:
            raise _unknown(file, ledger)
        if record.ledger != mine and at:
            raise DataError(
                f"{path}: belongs to another ledger than {ledger.path}, which has released an"
                " output of this name too; move the table and its record away, and run again"
            )
        _enter(ledger, path, record, at, choices)
    elif record and (at is None or _extends(ledger, at, path, record)):
        _enter(ledger, path, record, at, choices)
    elif not at and (path.exists() or file.exists()):
        raise DataError(
            f"{path}: exists already, and is not known to {ledger.path} nor described by"
            f" {file.name}; nothing is overwritten: choose another output, or put back what is"
            " missing"
        )
    if not choices.forget_ledger:
        _check_other_records(ledger, path)


def _move(ledger: Ledger, record: Record, at: Output | None, path: Path) -> None:
    output = output_of_id(ledger, record.output)
    if output is None or (at and at != output):
        raise DataError(
            f"{path}: its record is that of another output of {ledger.path}; put table and record"
            " back under their own names"
        )
    if at is None:
        move_output(ledger, output, path)


def _check_other_records(ledger: Ledger, path: Path) -> None:
    """Notice by the records of other outputs that the ledger is missing or an older copy."""
    files = {record_of(output) for output in output_paths(ledger)}
    for folder in (path.parent, ledger.path.parent):
        files.update(folder.glob("[!.]*.guarantee.json"))
    mine, fresh = ledger.id, not has_runs(ledger)
    for file in sorted(files):
        record = read_record(file)
        ours = record and (record.ledger == mine or (fresh and record.ledger))
        if record and ours and not knows_run(ledger, record.token):
            raise _unknown(file, ledger)


def _unknown(record: Path, ledger: Ledger) -> DataError:
    return DataError(
        f"{record}: knows of releases that the ledger {ledger.path} does not know; name the right"
        " ledger with --ledger, or put its newest copy back; if it is lost, add --forget-ledger,"
        " which keeps the rows of the output and forgets all others"
    )


def _extends(ledger: Ledger, output: Output, path: Path, record: Record) -> bool:
    """Whether a version of dpol without ledger added rows to an output that the ledger knows."""
    try:
        rows = _recorded(path, record)[1:]
    except DataError:
        return False
    known = starts_with_released(ledger, output, rows)
    return known is not None and len(rows) > known


def _enter(
    ledger: Ledger, path: Path, record: Record, output: Output | None, choices: Choices
) -> None:
    """Enter the rows of an output that the ledger does not have."""
    header, *rows = _recorded(path, record)
    if output is None:
        output = add_output(ledger, path, header, rows[0][-1])
    known = starts_with_released(ledger, output, rows)
    if known is None or tuple(header) != output.header:
        raise DataError(
            f"{path}: begins with other rows than {ledger.path} has released in it; move the table"
            " and its record away, and run again, which writes them as the ledger has them"
        )
    new = rows[known:]
    lines: dict[str, int] = {}
    for line, row in enumerate(new, start=known + 2):
        lines.setdefault(row[0], line)
    numbers = numbers_of_names(ledger, path, lines, choices)
    sampler = "secure" if record.sampler == "secure" else "seeded"
    run = add_run(ledger, output, new_token(), sampler, imported=True)
    add_rows(ledger, run, _numbered(ledger, new, numbers))


def _numbered(
    ledger: Ledger, rows: Sequence[Sequence[str]], numbers: dict[str, tuple[int, int]]
) -> Iterator[Row]:
    seen = {
        entity: Counter(period for period, *_ in releases_of(ledger, entity))
        for _, entity in numbers.values()
    }
    for name, period, noisy, *more in rows:
        number, entity = numbers[name]
        seen[entity][period] += 1
        capacity, share = more[:2] if len(more) == 4 else (None, None)
        cells = noisy, capacity, share, more[-2]
        yield Row(number, entity, period, seen[entity][period], cells)


def _recorded(path: Path, record: Record) -> list[list[str]]:
    """The rows of a released table, its header first, if it is the one of its record.

    A version of dpol without ledger that was stopped while it wrote may have left the table of the
    record under a temporary name.
    """
    for table in (path, *temporary_files(path)):
        try:
            if sha256(table) == record.sha256:
                with table.open(encoding="utf-8", newline="") as stream:
                    rows = list(csv.reader(stream, strict=True))
                if _may_be_released(rows):
                    return rows
        except (OSError, ValueError, csv.Error):
            pass
    if not path.exists():
        raise DataError(
            f"{path}: is gone, but {record_of(path)} says that it was released; put it back, or"
            " choose another output (periods released before are then spent twice)"
        )
    raise DataError(
        f"{path}: does not fit {record_of(path)}: one of them was changed after the release, or"
        " the release was interrupted; put both back as they were, or choose another output"
        " (periods released before are then spent twice)"
    )


def _may_be_released(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table is whole and tells its noise in every row: a checksum can be forged."""
    if len(rows) < 2 or len(rows[0]) not in (5, 7) or {len(row) for row in rows} != {len(rows[0])}:
        return False
    try:
        for mu, sensitivity in {(row[-2], row[-1]) for row in rows[1:]}:
            CountNoise(Decimal(mu), Decimal(sensitivity))
        for period in {row[1] for row in rows[1:]}:
            datetime.date.fromisoformat(period)
    except (DataError, InvalidOperation, ValueError):
        return False
    return rows[0][2] == "noisy_count" and len({row[-1] for row in rows[1:]}) == 1
