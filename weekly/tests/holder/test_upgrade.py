"""A folder of the version before, with its ledger, goes on in the middle of twelve weeks."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dpol.core.errors import ConfigError, DataError
from dpol.core.files import write_private
from dpol_weekly.holder.release import release
from dpol_weekly.records import versions
from dpol_weekly.released.read import read_release
from releases import day, newest, run

BEFORE = json.loads(Path(__file__).with_name("folder_of_before.json").read_text())
COUNTS = {"n": [9, 12, 0, 7, 30, 31], "s": [99, 13, 100, 0, 12, 0]}
MONDAY = 1095
"""Days from the first day of these tests to 1 January 2024."""


@pytest.fixture(autouse=True)
def before(anywhere):
    for name in ("agreement.yaml", "hospital.yaml"):
        Path(name).write_text(BEFORE[name])
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(BEFORE["key"]))
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    write_private(Path("dpol.key"), key.private_bytes(*form, serialization.NoEncryption()))
    write_private(Path("dpol.secret"), bytes.fromhex(BEFORE["secret"]))
    Path("released").mkdir()
    for name, facts in BEFORE["releases"].items():
        Path("released", name).write_text(json.dumps(facts, indent=1) + "\n")
    with closing(sqlite3.connect("dpol-ledger.sqlite")) as base:
        base.executescript("\n".join(BEFORE["ledger.sql"]))


def week(number):
    """Release after the week with a number, from 1; counts stay as they were."""
    table = [
        f"{name},{day(MONDAY + 7 * of)},{counts[of % 6] + of // 6}"
        for of in range(number)
        for name, counts in COUNTS.items()
    ]
    Path("counts.csv").write_text("\n".join(["entity,period,count", *table]) + "\n")
    return release(Path("hospital.yaml"), today=day(MONDAY + 7 * number))


def test_no_period_leaves_twice_as_a_first_release():
    """Its rows stay as they left; the agreement is confirmed; all is due as the calendar says."""
    (last,) = [it["rows"] for name, it in BEFORE["releases"].items() if "02-05" in name]
    for number in range(6, 13):
        assert not week(number).late
    last_of_all = read_release(newest("released"))
    found = {(*row[:2], version): row for row, version in versions(last_of_all.rows)}
    assert len(found) == 2 * (12 + 10)
    for row, version in versions([tuple(it) for it in last]):
        assert found[(*row[:2], version)] == row
    files = Path("released").glob("v-*.json")
    code, out, err = run("recompute", *files, "--deployment", "agreement.yaml")
    assert (code, err, "keep to the budgets" in out) == (0, "", True)
    assert newest("outbox").read_bytes() == last_of_all.file.read_bytes()


def test_a_ledger_that_knows_more_than_the_releases_is_refused_with_the_remedy():
    newest("released").rename("elsewhere.json")
    with pytest.raises(DataError, match="knows 4 released rows that are in no release .*put the"):
        week(7)
    Path("outbox").mkdir()
    Path("elsewhere.json").rename("outbox/from the coordinator.json")
    assert len(week(7).added) == 4


def test_the_day_on_which_the_ledger_began_still_holds():
    for file in Path("released").iterdir():
        file.unlink()
    with closing(sqlite3.connect("dpol-ledger.sqlite")) as base:
        for name in ("release_kept", "ledger_same"):
            base.execute(f"DROP TRIGGER {name}")
        base.execute("DELETE FROM release")
        base.execute("UPDATE ledger SET begin_after = '2024-01-20'")
        base.commit()
    with pytest.raises(ConfigError, match="\nBeginning: no period that begins up to 2024-01-20 is"):
        week(7)


def test_a_damaged_ledger_is_refused():
    Path("dpol-ledger.sqlite").write_bytes(b"no database" * 99)
    with pytest.raises(DataError, match="cannot be read .*put its last backup back"):
        week(7)
