"""A ledger that is restored, copied or lost draws no second noise for an equal count."""

from __future__ import annotations

import datetime
import random
import shutil
from pathlib import Path

import pytest

from dpol.core.errors import DataError
from dpol_weekly.keys import make_key, make_secret
from dpol_weekly.records import versions
from dpol_weekly.released.read import read_release
from releases import (
    A1,
    A2,
    B1,
    LEDGER,
    NOISY,
    deployment,
    forge,
    newest,
    put,
    record,
    refuse,
    run,
    table,
)

A3, A4 = ("A", "2021-01-15", "2"), ("A", "2021-01-22", "9")
ALL = A1, A2, A3
MADE = deployment(second_release={"after": 2})
OUTBOX = {"copy_to": "outbox"}


def week_of(number):
    return datetime.date(2021, 1, 1) + datetime.timedelta(days=7 * number)


def day(number):
    return {"today": datetime.date(2021, 1, 1) + datetime.timedelta(days=number)}


def drawn(*folders):
    """All numbers that were ever in a release, by entity, period and version."""
    found = {}
    for folder in folders:
        for file in Path(folder).rglob("?-2021*.json"):
            if file.stat().st_size < 9:
                continue  # damaged
            for (entity, period, text, _), version in versions(read_release(file).rows):
                found.setdefault((entity, period, version), set()).add(text)
    return found


def begin_again(folder):
    (folder / LEDGER).unlink()
    shutil.rmtree(folder / NOISY)


def only_ledger(folder):
    shutil.copy("backup/dpol-ledger.sqlite", folder)


def all_of_it(folder):
    shutil.rmtree(folder)
    shutil.copytree("backup", folder)


def with_an_empty_outbox(folder):
    all_of_it(folder)
    shutil.rmtree(folder / "outbox", ignore_errors=True)


def lost_releases(folder):
    only_ledger(folder)
    shutil.rmtree(folder / NOISY)


def damaged_releases(folder):
    only_ledger(folder)
    for file in (folder / NOISY).iterdir():
        file.write_text("{")


def a_stranger_beside(folder):
    only_ledger(folder)
    (folder / NOISY / "d-2999-01-01.json").write_text('{"dpol_release": 9}')


def renamed_output(folder):
    all_of_it(folder)
    (folder / "outbox").rename(folder / "sent")


def killed(folder):
    """The run of the backup left no file."""
    all_of_it(folder)
    for file in (folder / NOISY).iterdir():
        file.unlink()


WAYS = [
    *(only_ledger, all_of_it, with_an_empty_outbox, lost_releases, damaged_releases),
    *(a_stranger_beside, renamed_output, killed, begin_again),
]


@pytest.mark.parametrize("again", [lambda folder: None, *WAYS])
def test_equal_counts_give_equal_rows_however_a_ledger_came_back(monkeypatch, again):
    """Weeks 2 and 3, and a second release of week 1, were made after the backup."""
    Path("h").mkdir()
    monkeypatch.chdir("h")
    put(A1, B1, made=MADE, own=OUTBOX, **day(7))
    shutil.copytree(".", "../backup")
    put(A1, B1, A2, made=MADE, own=OUTBOX, **day(14))
    put(A1, B1, *ALL[1:], made=MADE, own=OUTBOX, **day(21))
    monkeypatch.chdir("..")
    shutil.copytree("h", "sent")
    again(Path("h"))
    monkeypatch.chdir("h")
    put(A1, B1, *ALL[1:], made=MADE, own=OUTBOX, **day(21))
    put(A1, B1, *ALL[1:], A4, made=MADE, own=OUTBOX, **day(28))
    monkeypatch.chdir("..")
    found = drawn("h", "sent")
    assert {key: texts for key, texts in found.items() if len(texts) > 1} == {}
    assert {("A", A1[1], 2), ("A", A4[1], 1)} <= {*found}


@pytest.mark.parametrize("seed", range(4))
def test_no_order_of_runs_copies_and_losses_draws_twice(monkeypatch, seed):
    """Of two agreements, whose runs are put back as a whole or in part, or begun again."""
    chance, copies, found = random.Random(seed), list[Path](), {}
    made = {str(NOISY): MADE, "e": deployment(name="e", second_release={"after": 1})}
    count = {(name, week): str(chance.randrange(4)) for name in "AB" for week in range(8)}
    Path("h").mkdir()
    monkeypatch.chdir("h")
    for step in range(14):
        last, to = min(7, step // 2), chance.choice([*made])
        rows = [(name, str(week_of(k)), count[name, k]) for name in "AB" for k in range(last + 1)]
        put(*rows, made=made[to], to=to, today=week_of(last + 1))
        for folder in filter(Path.exists, map(Path, made)):
            for key, texts in drawn(folder).items():
                found.setdefault((str(folder), *key), set()).update(texts)
        copies.append(Path(shutil.copytree(".", f"../{step}")).resolve())
        if (luck := chance.random()) < 0.5:
            shutil.copy(chance.choice(copies) / LEDGER, LEDGER)
        if 0.25 < luck < 0.5:
            shutil.rmtree(NOISY, ignore_errors=True)
        elif luck > 0.9:
            LEDGER.unlink()
    assert len(found) > 24
    assert [key for key, texts in found.items() if len(texts) > 1] == []


def test_an_amendment_keeps_the_noise_of_a_row():
    """A ledger is put back to a time before it, and a place gets a new name at the coordinator."""
    put(A1, A2, A3)
    rows = table()
    shutil.rmtree(NOISY)
    LEDGER.unlink()
    amends = {"agreement": deployment().sha256(), "since": A2[1]}
    ends, joins = {"until": A2[1]}, {"since": A2[1]}
    later = deployment(entities={"A": ends, "B": {}, "C": {}, "North": joins}, amends=amends)
    put(A1)
    columns = {"entities": {"North": "A"}, "secret": "dpol.secret"}
    put(A1, A2, A3, made=later, own=columns, to="north")
    renamed = [[("A" if it == "North" else it) for it in row] for row in table("north")]
    assert [*table(), *renamed] == rows


def test_two_machines_with_one_secret_release_the_same_rows():
    """Copied before the first run, so that each has a ledger of its own; and in another order."""
    put(A1, ledger="one/ledger.sqlite", to="one/noisy")
    Path("two").mkdir()
    for name in ("dpol.key", "dpol.secret"):
        shutil.copy(Path("one", name), "two")
    put(A1, A2, ledger="one/ledger.sqlite", to="one/noisy")
    put(A1, made=deployment(name="e"), ledger="two/ledger.sqlite", to="two/noisy")
    put(A2, A1, ledger="two/ledger.sqlite", to="two/noisy")
    assert table("one/noisy") == table(Path("two/noisy/d-2021-01-08.json"))
    assert table("one/noisy")[0] != table(Path("two/noisy/e-2021-01-01.json"))[0]


@pytest.mark.parametrize("own", [{}, OUTBOX])
def test_a_changed_count_after_a_restore_is_named_and_nothing_is_drawn(own):
    """By the newest file of the holder, wherever it is."""
    put(A1, own=own)
    shutil.copy(LEDGER, "backup")
    put(A1, A2, own=own)
    shutil.copy("backup", LEDGER)
    if own:
        newest().unlink()
    changed = ("A", A2[1], "7.6")
    named = "line 3: A was released for 2021-01-08 with another count, in (noisy|outbox)/d-"
    with pytest.raises(DataError, match=named):
        put(A1, changed, A3, own=own)
    assert put(A1, A2, A3, own=own).added == 2


def test_a_file_of_somebody_else_names_nothing():
    put(A1)
    shutil.copy(LEDGER, "backup")
    put(A1, A2)
    shutil.copy("backup", LEDGER)
    make_key(Path("other.key"))
    forge(key="other.key")
    assert put(A1, ("A", A2[1], "7.6")).added == 1


def test_another_secret_begins_after_the_last_day_released():
    """It would draw other noise for an equal count; a month's last day is what counts."""
    month = deployment(name="m", periods={"first": "2021-01-01", "days": 28})
    put(A1, ("A", "2021-01-29", "3"), made=month, to="m")
    Path("dpol.secret").unlink()
    refuse("dpol.secret: the secret cannot be read .*; put it back, or name its file", A1)
    make_secret(Path("dpol.secret"))
    late = ("A", "2021-02-26", "3")
    done = put(A1, A2, A3, ("A", "2021-01-29", "4"), late)
    assert (done.added, done.closed) == (1, "2021-02-25")
    assert [row[1] for row in table()] == [late[1]]


def test_a_newer_file_of_one_name_is_looked_at_before_it_is_written_again():
    """The second release of a week is in the file of the first; its count was changed since."""
    put(A1, A2, made=MADE, **day(14))
    shutil.copy(LEDGER, "backup")
    put(A1, A2, made=MADE, **day(21))
    sent = table()
    shutil.copy("backup", LEDGER)
    with pytest.raises(DataError, match="line 2: A was released for 2021-01-01 with another"):
        put(("A", A1[1], "4"), A2, made=MADE, **day(21))
    shutil.copy("backup", LEDGER)
    put(A1, A2, made=MADE, **day(21))
    assert table() == sent


def test_an_output_that_a_restored_ledger_enters_again_has_the_same_id():
    """So a coordinator sees that it lacks a row, and takes no changed count for a second one."""
    put(A1, made=deployment(name="e"), to="e")
    shutil.copy(LEDGER, "backup")
    put(A1)
    ids = record()["ledger"]
    shutil.copy("backup", LEDGER)
    shutil.rmtree(NOISY)
    put(A1, A2)
    assert record()["ledger"] == ids


@pytest.mark.parametrize("content", [b"", b"s" * 31, b"s" * 33, b"s" * 64])
def test_a_secret_is_checked_for_its_length_and_mode(content):
    path = Path("dpol.secret")
    put(A1)
    secret = path.read_bytes()
    path.write_bytes(content)
    refuse("is not a secret of dpol: those have 32 bytes; put it back", A1, A2)
    path.write_bytes(secret)
    path.chmod(0o640)
    refuse("others on this machine can read this secret; chmod 600", A1, A2)
    path.chmod(0o600)
    assert put(A1, A2).added == 1


def test_the_secret_is_in_no_other_file_and_two_secrets_differ():
    put(A1, B1)
    secret = Path("dpol.secret").read_bytes()
    rest = [it for it in Path().rglob("*") if it.is_file() and it.name != "dpol.secret"]
    for text in (secret, secret.hex().encode()):
        assert not any(text in file.read_bytes() for file in rest)
    put(A1, B1, ledger="two/l.sqlite", to="two/noisy")
    assert Path("two/dpol.secret").read_bytes() != secret
    ids = [record(it)["ledger"] for it in (NOISY, "two/noisy")]
    assert len({it[key] for it in ids for key in it}) == 4
    assert {row[2] for row in table()}.isdisjoint(row[2] for row in table("two/noisy"))


def test_two_versions_of_one_row_are_refused_together():
    """Of two copies of a ledger whose counts differ, `recompute` and `collect` take one."""
    Path("d.yaml").write_text(MADE.agreement())
    put(A1, made=MADE, **day(7))
    for name, count in (("x", "7"), ("y", "8")):
        shutil.copytree(".", name, ignore=lambda *_: ["x", "y"])
        put(A1, ("A", A2[1], count), made=MADE, ledger=f"{name}/{LEDGER}", to=f"{name}/noisy")
    words = newest("x/noisy"), newest("y/noisy"), "--deployment", "d.yaml"
    code, _, err = run("recompute", *words)
    assert (code, "holds another row of A for 2021-01-08, version 1, than" in err) == (1, True)
