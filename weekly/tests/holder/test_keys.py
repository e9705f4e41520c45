"""Signatures and hash chains: a change, a forgery and another order are noticed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dpol.core.errors import DataError, OutputError
from dpol_weekly.holder.history import verify
from dpol_weekly.keys import Key, make_key
from dpol_weekly.keys import verify as verify_signature
from releases import (
    A1,
    A2,
    B1,
    LEDGER,
    ask,
    deployment,
    forge,
    newest,
    put,
    record,
    refuse,
    repack,
    run,
    table,
)

KEY = Path("north.key")


def keyed(public):
    """A deployment whose entities A and B have a key."""
    return deployment(entities={"A": {"key": public}, "B": {"key": public}, "C": {}})


def test_a_release_is_signed_with_the_key_of_the_agreement():
    public = make_key(KEY)
    assert KEY.stat().st_mode & 0o777 == 0o600
    put(A1, B1, made=keyed(public), own={"key": KEY})
    stated = record()
    assert stated["key"] == Key(KEY).public == public
    assert verify_signature(public, stated["signature"], stated["sha256"])


def test_the_first_release_makes_the_key_and_no_refused_one_does():
    refuse("more than 1% of the counts", ("A", "2021-01-01", "99"))
    assert not Path("dpol.key").exists()
    assert put(A1).new_key == Path("dpol.key")
    assert put(A1, A2).new_key is None
    assert record()["key"] == Key(Path("dpol.key")).public


def test_a_key_is_never_written_over():
    make_key(KEY)
    before = KEY.read_bytes()
    with pytest.raises(OutputError, match="north.key: exists already"):
        make_key(KEY)
    assert KEY.read_bytes() == before


def test_nothing_is_released_with_a_key_that_is_not_the_agreed_one():
    made = keyed(make_key(KEY))
    make_key(Path("other.key"))
    Path("text.key").write_text("no key")
    refuse("dpol.key: the key cannot be read", A1, made=made)
    refuse("other.key: is not the key in the agreement", A1, made=made, own={"key": "other.key"})
    refuse("text.key: is not a key of dpol", A1, made=made, own={"key": "text.key"})
    refuse("none.key: the key cannot be read", A1, made=made, own={"key": "none.key"})


# ---- the ledger ----------------------------------------------------------------------------------


def test_a_ledger_and_its_files_are_as_they_were_written():
    put(A1, B1)
    put(A1, B1, A2)
    put(A1, B1, to=Path("there"), made=deployment(name="e"))
    assert verify(LEDGER) == f"{LEDGER}: 3 runs and 3 release files are as they were written"
    assert run("history", "--verify")[:2] == (0, verify(LEDGER) + "\n")


CHANGES = {
    "a changed row": "UPDATE release SET noisy_count = '1.000000' WHERE number = 1",
    "a removed row": "DELETE FROM release WHERE number = 1",
    "two rows in another order": (
        "UPDATE release SET number = CASE number WHEN 1 THEN -2 WHEN 2 THEN -1 ELSE number END"
    ),
    "a removed run": "DELETE FROM run WHERE number = 2",
    "a row of no run": "UPDATE release SET run = 9 WHERE number = 3",
    "an added row": "INSERT INTO release VALUES (9, 9, 1, 'A', '2021-02-05', 1, '1', '1')",
    "a changed view": "DROP VIEW released",
    "a changed run": "UPDATE run SET sampler = 1 WHERE number = 1",
    "a changed head": f"UPDATE run SET head = '{'0' * 64}' WHERE number = 1",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_the_ledger_is_noticed_and_named(change):
    put(A1, B1)
    put(A1, B1, A2)
    ask(f"PRAGMA foreign_keys = OFF; {change}" if ";" in change else change)
    with pytest.raises(DataError, match=r"\(runs? \d?.*(was|were) .*changed"):
        verify(LEDGER)


def put_back():
    """An older copy of the ledger, with which two releases were made."""
    put(A1)
    shutil.copy(LEDGER, "older")
    put(A1, A2)
    last = newest().read_bytes()
    shutil.copy("older", LEDGER)
    return last


def test_a_ledger_that_was_put_back_is_noticed_by_its_files():
    put_back()
    with pytest.raises(DataError, match="knows another run 2 than .* put back from an older copy"):
        verify(LEDGER)


def test_a_forged_file_is_noticed():
    put(A1)
    rows = table().replace(b"A,2021", b"C,2021")
    repack(table=rows)
    with pytest.raises(DataError, match="its record is not about its table"):
        verify(LEDGER)
    forge(table=rows)
    with pytest.raises(DataError, match="does not hold the rows .* it is forged"):
        verify(LEDGER)
