"""Seals of a ledger: digests by which a run notices that something else changed the ledger.

Each run has a head, the digest of the head before it, of its agreement and of all its rows. So no
row can be changed, deleted or put into another place. The seal of the ledger is the digest of the
last head and of everything else. Heads hold no secret. Digests are plain: they show accidents and
edits. Whoever computes them again is noticed by the heads in release files nearby.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_AGREED = 3  # the place of a run's agreement among its columns


def seal(base: sqlite3.Connection) -> str:
    """Give new runs their heads, and the ledger its seal; the last head."""
    with _as_bytes(base):
        head, agreed = b"", _agreements(base)
        for known, run in _runs(base):
            if known is None:
                rows = base.execute("SELECT * FROM release WHERE run = ? ORDER BY number", run[:1])
                known = _digest(head, run, agreed[run[_AGREED]], rows.fetchall())
                base.execute("UPDATE run SET head = ? WHERE number = ?", (known.decode(), run[0]))
            head = known
        whole = _whole(base, head)
        if base.execute("SELECT seal FROM ledger").fetchone() != (whole,):
            base.execute("UPDATE ledger SET seal = ?", (whole.decode(),))
    return head.decode()


def changed(base: sqlite3.Connection) -> str:
    """A change by something else than a run of dpol, in words; empty if there is none."""
    with _as_bytes(base):
        agreed = _agreements(base)
        texts = dict(base.execute("SELECT sha256, agreement FROM deployment"))
        if any(hashlib.sha256(text).hexdigest().encode() != it for it, text in texts.items()):
            return "an agreement was changed"
        rows: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
        place = [name for _, name, *_ in base.execute("PRAGMA table_info(release)")].index(b"run")
        for row in base.execute("SELECT * FROM release ORDER BY number"):
            rows[row[place]].append(row)
        head = b""
        for known, run in _runs(base):
            head = _digest(head, run, agreed.get(run[_AGREED]), rows.pop(run[0], []))
            if head != known:
                return f"run {run[0]}, or one of its rows, was changed, removed or put elsewhere"
        if rows or base.execute("SELECT seal FROM ledger").fetchall() != [(_whole(base, head),)]:
            return "runs were removed, or something other than the rows was changed"
        return ""


def _agreements(base: sqlite3.Connection) -> dict[int, bytes]:
    """The hash of each agreement, by its number."""
    return dict(base.execute("SELECT number, sha256 FROM deployment"))


def _runs(base: sqlite3.Connection) -> Iterator[tuple[bytes | None, tuple[Any, ...]]]:
    """The head of each run, and everything else of it; its number is the first."""
    found = base.execute("SELECT * FROM run ORDER BY number")
    place = [name for name, *_ in found.description].index("head")
    return ((run[place], run[:place] + run[place + 1 :]) for run in found.fetchall())


def _whole(base: sqlite3.Connection, head: bytes) -> bytes:
    """The digest of the last head and of all tables except runs, rows and the seal."""
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
