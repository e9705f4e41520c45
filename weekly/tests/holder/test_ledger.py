"""The file of the ledger: who can read it, what is in it, and what is not a ledger."""

from __future__ import annotations

import contextlib
import os
import random
import re
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from dpol.core.errors import DpolError
from dpol_weekly import sqlite
from dpol_weekly.keys import make_key, make_secret
from releases import A1, A2, B1, LEDGER, ask, deployment, files, put, refuse, stays


def test_nobody_else_can_read_it_from_the_first_moment_on(monkeypatch):
    """The journal takes over the mode of the ledger."""
    seen = set()
    connect = sqlite3.connect

    def watched(file, **options):
        if file != ":memory:" and Path(file).exists():
            seen.add(stat.S_IMODE(Path(file).stat().st_mode))
        return connect(file, **options)

    monkeypatch.setattr(sqlite3, "connect", watched)
    old = os.umask(0)
    try:
        put(A1)
    finally:
        os.umask(old)
    LEDGER.chmod(0o644)  # a restored copy
    put(A2)
    assert seen == {0o600}
    assert stat.S_IMODE(LEDGER.stat().st_mode) == 0o600


def test_no_row_is_there_twice_in_one_version():
    put(A1)
    names = [name for _, name, *_ in ask("PRAGMA table_info(release)")][1:]
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        ask(f"INSERT INTO release SELECT NULL, {', '.join(names)} FROM release")


def test_raw_counts_are_never_in_it(monkeypatch):
    """Nor in its journal, which is looked at before every statement."""
    canaries = [f"{n}.97531" for n in (86420, 75319, 64208)]
    seen = []

    def watch(_):
        seen.extend(path.read_bytes() for path in Path().glob("dpol-ledger.sqlite*"))

    connect = sqlite3.connect

    def watched(*arguments, **options):
        base = connect(*arguments, **options)
        base.set_trace_callback(watch)
        return base

    monkeypatch.setattr(sqlite3, "connect", watched)
    made = deployment(entities={f"H{i}": {} for i in range(3)})
    rows = [(f"H{i}", "2021-01-01", text) for i, text in enumerate(canaries)]
    put(*rows, made=made)
    watch(None)
    assert any(b"release" in content for content in seen)
    for text in canaries:
        assert not any(text.encode() in content for content in seen)


@pytest.mark.parametrize(
    "make",
    [
        lambda: LEDGER.write_bytes(b"xy"),
        lambda: LEDGER.write_bytes(b"hospital,week,covid\n" * 100),
        lambda: ask("CREATE TABLE another (x)"),
        lambda: ask("PRAGMA application_id = 7"),
    ],
)
def test_what_is_no_ledger_is_refused_and_left_alone(make):
    make_key(Path("dpol.key"))
    make_secret(Path("dpol.secret"))
    make()
    before = files()
    refuse("is not a ledger of dpol; choose another file in led", A1)
    assert files() == before


def test_a_ledger_of_another_version_is_refused():
    put(A1)
    ask("PRAGMA user_version = 99")
    refuse("was written by another version of dpol", A2)


def test_a_damaged_ledger_is_refused():
    put(A1)
    whole = LEDGER.read_bytes()
    ((page,),) = ask("SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_release_1'")
    at = whole.index(b"2021", 4096 * (page - 1))  # in an index, which the hash chain does not read
    flipped = whole[:at] + b"9" + whole[at + 1 :]
    for damaged in (flipped, whole[:20_000], whole[:8192] + os.urandom(8192) + whole[16384:]):
        LEDGER.write_bytes(damaged)
        refuse("the ledger is damaged, or .* put its last backup back", A2)
    LEDGER.write_bytes(whole)
    put(A2)


def test_files_that_cannot_be_ledgers_are_refused():
    Path("folder").mkdir()
    Path("file").write_text("")
    Path("empty.sqlite").touch()
    make_key(Path("k"))
    make_secret(Path("s"))
    for name in ("folder", "file/x", "counts.csv"):
        refuse("cannot|is not a ledger of dpol", A1, ledger=name, own={"key": "k", "secret": "s"})
    put(A1, ledger="empty.sqlite", own={"key": "k", "secret": "s"})


def test_a_run_waits_for_another_one_and_says_so_when_it_gives_up(monkeypatch):
    put(A1)
    with closing(sqlite3.connect(LEDGER, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waits = []
        monkeypatch.setattr(
            sqlite.time, "sleep", lambda _: (waits.append(1), len(waits) == 5 and other.rollback())
        )
        put(A2)
        assert len(waits) == 5
        other.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr(sqlite, "PATIENCE", 0.01)
        monkeypatch.setattr(sqlite.time, "sleep", lambda _: None)
        refuse("another run has held the ledger .* wait until that", B1)


def test_no_flipped_byte_ends_in_a_traceback_or_is_believed():
    """Of tables, triggers and rows; SQL text that is no UTF-8 any more, too."""
    put(A1, A2, B1)
    whole, chance = LEDGER.read_bytes(), random.Random(3)
    texts = [it.start() for it in re.finditer(b"CREATE (TABLE|VIEW|TRIGGER|INDEX)", whole)]
    places = {chance.randrange(len(whole)) for _ in range(120)}
    places |= {chance.choice(texts) + chance.randrange(60) for _ in range(120)}
    before = stays()
    for place in places:
        flipped = bytes([whole[place] ^ chance.choice([1, 0x80, 0xFF])])
        LEDGER.write_bytes(whole[:place] + flipped + whole[place + 1 :])
        with contextlib.suppress(DpolError):
            assert stays() == before
