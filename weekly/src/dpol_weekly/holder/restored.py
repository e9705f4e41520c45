"""Continue after the ledger is lost: a coordinator's export says which periods were released.

A new ledger begins. It marks the exported entities and periods as released for good: their noise is
never drawn again. Nothing else in the export is read, so no number of a coordinator enters
anything, and a forged export can only prevent releases.
"""

from __future__ import annotations

import csv
import datetime
import sqlite3
from collections import Counter
from collections.abc import Mapping

from dpol.core.errors import DataError
from dpol.core.names import folded
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.entries import entities_of, released_for, select
from dpol_weekly.holder.hashes import remember_cells
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.holder.request import Request

Exported = Mapping[tuple[str, str], int]
"""How often each entity and period of a holder was released."""
_AGAIN = "ask the coordinator again for the .csv table that dpol export writes"


def read_export(request: Request) -> Exported:
    """Return the holder's entities and periods in the export of a request, if it names one.

    Raises:
        DataError: the file is no export, or a row about the holder's entity has no period of the
            agreement that is over.
    """
    export, found = request.continue_from, Counter[tuple[str, str]]()
    if export is None:
        return found
    own = {folded(name): name for name in request.hospital.texts}
    try:
        with export.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            if missing := {"entity", "period"} - {*(reader.fieldnames or ())}:
                raise DataError(f"{export}: lacks the column {min(missing)}; {_AGAIN}")
            for row in reader:
                entity = own.get(folded(row["entity"] or ""))
                if entity and not _is_over(row["period"], request):
                    raise DataError(
                        f"{export}, line {reader.line_num}: its period is none of the deployment"
                        f" {request.deployment.name} that is over; {_AGAIN}"
                    )
                if entity:
                    found[entity, row["period"]] += 1
    except OSError as error:
        raise DataError(f"{export}: cannot be read ({error.strerror}); check the path") from None
    except (ValueError, csv.Error):
        raise DataError(f"{export}: is not CSV; {_AGAIN}") from None
    return found


def mark(ledger: Ledger, request: Request, exported: Exported) -> None:
    """Mark the periods of an export as released.

    Raises:
        DataError: the ledger has released, or marked, periods of this deployment already.
    """
    if request.continue_from is None:
        return
    deployment = request.deployment
    if released_for(ledger, deployment.name) or marked_for(ledger, deployment.name):
        raise DataError(
            f"--continue-from: {ledger.path} is there, and knows what it has released for the"
            f" deployment {deployment.name}; leave --continue-from out. If the ledger is an older"
            " copy, and its newest copy is lost, move it away first"
        )
    numbers = entities_of(ledger, request.hospital.texts)
    ledger.connection.executemany(
        "INSERT INTO marked VALUES ((SELECT number FROM deployment WHERE sha256 = ?), ?, ?, ?)",
        [
            (deployment.sha256(), numbers[entity], period, times)
            for (entity, period), times in exported.items()
        ],
    )
    remember_cells(ledger, request.hospital, exported)


def marked_for(ledger: Ledger, name: str) -> list[sqlite3.Row]:
    """Return the marked rows for agreements of a name: entity, folded name and period."""
    return select(
        ledger,
        "SELECT entity, folded, period FROM marked JOIN entity ON entity.number = marked.entity"
        " JOIN deployment ON deployment.number = marked.deployment WHERE name = ?",
        name,
    )


def _is_over(text: str | None, request: Request) -> bool:
    """Return True if a text is the start of a period of the agreement that is over."""
    deployment: Deployment = request.deployment
    try:
        period = datetime.date.fromisoformat(text or "")
    except ValueError:
        return False
    after = period + datetime.timedelta(days=deployment.periods.days)
    on_grid = period.isoformat() == text and deployment.number_of(period) is not None
    return on_grid and after <= (request.today or datetime.date.today())
