"""Entries of a ledger and queries of them: outputs, runs, names, rows."""

from __future__ import annotations

import datetime
import itertools
import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from dpol_weekly.holder.agreed import AgreedTerms
from dpol_weekly.holder.ledger import Ledger, new_token
from dpol_weekly.noise import Cells, interval

_ROWS = (
    "release JOIN run ON run.number = release.run JOIN output ON output.number = run.output"
    " JOIN name ON name.number = release.name"
)
_HELD = f"held AS {_ROWS}"  # rows that are in their outputs
# Rows that were taken in may state any mu.
_MU = (
    "CASE WHEN CAST(least_mu AS REAL) > CAST(release.mu AS REAL) THEN least_mu ELSE release.mu END"
)


class Output(NamedTuple):
    """An output that a ledger knows.

    Args:
        number: in the ledger.
        id: chosen at random; its record tells it, so that a moved output is known again.
        header: its columns.
        count_sensitivity: of all its rows, decimal text.
        written: whether table and record were written before.
    """

    number: int
    id: str
    header: tuple[str, ...]
    count_sensitivity: str
    written: bool


class Run(NamedTuple):
    """A run that released rows of an output.

    Args:
        number: counted over all outputs, from 1.
        token: chosen at random.
        date: YYYY-MM-DD, universal time.
        sampler: where its noise came from.
        rows: how many of its rows are in the output.
        withdrawn: how many of its rows are not any more, see ledger.sql.
        imported: whether its rows were taken in: another ledger, or a newer copy, released them.
    """

    number: int
    token: str
    date: str
    sampler: str
    rows: int
    withdrawn: int
    imported: bool


class Place(NamedTuple):
    """The place of a table's row in the ledger.

    Args:
        line: of the row in its table.
        name: number of the name that the table gave.
        entity: number of the entity that has this name.
        period: date, YYYY-MM-DD.
        version: 1 for the first release of this entity and period, over all outputs.
    """

    line: int
    name: int
    entity: int
    period: str
    version: int


class Released(NamedTuple):
    """A release of an entity in one period of some days, and its output's path in the ledger."""

    period: str
    days: int | None
    mu: str
    count_sensitivity: str
    path: str


class Weighed(NamedTuple):
    """The facts on which the privacy of a row depends.

    Args:
        output: number.
        run: number.
        entity: number.
        period: date, YYYY-MM-DD.
        days: length of the period; None if that was not stated.
        version: as in `Place`.
        mu: decimal text; of a row that was taken in, at least that of the run that did so.
        chain: number, or None.
    """

    output: int
    run: int
    entity: int
    period: str
    days: int | None
    version: int
    mu: str
    chain: int | None


def output_at(ledger: Ledger, path: Path) -> Output | None:
    """The output that was last written at a path."""
    found = ledger.execute(f"{_OUTPUTS} WHERE path = ?", _seen_from(ledger, path)).fetchone()
    return found and _output(*found)


def add_output(ledger: Ledger, path: Path, header: Sequence[str], count_sensitivity: str) -> Output:
    """Register an output."""
    identity = new_token()
    values = identity, _seen_from(ledger, path), json.dumps(list(header)), count_sensitivity
    insert = "INSERT INTO output (id, path, header, count_sensitivity) VALUES (?, ?, ?, ?)"
    number = ledger.insert(insert, *values)
    return Output(number, identity, tuple(header), count_sensitivity, written=False)


def move_output(ledger: Ledger, output_id: str, path: Path) -> bool:
    """Remember that the output of that id is at another path now; whether there is one."""
    seen = _seen_from(ledger, path)
    return ledger.execute("UPDATE output SET path = ? WHERE id = ?", seen, output_id).rowcount == 1


def outputs(ledger: Ledger) -> list[tuple[Output, str]]:
    """All outputs, and their paths as seen from the folder of the ledger."""
    paths = dict(ledger.execute("SELECT number, path FROM output"))
    return [(_output(*row), paths[row[0]]) for row in ledger.execute(_OUTPUTS)]


def output_paths(ledger: Ledger) -> list[Path]:
    """Paths to which all outputs were last written."""
    folder = ledger.path.parent.resolve()
    return [folder / text for (text,) in ledger.execute("SELECT path FROM output")]


def add_run(
    ledger: Ledger,
    output: Output,
    token: str,
    sampler: str,
    *,
    least_mu: str | None = None,
    terms: AgreedTerms | None = None,
    days: int | None = None,
) -> int:
    """Begin a run, for a deployment or for none, of periods of some days; its number.

    Rows that are taken in, not drawn, count with `least_mu` at least.
    """
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    deployment = _deployment_number(ledger, terms) if terms else None
    return ledger.insert(
        "INSERT INTO run (token, date, output, sampler, least_mu, deployment, days)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        *(token, today, output.number, sampler, least_mu, deployment, days),
    )


def deployments(ledger: Ledger) -> list[AgreedTerms]:
    """The deployments of a ledger, each as in its last run."""
    return _deployments(ledger, "run.deployment IS NOT NULL GROUP BY name")


def deployment_of(ledger: Ledger, output: Output) -> AgreedTerms | None:
    """The deployment that an output was released for last, if it was for one."""
    found = _deployments(ledger, f"run.output = {output.number} GROUP BY run.output")
    return found[0] if found else None


def knows_run(ledger: Ledger, token: str) -> bool:
    """True if a run of that token is in the ledger."""
    return ledger.execute("SELECT 1 FROM run WHERE token = ?", token).fetchone() is not None


def runs_of(ledger: Ledger, output: Output) -> list[Run]:
    """The runs that released rows of an output."""
    found = ledger.execute(
        "SELECT run.number, token, date, sampler, COUNT(*), COUNT(withdrawn.release), least_mu"
        " FROM run JOIN release ON release.run = run.number"
        " LEFT JOIN withdrawn ON withdrawn.release = release.number WHERE run.output = ?"
        " GROUP BY run.number ORDER BY run.number",
        output.number,
    )
    return [
        Run(number, token, date, sampler, rows - gone, gone, least is not None)
        for number, token, date, sampler, rows, gone, least in found
    ]


def add_rows(
    ledger: Ledger, run: int, rows: Iterable[tuple[Place, Cells]], chains: Iterable[int | None] = ()
) -> None:
    """Release rows; each is of a chain, see `dpol_weekly.holder.chains`, or of none."""
    numbered = zip(rows, itertools.chain(chains, itertools.repeat(None)), strict=False)
    ledger.connection.executemany(
        "INSERT INTO release (run, name, entity, period, version, noisy_count, capacity,"
        " noisy_share, mu, noise_sd, chain) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (run, at.name, at.entity, at.period, at.version, *cells, chain)
            for (at, cells), chain in numbered
        ),
    )


def name_of(ledger: Ledger, text: str) -> tuple[int, int] | None:
    """The numbers of a name and of its entity, if that very name was released before."""
    select = "SELECT number, entity FROM name WHERE text = ?"
    numbers: tuple[int, int] | None = ledger.execute(select, text).fetchone()
    return numbers


def names_folded(ledger: Ledger, fold: str) -> list[tuple[str, int]]:
    """Names with the same folded text, and their entities."""
    select = "SELECT text, entity FROM name WHERE folded = ? ORDER BY number"
    return ledger.execute(select, fold).fetchall()


def add_name(ledger: Ledger, text: str, fold: str, entity: int | None) -> tuple[int, int]:
    """Register a name of an entity, or with None of a new one; the numbers of both."""
    if entity is None:
        entity = ledger.insert("INSERT INTO entity DEFAULT VALUES")
    insert = "INSERT INTO name (text, folded, entity) VALUES (?, ?, ?)"
    return ledger.insert(insert, text, fold, entity), entity


def releases_of(ledger: Ledger, entity: int) -> list[Released]:
    """Every release of an entity."""
    found = ledger.execute(
        f"SELECT period, days, mu, count_sensitivity, path FROM {_ROWS}"
        " WHERE release.entity = ? ORDER BY release.number",
        entity,
    )
    return [Released(*row) for row in found]


def periods_of(ledger: Ledger, output: Output) -> dict[int, set[str]]:
    """The periods that each entity has released in an output."""
    found: dict[int, set[str]] = {}
    select = f"SELECT release.entity, period FROM {_ROWS} WHERE run.output = ?"
    for entity, period in ledger.execute(select, output.number):
        found.setdefault(entity, set()).add(period)
    return found


def released_for(ledger: Ledger, deployment: str) -> set[tuple[int, str]]:
    """Entities and periods released for a deployment, or taken in: for which is not known then."""
    found = ledger.execute(
        f"SELECT release.entity, period FROM {_ROWS} LEFT JOIN deployment"
        " ON deployment.number = run.deployment"
        " WHERE deployment.name = ? OR (run.least_mu IS NOT NULL AND run.deployment IS NULL)",
        deployment,
    )
    return set(found)


def weighed_rows(ledger: Ledger) -> list[Weighed]:
    """All rows of a ledger, without what was released."""
    found = ledger.execute(
        f"SELECT run.output, run, release.entity, period, days, version, {_MU}, chain FROM {_ROWS}"
    )
    return [Weighed(*row) for row in found]


def table_rows(ledger: Ledger, output: Output, *, withdrawn: bool = False) -> Iterator[list[str]]:
    """The rows of an output, in the order of their release; with those that left it if asked."""
    found = ledger.execute(
        "SELECT noise_sd, text, period, noisy_count, capacity, noisy_share, mu, count_sensitivity"
        f" FROM {_ROWS if withdrawn else _HELD} WHERE run.output = ? ORDER BY release.number",
        output.number,
    )
    for deviation, *cells in found:
        row = [cell for cell in cells if cell is not None]
        yield [*row, deviation, *interval(row[-3], deviation)]


def spent(ledger: Ledger, output: Output) -> float:
    """The largest mu of one entity in one period of an output."""
    rows = f"FROM {_HELD} WHERE run.output = ?"
    again = "(release.entity, period) IN (SELECT entity, period FROM release WHERE version > 1)"
    found = ledger.execute(
        f"SELECT {_MU} {rows} UNION SELECT group_concat({_MU}) {rows} AND {again}"
        " GROUP BY release.entity, period",
        *(output.number, output.number),
    )
    return math.sqrt(max(sum(Fraction(mu) ** 2 for mu in mus.split(",")) for (mus,) in found))


_OUTPUTS = "SELECT number, id, header, count_sensitivity, written FROM output"


def _output(number: int, name: str, header: str, count_sensitivity: str, written: int) -> Output:
    return Output(number, name, tuple(json.loads(header)), count_sensitivity, bool(written))


def _deployments(ledger: Ledger, which: str) -> list[AgreedTerms]:
    # With MAX, SQLite takes the other columns from the row of the maximum.
    found = ledger.execute(
        "SELECT name, sha256, first, deployment.days, longest_stay, budget_mu, MAX(run.number)"
        f" FROM run JOIN deployment ON deployment.number = run.deployment WHERE {which}"
    )
    return [
        AgreedTerms(name, sha256, datetime.date.fromisoformat(first), days, stay, Decimal(budget))
        for name, sha256, first, days, stay, budget, _ in found
    ]


def _deployment_number(ledger: Ledger, terms: AgreedTerms) -> int:
    """The number of an agreement that was confirmed."""
    found = ledger.execute("SELECT number FROM deployment WHERE sha256 = ?", terms.sha256)
    return int(found.fetchone()[0])


def _seen_from(ledger: Ledger, path: Path) -> str:
    return os.path.relpath(path.resolve(), ledger.path.parent.resolve())
