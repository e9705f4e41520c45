"""Outputs on the disk: the ledger's record of them, and taking in rows that it does not know."""

from __future__ import annotations

import csv
import datetime
from collections import Counter
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

from dpol.core.errors import DataError
from dpol_weekly.holder import chains, entries
from dpol_weekly.holder.ledger import Ledger, new_token
from dpol_weekly.holder.repeats import places
from dpol_weekly.holder.request import Request
from dpol_weekly.holder.views import Record, checksum, read_record, record_of
from dpol_weekly.memory import stated_terms
from dpol_weekly.noise import INTERVAL, Cells, CountNoise, decimal_text, interval


def take_in(ledger: Ledger, request: Request) -> None:
    """Make sure that the ledger knows all that an output holds, or refuse.

    An output whose ledger is lost, or is an older copy, is taken in if the choices say so. Then all
    chains of all outputs end, as each may have gone on in what is lost.

    Raises:
        DataError: the output, its record, or another record nearby knows of releases that the
            ledger does not know; or the output does not fit its record, or is gone.
    """
    path, choices = request.output, request.choices
    if choices.forget_ledger or choices.write_again:
        chains.end_all(ledger)
    file = record_of(path)
    record, at = read_record(file), entries.output_at(ledger, path)
    if at and at.written and not (choices.write_again or (record and path.exists())):
        raise _gone(path if record else file, ledger)
    if record and entries.knows_run(ledger, record.token):
        known = at.id == record.output if at else entries.move_output(ledger, record.output, path)
        if not known:
            raise DataError(
                f"{path}: its record is that of another output of {ledger.path}; put table and"
                " record back under their own names"
            )
    elif record:
        if not choices.forget_ledger:
            raise _unknown(file, ledger)
        if record.ledger != ledger.id and at:
            raise DataError(
                f"{path}: belongs to another ledger than {ledger.path}, which has released an"
                " output of this name too; move the table and its record away, and run again"
            )
        _enter(ledger, request, record, at)
    elif not at and (path.exists() or file.exists()):
        raise DataError(
            f"{path}: exists already, and is not known to {ledger.path} nor described by"
            f" {file.name}; choose another output, or put back what is missing"
        )
    if not choices.forget_ledger:
        _check_other_records(ledger, path)


def _gone(file: Path, ledger: Ledger) -> DataError:
    return DataError(
        f"{file}: was written once, and is gone or damaged; put it back, or the newest ledger, if"
        f" {ledger.path} is an older copy; if it is the newest, add --write-again, which writes"
        " table and record as the ledger has them"
    )


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
        " ledger with --ledger, or put its newest copy back. If it is lost, get the newest table"
        " and record back from their receivers: what these lack would be released again. Then add"
        " --forget-ledger, which keeps the rows of the output and forgets all others. In a"
        " deployment, --continue-from with what the coordinator exports does without the files"
    )


def _enter(ledger: Ledger, request: Request, record: Record, output: entries.Output | None) -> None:
    """Enter the rows of an output that the ledger does not have."""
    path = request.output
    header, *rows = _recorded(path, record)
    sensitivity = rows[0][header.index("count_sensitivity")]
    output = output or entries.add_output(ledger, path, header, sensitivity)
    known = list(entries.table_rows(ledger, output))
    if rows[: len(known)] != known or tuple(header) != output.header:
        raise DataError(
            f"{path}: begins with other rows than {ledger.path} has released in it, so periods were"
            " released twice. Continue from the numbers that their receivers hold: in a deployment"
            " with --continue-from, else by moving away the files that do not have them, the ledger"
            " or the table with its record"
        )
    new = rows[len(known) :]
    keys = ((line, row[0], row[1]) for line, row in enumerate(new, start=len(known) + 2))
    to = places(ledger, path, keys, request.choices)
    sampler = "secure" if record.facts.get("sampler") == "secure" else "seeded"
    of_chains = _chains(ledger, path, output, record, header, rows)
    # A returned table may have been changed on its way: its mu is no more than a claim.
    least_mu = decimal_text(request.noise.mu)
    run = entries.add_run(
        ledger, output, new_token(), sampler, least_mu=least_mu, days=request.days
    )
    cells = (_cells(header, row) for row in new)
    entries.add_rows(ledger, run, zip(to, cells, strict=True), of_chains)
    chains.end_all(ledger)


def _chains(
    ledger: Ledger,
    path: Path,
    output: entries.Output,
    record: Record,
    header: list[str],
    rows: list[list[str]],
) -> list[int | None]:
    """The chains of the rows that are new to the ledger.

    Raises:
        DataError: the record does not state them as the noise of the rows does.
    """
    known = chains.chains_of(ledger, output)
    entity = {row[0]: (entries.name_of(ledger, row[0]) or (0, 0))[1] for row in rows}
    with suppress(LookupError, TypeError, ValueError, ArithmeticError, DataError):
        parts = chains.ChainRows(record.facts.get("chains", []))
        firsts, terms = [], {}
        for n, row in enumerate(rows, start=1):
            part, place = parts.of(n, entity[row[0]])
            firsts.append(int(part["first_row"]) if part else 0)
            cell = dict(zip(header, row, strict=True))
            noise = CountNoise(Decimal(cell["mu"]), Decimal(cell["count_sensitivity"]))
            deviation = noise.standard_deviation
            if part:
                terms[firsts[-1]] = stated = stated_terms(noise, part)
                deviation = stated.standard_deviation_after(place - 1)
            beds = row[3] if "noisy_share" in cell else "1"
            if cell[INTERVAL[0]] != f"{deviation / float(beds):.6g}":
                raise DataError("the noise of a row is not that of its chain")
        counts = Counter(firsts)
        if any(counts[first] != int(part["releases"]) for first, part in parts.first.items()):
            raise DataError("a chain has another length")
        numbers: dict[int, int | None] = {0: None}
        for first, stated in terms.items():
            known_as = known[first - 1] if first <= len(known) else None
            of = entity[rows[first - 1][0]]
            numbers[first] = known_as or chains.add_chain(ledger, output, of, stated).number
        return [numbers[first] for first in firsts[len(known) :]]
    raise _unfit(path)


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
        same = checksum(path.read_bytes(), record.facts) == record.facts["sha256"]
        if header == known and whole and same:
            return [header, *rows]
    raise _unfit(path)


def _unfit(path: Path) -> DataError:
    file = record_of(path)
    wrong = f"is gone, but {file} says that it was released; put it back"
    if path.exists():
        wrong = (
            f"does not fit {file}: one of them was changed after the release, or the release was"
            " interrupted; restore both"
        )
    return DataError(
        f"{path}: {wrong}, or choose another output (periods you already released will then count"
        " twice against their privacy)"
    )
