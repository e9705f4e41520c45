"""Keyed hashes of raw counts: they show counts that were changed since their release.

A hash is an HMAC-SHA256 under a secret key of the ledger. Without the key, hashes reveal nothing
about a count. The key is in the ledger too, and few counts are possible, so anybody with the ledger
can find the counts by trying all: it is as secret as the raw table. Nothing that others can see, as
whether a run is refused, depends on them.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from decimal import Decimal

from dpol_weekly.holder.counts import Count
from dpol_weekly.holder.entries import Output, select
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.records import alike


def hashes_of(ledger: Ledger, counts: Sequence[Count]) -> list[str]:
    """Return the hash of each count and its period."""
    key = bytes.fromhex(ledger.execute("SELECT key FROM ledger").fetchone()[0])
    texts = (f"{count.period}/{Decimal(count.count).normalize():f}" for count in counts)
    return [hmac.new(key, text.encode(), hashlib.sha256).hexdigest() for text in texts]


def changed(ledger: Ledger, output: Output, counts: Sequence[Count]) -> list[Count]:
    """Return the counts that differ from their last release in an output."""
    rows = "SELECT entity, period, counted FROM released WHERE output = ? ORDER BY version"
    found = select(ledger, rows, output.number)
    last = {(row["entity"], row["period"]): row["counted"] for row in found}
    return [
        count
        for count, hashed in zip(counts, hashes_of(ledger, counts), strict=True)
        if last.get((alike(count.entity), count.period), hashed) != hashed
    ]
