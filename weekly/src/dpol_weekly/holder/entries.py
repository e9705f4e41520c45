"""Entries of a ledger: agreements, outputs, runs, entities, rows, and queries of them."""

from __future__ import annotations

import datetime
import functools
import itertools
import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpol.core.names import folded
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.counts import Count
from dpol_weekly.holder.ledger import Ledger, new_id
from dpol_weekly.holder.settings import ColumnUse
from dpol_weekly.noise import CountNoise
from dpol_weekly.released.row import Released, noisy_count, released_row


@dataclass(frozen=True, kw_only=True)
class Output:
    """An output that a ledger knows; see ledger.sql.

    Args:
        number: number in the ledger.
        id: random identifier, stated in the record.
        base: path in the holder's file, relative to the folder of the ledger.
        path: path prefix of its releases, relative to the folder of the ledger.
        origin: number of its first agreement.
        written: last run with a written release file, or 0.
    """

    number: int
    id: str
    base: str
    path: str
    origin: int
    written: int


def select(ledger: Ledger, statement: str, *values: str | int) -> list[sqlite3.Row]:
    """Return the rows of a query, with columns by name."""
    cursor = ledger.connection.cursor()
    cursor.row_factory = sqlite3.Row
    return cursor.execute(statement, values).fetchall()


# ---- Agreements. ---------------------------------------------------------------------------------


def add_deployment(ledger: Ledger, deployment: Deployment) -> None:
    """Enter an agreement that the holder has confirmed."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    amended = deployment.amends.agreement if deployment.amends else ""
    ledger.execute(
        "INSERT INTO deployment (name, sha256, agreement, confirmed, origin) VALUES (?, ?, ?, ?,"
        " IFNULL((SELECT origin FROM deployment WHERE sha256 = ?),"
        " (SELECT IFNULL(MAX(number), 0) + 1 FROM deployment)))",
        *(deployment.name, deployment.sha256(), deployment.agreement(), today, amended),
    )


def agreements(ledger: Ledger, which: str = "") -> list[Deployment]:
    """Return the confirmed agreements, all or by a condition, in the order of their last run."""
    found = select(
        ledger,
        "SELECT agreement FROM deployment LEFT JOIN run ON run.deployment = deployment.number"
        f" {which} GROUP BY deployment.number"
        " ORDER BY IFNULL(MAX(run.number), 0), deployment.number",
    )
    return [agreed(row["agreement"]) for row in found]


def deployments(ledger: Ledger) -> list[Deployment]:
    """Return the agreements with releases (also of a lost ledger), each as in its last run."""
    lost = "deployment.number IN (SELECT deployment FROM marked)"
    released = agreements(ledger, f"WHERE run.number IS NOT NULL OR {lost}")
    return list({deployment.name: deployment for deployment in released}.values())


def deployment_of(ledger: Ledger, output: Output) -> Deployment:
    """Return the agreement of the last release of an output."""
    return agreements(ledger, f"WHERE run.output = {output.number}")[-1]


@functools.cache
def agreed(agreement: str) -> Deployment:
    """Return the agreement with this canonical text."""
    return Deployment.model_validate(json.loads(agreement))


@functools.cache
def _noise(agreement: str) -> CountNoise:
    return agreed(agreement).count_noise()


# ---- Outputs. ------------------------------------------------------------------------------------


def outputs(ledger: Ledger) -> list[Output]:
    """Return all outputs."""
    return [Output(**row) for row in select(ledger, "SELECT * FROM output ORDER BY number")]


def output_at(ledger: Ledger, base: Path, deployment: Deployment) -> Output | None:
    """Return the output of an agreement at the path in the holder's file; None if there is none."""
    seen, origin = seen_from(ledger, base), _origin(ledger, deployment)
    return next(
        (output for output in outputs(ledger) if (output.base, output.origin) == (seen, origin)),
        None,
    )


def registered(ledger: Ledger, base: Path, deployment: Deployment) -> Output:
    """Return the output of an agreement at a path; enter it if it is new."""
    if known := output_at(ledger, base, deployment):
        return known
    seen, taken = seen_from(ledger, base), {output.path for output in outputs(ledger)}
    further = (f"{seen}-{number}" for number in itertools.count(2))
    path = next(
        candidate for candidate in itertools.chain([seen], further) if candidate not in taken
    )
    insert = "INSERT INTO output (id, base, path, origin) VALUES (?, ?, ?, ?)"
    identity, origin = new_id(), _origin(ledger, deployment)
    number = ledger.insert(insert, identity, seen, path, origin)
    return Output(number=number, id=identity, base=seen, path=path, origin=origin, written=0)


def path_of(ledger: Ledger, output: Output) -> Path:
    """Return the path prefix of an output's releases."""
    return ledger.path.parent / output.path


def seen_from(ledger: Ledger, path: Path) -> str:
    """Return a path relative to the folder of the ledger."""
    return os.path.relpath(path.resolve(), ledger.path.parent.resolve())


def _origin(ledger: Ledger, deployment: Deployment) -> int:
    found = select(ledger, "SELECT origin FROM deployment WHERE sha256 = ?", deployment.sha256())
    return int(found[0]["origin"])


# ---- Runs. ---------------------------------------------------------------------------------------


def add_run(
    ledger: Ledger,
    output: Output,
    deployment: Deployment,
    *,
    sampler: str,
    use: ColumnUse,
    key: str,
) -> int:
    """Begin a run for a confirmed agreement and return its number.

    Args:
        ledger: the ledger.
        output: the output that gets the rows.
        deployment: the confirmed agreement.
        sampler: source of the noise.
        use: columns of the table by use.
        key: public half of the holder's key.
    """
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return ledger.insert(
        "INSERT INTO run (date, output, deployment, sampler, counts, capacities, key)"
        " VALUES (?, ?, (SELECT number FROM deployment WHERE sha256 = ?), ?, ?, ?, ?)",
        *(today, output.number, deployment.sha256(), sampler),
        *(json.dumps(use.counts), json.dumps(use.capacities), key),
    )


def runs_of(ledger: Ledger, output: Output) -> list[sqlite3.Row]:
    """Return the runs of an output: number, date, sampler, head, rows, first, last, again."""
    return select(
        ledger,
        "SELECT run.number, run.date, sampler, head, COUNT(*) AS rows, MIN(period) AS first,"
        " MAX(period) AS last, SUM(version > 1) AS again"
        " FROM run JOIN release ON release.run = run.number WHERE run.output = ?"
        " GROUP BY run.number ORDER BY run.number",
        output.number,
    )


def heads_of(ledger: Ledger) -> dict[int, str]:
    """Return the heads of the ledger's hash chain by the number of the run."""
    return dict(ledger.execute("SELECT number, head FROM run").fetchall())


# ---- Entities and rows. --------------------------------------------------------------------------


def entities_of(ledger: Ledger, names: Iterable[str]) -> dict[str, int]:
    """Return the numbers of entities by their names; enter new entities."""
    folds = {name: folded(name) for name in names}
    insert = "INSERT OR IGNORE INTO entity (folded) VALUES (?)"
    ledger.connection.executemany(insert, ((fold,) for fold in folds.values()))
    found = select(ledger, "SELECT folded, number FROM entity")
    numbers = {row["folded"]: row["number"] for row in found}
    return {name: numbers[fold] for name, fold in folds.items()}


def add_rows(
    ledger: Ledger, run: int, counts: Sequence[Count], deployment: Deployment, steps: Sequence[int]
) -> list[int]:
    """Enter counts with noise as released, and return the numbers of their rows.

    Args:
        ledger: the ledger.
        run: number of the run.
        counts: counts in the order of their periods.
        deployment: the agreement; it defines a step of the noise.
        steps: noise on each count in steps.
    """
    numbers, noise = (
        entities_of(ledger, {count.entity for count in counts}),
        deployment.count_noise(),
    )
    versions = "(SELECT COUNT(*) + 1 FROM release WHERE entity = ? AND period = ?)"
    rows = []
    for count, noisy in zip(counts, steps, strict=True):
        place = numbers[count.entity], count.period
        rows.append(
            ledger.insert(
                "INSERT INTO release (run, entity, period, version, name, noisy_count, capacity)"
                f" VALUES (?, ?, ?, {versions}, ?, ?, ?)",
                *(run, *place, *place, count.entity),
                *(noisy_count(count.count, noise, noisy), count.capacity),
            )
        )
    return rows


def released_for(ledger: Ledger, name: str) -> Mapping[tuple[int, str], set[str]]:
    """Return the bases of the outputs by entity and period, for agreements of a name."""
    found: dict[tuple[int, str], set[str]] = {}
    periods = "SELECT DISTINCT entity, period, base FROM released WHERE deployment_name = ?"
    for row in select(ledger, periods, name):
        found.setdefault((row["entity"], row["period"]), set()).add(row["base"])
    return found


def table_rows(ledger: Ledger, output: Output) -> list[Released]:
    """Return the rows of an output in the order of their release."""
    rows = "SELECT * FROM released WHERE output = ? ORDER BY number"
    return [
        released_row(
            entity=row["name"],
            period=row["period"],
            noisy_count=row["noisy_count"],
            capacity=row["capacity"],
            noise=_noise(row["agreement"]),
        )
        for row in select(ledger, rows, output.number)
    ]
