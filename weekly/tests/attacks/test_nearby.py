"""Files near a ledger: foreign ones stop nothing (S4), older ledgers are noticed (m4)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from dpol_weekly.holder.ledger import open_ledger, transaction
from dpol_weekly.keys import make_key
from releases import (
    A1,
    A2,
    B1,
    LEDGER,
    NOISY,
    forge,
    newest,
    output,
    put,
    record,
    refuse,
    tamper,
)

A3 = ("A", "2021-01-15", "2")
C1 = ("C", "2021-01-01", "1")


def huge(file):
    with file.open("wb") as stream:
        stream.write(b'{"dpol_release": 2, "rows": [["')
        stream.truncate(100 << 20)  # sparse


FOREIGN = {
    "huge": huge,
    "damaged": lambda file: file.write_bytes(b'{"dpol_release": 1' + os.urandom(40)),
    "text": lambda file: file.write_text("entity,period,noisy_count"),
    "deep": lambda file: file.write_bytes(b'{"dpol_release": ' + b"[" * 99_999),
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "nowhere": lambda file: file.symlink_to("nowhere"),
}


@pytest.mark.parametrize("make", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_file_stops_nothing(make):
    """Before the first release, later, and in the place of a release."""
    NOISY.mkdir()
    make(NOISY / "d-2020-01-01.json")
    put(A1)
    if make is not Path.mkdir:
        make(NOISY / "d-2021-01-08.json")
    put(A1, A2)
    assert len(output()) == 2


def test_a_release_of_somebody_else_stops_nothing():
    """With the ids of this ledger, about its entities; only its key is missing."""
    put(A1)
    make_key(Path("other.key"))
    strange = NOISY / "mail.json"
    shutil.copy(newest(), strange)
    ids = record()["ledger"]
    forge(strange, key="other.key", ledger=ids | {"head": "0" * 64})
    put(A1, A2)
    forge(strange, key="other.key", ledger=ids | {"id": "0" * 16, "output": "0" * 16})
    assert put(A1, A2, A3).added == 1


UNKNOWN = "knows of releases that the ledger dpol-ledger.sqlite does not know.*newest copy"


def test_an_older_copy_of_the_ledger_is_noticed_by_any_release():
    put(A1)
    put(B1, to=Path("b"), own={"entities": {"B": "B"}}, split=True)
    shutil.copy(LEDGER, "backup")
    put(A2)
    put(C1, to=Path("c"), own={"entities": {"C": "C"}}, split=True)
    newer = LEDGER.read_bytes()
    shutil.copy("backup", LEDGER)
    for name, entity in ((NOISY, "A"), (Path("b"), "B"), (Path("c"), "C")):
        refuse(UNKNOWN, (entity, A3[1], "2"), to=name, own={"entities": {entity: entity}})
    key = Path("dpol.key").rename("old.key")
    make_key(Path("dpol.key"))  # the ledger knows the keys that it had
    refuse(UNKNOWN, A3)
    key.rename("dpol.key")
    LEDGER.write_bytes(newer)
    put(A3)


def test_a_ledger_that_was_linked_again_by_hand_is_noticed_by_its_releases():
    """Whoever edits a ledger can compute its digests; the releases nearby have the heads."""
    put(A1)
    with open_ledger(LEDGER) as ledger, transaction(ledger):
        (last,) = ledger.execute("SELECT MAX(number) FROM link").fetchone()
    tamper("UPDATE release SET noisy_count = '1.000000'", "DELETE FROM link")
    with open_ledger(LEDGER) as ledger:
        for number in range(last + 1):
            ledger.link(number)
    refuse(UNKNOWN, A1, A2)


def test_an_output_of_another_ledger_is_noticed():
    put(A1, ledger="one.sqlite")
    put(B1, to=Path("sub/b"), ledger="two.sqlite")
    refuse("released from another ledger than two.sqlite", A2, to=NOISY, ledger="two.sqlite")
    put(A2, ledger="one.sqlite")


@pytest.mark.parametrize("lose", [LEDGER.unlink, lambda: LEDGER.write_bytes(b"")])
def test_a_lost_ledger_is_noticed_even_if_the_key_is_lost(lose):
    put(A1)
    lose()
    Path("dpol.key").unlink()
    make_key(Path("dpol.key"))
    refuse("was released from another ledger.*begin one with --begin-after", A2, write_again=True)


def test_a_release_that_is_gone_is_asked_about():
    put(A1)
    newest().unlink()
    refuse("d-2021-01-01.json: was written once, and is gone.*--write-again", A2)
    put(A2, write_again=True)
    assert len(output()) == 2
