"""Seals of a ledger: digests that show a run whether something else changed the ledger.

Each run has a head: the digest of the previous head, its agreement and all its rows. So no row can
be changed, deleted or moved unnoticed. The seal of the ledger is the digest of the last head and of
everything else. Heads hold no secret. Digests are not keyed: they show accidents and edits, and the
heads in nearby release files show digests that somebody computed again.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def seal(base: sqlite3.Connection) -> str:
    """Write the heads of new runs and the seal of the ledger, and return the last head."""
    with _as_bytes(base):
        head = b""
        for number, known, head in _chain(base):
            if known is None:
                base.execute("UPDATE run SET head = ? WHERE number = ?", (head.decode(), number))
        whole = _whole(base, head)
        if base.execute("SELECT seal FROM ledger").fetchone() != (whole,):
            base.execute("UPDATE ledger SET seal = ?", (whole.decode(),))
    return head.decode()


def changed(base: sqlite3.Connection) -> str:
    """Return a change that no run of dpol made, in words; empty if there is none."""
    with _as_bytes(base):
        for known, text in base.execute("SELECT sha256, agreement FROM deployment"):
            if hashlib.sha256(text).hexdigest().encode() != known:
                return "an agreement was changed"
        head = b""
        for number, known, head in _chain(base):
            if head != known:
                return f"run {number}, or one of its rows, was changed, removed or put elsewhere"
        if base.execute("SELECT seal FROM ledger").fetchall() != [(_whole(base, head),)]:
            return "runs were removed, or something other than the rows was changed"
        return ""


def _chain(base: sqlite3.Connection) -> list[tuple[int, bytes | None, bytes]]:
    """Return each run's number, its head in the ledger, and its correct head."""
    rows: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for run, *row in base.execute("SELECT run, * FROM release ORDER BY number"):
        rows[run].append(tuple(row))
    runs = base.execute(
        "SELECT run.number, run.head, run.date, output, sampler, counts, capacities, key, sha256"
        " FROM run LEFT JOIN deployment ON deployment.number = deployment ORDER BY run.number"
    ).fetchall()
    chain, head = [], b""
    for number, known, *facts in runs:
        head = _digest(head, number, facts, rows[number])
        chain.append((number, known, head))
    return chain


def _whole(base: sqlite3.Connection, head: bytes) -> bytes:
    """Return the digest of the last head, the number of rows, and all else except runs and rows.

    The seal itself is left out.
    """
    schema = base.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
    tables = {name.decode() for kind, name, _ in schema if kind == b"table"}
    rest = [
        base.execute(f"SELECT * FROM {name}").fetchall()
        for name in sorted(tables - {"ledger", "run", "release"})
    ]
    ledger = base.execute("SELECT id, key, (SELECT COUNT(*) FROM release) FROM ledger").fetchall()
    return _digest(head, ledger, schema, rest)


def _digest(*parts: object) -> bytes:
    return hashlib.sha256(repr(parts).encode()).hexdigest().encode()


@contextmanager
def _as_bytes(base: sqlite3.Connection) -> Iterator[None]:
    """Read texts as bytes: damaged ones need not be UTF-8, and no message may show them."""
    base.text_factory = bytes
    try:
        yield
    finally:
        base.text_factory = str
