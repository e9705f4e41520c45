"""Entries of a ledger: agreements, outputs, runs, rows, and queries of them."""

from __future__ import annotations

import datetime
import functools
import json
import sqlite3
from collections.abc import Mapping, Sequence

from dpol.core.errors import DataError
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.counts import Count
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.keys import Secret
from dpol_weekly.records import alike
from dpol_weekly.released.row import Released


def select(ledger: Ledger, statement: str, *values: str | int) -> list[sqlite3.Row]:
    """Return the rows of a query, with columns by name."""
    cursor = ledger.connection.cursor()
    cursor.row_factory = sqlite3.Row
    return cursor.execute(statement, values).fetchall()


# ---- Agreements. ---------------------------------------------------------------------------------


def add_deployment(ledger: Ledger, deployment: Deployment) -> None:
    """Enter an agreement that the holder has confirmed."""
    cells = deployment.name, deployment.sha256(), deployment.agreement()
    ledger.link(ledger.add("deployment", *cells))


def agreements(ledger: Ledger, *, released: bool = False) -> list[Deployment]:
    """Return the confirmed agreements, all or those with releases, in the order of confirmation."""
    which = "WHERE number IN (SELECT deployment FROM run)" if released else ""
    found = select(ledger, f"SELECT agreement FROM deployment {which} ORDER BY number")
    return [agreed(row["agreement"]) for row in found]


@functools.cache
def agreed(agreement: str) -> Deployment:
    """Return the agreement with this canonical text."""
    return Deployment.model_validate(json.loads(agreement))


# ---- Outputs. ------------------------------------------------------------------------------------


def output_of(ledger: Ledger, label: str, deployment: Deployment) -> sqlite3.Row | None:
    """Return the output of a label (see ledger.sql); None if there is none.

    Raises:
        DataError: it is of an agreement of another name.
    """
    known = next(iter(select(ledger, "SELECT * FROM output WHERE label = ?", label)), None)
    if known and known["name"] != deployment.name:
        raise DataError(
            f"{label}: files of the deployment {known['name']} begin so in this ledger; give the"
            " other deployment another name"
        )
    return known


def registered(ledger: Ledger, label: str, deployment: Deployment, secret: Secret) -> int:
    """Return the number of the output of an agreement and a label; enter it if it is new.

    A ledger that was restored gives it the same id again.
    """
    if known := output_of(ledger, label, deployment):
        return int(known["number"])
    identity = secret.key("output", ledger.id, deployment.name, label).hex()[:16]
    number = ledger.add("output", identity, deployment.name, label)
    ledger.link(number)
    return number


# ---- Runs. ---------------------------------------------------------------------------------------


def add_run(ledger: Ledger, output: int, deployment: Deployment, *cells: str | None) -> int:
    """Begin a run for a confirmed agreement and return its number.

    Args:
        ledger: the ledger.
        output: number of the output that gets the rows.
        deployment: the confirmed agreement.
        cells: columns of counts and of published capacities, key and secret; see ledger.sql.
    """
    of = "SELECT number FROM deployment WHERE sha256 = ?"
    (number,) = ledger.execute(of, deployment.sha256()).fetchone()
    return ledger.add("run", output, number, *cells)


def heads_of(ledger: Ledger) -> set[str]:
    """Return the heads of the hash chain after each run."""
    return {head for (head,) in ledger.execute("SELECT head FROM run JOIN link USING (number)")}


# ---- Rows. ---------------------------------------------------------------------------------------


def version_of(ledger: Ledger, deployment: Deployment, count: Count) -> int:
    """Return the number of the next release of a count's place and period, from 1."""
    found = "SELECT COUNT(*) + 1 FROM release WHERE scope = ? AND place = ? AND period = ?"
    version: int = ledger.execute(found, deployment.name, count.place, count.period).fetchone()[0]
    return version


def add_rows(
    ledger: Ledger, run: int, deployment: Deployment, rows: Sequence[tuple[Count, int, str]]
) -> None:
    """Enter rows of a run: counts in the order of their periods, versions and noisy counts."""
    for count, version, noisy in rows:
        ledger.execute(
            "INSERT INTO release (run, scope, place, entity, name, period, version, noisy_count,"
            " capacity) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(run, deployment.name, count.place, alike(count.entity), count.entity, count.period),
            *(version, noisy, count.capacity),
        )


def closed_until(ledger: Ledger, secret: str) -> str:
    """Return the last day up to which nothing is released, or "".

    That is the day after which the ledger was begun, or the last one released with another secret,
    which might draw other noise for the same count.
    """
    found = "SELECT agreement, MAX(period) AS period FROM released WHERE secret != ?"
    ends = [
        agreed(row["agreement"]).last_day(datetime.date.fromisoformat(row["period"])).isoformat()
        for row in select(ledger, f"{found} GROUP BY deployment", secret)
    ]
    return max([ledger.begin_after, *ends])


def released_for(ledger: Ledger, name: str) -> Mapping[tuple[str, str], list[str]]:
    """Return the label of each release by entity and period, for agreements of a name."""
    found: dict[tuple[str, str], list[str]] = {}
    rows = "SELECT entity, period, label FROM released WHERE scope = ?"
    for row in select(ledger, rows, name):
        found.setdefault((row["entity"], row["period"]), []).append(row["label"])
    return found


def table_rows(ledger: Ledger, output: int) -> list[Released]:
    """Return the rows of an output in the order of their release."""
    rows = "SELECT name, period, noisy_count, capacity FROM released WHERE output = ?"
    found = ledger.execute(f"{rows} ORDER BY number", output)
    return [*map(Released._make, found)]
