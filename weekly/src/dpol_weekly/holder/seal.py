"""Seals of a ledger: digests by which a run notices that something else changed the ledger.

Each run has a head, the digest of the head before it and of all its rows. So no row can be changed,
deleted or put into another place. The seal of the ledger is the digest of the last head and of
everything else, the memories of noise included. Heads hold no secret. Digests are plain: they
show accidents and edits, not a change by someone who computes them again.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def seal(base: sqlite3.Connection) -> None:
    """Give new runs their heads, and the ledger its seal."""
    with _as_bytes(base):
        head = b""
        for known, run in _runs(base):
            if known is None:
                rows = base.execute("SELECT * FROM release WHERE run = ? ORDER BY number", run[:1])
                known = _digest(head, run, rows.fetchall())
                base.execute("UPDATE run SET head = ? WHERE number = ?", (known.decode(), run[0]))
            head = known
        whole = _whole(base, head)
        if base.execute("SELECT seal FROM ledger").fetchone() != (whole,):
            base.execute("UPDATE ledger SET seal = ?", (whole.decode(),))


def changed(base: sqlite3.Connection) -> str:
    """A change by something else than a run of dpol, in words; empty if there is none."""
    with _as_bytes(base):
        rows: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
        for run, *row in base.execute("SELECT run, * FROM release ORDER BY number"):
            rows[run].append(tuple(row))
        head = b""
        for known, run in _runs(base):
            head = _digest(head, run, rows.pop(run[0], []))
            if head != known:
                return f"run {run[0]}, or one of its rows, was changed, removed or put elsewhere"
        if rows or base.execute("SELECT seal FROM ledger").fetchall() != [(_whole(base, head),)]:
            return "runs were removed, or something other than the rows was changed"
        return ""


def _runs(base: sqlite3.Connection) -> Iterator[tuple[bytes | None, tuple[Any, ...]]]:
    """The head of each run, and everything else of it; its number is the first."""
    found = base.execute("SELECT * FROM run ORDER BY number")
    place = [name for name, *_ in found.description].index("head")
    return ((run[place], run[:place] + run[place + 1 :]) for run in found.fetchall())


def _whole(base: sqlite3.Connection, head: bytes) -> bytes:
    """The digest of the last head and of all tables but those of runs, rows and the seal."""
    tables = base.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table'"
        " AND name NOT IN ('ledger', 'run', 'release') ORDER BY name"
    ).fetchall()
    rest = [base.execute(f"SELECT * FROM {name.decode()}").fetchall() for (name,) in tables]
    return _digest(head, base.execute("SELECT id, key FROM ledger").fetchall(), tables, rest)


def _digest(*parts: object) -> bytes:
    return hashlib.sha256(repr(parts).encode()).hexdigest().encode()


@contextmanager
def _as_bytes(base: sqlite3.Connection) -> Iterator[None]:
    """Texts are read as bytes: damaged ones need not be UTF-8, and no message may show them."""
    base.text_factory = bytes
    try:
        yield
    finally:
        base.text_factory = str
