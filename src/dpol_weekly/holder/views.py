"""The views of a ledger: the table that is shared, and the record of its guarantee.

Rows are only ever added, in the order of their release. So an older state of a table is the
beginning of the newer one, and what is missing can be written at any time.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError
from dpol.core.files import atomic_path
from dpol.privacy.dp_events import dp_event_facts
from dpol.privacy.guarantee import ONE_PERSON, STAY, STAY_UNIT, UNIT, Guarantee
from dpol.privacy.stays import STAYS
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.ceiling import most_in_a_period
from dpol_weekly.holder.draws import end_all, memories, parts_of
from dpol_weekly.holder.entries import (
    Output,
    deployment_of,
    knows_run,
    move_output,
    output_at,
    output_paths,
    runs_of,
    spent,
    table_rows,
    weighed_rows,
)
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.memory import growth
from dpol_weekly.released import Cells, Record, checksum, read_record, record_of


def check_newest(ledger: Ledger, path: Path, *, write_again: bool) -> None:
    """Make sure that the ledger knows all that an output and the records nearby do.

    Args:
        ledger: the ledger.
        path: of the output; one that was moved is known again by its record.
        write_again: the ledger is the newest, and what is gone of the output is to be written
            again. Then all chains of all outputs end, as each may have gone on in what is lost.

    Raises:
        DataError: the output, its record, or another record nearby knows of releases that the
            ledger does not know; or the output is another ledger's, or is gone.
    """
    if write_again:
        end_all(ledger)
    file = record_of(path)
    record, at = _record(file), output_at(ledger, path)
    if at and at.written and not (write_again or (record and path.exists())):
        raise DataError(
            f"{path if record else file}: was written once, and is gone or damaged; put it back, or"
            f" the newest ledger, if {ledger.path} is an older copy; if it is the newest, add"
            " --write-again, which writes table and record as the ledger has them"
        )
    if record and knows_run(ledger, record.token):
        if not (at.id == record.output if at else move_output(ledger, record.output, path)):
            raise DataError(
                f"{path}: its record is that of another output of {ledger.path}; put table and"
                " record back under their own names"
            )
    elif not record and not at and (path.exists() or file.exists()):
        raise DataError(
            f"{path}: exists already, and is not known to {ledger.path} nor described by"
            f" {file.name}; choose another output, or put back what is missing"
        )
    outputs = output_paths(ledger)
    files = {file, *map(record_of, outputs)}
    for folder in (path.parent, ledger.path.parent):
        files.update(folder.glob("[!.]*.guarantee.json"))
    for other in sorted(files):
        nearby = _record(other)
        # A ledger without outputs may stand in for any that is lost.
        ours = nearby and (other == file or nearby.ledger == ledger.id or not outputs)
        if nearby and ours and not knows_run(ledger, nearby.token):
            raise DataError(
                f"{other}: knows of releases that the ledger {ledger.path} does not know; name the"
                " right ledger with --ledger, or put its newest copy back. If it is lost, go on"
                " from what the coordinator has collected, with --continue-from and the table that"
                " dpol export writes"
            )


def write_views(ledger: Ledger, path: Path) -> None:
    """Write an output and its record if they are not what the ledger says, and remember that.

    Raises:
        DataError: the table was changed after its release.
        OutputError: they cannot be written.
    """
    output = output_at(ledger, path)
    deployment = deployment_of(ledger, output) if output else None
    if output is None or deployment is None:
        return
    rows = table_rows(ledger, output)
    table, there = _table(deployment, rows), path.read_bytes() if path.exists() else b""
    ever = _table(deployment, table_rows(ledger, output, withdrawn=True))
    if not (table.startswith(there) or ever.startswith(there)):
        raise DataError(
            f"{path}: is not what {ledger.path} says was released: it was changed, or the ledger is"
            " an older copy; in the first case move the table away and run again with"
            " --write-again, which writes it as it was; in the second put the newer ledger back"
        )
    ledger.execute("UPDATE output SET written = 1 WHERE number = ? AND NOT written", output.number)
    record, text = record_of(path), _record_text(ledger, output, deployment, path.name, rows, table)
    with suppress(OSError):
        if there == table and record.read_bytes() == text:
            return
    # The record comes into being first, so no table is without one.
    with atomic_path(path) as new_table, atomic_path(record) as new_record:
        new_table.write_bytes(table)
        new_record.write_bytes(text)


def temporary_files(path: Path) -> list[Path]:
    """Temporary files of a table and of its record that killed runs left, see `atomic_path`."""
    stem, _, suffix = path.name.partition(".")
    pattern = re.compile(
        rf"\.{re.escape(stem)}-[a-z0-9_]{{8}}\.{re.escape(suffix)}(\.guarantee\.json)?"
    )
    return [file for file in path.parent.glob(".*") if pattern.fullmatch(file.name)]


def guarantee_of(ledger: Ledger, output: Output, count_sensitivity: float) -> Guarantee:
    """The guarantee of an output: an entity's period that was released twice counts twice."""
    samplers = {run.sampler for run in runs_of(ledger, output)}
    mu, held = spent(ledger, output), set(memories(ledger, output).values())
    stay = min(weeks for *_, weeks in held)
    memory = "with memory " if any(a != b for a, b, _ in held) else ""
    return Guarantee(
        mechanism=f"discrete Gaussian noise {memory}on every count, capacity calibration",
        adjacency=STAY.format(stay) if stay > 1 else ONE_PERSON,
        unit=STAY_UNIT.format(stay) if stay > 1 else UNIT,
        sensitivity=math.sqrt(2.0) * count_sensitivity,
        sensitivity_unit="L2, persons",
        mu=mu,
        model="local",
        sampler="secure" if samplers == {"secure"} else "seeded",
        stays=tuple(mu * growth(held, periods) for periods in STAYS),
    )


def _record(path: Path) -> Record | None:
    """A record; None if the file is missing, or is not one."""
    with suppress(DataError):
        return read_record(path)
    return None


def _table(deployment: Deployment, rows: Sequence[Cells]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([deployment.columns.header(), *rows])
    return text.getvalue().encode()


def _record_text(
    ledger: Ledger,
    output: Output,
    deployment: Deployment,
    name: str,
    rows: Sequence[Cells],
    table: bytes,
) -> bytes:
    guarantee = guarantee_of(ledger, output, deployment.count_sensitivity)
    runs = [run for run in runs_of(ledger, output) if run.rows]
    levels, last = Counter(row.mu for row in rows), runs[-1]
    facts: dict[str, Any] = {
        **guarantee.as_dict(),
        "mu_of_one_entity_alone": guarantee.mu / math.sqrt(2),
        "mu_over_all_outputs": most_in_a_period(weighed_rows(ledger)),
        "mu_levels": [{"mu": float(mu), "rows": number} for mu, number in levels.items()],
        "releases": [
            {"run": it.number, "date": it.date, "rows": it.rows, "imported": bool(it.imported)}
            for it in runs
        ],
        "file": name,
        "rows": len(rows),
        "ledger": {"id": ledger.id, "output": output.id, "run": last.number, "token": last.token},
        "deployment": {"name": deployment.name, "sha256": deployment.sha256()},
    }
    if parts := parts_of(ledger, output):
        # One period's event, taken several times, would not give the mu of a stay.
        stays = zip(STAYS, guarantee.stays or (), strict=True)
        facts["dp_events_of_stays"] = {str(stay): dp_event_facts(mu) for stay, mu in stays}
        facts["chains"] = parts
    else:
        facts["dp_event"] = dp_event_facts(guarantee.mu)
    facts["sha256"] = checksum(table, facts)
    return (json.dumps(facts, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()
