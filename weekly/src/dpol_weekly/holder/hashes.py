"""Keyed hashes of raw counts: they show changed counts, and counts under another name.

A hash is an HMAC-SHA256 under a secret key of the ledger. Without the key, hashes reveal nothing
about a count. The key is in the ledger too, and few counts are possible, so anybody with the ledger
can find the counts by trying all: it is as secret as the raw table.

The hash of a count covers its period and not its entity, whose name others choose. So the ledger
recognises the counts of an entity under another name, however the table is written.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal

from dpol.core.errors import DataError
from dpol_weekly.holder.counts import Count
from dpol_weekly.holder.entries import Output, select
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.records import alike


def hashes_of(ledger: Ledger, counts: Sequence[Count]) -> list[str]:
    """Return the hash of each count and its period."""
    key = bytes.fromhex(ledger.execute("SELECT key FROM ledger").fetchone()[0])
    texts = (f"{count.period}/{Decimal(count.count).normalize():f}" for count in counts)
    return [hmac.new(key, text.encode(), hashlib.sha256).hexdigest() for text in texts]


def refuse_renamed(
    ledger: Ledger, table: Sequence[Count], new: Sequence[Count], *, split: bool
) -> list[tuple[str, str]]:
    """Refuse periods of an entity that another one has released, with mostly equal counts.

    Equal counts in more than half of the periods that both have are taken for the same people: a
    count or two may have been corrected since.

    Args:
        ledger: the ledger; it remembers the entities that the holder has confirmed as different.
        table: all counts of the holder's table.
        new: counts to release.
        split: the holder confirms that the entities count different people.

    Returns:
        The pairs of entities that are confirmed as different now.

    Raises:
        DataError: an entity has the counts of another one.
    """
    known: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in select(ledger, "SELECT entity, period, counted FROM release"):
        known[row["entity"]][row["period"]].add(row["counted"])
    apart = {(row["one"], row["other"]) for row in select(ledger, "SELECT one, other FROM split")}
    held, first = defaultdict[str, dict[str, str]](dict), dict[tuple[str, str], Count]()
    for count, hashed in zip(table, hashes_of(ledger, table), strict=True):
        held[alike(count.entity)][count.period] = hashed
    for count in new:
        own = alike(count.entity)
        if own not in known or count.period not in known[own]:
            for other in known.keys() - {own}:
                if count.period in known[other]:
                    first.setdefault((own, other), count)
    confirmed = []
    for (own, other), count in first.items():
        both = held[own].keys() & known[other].keys()
        equal = sum(held[own][period] in known[other][period] for period in both)
        pair = min(own, other), max(own, other)
        if 2 * equal <= len(both) or pair in apart:
            continue
        if not split:
            raise DataError(
                f"{count.where}: the counts of {count.entity} are those that were released before"
                " under another name, so its people would pay twice; keep that name. Only if these"
                " are other people, add --split once"
            )
        confirmed.append(pair)
    return list(dict.fromkeys(confirmed))


def compared(
    ledger: Ledger, output: Output, counts: Sequence[Count]
) -> Iterator[tuple[Count, bool | None]]:
    """Yield each count with True if it equals its last release in an output; None without one."""
    rows = "SELECT entity, period, counted FROM released WHERE output = ? ORDER BY version"
    found = select(ledger, rows, output.number)
    last = {(row["entity"], row["period"]): row["counted"] for row in found}
    for count, hashed in zip(counts, hashes_of(ledger, counts), strict=True):
        key = alike(count.entity), count.period
        yield count, last[key] == hashed if key in last else None
