"""Databases that runs share: whose file it is, and what a user reads when something fails."""

from __future__ import annotations

import sqlite3

import pytest

from dpol.core.errors import DataError
from dpol_weekly.holder.ledger import open_ledger
from dpol_weekly.holder.ledger import transaction as ledger_block
from dpol_weekly.sqlite import Kind, add, head_of, link, opened, prepare, transaction
from releases import tamper

SCRIPT = """\
-- A table; and a trigger.
CREATE TABLE kept (number INTEGER, received TEXT, text TEXT);
CREATE TABLE part (kept INTEGER, text TEXT);
CREATE VIEW seen AS SELECT * FROM kept;
CREATE VIEW entered AS SELECT number, CAST(json_array(received, text,
    (SELECT json_group_array(text) FROM part WHERE kept = number)) AS BLOB) AS content FROM kept;
CREATE VIEW stray AS SELECT * FROM part WHERE kept NOT IN (SELECT number FROM kept);
"""


@pytest.fixture
def kind(tmp_path):
    script = tmp_path / "script.sql"
    script.write_text(SCRIPT)
    return Kind(
        name="list",
        script=script,
        application=7,
        version=2,
        foreign="is no list",
        damaged="the list is damaged",
    )


def entered(path, kind, *texts):
    """Enter texts, each with a part."""
    with opened(path, kind) as base, transaction(base):
        prepare(base, path, kind)
        for text in texts:
            number = add(base, "kept", text)
            base.execute("INSERT INTO part VALUES (?, ?)", (number, f"part of {text}"))
            link(base, number)
        return head_of(base)


def test_what_is_entered_is_there_and_stays(tmp_path, kind):
    path = tmp_path / "x"
    first = entered(path, kind, "a")
    assert entered(path, kind) == first
    assert entered(path, kind, "b") != first
    with opened(path, kind) as base, transaction(base, write=False):
        assert not prepare(base, path, kind)
        assert base.execute("SELECT number, text FROM seen").fetchall() == [(0, "a"), (1, "b")]
        assert head_of(base, 0) == first
    for change in ("UPDATE kept SET text = 'c'", "DELETE FROM part", "DELETE FROM link"):
        with (
            pytest.raises(sqlite3.IntegrityError, match="rows of the list are only ever added"),
            opened(path, kind) as base,
        ):
            base.execute(change)


def test_nothing_reaches_a_file_before_its_block_ends(tmp_path):
    """No draw of a run that is killed; 2 MB are the most that SQLite keeps unless it is told to."""
    path = tmp_path / "ledger.sqlite"
    with open_ledger(path) as ledger:
        with ledger_block(ledger):
            before = path.read_bytes()
            for number in range(200):
                cells = f"d{number}", f"{number:064}", "x" * 40_000
                ledger.link(ledger.add("deployment", *cells))
            assert path.read_bytes() == before
            settings = [
                ledger.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("synchronous", "temp_store")
            ]
        assert path.stat().st_size > 8e6
    # EXTRA: a power failure undoes nothing that others have. 2: temporary tables are in memory.
    assert settings == [3, 2]


CHANGES = {
    "a number as text": "UPDATE kept SET text = 1 WHERE number = 0",
    "a blob": "UPDATE part SET text = x'00' WHERE kept = 0",
    "text that is not UTF-8": "UPDATE part SET text = CAST(x'ff' AS TEXT) WHERE kept = 0",
    "a part of nothing": "INSERT INTO part VALUES (9, 'c')",
    "a removed row": "DELETE FROM kept WHERE number = 0",
    "a removed last row": "DELETE FROM kept WHERE number = 1",
    "another order": "UPDATE kept SET number = number + 1",
    "another view": "DROP VIEW seen; CREATE VIEW seen AS SELECT 0, 'then', 'a'",
    "another view of the chain": "DROP VIEW stray; CREATE VIEW stray AS SELECT 1 LIMIT 0",
    "another table": "CREATE TABLE more (x)",
    "a trigger": "CREATE TRIGGER more AFTER INSERT ON kept BEGIN SELECT 1; END",
    "no trigger": "DROP TRIGGER kept_same",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_else_changes_it_is_noticed(tmp_path, kind, change):
    path = tmp_path / "x"
    entered(path, kind, "a", "b")
    tamper(*(change.split("; ") if "BEGIN" not in change else [change]), path=path)
    with pytest.raises(DataError, match=r"the list is damaged \("):
        entered(path, kind)
