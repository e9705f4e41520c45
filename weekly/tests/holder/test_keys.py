"""Signatures and hash chains: a change, a forgery and another order are noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpol.core.errors import DataError, OutputError
from dpol_weekly.keys import Key, is_key, make_key
from dpol_weekly.keys import verify as verify_signature
from dpol_weekly.records import signed_text
from releases import (
    A1,
    A2,
    B1,
    LEDGER,
    changes_of,
    deployment,
    put,
    record,
    refuse,
    stays,
    tamper,
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
    assert verify_signature(public, stated["signature"], signed_text(stated))


def test_a_key_that_is_lost_is_not_replaced_silently():
    """The coordinator would refuse the next report, weeks later."""
    put(A1)
    Path("dpol.key").unlink()
    refuse("dpol.key: the key cannot be read .*; put it back, or name.*--init makes another", A1)
    assert not Path("dpol.key").exists()
    make_key(Path("new.key"))
    assert put(A1, A2, ("A", "2021-01-15", "2"), own={"key": "new.key"}).added == 2


def test_a_key_is_never_written_over():
    make_key(KEY)
    before = KEY.read_bytes()
    with pytest.raises(OutputError, match=r"north.key: cannot be written \(File exists\)"):
        make_key(KEY)
    assert KEY.read_bytes() == before


def test_a_key_that_others_can_read_signs_nothing():
    put(A1)
    Path("dpol.key").chmod(0o640)
    refuse("others on this machine can read this key; chmod 600", A1, A2)


@pytest.mark.parametrize("text", ["0" * 64, "A" * 64, " " + "a" * 63, "a" * 63, "", "٣" * 64])
def test_what_is_no_key_is_told_apart(text):
    """Zeros are a point of small order: one signature by it fits any text."""
    assert not is_key(text)
    assert is_key(make_key(Path("good.key")))


def test_nothing_is_released_with_a_key_that_is_not_the_agreed_one():
    made = keyed(make_key(KEY))
    make_key(Path("other.key"))
    Path("text.key").write_text("no key")
    Path("text.key").chmod(0o600)
    refuse("dpol.key: is not the key in the agreement", A1, made=made)
    refuse("other.key: is not the key in the agreement", A1, made=made, own={"key": "other.key"})
    refuse("text.key: is not a key of dpol", A1, made=made, own={"key": "text.key"})
    refuse("none.key: the key cannot be read", A1, made=made, own={"key": "none.key"})


# ---- the ledger ----------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["ledger", "deployment", "output", "run", "release"])
def test_a_change_of_any_column_of_the_ledger_is_noticed(table):
    put(A1, B1)
    put(A1, B1, A2)
    whole = LEDGER.read_bytes()
    for change in changes_of(table):
        tamper(change)
        with pytest.raises(DataError, match="the ledger is damaged, or something else than dpol"):
            stays()
        LEDGER.write_bytes(whole)
    tamper(change)
    refuse("the ledger is damaged", A1, B1, A2)
