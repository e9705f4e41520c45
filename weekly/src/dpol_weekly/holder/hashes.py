"""Keyed hashes of a holder's table: they show changed counts, and cells under another name.

A hash is an HMAC-SHA256 under a secret key of the ledger. Without the key, hashes reveal nothing,
not even which counts are equal. The key is in the ledger too, and few counts are possible, so
anybody with the ledger can find the counts by trying all: it is as secret as the raw table.

The hash of a cell covers its column, the text that marks its rows, and its period; not the entity,
whose name others choose. So the ledger recognises a cell under another name.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal

from dpol.core.errors import DataError
from dpol.core.names import folded
from dpol_weekly.holder.counts import Count
from dpol_weekly.holder.entries import Output, entities_of, select
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.holder.settings import Hospital


def remember_counts(ledger: Ledger, rows: Sequence[int], counts: Sequence[Count]) -> None:
    """Enter the hashes of the counts of released rows."""
    hashed = (it for _, it in _hashed(ledger, counts))
    ledger.connection.executemany(
        "INSERT INTO counted VALUES (?, ?)", zip(rows, hashed, strict=True)
    )


def remember_cells(ledger: Ledger, hospital: Hospital, released: Iterable[tuple[str, str]]) -> None:
    """Enter the hashes of the cells of released entities and periods."""
    of_cell, numbers = _hash_of_cells(ledger, hospital), entities_of(ledger, hospital.texts)
    ledger.connection.executemany(
        "INSERT OR IGNORE INTO cell VALUES (?, ?)",
        [(of_cell(entity, period), numbers[entity]) for entity, period in released],
    )


_OTHERS = "SELECT entity FROM cell WHERE hash = ?"


def refuse_renamed(
    ledger: Ledger, hospital: Hospital, counts: Sequence[Count], *, split: bool
) -> None:
    """Refuse cells that were released for another entity, unless the two count different people.

    Args:
        ledger: the ledger; it remembers the entities that the holder has confirmed as different.
        hospital: the holder's table.
        counts: counts to release.
        split: the holder confirms that the entities are different.

    Raises:
        DataError: a cell was released for another entity.
    """
    of_cell = _hash_of_cells(ledger, hospital)
    numbers = entities_of(ledger, {count.entity for count in counts})
    apart = {(row["one"], row["other"]) for row in select(ledger, "SELECT * FROM split")}
    for count in counts:
        own = numbers[count.entity]
        cell = of_cell(count.entity, count.period)
        for other in [row["entity"] for row in select(ledger, _OTHERS, cell)]:
            pair = min(own, other), max(own, other)
            if own == other or pair in apart:
                continue
            if not split:
                raise DataError(
                    f"{count.where}: this cell was released before under another name of its"
                    f" entity than {count.entity}, so its people would pay twice; keep that name."
                    " Only if these are other people, in another table, add --split once"
                )
            ledger.execute("INSERT INTO split VALUES (?, ?)", *pair)
            apart.add(pair)


def compared(
    ledger: Ledger, output: Output, counts: Sequence[Count]
) -> Iterator[tuple[Count, bool | None]]:
    """Yield each count with True if it equals its last release in an output; None without one."""
    rows = (
        "SELECT entity, period, hash FROM released JOIN counted ON counted.release = number"
        " WHERE output = ? ORDER BY version"
    )
    found = select(ledger, rows, output.number)
    last = {(row["entity"], row["period"]): row["hash"] for row in found}
    for count, (key, hashed) in zip(counts, _hashed(ledger, counts), strict=True):
        yield count, last[key] == hashed if key in last else None


def _hashed(ledger: Ledger, counts: Sequence[Count]) -> Iterator[tuple[tuple[int, str], str]]:
    """Yield the entity and period of each count, and its hash."""
    hashed, numbers = _hasher(ledger), entities_of(ledger, {count.entity for count in counts})
    for it in counts:
        entity, period = key = numbers[it.entity], it.period
        yield key, hashed(f"{entity}/{period}/{Decimal(it.count).normalize():f}")


def _hash_of_cells(ledger: Ledger, hospital: Hospital) -> Callable[[str, str], str]:
    """Return a function that hashes the cell of an entity and a period."""
    hashed = _hasher(ledger)
    cells = {name: [*map(folded, hospital.cell_of(name))] for name in hospital.texts}
    return lambda entity, period: hashed(json.dumps(["cell", *cells[entity], period]))


def _hasher(ledger: Ledger) -> Callable[[str], str]:
    key = bytes.fromhex(ledger.execute("SELECT key FROM ledger").fetchone()[0])
    return lambda text: hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
