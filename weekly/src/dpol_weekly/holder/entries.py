"""Entries of a ledger and queries of them: outputs, runs, entities, rows."""

from __future__ import annotations

import datetime
import functools
import json
import math
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

from dpol.core.names import folded
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.ledger import Ledger, new_token
from dpol_weekly.holder.settings import ColumnUse
from dpol_weekly.noise import Noisy, interval
from dpol_weekly.released import Cells

_ROWS = "release JOIN run ON run.number = release.run"
_HELD = "held AS release JOIN run ON run.number = release.run"  # rows that are in their outputs


@dataclass(frozen=True, kw_only=True)
class Output:
    """An output that a ledger knows.

    Args:
        number: in the ledger.
        id: chosen at random; its record tells it, so that a moved output is known again.
        path: with which the paths of its releases begin, as seen from the folder of the ledger.
        written: number of the last run whose release was written; 0: none was.
    """

    number: int
    id: str
    path: str
    written: int


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run that released rows of an output.

    Args:
        number: counted over all outputs, from 1.
        token: chosen at random.
        date: YYYY-MM-DD, universal time.
        sampler: where its noise came from.
        imported: whether its rows were taken in: another ledger, or a newer copy, released them.
        rows: how many of its rows are in the output.
        withdrawn: how many of its rows are not any more, see ledger.sql.
    """

    number: int
    token: str
    date: str
    sampler: str
    imported: int
    rows: int
    withdrawn: int


@dataclass(frozen=True, kw_only=True)
class Released:
    """A row to enter into the ledger.

    Args:
        name: of the entity, as its table has it.
        entity: its number.
        period: date, YYYY-MM-DD.
        version: 1 for the first release of this entity and period, over all outputs.
        numbers: as they are released.
        spent_mu: with which the row counts, decimal text.
        chain: number of its chain of noise, or None.
    """

    name: str
    entity: int
    period: str
    version: int
    numbers: Noisy
    spent_mu: str
    chain: int | None


@dataclass(frozen=True, kw_only=True)
class Weighed:
    """The facts on which the privacy of a row depends.

    Args:
        run: number.
        entity: number.
        period: date, YYYY-MM-DD.
        days: length of the period.
        version: as in `Released`.
        mu: with which the row counts, decimal text.
        chain: number, or None.
        output: number.
    """

    run: int
    entity: int
    period: str
    days: int
    version: int
    mu: str
    chain: int | None
    output: int


def select(ledger: Ledger, statement: str, *values: str | int) -> list[sqlite3.Row]:
    """The rows of a query, each with its columns by name."""
    cursor = ledger.connection.cursor()
    cursor.row_factory = sqlite3.Row
    return cursor.execute(statement, values).fetchall()


def output_at(ledger: Ledger, path: Path) -> Output | None:
    """The output whose releases begin with a path."""
    seen = _seen_from(ledger, path)
    return next((output for output in outputs(ledger) if output.path == seen), None)


def outputs(ledger: Ledger) -> list[Output]:
    """All outputs."""
    return [Output(**row) for row in select(ledger, "SELECT * FROM output ORDER BY number")]


def registered(ledger: Ledger, path: Path) -> Output:
    """The output at a path; a new one becomes known."""
    if known := output_at(ledger, path):
        return known
    identity, seen = new_token(), _seen_from(ledger, path)
    number = ledger.insert("INSERT INTO output (id, path) VALUES (?, ?)", identity, seen)
    return Output(number=number, id=identity, path=seen, written=0)


def move_output(ledger: Ledger, output_id: str, path: Path) -> None:
    """Remember that the output of that id, if there is one, is at another path now."""
    seen = _seen_from(ledger, path)
    ledger.execute("UPDATE output SET path = ? WHERE id = ?", seen, output_id)


def add_deployment(ledger: Ledger, deployment: Deployment) -> None:
    """Remember that the holder has confirmed the agreement of a deployment."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    insert = "INSERT INTO deployment (name, sha256, agreement, confirmed) VALUES (?, ?, ?, ?)"
    ledger.insert(insert, deployment.name, deployment.sha256(), deployment.agreement(), today)


def agreements(ledger: Ledger, which: str = "") -> list[Deployment]:
    """The agreements that were confirmed, or those of some runs; those of the last come last."""
    found = select(
        ledger,
        "SELECT agreement FROM deployment LEFT JOIN run ON run.deployment = deployment.number"
        f" {which} GROUP BY deployment.number"
        " ORDER BY IFNULL(MAX(run.number), 0), deployment.number",
    )
    return [_agreed(row["agreement"]) for row in found]


def deployments(ledger: Ledger) -> list[Deployment]:
    """The deployments that were released for, each as in its last run."""
    released = agreements(ledger, "WHERE run.number IS NOT NULL")
    return list({deployment.name: deployment for deployment in released}.values())


def deployment_of(ledger: Ledger, output: Output) -> Deployment:
    """The deployment that an output was released for last."""
    return agreements(ledger, f"WHERE run.output = {output.number}")[-1]


def columns_used(ledger: Ledger, what: Literal["counts", "capacities"]) -> set[str]:
    """The columns that got noise, or whose cells were released as they are."""
    found = select(ledger, f"SELECT DISTINCT {what} AS columns FROM run")
    return {name for row in found for name in json.loads(row["columns"])}


def add_run(
    ledger: Ledger,
    output: Output,
    deployment: Deployment,
    *,
    token: str,
    sampler: str,
    imported: bool = False,
    use: ColumnUse,
) -> int:
    """Begin a run for a deployment that was confirmed; its number.

    Args:
        ledger: the ledger.
        output: which gets its rows.
        deployment: as it was confirmed.
        token: chosen at random.
        sampler: where the noise comes from.
        imported: its rows are taken in, not drawn.
        use: the columns that were read.
    """
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return ledger.insert(
        "INSERT INTO run (token, date, output, deployment, sampler, imported, counts, capacities)"
        " VALUES (?, ?, ?, (SELECT number FROM deployment WHERE sha256 = ?), ?, ?, ?, ?)",
        *(token, today, output.number, deployment.sha256(), sampler, imported),
        *(json.dumps(use.counts), json.dumps(use.capacities)),
    )


def knows_run(ledger: Ledger, token: str) -> bool:
    """True if a run of that token is in the ledger, or it is of `ended`, see ledger.sql."""
    tokens = "SELECT token FROM run UNION SELECT token FROM ended"
    return bool(select(ledger, f"SELECT 1 WHERE ? IN ({tokens})", token))


def runs_of(ledger: Ledger, output: Output) -> list[Run]:
    """The runs that released rows of an output."""
    found = select(
        ledger,
        "SELECT run.number, token, date, sampler, imported,"
        " COUNT(*) - COUNT(withdrawn.release) AS rows, COUNT(withdrawn.release) AS withdrawn"
        " FROM run JOIN release ON release.run = run.number"
        " LEFT JOIN withdrawn ON withdrawn.release = release.number WHERE run.output = ?"
        " GROUP BY run.number ORDER BY run.number",
        output.number,
    )
    return [Run(**row) for row in found]


def heads_of(ledger: Ledger) -> dict[int, str]:
    """The heads of the ledger's hash chain, by the number of the run."""
    return dict(ledger.execute("SELECT number, head FROM run").fetchall())


def entities_of(ledger: Ledger, names: Iterable[str]) -> dict[str, int]:
    """The numbers of the entities with some names; those that are new are registered."""
    folds = {name: folded(name) for name in names}
    insert = "INSERT OR IGNORE INTO entity (folded) VALUES (?)"
    ledger.connection.executemany(insert, ((fold,) for fold in folds.values()))
    found = select(ledger, "SELECT folded, number FROM entity")
    numbers = {row["folded"]: row["number"] for row in found}
    return {name: numbers[fold] for name, fold in folds.items()}


def versions(ledger: Ledger, keys: Iterable[tuple[int, str]]) -> list[int]:
    """The version that the next row of each entity and period has, as in `Released`."""
    count = "SELECT entity, period, COUNT(*) AS rows FROM release GROUP BY entity, period"
    before = Counter({(row["entity"], row["period"]): row["rows"] for row in select(ledger, count)})
    numbers = []
    for key in keys:
        before[key] += 1
        numbers.append(before[key])
    return numbers


def add_rows(ledger: Ledger, run: int, rows: Iterable[Released]) -> None:
    """Release rows."""
    ledger.connection.executemany(
        "INSERT INTO release (run, name, entity, period, version, noisy_count, capacity,"
        " noisy_share, mu, noise_sd, spent_mu, chain) VALUES (:run, :name, :entity, :period,"
        " :version, :noisy_count, :capacity, :noisy_share, :mu, :noise_sd, :spent_mu, :chain)",
        ({"run": run} | vars(row) | row.numbers._asdict() for row in rows),
    )


def periods_of(ledger: Ledger, output: Output) -> dict[int, set[str]]:
    """The periods that each entity has released in an output."""
    found: dict[int, set[str]] = {}
    rows = f"SELECT release.entity, period FROM {_ROWS} WHERE run.output = ?"
    for row in select(ledger, rows, output.number):
        found.setdefault(row["entity"], set()).add(row["period"])
    return found


def last_period(ledger: Ledger, output: Output, run: int) -> str:
    """The last period in an output after a run."""
    last = f"SELECT MAX(period) FROM {_ROWS} WHERE run.output = ? AND run.number <= ?"
    return str(ledger.execute(last, output.number, run).fetchone()[0])


def released_for(ledger: Ledger, name: str) -> set[tuple[int, str]]:
    """Entities and periods released for the deployment of that name."""
    found = select(
        ledger,
        f"SELECT release.entity, period FROM {_ROWS} JOIN deployment"
        " ON deployment.number = run.deployment WHERE deployment.name = ?",
        name,
    )
    return {(row["entity"], row["period"]) for row in found}


def weighed_rows(ledger: Ledger) -> list[Weighed]:
    """All rows of a ledger, without what was released."""
    found = select(
        ledger,
        "SELECT run, release.entity, period, version, spent_mu AS mu, chain, run.output,"
        f" agreement FROM {_ROWS} JOIN deployment ON deployment.number = run.deployment",
    )
    rows = []
    for row in found:
        facts = dict(row)
        rows.append(Weighed(days=_agreed(facts.pop("agreement")).periods.days, **facts))
    return rows


def table_rows(ledger: Ledger, output: Output, *, withdrawn: bool = False) -> list[Cells]:
    """The rows of an output, in the order of their release; with those that left it if asked."""
    found = select(
        ledger,
        "SELECT release.name, period, noisy_count, capacity, noisy_share, mu, noise_sd, agreement"
        f" FROM {_ROWS if withdrawn else _HELD} JOIN deployment"
        " ON deployment.number = run.deployment WHERE run.output = ? ORDER BY release.number",
        output.number,
    )
    rows = []
    for row in found:
        low, high = interval(row["noisy_share"], row["noise_sd"])
        cells = Cells(
            entity=row["name"],
            period=row["period"],
            noisy_count=row["noisy_count"],
            capacity=row["capacity"],
            noisy_share=row["noisy_share"],
            mu=row["mu"],
            count_sensitivity=_agreed(row["agreement"]).sensitivity_text,
            noise_sd=row["noise_sd"],
            low=low,
            high=high,
        )
        rows.append(cells)
    return rows


def spent(ledger: Ledger, output: Output) -> float:
    """The largest mu of one entity in one period of an output."""
    found = select(
        ledger,
        f"SELECT group_concat(spent_mu) AS mus FROM {_HELD} WHERE run.output = ?"
        " GROUP BY release.entity, period",
        output.number,
    )
    sums = {row["mus"] for row in found}
    return math.sqrt(max(sum(Fraction(mu) ** 2 for mu in mus.split(",")) for mus in sums))


@functools.cache
def _agreed(agreement: str) -> Deployment:
    """The deployment of an agreement in canonical form."""
    return Deployment.model_validate(json.loads(agreement))


def _seen_from(ledger: Ledger, path: Path) -> str:
    return os.path.relpath(path.resolve(), ledger.path.parent.resolve())
