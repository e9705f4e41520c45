"""Write release files: each holds all rows of an output so far, as the ledger has them.

Rows are added in the order of their release and never removed. So a missing or damaged file can be
written again at any time.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from dpol.core.files import atomic_path
from dpol_weekly.holder.entries import Output, agreed, runs_of, table_rows
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.keys import Key
from dpol_weekly.records import signed_text


def last_written(ledger: Ledger, output: Output) -> int | None:
    """Return the last run of an output whose file was written; None if there is none."""
    found = "SELECT MAX(run) FROM written JOIN run ON run.number = run WHERE output = ?"
    last: int | None = ledger.execute(found, output.number).fetchone()[0]
    return last


def write_release(ledger: Ledger, output: Output, key: Key, folder: Path) -> Path:
    """Write the last release of an output if it differs from the ledger, and note that.

    Args:
        ledger: the ledger.
        output: an output with rows.
        key: key that signs the release.
        folder: the folder of the releases.

    Returns:
        The file of the release.

    Raises:
        OutputError: the file cannot be written.
    """
    run = runs_of(ledger, output)[-1]
    facts = {
        "dpol_release": 3,
        "agreement": agreed(run["agreement"]).sha256(),
        "ledger": {"id": ledger.id, "output": output.id},
        "rows": table_rows(ledger, output),
        "key": key.public,
    }
    last = run["number"]
    file = folder / release_name(ledger, output, last)
    whole = facts | {"signature": key.sign(signed_text(facts))}
    content = f"{json.dumps(whole, indent=1)}\n".encode()
    if last_written(ledger, output) != last:
        ledger.link(ledger.add("written", last))
    with suppress(OSError):
        if file.is_file() and file.read_bytes() == content:  # a pipe would never end
            return file
    with atomic_path(file) as new:
        new.write_bytes(content)
    return file


def copy_release(file: Path, folder: Path) -> None:
    """Copy a release into a folder, whole or not at all, unless it is there.

    Raises:
        OutputError: the copy cannot be written.
    """
    copy, content = folder / file.name, file.read_bytes()
    if not (copy.is_file() and copy.read_bytes() == content):
        with atomic_path(copy) as new:
            new.write_bytes(content)


def release_name(ledger: Ledger, output: Output, run: int) -> str:
    """Return the name of the file of a run of an output, such as `valley-north-2024-03-31.json`."""
    last = "SELECT MAX(period) FROM released WHERE output = ? AND run <= ?"
    return f"{output.label}-{ledger.execute(last, output.number, run).fetchone()[0]}.json"
