"""The file of a release: a zip of a table, a record and a statement.

The record, JSON, states:

- `deployment`: `name` and `sha256` of the agreement.
- `ledger`: `id` of the holder's ledger and of the `output` in it, 16 hex digits each.
- `runs`: of this output, in their order: `number`, `date`, `rows`, and the `head` of the ledger's
  hash chain after it.
- `rows`: how many the table has.
- `guarantee`: `mechanism`, `adjacency`, `unit`, `sampler`, `not_protected` in words; of the `noise`
  its `mu` and `count_sensitivity` (text), and its `scale` in steps of 10^-`decimals` people; the
  `mu` of a person in one period by this file; the `mu_of_stay` of a person of the `longest_stay`
  (in periods) at most, by this file; and `budget_mu`. `dpol_weekly.records` recomputes all of it.
- `key`: the public half of the holder's key; `sha256`: of the table and the rest of the record;
  `signature`: of that, by the key.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Mapping
from typing import Any

from dpol_weekly.released.row import Released

TABLE, RECORD, STATEMENT = "table.csv", "record.json", "statement.txt"
"""The members of the file of a release."""
HEADER = ",".join(Released._fields)
"""The first line of a table."""
ID = re.compile("[0-9a-f]{16}")
"""An id of a ledger or of an output."""
HEAD = re.compile("[0-9a-f]{64}")
"""A head of a hash chain, or another SHA-256."""


def checksum(table: bytes, record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a table and its record, as JSON with sorted keys and without blanks.

    Args:
        table: bytes of the table.
        record: contents of the record; `sha256` and `signature` are left out.
    """
    rest = {key: value for key, value in record.items() if key not in ("sha256", "signature")}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(table + text.encode()).hexdigest()


def pack(members: Mapping[str, bytes]) -> bytes:
    """Return a zip of files by name; equal contents give equal bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return packed.getvalue()
