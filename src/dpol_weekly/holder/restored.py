"""Going on from a coordinator's numbers, where the newest copy of a holder's ledger is lost.

The coordinator exports what it has collected. The output then holds the rows of that table: none of
them is drawn again, and all chains end. A row that an older copy of the ledger has drawn again for
one of these periods leaves the output and stays spent.

So does a whole chain that went on from one state in two ways, here and in the lost copy. The
coordinator's rows of it are taken in as a chain of their own: its first rows count twice, which
covers the noise that both have in common.
"""

from __future__ import annotations

import csv
import datetime
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dpol.core.errors import DataError
from dpol_weekly.holder import chains, entries
from dpol_weekly.holder.agreed import Agreed
from dpol_weekly.holder.chains import ChainTerms
from dpol_weekly.holder.entries import Place
from dpol_weekly.holder.held import Held, held_rows, withdraw
from dpol_weekly.holder.ledger import Ledger, new_token
from dpol_weekly.holder.repeats import check_deployment, places
from dpol_weekly.holder.request import Request
from dpol_weekly.memory import Memory, stated_terms
from dpol_weekly.noise import Cells, CountNoise, decimal_text

_ID, _NUMBER, _WHOLE = "[0-9a-f]{16}", r"[0-9]{1,12}(\.[0-9]{1,12})?", "[0-9]{1,15}"
_REAL = r"-?[0-9]{1,12}(\.[0-9]{1,30})?(e-?[0-9]{1,3})?"
_PATTERNS = {
    "period": "[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "version": _WHOLE,
    "noisy_count": f"-?{_NUMBER}",
    "capacity": r"[0-9]{1,9}(\.[0-9]{0,40})?",
    "noisy_share": _REAL,
    "chain": f"({_ID}/{_ID}/[0-9]{{1,15}})?",
    "place": "[1-9][0-9]{0,14}",
    "mu": _NUMBER,
    "count_sensitivity": _NUMBER,
    "a": f"-?{_NUMBER}",
    "b": f"-?{_NUMBER}",
    "unit_weeks": _WHOLE,
    "scale": _WHOLE,
    "decimals": "[0-9]{1,2}",
    "noise_sd": _REAL,
    "ledger": _ID,
    "report": _WHOLE,
}
_CLOSE = 1e-5  # The table shows six digits of a deviation.


class _Row(NamedTuple):
    """A row that a coordinator has.

    Args:
        line: of the export.
        entity: identifier.
        period: date, YYYY-MM-DD.
        version: from 1; corrections follow.
        cells: as they were released.
        ledger: id of the ledger that released it.
        report: number of the report that it came with.
        set_aside: whether the coordinator has set it aside.
        chain: the coordinator's name of its chain; empty if it is of none.
        place: in that chain, from 1.
        terms: of that chain.
    """

    line: int
    entity: str
    period: str
    version: int
    cells: Cells
    ledger: str
    report: int
    set_aside: bool
    chain: str
    place: int
    terms: ChainTerms | None


def continue_from(
    ledger: Ledger, request: Request, entities: Collection[str], sampler: str
) -> None:
    """Let an output hold what a coordinator has of a holder, and end all chains.

    Args:
        ledger: an older copy, or a new one: it takes the id that the coordinator knows.
        request: `choices.continue_from` is the coordinator's export.
        entities: of the holder.
        sampler: where noise comes from at this holder.

    Raises:
        DataError: the request is for no deployment or for another one than the output, or the
            export cannot be read, is not of this holder, or breaks a rule.
    """
    path, export, agreed = request.output, request.choices.continue_from, request.agreed
    if export is None or agreed is None:
        raise DataError("--continue-from needs a deployment; give its file with --deployment")
    output = entries.output_at(ledger, path)
    check_deployment(ledger, path, output, agreed.terms)
    header, rows = request.columns.output_header(), _read(export, request, agreed, entities)
    sensitivity = decimal_text(request.noise.count_sensitivity)
    output = output or entries.add_output(ledger, path, header, sensitivity)
    if (output.header, output.count_sensitivity) != (tuple(header), sensitivity):
        raise DataError(f"{path}: was released with other columns or another count sensitivity")
    last = max(rows, key=lambda row: row.report)
    ledger.execute("UPDATE ledger SET id = ?", last.ledger)
    staying = _withdraw_others(ledger, output, rows)
    known = {(it.entity, it.period, it.cells) for it in staying}
    new = [row for row in rows if _key(ledger, row) not in known]
    if new:
        keys = ((row.line, row.entity, row.period) for row in new)
        to = places(ledger, export, keys, request.choices)
        of_chains = _chains(ledger, output, export, staying, rows, dict(zip(new, to, strict=True)))
        least_mu = decimal_text(request.noise.mu)
        run = entries.add_run(
            ledger,
            output,
            new_token(),
            sampler,
            least_mu=least_mu,
            terms=agreed.terms,
            days=agreed.terms.days,
        )
        entries.add_rows(ledger, run, zip(to, (row.cells for row in new), strict=True), of_chains)
        # To receivers, its further chains and rows are new.
        ledger.execute("UPDATE output SET id = ? WHERE number = ?", new_token(), output.number)
    chains.end_all(ledger)


def _chains(
    ledger: Ledger,
    output: entries.Output,
    export: Path,
    staying: Sequence[Held],
    rows: Sequence[_Row],
    new: Mapping[_Row, Place],
) -> list[int | None]:
    """The chains of new rows: that of rows which stay, if the coordinator says so, or a new one."""
    known = {(it.entity, it.period, it.cells): it.chain for it in staying}
    released, numbers = Counter(row.chain for row in staying), dict[str, int | None]()
    found: list[int | None] = []
    for row in rows:
        if row not in new:
            numbers[row.chain] = known[_key(ledger, row)]
        elif row.terms is None:
            found.append(None)
        else:
            if numbers.get(row.chain) is None:
                begun = chains.add_chain(ledger, output, new[row].entity, row.terms)
                numbers[row.chain] = begun.number
            found.append(numbers[row.chain])
            released[found[-1]] += 1
            if released[found[-1]] != row.place:
                raise DataError(
                    f"{export}, line {row.line}: earlier releases of its chain of noise are"
                    " missing; ask the coordinator for a table of all of them"
                )
    return found


def _withdraw_others(ledger: Ledger, output: entries.Output, rows: Sequence[_Row]) -> list[Held]:
    """Withdraw what was drawn from an older copy and is not the coordinator's; the rows that stay.

    These are rows for periods that the coordinator has, and chains that went on in two ways.
    """
    theirs = {_key(ledger, row): row.chain for row in rows}
    periods = {key[:2] for key in theirs}
    held = {(it.entity, it.period, it.cells): it for it in held_rows(ledger, output)}
    unknown = [it for key, it in held.items() if key not in theirs]
    again = [it for it in unknown if (it.entity, it.period) in periods]
    went_on = {chain for key, chain in theirs.items() if key not in held}
    known_as = {held[key].chain: chain for key, chain in theirs.items() if key in held}
    ended = {it.chain for it in again}
    ended |= {it.chain for it in unknown if known_as.get(it.chain) in went_on}
    left = {it for it in held.values() if it.chain in ended - {None}} | set(again)
    withdraw(ledger, left)
    return [it for it in held.values() if it not in left]


def _key(ledger: Ledger, row: _Row) -> tuple[int, str, Cells]:
    """The entity of a row (0 if the ledger does not know it), its period and its cells."""
    _, entity = entries.name_of(ledger, row.entity) or (0, 0)
    return entity, row.period, row.cells


def _read(export: Path, request: Request, agreed: Agreed, entities: Collection[str]) -> list[_Row]:
    """The holder's rows, each chain in its order; of an entity, chains by their first periods."""
    rows = list(_rows(export, request, agreed))
    standing = [row for row in rows if row.entity in entities and not row.set_aside]
    # That of the last report counts: the coordinator may have accepted a new ledger.
    last = {row.entity: row.ledger for row in sorted(standing, key=lambda row: row.report)}
    if len(ledgers := set(last.values())) != 1:
        raise DataError(
            f"{export}: has releases of {len(ledgers)} ledgers for the entities of"
            f" {request.table}, not of one; ask the coordinator for what dpol export writes, and"
            " name your entity with --entity-id"
        )
    own = [
        row
        for row in rows
        if row.entity in agreed.members and (row.ledger in ledgers or row in standing)
    ]
    begun: dict[tuple[str, str], tuple[str, int]] = {}
    for row in own:
        key, first = (row.entity, row.chain), (row.period, row.version)
        begun[key] = min(first, begun.get(key, first))

    def order(row: _Row) -> tuple[str, tuple[str, int], int]:
        own_key = row.period, row.version
        return row.entity, begun[row.entity, row.chain] if row.chain else own_key, row.place

    return sorted(own, key=order)


def _rows(export: Path, request: Request, agreed: Agreed) -> Iterator[_Row]:
    """All rows of an export about entities of the deployment."""
    try:
        with export.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream, restkey="more", strict=True)
            if missing := {"entity", "set_aside", *_PATTERNS} - set(reader.fieldnames or ()):
                raise DataError(f"{export}: lacks the column {min(missing)}; {_WRITTEN}")
            for cells in reader:
                where = f"{export}, line {reader.line_num}"
                if cells["entity"] not in agreed.members:
                    continue
                for name, pattern in _PATTERNS.items():
                    if "more" in cells or not re.fullmatch(pattern, cells[name] or ""):
                        raise DataError(f"{where}: column {name} holds something else; {_WRITTEN}")
                yield _row(where, reader.line_num, cells, request, agreed)
    except OSError as error:
        raise DataError(f"{export}: cannot be read ({error.strerror}); check the path") from None
    except (ValueError, csv.Error):
        raise DataError(f"{export}: is not CSV; {_WRITTEN}") from None


_WRITTEN = "ask the coordinator again for the table, as dpol export writes it to a .csv file"


def _row(where: str, line: int, cells: Mapping[str, str], request: Request, agreed: Agreed) -> _Row:
    """A row, each cell of which fits the others and the deployment."""
    count, beds, place = cells["noisy_count"], cells["capacity"], int(cells["place"])
    try:
        datetime.date.fromisoformat(cells["period"])
        noise = CountNoise(Decimal(cells["mu"]), Decimal(cells["count_sensitivity"]))
        deviation, terms = noise.standard_deviation, None
        scale = int(cells["scale"]), int(cells["decimals"])
        if cells["chain"]:
            periods = (request.memory or Memory((Decimal(0), Decimal(0)))).chain_periods
            terms = _terms(noise, cells["a"], cells["b"], cells["unit_weeks"], periods, *scale)
            deviation = terms.standard_deviation_after(place - 1)
        fits = (
            (terms is not None or scale == (noise.scale, noise.decimals))
            and noise.count_sensitivity == request.noise.count_sensitivity
            and f"{float(count) / float(beds):.9g}" == cells["noisy_share"]
            and math.isclose(float(cells["noise_sd"]), deviation / float(beds), rel_tol=_CLOSE)
        )
    except (ValueError, ArithmeticError, DataError):
        fits = False
    if not fits:
        raise DataError(f"{where}: its numbers do not fit each other; {_WRITTEN}")
    agreed.check_period(where, cells["period"])
    released = count, beds, cells["noisy_share"], cells["mu"], f"{deviation / float(beds):.6g}"
    return _Row(
        line=line,
        entity=cells["entity"],
        period=cells["period"],
        version=int(cells["version"]),
        cells=released,
        ledger=cells["ledger"],
        report=int(cells["report"]),
        set_aside=bool(cells["set_aside"]),
        chain=cells["chain"],
        place=place,
        terms=terms,
    )


@cache
def _terms(
    noise: CountNoise, a: str, b: str, weeks: str, periods: int, scale: int, decimals: int
) -> ChainTerms:
    part = {"a": a, "b": b, "unit_weeks": weeks, "chain_periods": periods}
    return stated_terms(noise, {**part, "scale": scale, "decimals": decimals})
