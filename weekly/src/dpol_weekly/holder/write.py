"""Write release files: each holds all rows of an output so far, as the ledger has them.

Rows are added in the order of their release and never removed. So a missing or damaged file can be
written again at any time.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from pathlib import Path

from dpol.core.files import atomic_path
from dpol_weekly.holder.entries import table_rows
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.keys import Key
from dpol_weekly.records import signed_text


def write_release(ledger: Ledger, output: sqlite3.Row, key: Key, folder: Path) -> Path:
    """Write the last release of an output if it differs from the ledger.

    Args:
        ledger: the ledger.
        output: an output with rows.
        key: key that signs the release.
        folder: the folder of the releases.

    Returns:
        The file of the release, such as `valley-north-2024-03-31.json`.

    Raises:
        OutputError: the file cannot be written.
    """
    number, label = output["number"], output["label"]
    sha256, period = ledger.execute(
        "SELECT sha256, (SELECT MAX(period) FROM released WHERE output = ?1)"
        " FROM run JOIN deployment ON deployment.number = run.deployment WHERE output = ?1"
        " ORDER BY run.number DESC",
        number,
    ).fetchone()
    facts = {
        "dpol_release": 3,
        "agreement": sha256,
        "ledger": {"id": ledger.id, "output": output["id"]},
        "rows": table_rows(ledger, number),
        "key": key.public,
    }
    file = folder / f"{label}-{period}.json"
    whole = facts | {"signature": key.sign(signed_text(facts))}
    put(file, f"{json.dumps(whole, indent=1)}\n".encode())
    return file


def put(file: Path, content: bytes) -> None:
    """Write a file, whole or not at all, unless it is there.

    Raises:
        OutputError: it cannot be written.
    """
    with suppress(OSError):
        if file.is_file() and file.read_bytes() == content:  # a pipe would never end
            return
    with atomic_path(file) as new:
        new.write_bytes(content)
