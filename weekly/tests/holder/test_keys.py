"""Signatures and hash chains: a change, a forgery and another order are noticed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from dpol.core.errors import DataError, OutputError
from dpol_weekly.coordinator.collect import collect
from dpol_weekly.coordinator.export import verify as verify_log
from dpol_weekly.holder.history import verify
from dpol_weekly.keys import Key, make_key
from releases import (
    A1,
    A2,
    B1,
    LEDGER,
    ask,
    deployment,
    forge,
    newest,
    output,
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


def agreed(made):
    """The file of a deployment."""
    path = Path("agreed.yaml")
    path.write_text(made.agreement())
    return path


def taken(made=None, **options):
    """The number of rows of the last release that are collected, and why others are refused."""
    (done,) = collect([newest()], Path("log"), agreed(made or deployment()), **options)
    return done.taken, " ".join(done.refused)


def test_a_release_is_signed_with_the_key_of_the_agreement_and_collected():
    public = make_key(KEY)
    assert KEY.stat().st_mode & 0o777 == 0o600
    made = keyed(public)
    put(A1, B1, made=made, own={"key": KEY})
    assert record()["key"] == Key(KEY).public == public
    assert taken(made) == (2, "")
    put(A1, B1, A2, made=made, own={"key": KEY})
    assert taken(made) == (1, "")


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
    refuse("key: is missing, and there is one in the agreement", A1, made=made)
    refuse("other.key: is not the key in the agreement", A1, made=made, own={"key": "other.key"})
    refuse("text.key: is not a key of dpol", A1, made=made, own={"key": "text.key"})
    refuse("none.key: the key cannot be read", A1, made=made, own={"key": "none.key"})


def unsigned():
    facts = record()
    del facts["key"]
    del facts["signature"]
    forge_all(facts)


def forge_all(facts):
    """Replace the record; the checksum is right."""
    repack(record=json.dumps(facts).encode())
    forge()


def signed_by_another():
    other = Key(Path("other.key"))
    forge(key=other.public)
    repack(record=json.dumps(record() | {"signature": other.sign(record()["sha256"])}).encode())


FORGED = {
    "nobody signed it": (unsigned, "is not signed with the key of A"),
    "somebody else signed it": (signed_by_another, "is signed with another key than the key of A"),
    "its facts were changed": (lambda: forge(rows=7), "its signature is wrong"),
    "the signature is no signature": (
        lambda: repack(record=json.dumps(record() | {"signature": "x"}).encode()),
        "its signature is wrong",
    ),
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_nobody_reports_for_another(forged):
    """Not with --new-ledger either."""
    change, said = forged
    made = keyed(make_key(KEY))
    make_key(Path("other.key"))
    put(A1, made=made, own={"key": KEY})
    change()
    for new_ledgers in ([], ["A"]):
        count, refused = taken(made, new_ledgers=new_ledgers)
        assert count == 0
        assert said in refused
    code, _, err = run("collect", "--check", "--deployment", "agreed.yaml", newest())
    assert code == 1
    assert said in err


def test_without_agreed_keys_an_entity_keeps_the_key_of_its_first_report():
    make_key(KEY)
    put(A1, own={"key": KEY})
    assert taken() == (1, "")
    put(A1, A2)
    count, refused = taken()
    assert count == 0
    assert "the key of this report is not that of the earlier ones" in refused
    assert taken(new_ledgers=["A"]) == (1, "")


def test_an_amendment_frees_an_entity_from_its_earlier_key():
    """Signed by a key of its own at first, then by an agreed one, then by another, then by none."""
    made, names = deployment(), [KEY, Path("second.key"), Path("third.key")]
    publics = [make_key(name) for name in names]
    rows, own, week = [A1], {"key": KEY}, "2021-01-{:02}".format
    put(*rows, made=made, own=own)
    assert taken(made) == (1, "")
    for number, name in enumerate([*names[1:], None], start=1):
        key = {} if name is None else {"key": publics[number]}
        amends = {"agreement": made.sha256(), "since": week(1 + 7 * number)}
        made = deployment(entities={"A": key, "B": {}, "C": {}}, amends=amends)
        rows.append(("A", week(1 + 7 * number), "3"))
        if number == 2:  # the key before is not the agreed one any more
            refuse("second.key: is not the key in the agreement", *rows, made=made, own=own)
        own = {} if name is None else {"key": name}
        put(*rows, made=made, own=own)
        assert taken(made) == (1, "")


def test_a_key_that_an_amendment_took_away_does_not_replace_a_later_one():
    """The old key may be stolen. Where none is agreed, the first report binds again."""
    old, new, week = make_key(KEY), Path("new.key"), "2021-01-{:02}".format
    make_key(new)
    made, rows = keyed(old), [A1]
    put(*rows, made=made, own={"key": KEY, "entity": "A"})
    assert taken(made) == (1, "")
    amends = {"agreement": made.sha256(), "since": week(8)}
    made = deployment(entities={"A": {}, "B": {"key": old}, "C": {}}, amends=amends)
    for day, key, number in ((8, new, 1), (15, new, 1), (22, KEY, 0)):
        rows.append(("A", week(day), "3"))
        put(*rows, made=made, own={"key": key, "entity": "A"})
        count, refused = taken(made)
        assert count == number
    assert "the key of this report is not that of the earlier ones" in refused


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
    "a changed run": "UPDATE run SET imported = 1 WHERE number = 1",
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
    with pytest.raises(DataError, match="no record fits this table"):
        verify(LEDGER)
    forge()
    with pytest.raises(DataError, match="does not hold the rows .* it is forged"):
        verify(LEDGER)


def test_a_coordinator_notices_a_ledger_that_was_put_back():
    """Although nothing at the holder shows it, and the new rows are of a later week."""
    put_back()
    taken()
    shutil.rmtree("noisy")
    later = "A", "2021-01-15", "4"
    put(A1, seed=2, write_again=True)
    put(A1, A2, later, seed=2)
    assert len(output()) == 3
    count, refused = taken()
    assert count == 0
    assert "lacks what was reported" in refused or "put back from an older copy" in refused


def test_a_coordinator_notices_a_ledger_whose_run_was_replaced():
    """All rows of the older report are there; the run that released them is another one."""
    put(A1)
    assert taken() == (1, "")
    put(A1, A2)
    releases = record()["releases"]
    forge(releases=[releases[0] | {"head": "0" * 64}, releases[1]])
    count, refused = taken()
    assert count == 0
    assert "does not go on from what it reported before (run 1)" in refused


# ---- the coordinator's log -----------------------------------------------------------------------

LOG_CHANGES = {
    "a changed row": ("release", "UPDATE release SET noisy_count = '1.000000' WHERE number = 1"),
    "a removed row": ("release", "DELETE FROM release WHERE number = 1"),
    "a removed report": ("report", "DELETE FROM report WHERE number = 1"),
    "a changed report": ("report", "UPDATE report SET key = 'x' WHERE number = 1"),
    "two reports in another order": (
        "report",
        "UPDATE report SET number = CASE number WHEN 1 THEN -2 WHEN 2 THEN -1 END;"
        "UPDATE report SET number = -number",
    ),
}


@pytest.mark.parametrize("change", LOG_CHANGES.values(), ids=LOG_CHANGES)
def test_a_change_of_the_log_is_noticed(change):
    put(A1)
    taken()
    put(A1, A2)
    taken()
    head = verify_log(Path("log"))
    assert len(head) == 64
    of, statements = change
    for name in ("same", "kept"):
        ask(f"DROP TRIGGER {of}_{name}", "log/log.sqlite")
    for statement in statements.split(";"):
        ask(statement, "log/log.sqlite")
    code, _, err = run("export", "log", "--verify")
    assert code == 1
    assert "put the last backup of the log back" in err


def test_a_log_that_was_written_anew_is_noticed_by_a_head_that_was_noted():
    put(A1)
    taken()
    head = verify_log(Path("log"))
    put(A1, A2)
    taken()
    code, out, _ = run("export", "log", "--verify", head[:16])
    assert code == 0
    assert verify_log(Path("log")) in out
    shutil.rmtree("log")
    taken()
    with pytest.raises(DataError, match="was never at the head"):
        verify_log(Path("log"), head)
