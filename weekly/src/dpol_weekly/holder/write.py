"""Write release files: each holds all rows of an output so far, as the ledger has them.

Rows are added in the order of their release and never removed. So a missing or damaged file can be
written again at any time.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.files import atomic_path
from dpol_weekly.holder.entries import (
    Output,
    deployment_of,
    path_of,
    runs_of,
    table_rows,
)
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.holder.record import facts_of, statement_of
from dpol_weekly.holder.restored import marked_for
from dpol_weekly.keys import Key
from dpol_weekly.released.find import read_parts
from dpol_weekly.released.format import RECORD, STATEMENT, TABLE, checksum, pack
from dpol_weekly.released.row import Released

_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"


def refuse_gone(ledger: Ledger, output: Output, *, write_again: bool) -> None:
    """Refuse to go on if the last release of an output is gone: the newest ledger may be gone too.

    Raises:
        DataError: it is gone, and the holder has not asked to write it again.
    """
    if output.written and not write_again:
        file = release_file(ledger, output, output.written)
        if not file.exists():
            raise DataError(
                f"{file}: was written once, and is gone; put it back, or the newest ledger, if"
                f" {ledger.path} is an older copy; if it is the newest, add --write-again, which"
                " writes the file as the ledger has it"
            )


def write_release(ledger: Ledger, output: Output, key: Key) -> Path:
    """Write the last release of an output if it differs from the ledger, and note that.

    Temporary files of killed runs are removed. Another file in its place is moved aside.

    Args:
        ledger: the ledger.
        output: an output with rows.
        key: key that signs the release.

    Returns:
        The file of the release.

    Raises:
        OutputError: the file cannot be written.
    """
    path = path_of(ledger, output)
    left = re.compile(rf"\.{re.escape(path.name)}-{_DATE}-[a-z0-9_]{{8}}\.zip")
    for temporary in path.parent.glob(".*"):  # as `atomic_path` names them
        if left.fullmatch(temporary.name):
            with suppress(OSError):
                temporary.unlink()
    last, rows = runs_of(ledger, output)[-1]["number"], table_rows(ledger, output)
    table = _table(rows)
    file, content = release_file(ledger, output, last), _packed(ledger, output, table, rows, key)
    if output.written != last:
        ledger.execute("UPDATE output SET written = ? WHERE number = ?", last, output.number)
    with suppress(OSError):
        if file.is_file() and file.read_bytes() == content:  # a pipe would never end
            return file
    if file.exists() and not _is_earlier(file, table):
        file.replace(file.with_name(f"{file.name}.aside"))
    with atomic_path(file) as new:
        new.write_bytes(content)
    return file


def release_file(ledger: Ledger, output: Output, run: int) -> Path:
    """Return the release file of a run of an output, such as `north-2024-03-31.zip`."""
    path, last = path_of(ledger, output), "SELECT MAX(period) FROM released"
    found = ledger.execute(f"{last} WHERE output = ? AND run <= ?", output.number, run)
    return path.with_name(f"{path.name}-{found.fetchone()[0]}.zip")


def release_files(ledger: Ledger, output: Output) -> list[Path]:
    """Return the files named like releases of an output."""
    path = path_of(ledger, output)
    name = re.compile(rf"{re.escape(path.name)}-{_DATE}\.zip")
    return sorted(file for file in path.parent.glob("*.zip") if name.fullmatch(file.name))


def _table(rows: Sequence[Released]) -> bytes:
    table = io.StringIO(newline="")
    csv.writer(table, lineterminator="\n").writerows([Released._fields, *rows])
    return table.getvalue().encode()


def _packed(
    ledger: Ledger, output: Output, table: bytes, rows: Sequence[Released], key: Key
) -> bytes:
    """Return the bytes of a release."""
    deployment = deployment_of(ledger, output)
    facts = {**facts_of(ledger, output, deployment, rows), "key": key.public}
    facts["sha256"] = checksum(table, facts)
    facts["signature"] = key.sign(facts["sha256"])
    record = json.dumps(facts, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    marked = len(marked_for(ledger, deployment.name))
    statement = statement_of(facts, rows, deployment, marked)
    return pack({TABLE: table, RECORD: record.encode(), STATEMENT: statement.encode()})


def _is_earlier(file: Path, table: bytes) -> bool:
    """Return True if a file is a release with the first rows of a table."""
    with suppress(DataError):
        return bool((parts := read_parts(file)) and table.startswith(parts.table))
    return False
