"""Entries of a ledger and queries of them: agreements, outputs, runs, entities, rows."""

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
        number: in the ledger.
        id: chosen at random; its record tells it.
        base: the path that the holder's file asks for, relative to the folder of the ledger.
        path: likewise, the path that the names of its releases begin with.
        origin: the number of the agreement that it began with.
        written: the last run whose release file was written, or 0.
    """

    number: int
    id: str
    base: str
    path: str
    origin: int
    written: int


def select(ledger: Ledger, statement: str, *values: str | int) -> list[sqlite3.Row]:
    """The rows of a query, each with its columns by name."""
    cursor = ledger.connection.cursor()
    cursor.row_factory = sqlite3.Row
    return cursor.execute(statement, values).fetchall()


# ---- Agreements. ---------------------------------------------------------------------------------


def add_deployment(ledger: Ledger, deployment: Deployment) -> None:
    """Remember that the holder has confirmed the agreement of a deployment."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    amended = deployment.amends.agreement if deployment.amends else ""
    ledger.execute(
        "INSERT INTO deployment (name, sha256, agreement, confirmed, origin) VALUES (?, ?, ?, ?,"
        " IFNULL((SELECT origin FROM deployment WHERE sha256 = ?),"
        " (SELECT IFNULL(MAX(number), 0) + 1 FROM deployment)))",
        *(deployment.name, deployment.sha256(), deployment.agreement(), today, amended),
    )


def agreements(ledger: Ledger, which: str = "") -> list[Deployment]:
    """The agreements that were confirmed, all or the ones that fit, by their last run."""
    found = select(
        ledger,
        "SELECT agreement FROM deployment LEFT JOIN run ON run.deployment = deployment.number"
        f" {which} GROUP BY deployment.number"
        " ORDER BY IFNULL(MAX(run.number), 0), deployment.number",
    )
    return [agreed(row["agreement"]) for row in found]


def deployments(ledger: Ledger) -> list[Deployment]:
    """The deployments that were released for, also by a lost ledger; each as in its last run."""
    lost = "deployment.number IN (SELECT deployment FROM marked)"
    released = agreements(ledger, f"WHERE run.number IS NOT NULL OR {lost}")
    return list({deployment.name: deployment for deployment in released}.values())


def deployment_of(ledger: Ledger, output: Output) -> Deployment:
    """The deployment that an output was released for last."""
    return agreements(ledger, f"WHERE run.output = {output.number}")[-1]


@functools.cache
def agreed(agreement: str) -> Deployment:
    """The deployment of an agreement in canonical form."""
    return Deployment.model_validate(json.loads(agreement))


@functools.cache
def _noise(agreement: str) -> CountNoise:
    return agreed(agreement).count_noise()


# ---- Outputs. ------------------------------------------------------------------------------------


def outputs(ledger: Ledger) -> list[Output]:
    """All outputs."""
    return [Output(**row) for row in select(ledger, "SELECT * FROM output ORDER BY number")]


def output_at(ledger: Ledger, base: Path, deployment: Deployment) -> Output | None:
    """The output of a deployment at the path that a holder asks for."""
    seen, origin = seen_from(ledger, base), _origin(ledger, deployment)
    return next((it for it in outputs(ledger) if (it.base, it.origin) == (seen, origin)), None)


def registered(ledger: Ledger, base: Path, deployment: Deployment) -> Output:
    """The output of a deployment at a path; a new one becomes known."""
    if known := output_at(ledger, base, deployment):
        return known
    seen, taken = seen_from(ledger, base), {it.path for it in outputs(ledger)}
    further = (f"{seen}-{number}" for number in itertools.count(2))
    path = next(it for it in itertools.chain([seen], further) if it not in taken)
    insert = "INSERT INTO output (id, base, path, origin) VALUES (?, ?, ?, ?)"
    identity, origin = new_id(), _origin(ledger, deployment)
    number = ledger.insert(insert, identity, seen, path, origin)
    return Output(number=number, id=identity, base=seen, path=path, origin=origin, written=0)


def path_of(ledger: Ledger, output: Output) -> Path:
    """The path that the names of an output's releases begin with."""
    return ledger.path.parent / output.path


def seen_from(ledger: Ledger, path: Path) -> str:
    """A path relative to the folder of the ledger."""
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
    """Begin a run for a deployment that was confirmed; its number.

    Args:
        ledger: the ledger.
        output: which gets its rows.
        deployment: as it was confirmed.
        sampler: where the noise comes from.
        use: the columns that were read.
        key: the public half of the holder's key.
    """
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return ledger.insert(
        "INSERT INTO run (date, output, deployment, sampler, counts, capacities, key)"
        " VALUES (?, ?, (SELECT number FROM deployment WHERE sha256 = ?), ?, ?, ?, ?)",
        *(today, output.number, deployment.sha256(), sampler),
        *(json.dumps(use.counts), json.dumps(use.capacities), key),
    )


def runs_of(ledger: Ledger, output: Output) -> list[sqlite3.Row]:
    """The runs of an output: number, date, sampler, head, rows, first and last period, again."""
    return select(
        ledger,
        "SELECT run.number, run.date, sampler, head, COUNT(*) AS rows, MIN(period) AS first,"
        " MAX(period) AS last, SUM(version > 1) AS again"
        " FROM run JOIN release ON release.run = run.number WHERE run.output = ?"
        " GROUP BY run.number ORDER BY run.number",
        output.number,
    )


def heads_of(ledger: Ledger) -> dict[int, str]:
    """The heads of the ledger's hash chain, by the number of the run."""
    return dict(ledger.execute("SELECT number, head FROM run").fetchall())


# ---- Entities and rows. --------------------------------------------------------------------------


def entities_of(ledger: Ledger, names: Iterable[str]) -> dict[str, int]:
    """The numbers of entities by their names; new entities are registered."""
    folds = {name: folded(name) for name in names}
    insert = "INSERT OR IGNORE INTO entity (folded) VALUES (?)"
    ledger.connection.executemany(insert, ((fold,) for fold in folds.values()))
    found = select(ledger, "SELECT folded, number FROM entity")
    numbers = {row["folded"]: row["number"] for row in found}
    return {name: numbers[fold] for name, fold in folds.items()}


def add_rows(
    ledger: Ledger, run: int, counts: Sequence[Count], deployment: Deployment, steps: Sequence[int]
) -> list[int]:
    """Release counts with noise; the numbers of their rows.

    Args:
        ledger: the ledger.
        run: its number.
        counts: in the order of their periods.
        deployment: says what a step of the noise is.
        steps: the noise on each count.
    """
    numbers, noise = entities_of(ledger, {it.entity for it in counts}), deployment.count_noise()
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
    """Entities and periods released for the deployment of a name: the bases of their outputs."""
    found: dict[tuple[int, str], set[str]] = {}
    periods = "SELECT DISTINCT entity, period, base FROM released WHERE deployment_name = ?"
    for row in select(ledger, periods, name):
        found.setdefault((row["entity"], row["period"]), set()).add(row["base"])
    return found


def table_rows(ledger: Ledger, output: Output) -> list[Released]:
    """The rows of an output, in the order of their release."""
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
