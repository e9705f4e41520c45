"""Going on from a coordinator's numbers, where the newest copy of a holder's ledger is lost.

The coordinator exports what it has collected. The output then holds the rows of that table: none of
them is drawn again, and all chains end. A row that an older copy of the ledger has drawn again for
one of these periods leaves the output and stays spent.

So does a whole chain that went on from one state in two ways, here and in the lost copy. The
coordinator's rows of it are taken in as a chain of their own: its first rows count twice, which
covers the noise that both have in common. The same holds for a chain that goes on in what the
coordinator got late, if others came after it: the rows of a chain follow one another.
"""

from __future__ import annotations

import csv
import datetime
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from dpol.core.errors import DataError
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.draws import add_chain, end_all
from dpol_weekly.holder.entries import (
    Output,
    Released,
    add_rows,
    add_run,
    entities_of,
    registered,
    versions,
)
from dpol_weekly.holder.ledger import Ledger, new_token
from dpol_weekly.holder.settings import ColumnUse
from dpol_weekly.memory import ChainTerms, stated_terms
from dpol_weekly.noise import CountNoise, Noisy, decimal_text, deviation_of_share
from dpol_weekly.released import PATTERNS, check_numbers

_CLOSE = 1e-5  # A released table shows six digits of a deviation.
_WRITTEN = "ask the coordinator again for the table, as dpol export writes it to a .csv file"
_Key = tuple[int, str, Noisy]
"""The number of an entity, a period, and what was released: by it a row is known again."""


@dataclass(frozen=True, kw_only=True)
class ExportedRow:
    """A row that a coordinator has.

    Args:
        where: it was read, such as `releases.csv, line 3`.
        entity: identifier.
        period: date, YYYY-MM-DD.
        version: from 1; corrections follow.
        numbers: as they were released.
        ledger: id of the ledger that released it.
        report: number of the report that it came with.
        set_aside: whether the coordinator has set it aside.
        chain: the coordinator's name of its chain; empty if it is of none.
        place: in that chain, from 1.
        terms: of that chain.
    """

    where: str
    entity: str
    period: str
    version: int
    numbers: Noisy
    ledger: str
    report: int
    set_aside: bool
    chain: str
    place: int
    terms: ChainTerms | None


def read_export(
    export: Path, deployment: Deployment, *, members: Collection[str], reported: Collection[str]
) -> list[ExportedRow]:
    """A holder's rows in a coordinator's table; see `continue_from`.

    Args:
        export: the table.
        deployment: of which it is.
        members: the entities to release.
        reported: those of them that are in the holder's table.

    Returns:
        Rows by entity, each chain in its order; of an entity, chains by their first periods.

    Raises:
        DataError: it cannot be read, is not of one holder, or breaks a rule.
    """
    rows = list(_rows(export, deployment, members))
    standing = [row for row in rows if row.entity in reported and not row.set_aside]
    # That of the last report counts: the coordinator may have accepted a new ledger.
    last = {row.entity: row.ledger for row in sorted(standing, key=lambda row: row.report)}
    if len(ledgers := set(last.values())) != 1:
        raise DataError(
            f"{export}: has releases of {len(ledgers)} ledgers for the entities of the table, not"
            " of one; ask the coordinator for what dpol export writes, and name only your own"
            " entities in your file"
        )
    chosen = [row for row in rows if row.ledger in ledgers or row in standing]
    begun: dict[tuple[str, str], tuple[str, int]] = {}
    for row in chosen:
        key, first = (row.entity, row.chain), (row.period, row.version)
        begun[key] = min(first, begun.get(key, first))

    def order(row: ExportedRow) -> tuple[str, tuple[str, int], int]:
        alone = row.period, row.version
        return row.entity, begun[row.entity, row.chain] if row.chain else alone, row.place

    return sorted(chosen, key=order)


def continue_from(
    ledger: Ledger,
    path: Path,
    deployment: Deployment,
    rows: Sequence[ExportedRow],
    *,
    sampler: str,
    use: ColumnUse,
) -> None:
    """Let an output hold what a coordinator has of a holder, and end all chains.

    Args:
        ledger: an older copy, or a new one: it takes the id that the coordinator knows.
        path: of the output.
        deployment: for which it is released.
        rows: as `read_export` gives them.
        sampler: where noise comes from at this holder.
        use: the columns that are read.

    Raises:
        DataError: earlier rows of a chain are missing.
    """
    output = registered(ledger, path)
    last = max(rows, key=lambda row: row.report)
    ledger.execute("UPDATE ledger SET id = ?", last.ledger)
    entities = entities_of(ledger, (row.entity for row in rows))
    keys = [(entities[row.entity], row.period, row.numbers) for row in rows]
    known = _withdraw_others(ledger, output, keys, rows)
    new = [(row, key) for row, key in zip(rows, keys, strict=True) if key not in known]
    if new:
        run = add_run(
            ledger,
            output,
            deployment,
            token=new_token(),
            sampler=sampler,
            imported=True,
            use=use,
        )
        chains = _chains(ledger, output, known, keys, rows)
        going_on = {*known.values()}  # their rows come first
        new.sort(key=lambda it: chains[it[1]] not in going_on)
        numbers = versions(ledger, (key[:2] for _, key in new))
        # The numbers may have been changed on their way: their mu is no more than a claim.
        least = Decimal(str(deployment.mu))
        taken = (
            Released(
                name=row.entity,
                entity=key[0],
                period=row.period,
                version=version,
                numbers=row.numbers,
                spent_mu=decimal_text(max(Decimal(row.numbers.mu), least)),
                chain=chains[key],
            )
            for (row, key), version in zip(new, numbers, strict=True)
        )
        add_rows(ledger, run, taken)
        # To receivers, its further chains and rows are new.
        ledger.execute("UPDATE output SET id = ? WHERE number = ?", new_token(), output.number)
    end_all(ledger)


def _withdraw_others(
    ledger: Ledger, output: Output, keys: Sequence[_Key], rows: Sequence[ExportedRow]
) -> dict[_Key, int | None]:
    """Withdraw what was drawn from an older copy and is not the coordinator's.

    These are rows for periods that the coordinator has, rows that came after a chain went on in two
    ways, and the chains of both; and chains that go on in what the coordinator got late.

    Returns:
        The chains of the rows that stay, in the order of their release.
    """
    numbers: dict[_Key, int] = {}
    chains: dict[_Key, int | None] = {}
    for number, entity, period, chain, *cells in ledger.execute(
        f"SELECT held.number, entity, period, chain, {', '.join(Noisy._fields)} FROM held"
        " JOIN run ON run.number = held.run WHERE run.output = ? ORDER BY held.number",
        output.number,
    ):
        key = entity, period, Noisy._make(cells)
        numbers[key], chains[key] = number, chain
    theirs = {key: row.chain for key, row in zip(keys, rows, strict=True)}
    periods = {key[:2] for key in theirs}
    unknown = numbers.keys() - theirs.keys()
    again = {key for key in unknown if key[:2] in periods}
    # Rows of a chain follow one another. So one that went on in the lost copy goes on here if it
    # is the last one that the coordinator knows, and nothing stays after it; else it leaves, and is
    # taken in again.
    went_on = {chain for key, chain in theirs.items() if key not in numbers}
    last_known = {key[0]: chains[key] for key in numbers if key in theirs}
    ended, first = set[int | None](), dict[int, int]()
    for key, number in numbers.items():
        if chains[key] is None or theirs.get(key) not in went_on:
            continue
        if chains[key] == last_known[key[0]]:
            first.setdefault(key[0], number)
        else:
            ended.add(chains[key])
    again |= {key for key in unknown if numbers[key] > first.get(key[0], numbers[key])}
    ended = (ended | {chains[key] for key in again}) - {None}
    left = {key for key in numbers if chains[key] in ended} | again
    withdrawn = ((numbers[key],) for key in left)
    ledger.connection.executemany("INSERT INTO withdrawn VALUES (?)", withdrawn)
    return {key: chain for key, chain in chains.items() if key not in left}


def _chains(
    ledger: Ledger,
    output: Output,
    known: Mapping[_Key, int | None],
    keys: Sequence[_Key],
    rows: Sequence[ExportedRow],
) -> dict[_Key, int | None]:
    """The chain of each row: that of rows which stay, if the coordinator says so, or a new one."""
    released = Counter(known.values())
    numbers: dict[str, int | None] = {}
    chains: dict[_Key, int | None] = {}
    for key, row in zip(keys, rows, strict=True):
        if key in known:
            numbers[row.chain] = known[key]
        elif row.terms is None:
            numbers[row.chain] = None
        else:
            if numbers.get(row.chain) is None:
                numbers[row.chain] = add_chain(ledger, output, key[0], row.terms).number
            released[numbers[row.chain]] += 1
            if released[numbers[row.chain]] != row.place:
                raise DataError(
                    f"{row.where}: earlier releases of its chain of noise are"
                    " missing; ask the coordinator for a table of all of them"
                )
        chains[key] = numbers[row.chain]
    return chains


def _rows(export: Path, deployment: Deployment, members: Collection[str]) -> Iterator[ExportedRow]:
    """All rows of an export about entities to release."""
    try:
        with export.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream, restkey="more", strict=True)
            if missing := {"entity", "set_aside", *PATTERNS} - set(reader.fieldnames or ()):
                raise DataError(f"{export}: lacks the column {min(missing)}; {_WRITTEN}")
            for cells in reader:
                where = f"{export}, line {reader.line_num}"
                if cells["entity"] not in members:
                    continue
                for name, pattern in PATTERNS.items():
                    if "more" in cells or not pattern.fullmatch(cells[name] or ""):
                        raise DataError(f"{where}: column {name} holds something else; {_WRITTEN}")
                yield _row(where, cells, deployment)
    except OSError as error:
        raise DataError(f"{export}: cannot be read ({error.strerror}); check the path") from None
    except (ValueError, csv.Error):
        raise DataError(f"{export}: is not CSV; {_WRITTEN}") from None


def _row(where: str, cells: Mapping[str, str], deployment: Deployment) -> ExportedRow:
    """A row, each cell of which fits the others and the deployment."""
    capacity, place = cells["capacity"], int(cells["place"])
    try:
        period = datetime.date.fromisoformat(cells["period"])
        noise = CountNoise(Decimal(cells["mu"]), Decimal(cells["count_sensitivity"]))
        deviation, terms = noise.standard_deviation, None
        scale = int(cells["scale"]), int(cells["decimals"])
        if cells["chain"]:
            periods = deployment.noise.chain_periods
            terms = stated_terms(noise, {**cells, "chain_periods": periods})
            deviation = terms.standard_deviation_after(place - 1)
        check_numbers(
            noisy_count=cells["noisy_count"],
            capacity=capacity,
            noisy_share=cells["noisy_share"],
            decimals=noise.decimals,
        )
        shown = deviation / float(capacity)
        fits = (
            (terms is not None or scale == (noise.scale, noise.decimals))
            and cells["count_sensitivity"] == deployment.sensitivity_text
            and math.isclose(float(cells["noise_sd"]), shown, rel_tol=_CLOSE)
        )
    except (ValueError, ArithmeticError, DataError):
        fits = False
    if not fits:
        raise DataError(f"{where}: its numbers do not fit each other; {_WRITTEN}")
    if deployment.number_of(period) is None:
        raise DataError(f"{where}: no period of the deployment begins on its date; {_WRITTEN}")
    return ExportedRow(
        where=where,
        entity=cells["entity"],
        period=cells["period"],
        version=int(cells["version"]),
        numbers=Noisy(
            noisy_count=cells["noisy_count"],
            capacity=capacity,
            noisy_share=cells["noisy_share"],
            mu=cells["mu"],
            noise_sd=deviation_of_share(deviation, capacity),
        ),
        ledger=cells["ledger"],
        report=int(cells["report"]),
        set_aside=bool(cells["set_aside"]),
        chain=cells["chain"],
        place=place,
        terms=terms,
    )
