"""The views of a ledger: the table that is shared, and the record of its guarantee.

Rows are only ever added, in the order of their release. So an older state of a table is the
beginning of the newer one, and what is missing can be written at any time.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError
from dpol.core.files import atomic_path
from dpol.privacy.dp_events import dp_event_facts
from dpol.privacy.guarantee import ONE_PERSON, STAY, STAY_UNIT, UNIT, Guarantee
from dpol.privacy.stays import STAYS
from dpol_weekly.holder import chains, entries
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.holder.overlaps import most_in_a_period


@dataclass(frozen=True)
class Record:
    """The origin of an output, as its record states it.

    Args:
        facts: all that it states.
        ledger: id of its ledger.
        output: id of the output in it.
        token: of the last run that released rows of the output.
    """

    facts: Mapping[str, Any]
    ledger: str
    output: str
    token: str


def record_of(output: Path) -> Path:
    """Path of the record that holds the guarantee of a released table."""
    return output.parent / f"{output.name}.guarantee.json"


def checksum(table: bytes, record: Mapping[str, Any]) -> str:
    """SHA-256 of a table and of its record, as JSON with sorted keys, without blanks.

    Args:
        table: its bytes.
        record: all facts; the checksum itself, `sha256`, is left out.
    """
    rest = {key: value for key, value in record.items() if key != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(table + text.encode()).hexdigest()


def read_record(path: Path) -> Record | None:
    """A record, or None if the file is missing or is not one."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        known, output, token = (str(facts["ledger"][key]) for key in ("id", "output", "token"))
        return Record(facts, known, output, token)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def write_views(ledger: Ledger, output: entries.Output, path: Path) -> bool:
    """Write the table and its record if they are not what the ledger says, and remember that.

    Returns:
        Whether something was written.

    Raises:
        DataError: the table was changed after its release.
        OutputError: they cannot be written.
    """
    rows = list(entries.table_rows(ledger, output))
    table, there = _table(output, rows), path.read_bytes() if path.exists() else b""
    ever = _table(output, list(entries.table_rows(ledger, output, withdrawn=True)))
    if not (table.startswith(there) or ever.startswith(there)):
        raise DataError(
            f"{path}: is not what {ledger.path} says was released: it was changed, or the ledger is"
            " an older copy; in the first case move the table away and run again with"
            " --write-again, which writes it as it was; in the second put the newer ledger back"
        )
    ledger.execute("UPDATE output SET written = 1 WHERE number = ? AND NOT written", output.number)
    record, text = record_of(path), _record_text(ledger, output, path.name, rows, table)
    with suppress(OSError):
        if there == table and record.read_bytes() == text:
            return False
    # The record comes into being first, so no table is without one.
    with atomic_path(path) as new_table, atomic_path(record) as new_record:
        new_table.write_bytes(table)
        new_record.write_bytes(text)
    return True


def temporary_files(path: Path) -> list[Path]:
    """Temporary files of a table and of its record that killed runs left, see `atomic_path`."""
    stem, _, suffix = path.name.partition(".")
    pattern = re.compile(
        rf"\.{re.escape(stem)}-[a-z0-9_]{{8}}\.{re.escape(suffix)}(\.guarantee\.json)?"
    )
    return [file for file in path.parent.glob(".*") if pattern.fullmatch(file.name)]


def guarantee_of(ledger: Ledger, output: entries.Output) -> Guarantee:
    """The guarantee of an output: an entity's period that was released twice counts twice."""
    samplers = {run.sampler for run in entries.runs_of(ledger, output)}
    mu, memories = entries.spent(ledger, output), chains.memories_of(ledger, output)
    stay = min(weeks for *_, weeks in memories)
    memory = "with memory " if any(a != b for a, b, _ in memories) else ""
    return Guarantee(
        mechanism=f"discrete Gaussian noise {memory}on every count, capacity calibration",
        adjacency=STAY.format(stay) if stay > 1 else ONE_PERSON,
        unit=STAY_UNIT.format(stay) if stay > 1 else UNIT,
        sensitivity=math.sqrt(2.0) * float(Decimal(output.count_sensitivity)),
        sensitivity_unit="L2, persons",
        mu=mu,
        model="local",
        sampler="secure" if samplers == {"secure"} else "seeded",
        stays=tuple(mu * chains.growth(memories, it) for it in STAYS),
    )


def _table(output: entries.Output, rows: list[list[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([output.header, *rows])
    return text.getvalue().encode()


def _record_text(
    ledger: Ledger, output: entries.Output, name: str, rows: list[list[str]], table: bytes
) -> bytes:
    guarantee = guarantee_of(ledger, output)
    runs = [run for run in entries.runs_of(ledger, output) if run.rows]
    levels, last = Counter(row[output.header.index("mu")] for row in rows), runs[-1]
    facts: dict[str, Any] = {
        **guarantee.as_dict(),
        "mu_of_one_entity_alone": guarantee.mu / math.sqrt(2),
        "mu_over_all_outputs": most_in_a_period(entries.weighed_rows(ledger)),
        "mu_levels": [{"mu": float(mu), "rows": number} for mu, number in levels.items()],
        "releases": [
            {"run": it.number, "date": it.date, "rows": it.rows, "imported": it.imported}
            for it in runs
        ],
        "file": name,
        "rows": len(rows),
        "ledger": {"id": ledger.id, "output": output.id, "run": last.number, "token": last.token},
    }
    if deployment := entries.deployment_of(ledger, output):
        facts["deployment"] = {"name": deployment.name, "sha256": deployment.sha256}
    if parts := chains.parts_of(ledger, output):
        # One period's event, taken several times, would not give the mu of a stay.
        stays = zip(STAYS, guarantee.stays or (), strict=True)
        facts["dp_events_of_stays"] = {str(stay): dp_event_facts(mu) for stay, mu in stays}
        facts["chains"] = [_part(part) for part in parts]
    else:
        facts["dp_event"] = dp_event_facts(guarantee.mu)
    facts["sha256"] = checksum(table, facts)
    return (json.dumps(facts, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _part(part: chains.Part) -> dict[str, Any]:
    """The facts that a receiver needs to know of a chain; its state is secret."""
    facts = {**part._asdict(), **part.terms._asdict()}
    del facts["terms"]
    return facts | {name: float(facts[name]) for name in ("a", "b", "mu")}
