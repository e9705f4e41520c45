"""Files near a ledger: foreign ones stop nothing (S4), older ledgers are noticed (m4)."""

from __future__ import annotations

import os
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from dpol_weekly.holder.seal import seal
from dpol_weekly.keys import make_key
from dpol_weekly.released.format import pack
from dpol_weekly.sqlite import transaction
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
)

A3 = ("A", "2021-01-15", "2")
C1 = ("C", "2021-01-01", "1")


def bomb(file):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", b"entity")
        archive.writestr("record.json", b" " * (40 << 20))


def huge(file):
    with file.open("wb") as stream:
        stream.write(newest().read_bytes() if list(NOISY.glob("*")) else b"PK\x03\x04")
        stream.truncate(100 << 20)  # sparse


def many(file):
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(2000):
            archive.writestr(str(number), b"")


FOREIGN = {
    "a bomb": bomb,
    "huge": huge,
    "many members": many,
    "damaged": lambda file: file.write_bytes(b"PK\x05\x06" + os.urandom(40)),
    "text": lambda file: file.write_text("entity,period,noisy_count"),
    "deep": lambda file: file.write_bytes(
        pack({"table.csv": b"", "record.json": b'{"sha256": ' + b"[" * 99_999})
    ),
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "nowhere": lambda file: file.symlink_to("nowhere"),
}


@pytest.mark.parametrize("make", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_file_stops_nothing(make):
    """Before the first release, later, and in the place of a release."""
    NOISY.mkdir()
    make(NOISY / "d-2020-01-01.zip")
    put(A1)
    if make is not Path.mkdir:
        make(NOISY / "d-2021-01-08.zip")
    put(A1, A2)
    assert len(output()) == 2


def test_what_is_in_the_place_of_a_release_is_moved_aside():
    NOISY.mkdir()
    for content in (b"notes", pack({"letter.txt": b"notes"})):
        (NOISY / "d-2021-01-01.zip").write_bytes(content)
        put(A1)
        assert (NOISY / "d-2021-01-01.zip.aside").read_bytes() == content
        assert len(output()) == 1


def test_a_release_of_somebody_else_stops_nothing():
    """With the ids of this ledger, about its entities; only its key is missing."""
    put(A1)
    make_key(Path("other.key"))
    strange = NOISY / "mail.zip"
    shutil.copy(newest(), strange)
    heads = [record()["runs"][0] | {"head": "0" * 64}]
    forge(strange, key="other.key", runs=heads)
    put(A1, A2)
    forge(strange, key="other.key", ledger={"id": "0" * 16, "output": "0" * 16})
    assert put(A1, A2, A3).added == 1


UNKNOWN = "knows of releases that the ledger dpol-ledger.sqlite does not know.*newest copy"


def test_an_older_copy_of_the_ledger_is_noticed_by_any_release():
    put(A1)
    put(B1, to=Path("b"), own={"entities": {"B": "B"}})
    shutil.copy(LEDGER, "backup")
    put(A2)
    put(C1, to=Path("c"), own={"entities": {"C": "C"}})
    newer = LEDGER.read_bytes()
    shutil.copy("backup", LEDGER)
    for name, entity in ((NOISY, "A"), (Path("b"), "B"), (Path("c"), "C")):
        refuse(UNKNOWN, (entity, A3[1], "2"), to=name, own={"entities": {entity: entity}})
    Path("dpol.key").unlink()  # the ledger knows the keys that it had
    refuse(UNKNOWN, A3)
    LEDGER.write_bytes(newer)
    put(A3)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE release SET noisy_count = '1.000000'",
        "UPDATE run SET sampler = 'secure'",
        "UPDATE release SET capacity = '7'",
    ],
)
def test_a_ledger_that_was_sealed_again_by_hand_is_noticed_by_its_releases(change):
    """Whoever edits a ledger can compute its digests; the releases nearby have the heads."""
    put(A1)
    with closing(sqlite3.connect(LEDGER, isolation_level=None)) as base:
        base.executescript(f"{change}; UPDATE run SET head = NULL")
        with transaction(base):
            seal(base)
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
    refuse("was released from another ledger.*with --continue-from", A2, write_again=True)


def test_a_release_that_is_gone_is_asked_about():
    put(A1)
    newest().unlink()
    refuse("d-2021-01-01.zip: was written once, and is gone.*--write-again", A2)
    put(A2, write_again=True)
    assert len(output()) == 2
