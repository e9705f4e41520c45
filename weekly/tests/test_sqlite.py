"""Databases that runs share: whose file it is, and what a user reads when something fails."""

from __future__ import annotations

import sqlite3

import pytest

from dpol.core.errors import DataError, OutputError
from dpol_weekly.sqlite import Kind, opened, prepare, transaction

SCRIPT = """\
-- A table; and a trigger.
CREATE TABLE kept (number INTEGER);
CREATE TRIGGER kept_same BEFORE UPDATE ON kept
BEGIN SELECT RAISE(ABORT, 'kept; as it is'); END;
INSERT INTO kept VALUES (1)
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


def test_every_statement_of_a_script_makes_its_part(tmp_path, kind):
    with opened(tmp_path / "x", kind) as base, transaction(base):
        assert prepare(base, tmp_path / "x", kind)
    with opened(tmp_path / "x", kind) as base, transaction(base, write=False):
        assert not prepare(base, tmp_path / "x", kind)
        assert base.execute("SELECT * FROM kept").fetchall() == [(1,)]
    with (
        pytest.raises(sqlite3.IntegrityError, match="kept; as it is"),
        opened(tmp_path / "x", kind) as base,
        transaction(base),
    ):
        base.execute("UPDATE kept SET number = 2")


@pytest.mark.parametrize(
    ("pragma", "message"),
    [("application_id = 8", "x: is no list"), ("user_version = 1", "x: was written by another")],
)
def test_a_database_of_another_kind_or_version_is_refused(tmp_path, kind, pragma, message):
    with opened(tmp_path / "x", kind) as base, transaction(base):
        prepare(base, tmp_path / "x", kind)
        base.execute(f"PRAGMA {pragma}")
    with pytest.raises(DataError, match=message), opened(tmp_path / "x", kind) as base:
        prepare(base, tmp_path / "x", kind)


def test_a_failure_names_the_file_and_the_remedy(tmp_path, kind):
    (tmp_path / "x").write_text("no database, and long enough to be looked at" * 99)
    with pytest.raises(DataError, match="x: is no list"), opened(tmp_path / "x", kind) as base:
        prepare(base, tmp_path / "x", kind)
    unopened = pytest.raises(OutputError, match="the list cannot be opened; make it and its folder")
    with unopened, opened(tmp_path / "none" / "x", kind):
        pass
