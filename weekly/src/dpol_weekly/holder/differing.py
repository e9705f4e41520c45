"""Counts that differ from those that were released: noticed by keyed hashes in the ledger.

A hash is the HMAC-SHA256 of entity, period and count under a secret key of the ledger. Without the
key nobody learns anything from hashes, not even which counts are equal. The key is in the ledger
too, and there are few possible counts. So a person who has the ledger can find the counts by trying
all: it is as secret as the raw table.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from decimal import Decimal

from dpol_weekly.holder.counts import Count
from dpol_weekly.holder.draws import Place
from dpol_weekly.holder.entries import Output, select
from dpol_weekly.holder.ledger import Ledger


def remember(ledger: Ledger, run: int, places: Sequence[Place]) -> None:
    """Enter the hashes of the counts that a run has released."""
    numbers = {
        (row["entity"], row["period"]): row["number"]
        for row in select(ledger, "SELECT number, entity, period FROM release WHERE run = ?", run)
    }
    ledger.connection.executemany(
        "INSERT INTO counted VALUES (?, ?)",
        ((numbers[it.entity, it.count.period], _hash(ledger, it)) for it in places),
    )


def differing(ledger: Ledger, output: Output, places: Sequence[Place]) -> list[Count]:
    """The counts of released periods that are not the last ones in an output, or have left it."""
    last, left = _last(ledger, output), ("", Decimal(0))
    known = ((it, last.get((it.entity, it.count.period), left)[0]) for it in places)
    return [it.count for it, hashed in known if hashed not in (None, _hash(ledger, it))]


def not_the_same(ledger: Ledger, output: Output, places: Sequence[Place]) -> list[Place]:
    """Places but those whose count and capacity an output holds as they are.

    So a correction is released once, though a command that was killed is run again.
    """
    last = _last(ledger, output)
    return [
        it
        for it in places
        if last.get((it.entity, it.count.period))
        != (_hash(ledger, it), Decimal(it.count.capacity).normalize())
    ]


def _last(ledger: Ledger, output: Output) -> dict[tuple[int, str], tuple[str | None, Decimal]]:
    """Hash and capacity of the last row of each entity and period in an output."""
    return {
        (row["entity"], row["period"]): (row["hash"], Decimal(row["capacity"]).normalize())
        for row in select(
            ledger,
            "SELECT release.entity, period, capacity, hash FROM held AS release"
            " JOIN run ON run.number = release.run"
            " LEFT JOIN counted ON counted.release = release.number"
            " WHERE run.output = ? ORDER BY version",
            output.number,
        )
    }


def _hash(ledger: Ledger, place: Place) -> str:
    count = Decimal(place.count.count).normalize()
    text = f"{place.entity}/{place.count.period}/{count:f}"
    key = bytes.fromhex(ledger.execute("SELECT key FROM ledger").fetchone()[0])
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
