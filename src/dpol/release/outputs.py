"""Outputs on the disk: the ledger's record of them, and taking in rows that it does not know."""

from __future__ import annotations

import csv
import datetime
from collections import Counter
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.files import sha256
from dpol.release import chains, entries
from dpol.release.ledger import Ledger, new_token
from dpol.release.memory import stated_terms
from dpol.release.noise import INTERVAL, Cells, CountNoise, interval
from dpol.release.repeats import places
from dpol.release.request import Choices
from dpol.release.views import Record, read_record, record_of


def take_in(ledger: Ledger, path: Path, choices: Choices) -> None:
    """Make sure that the ledger knows all that an output holds, or refuse.

    An output whose ledger is lost, or is an older copy, is taken in if the choices say so.

    Raises:
        DataError: the output, its record, or another record nearby knows of releases that the
            ledger does not know; or the output does not fit its record.
    """
    file = record_of(path)
    record, mine = read_record(file), ledger.id
    at = entries.output_at(ledger, path)
    if record and record.ledger == mine and entries.knows_run(ledger, record.token):
        known = at.id == record.output if at else entries.move_output(ledger, record.output, path)
        if not known:
            raise DataError(
                f"{path}: its record is that of another output of {ledger.path}; put table and"
                " record back under their own names"
            )
    elif record:
        if not choices.forget_ledger:
            raise _unknown(file, ledger)
        if record.ledger != mine and at:
            raise DataError(
                f"{path}: belongs to another ledger than {ledger.path}, which has released an"
                " output of this name too; move the table and its record away, and run again"
            )
        _enter(ledger, path, record, at, choices)
    elif not at and (path.exists() or file.exists()):
        raise DataError(
            f"{path}: exists already, and is not known to {ledger.path} nor described by"
            f" {file.name}; choose another output, or put back what is missing"
        )
    if not choices.forget_ledger:
        _check_other_records(ledger, path)


def _check_other_records(ledger: Ledger, path: Path) -> None:
    """Notice by the records of other outputs that the ledger is missing or an older copy."""
    mine, outputs = ledger.id, entries.output_paths(ledger)
    files = set(map(record_of, outputs))
    for folder in (path.parent, ledger.path.parent):
        files.update(folder.glob("[!.]*.guarantee.json"))
    for file in sorted(files):
        record = read_record(file)
        # A ledger without outputs may stand in for any that is lost.
        ours = record and (record.ledger == mine or not outputs)
        if record and ours and not entries.knows_run(ledger, record.token):
            raise _unknown(file, ledger)


def _unknown(record: Path, ledger: Ledger) -> DataError:
    return DataError(
        f"{record}: knows of releases that the ledger {ledger.path} does not know; name the right"
        " ledger with --ledger, or put its newest copy back; if it is lost, add --forget-ledger,"
        " which keeps the rows of the output and forgets all others"
    )


def _enter(
    ledger: Ledger, path: Path, record: Record, output: entries.Output | None, choices: Choices
) -> None:
    """Enter the rows of an output that the ledger does not have."""
    header, *rows = _recorded(path, record)
    sensitivity = rows[0][header.index("count_sensitivity")]
    output = output or entries.add_output(ledger, path, header, sensitivity)
    known = list(entries.table_rows(ledger, output))
    if rows[: len(known)] != known or tuple(header) != output.header:
        raise DataError(
            f"{path}: begins with other rows than {ledger.path} has released in it; move the table"
            " and its record away, and run again, which writes them as the ledger has them"
        )
    new = rows[len(known) :]
    keys = ((line, row[0], row[1]) for line, row in enumerate(new, start=len(known) + 2))
    found = places(ledger, path, keys, choices)
    sampler = "secure" if record.sampler == "secure" else "seeded"
    stated = _chains(ledger, output, record, header, rows)
    imported = 2 if stated is None else 1
    run = entries.add_run(ledger, output, new_token(), sampler, imported=imported)
    placed = zip(found, (_cells(header, row) for row in new), strict=True)
    entries.add_rows(ledger, run, placed, stated or ())
    chains.end_all(ledger)  # their states may be older than what was released


def _chains(
    ledger: Ledger, output: entries.Output, record: Record, header: list[str], rows: list[list[str]]
) -> list[int | None] | None:
    """The chains of the rows that are new to the ledger; None if the record does not state them."""
    known = chains.chains_of(ledger, output)
    entity = {row[0]: (entries.name_of(ledger, row[0]) or (0, 0))[1] for row in rows}
    with suppress(LookupError, TypeError, ValueError, ArithmeticError, DataError):
        parts = chains.ChainRows(record.chains)  # type: ignore[arg-type]  # None is not a list
        firsts, terms = [], {}
        for n, row in enumerate(rows, start=1):
            part, place = parts.of(n, entity[row[0]])
            firsts.append(int(part["first_row"]) if part else 0)
            cell = dict(zip(header, row, strict=True))
            noise = CountNoise(Decimal(cell["mu"]), Decimal(cell["count_sensitivity"]))
            deviation = noise.standard_deviation
            if part:
                terms[firsts[-1]] = own = stated_terms(noise, part)
                deviation = own.standard_deviation_after(place - 1)
            beds = row[3] if "noisy_share" in cell else "1"
            if cell[INTERVAL[0]] != f"{deviation / float(beds):.6g}":
                return None
        counts = Counter(firsts)
        if any(counts[it] != int(part["releases"]) for it, part in parts.first.items()):
            return None
        numbers: dict[int, int | None] = {0: None}
        for first, own in terms.items():
            known_as = known[first - 1] if first <= len(known) else None
            of = entity[rows[first - 1][0]]
            numbers[first] = known_as or chains.add_chain(ledger, output, of, own).number
        return [numbers[first] for first in firsts[len(known) :]]
    return None


def _cells(header: list[str], row: list[str]) -> Cells:
    cell = dict(zip(header, row, strict=True))
    shares = (row[3], cell["noisy_share"]) if "noisy_share" in cell else (None, None)
    return (row[2], *shares, cell["mu"], cell[INTERVAL[0]])


def _recorded(path: Path, record: Record) -> list[list[str]]:
    """The rows of a released table, its header first, if it is the one of its record."""
    # All cells are looked at: a checksum can be forged.
    with suppress(OSError, LookupError, ValueError, ArithmeticError, csv.Error, DataError):
        with path.open(encoding="utf-8", newline="") as stream:
            header, *rows = csv.reader(stream, strict=True)
        column = dict(zip(header, zip(*rows, strict=True), strict=True))
        (sensitivity,) = set(column["count_sensitivity"])
        for mu in set(column["mu"]):
            CountNoise(Decimal(mu), Decimal(sensitivity))
        for period in set(column[header[1]]):
            datetime.date.fromisoformat(period)
        share = [header[3], "noisy_share"] if "noisy_share" in header else []
        known = [*header[:2], "noisy_count", *share, "mu", "count_sensitivity", *INTERVAL]
        whole = all(row[-2:] == interval(row[-6], row[-3]) for row in rows)
        if header == known and whole and sha256(path) == record.sha256:
            return [header, *rows]
    file = record_of(path)
    wrong = f"is gone, but {file} says that it was released; put it back"
    if path.exists():
        wrong = (
            f"does not fit {file}: one of them was changed after the release, or the release was"
            " interrupted; restore both"
        )
    raise DataError(
        f"{path}: {wrong}, or choose another output (periods you already released will then count"
        " twice against their privacy)"
    )
