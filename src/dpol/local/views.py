"""The views of a ledger: the table that is given away, and the record of its guarantee.

Rows are only ever added, in the order of their release. So an older state of a table is the
beginning of the newer one, and what is missing can be written at any time.
"""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import json
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from dpol.core.errors import DataError
from dpol.core.files import atomic_path
from dpol.local.entries import Output, mu_levels, runs_of, spent, table_rows
from dpol.local.ledger import Ledger
from dpol.privacy.guarantee import ONE_PERSON, UNIT, Guarantee

_CHUNK = 10_000

State = Literal["same", "older", "longer", "other"]
"""A table on the disk: as the ledger has it, its beginning or missing, longer, or another one."""


@dataclass(frozen=True)
class Record:
    """What the record of an output says of where it comes from; empty text where it does not.

    Args:
        sha256: of the table.
        ledger: id of its ledger; records of versions of dpol without ledger have none.
        output: id of the output in it.
        token: of the last run that released rows of the output.
        sampler: where the noise came from.
    """

    sha256: str
    ledger: str
    output: str
    token: str
    sampler: str


def record_of(output: Path) -> Path:
    """Where the guarantee of a released table is written."""
    return output.with_name(f"{output.name}.guarantee.json")


def read_record(path: Path) -> Record | None:
    """A record, or None if the file is missing or is not one."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        origin = stored.get("ledger", {})
        cells = (*map(origin.get, ("id", "output", "token")), stored.get("sampler"))
        return Record(str(stored["sha256"]), *(str(cell or "") for cell in cells))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def write_views(ledger: Ledger, output: Output, path: Path) -> bool:
    """Write the table and its record if they are missing or older than the ledger.

    Returns:
        Whether something was written.

    Raises:
        DataError: the table was changed after its release.
        OutputError: they cannot be written.
    """
    state, checksum, size = _compare(ledger, output, path)
    if state in ("longer", "other"):
        raise DataError(
            f"{path}: is not what {ledger.path} says was released: it was changed, or the ledger is"
            " an older copy; in the first case move the table away and run again, which writes it"
            " as it was; in the second put the newer ledger back"
        )
    record, text = record_of(path), _record_text(ledger, output, path, checksum, size)
    if state == "same":
        with suppress(OSError, UnicodeDecodeError):
            if record.read_text(encoding="utf-8") == text:
                return False
    # The record comes into being first, so no table is without one.
    with atomic_path(path) as table, atomic_path(record) as beside:
        with table.open("wb") as stream:
            stream.writelines(_chunks(ledger, output))
        beside.write_text(text, encoding="utf-8")
    return True


def remove_stale_files(path: Path) -> None:
    """Remove what killed runs left: temporary files of a table and of its record.

    Those of versions of dpol without ledger may hold noisy counts that count as not released.
    """
    for file in temporary_files(path):
        with suppress(OSError):
            file.unlink()


def temporary_files(path: Path) -> list[Path]:
    """Temporary files of a table and of its record, see `dpol.core.files.atomic_path`."""
    stem, _, suffix = path.name.partition(".")
    pattern = re.compile(
        rf"\.{re.escape(stem)}-[a-z0-9_]{{8}}\.{re.escape(suffix)}(\.guarantee\.json)?"
    )
    with suppress(OSError):
        return [file for file in path.parent.iterdir() if pattern.fullmatch(file.name)]
    return []


def guarantee_of(ledger: Ledger, output: Output) -> Guarantee:
    """The guarantee of an output: an entity's period that was released twice counts twice."""
    samplers = {run.sampler for run in runs_of(ledger, output)}
    return Guarantee(
        mechanism="discrete Gaussian noise on every count, capacity calibration",
        adjacency=ONE_PERSON,
        unit=UNIT,
        sensitivity=math.sqrt(2.0) * float(Decimal(output.count_sensitivity)),
        sensitivity_unit="L2, persons",
        mu=spent(ledger, output),
        model="local",
        sampler="secure" if samplers == {"secure"} else "seeded",
    )


def starts_with_released(ledger: Ledger, output: Output, rows: list[list[str]]) -> int | None:
    """How many rows of an output a table begins with; None if it begins with others."""
    known = list(table_rows(ledger, output))
    return len(known) if rows[: len(known)] == known else None


def _chunks(ledger: Ledger, output: Output) -> Iterator[bytes]:
    rows = itertools.chain([list(output.header)], table_rows(ledger, output))
    while chunk := list(itertools.islice(rows, _CHUNK)):
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(chunk)
        yield text.getvalue().encode()


def _compare(ledger: Ledger, output: Output, path: Path) -> tuple[State, str, int]:
    """The state of a table, and the checksum and number of rows of the ledger's."""
    checksum, rows = hashlib.sha256(), -1
    state: State = "same"
    with path.open("rb") if path.exists() else io.BytesIO() as stream:
        for chunk in _chunks(ledger, output):
            checksum.update(chunk)
            rows += chunk.count(b"\n")
            there = stream.read(len(chunk))
            if state == "same" and there != chunk:
                state = "older" if chunk.startswith(there) else "other"
        if state == "same" and stream.read(1):
            state = "longer"
    return state, checksum.hexdigest(), rows


def _record_text(ledger: Ledger, output: Output, path: Path, checksum: str, rows: int) -> str:
    guarantee, runs = guarantee_of(ledger, output), runs_of(ledger, output)
    facts: dict[str, Any] = {
        **guarantee.as_dict(),
        "mu_of_one_entity_alone": guarantee.mu / math.sqrt(2),
        "mu_over_all_outputs": spent(ledger),
        "mu_levels": [
            {"mu": float(mu), "rows": number} for mu, number in mu_levels(ledger, output)
        ],
        "releases": [
            {"run": run.number, "date": run.date, "rows": run.rows, "imported": run.imported}
            for run in runs
        ],
        "file": path.name,
        "sha256": checksum,
        "rows": rows,
        "ledger": {
            "id": ledger.id,
            "output": output.id,
            "run": runs[-1].number,
            "token": runs[-1].token,
        },
    }
    return json.dumps(facts, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
