"""The signed releases are the memory: restored, copied, lost, renamed, of two machines."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import traceback
from pathlib import Path

import pytest

from dpol.core.errors import ConfigError, DataError
from dpol_weekly.holder import release as release_module
from dpol_weekly.keys import Key, make_key
from dpol_weekly.records import versions
from dpol_weekly.released.read import find_release
from releases import (
    A1,
    A2,
    B1,
    COLUMNS,
    NOISY,
    cloned,
    day,
    deployment,
    files,
    forge,
    newest,
    put,
    refuse,
    run,
    sent,
    table,
)

A3, A4 = ("A", "2021-01-15", "2"), ("A", "2021-01-22", "9")
ALL = A1, A2, A3
MADE = deployment(second_release={"after": 2})
OUTBOX = {"copy_to": "outbox"}


def drawn(*folders):
    """All numbers that were ever in a release, by entity, period and version."""
    found = {}
    for file in (file for folder in folders for file in Path(folder).rglob("*.json")):
        with contextlib.suppress(DataError):
            for (entity, period, text, _), version in versions(find_release(file).rows):
                found.setdefault((entity, period, version), set()).add(text)
    return found


def all_of_it(folder):
    shutil.rmtree(folder)
    shutil.copytree("backup", folder)


def with_an_empty_outbox(folder):
    all_of_it(folder)
    shutil.rmtree(folder / "outbox")


def lost_releases(folder):
    shutil.rmtree(folder / NOISY)


def lost_both(folder):
    lost_releases(folder)
    shutil.rmtree(folder / "outbox")


def renamed_files(folder):
    for number, file in enumerate(sorted((folder / NOISY).glob("*.json"))):
        file.rename(file.with_name(f"download ({number})"))


def a_copy_that_is_damaged(folder):
    newest(folder / "outbox").write_text('{"dpol_release": 4, "rows')


WAYS = all_of_it, with_an_empty_outbox, lost_releases, lost_both, renamed_files
WAYS = *WAYS, a_copy_that_is_damaged


@pytest.mark.parametrize("again", WAYS)
def test_equal_counts_give_equal_rows_however_a_folder_came_back(monkeypatch, again):
    """Weeks 2 and 3, and a second release of week 1, were made after the backup."""
    Path("h").mkdir()
    monkeypatch.chdir("h")
    put(A1, B1, made=MADE, own=OUTBOX, today=day(7))
    shutil.copytree(".", "../backup")
    put(A1, B1, A2, made=MADE, own=OUTBOX, today=day(14))
    put(A1, B1, *ALL[1:], made=MADE, own=OUTBOX, today=day(21))
    monkeypatch.chdir("..")
    shutil.copytree("h", "sent")
    again(Path("h"))
    monkeypatch.chdir("h")
    put(A1, B1, *ALL[1:], made=MADE, own=OUTBOX, today=day(21))
    put(A1, B1, *ALL[1:], A4, made=MADE, own=OUTBOX, today=day(28))
    assert newest("outbox").read_bytes() == newest().read_bytes()
    monkeypatch.chdir("..")
    found = drawn("h", "sent")
    assert {key: texts for key, texts in found.items() if len(texts) > 1} == {}
    assert {("A", A1[1], 2), ("A", A4[1], 1)} <= {*found}


@pytest.mark.parametrize("seed", range(4))
def test_no_order_of_runs_copies_and_losses_draws_twice(monkeypatch, seed):
    """Of two agreements, whose releases are put back as a whole or in part, or lost."""
    chance, copies, found = random.Random(seed), list[Path](), {}
    made = MADE, deployment(name="e", second_release={"after": 1})
    count = {(name, week): str(chance.randrange(4)) for name in "AB" for week in range(8)}
    Path("h").mkdir()
    monkeypatch.chdir("h")
    for step in range(14):
        last, of = min(7, step // 2), chance.choice(made)
        rows = [(name, str(day(7 * k)), count[name, k]) for name in "AB" for k in range(last + 1)]
        put(*rows, made=of, today=day(7 * last + 7))
        for key, texts in drawn(*NOISY.glob(f"{of.name}-*.json")).items():
            found.setdefault((of.name, *key), set()).update(texts)
        copies.append(Path(shutil.copytree(".", f"../{step}")).resolve())
        if (luck := chance.random()) < 0.5:
            shutil.rmtree(NOISY)
            shutil.copytree(chance.choice(copies) / NOISY, NOISY)
        elif luck > 0.8:
            shutil.rmtree(NOISY)
    assert [key for key, texts in found.items() if len(texts) > 1] == []


def test_two_hospitals_cloned_from_one_folder_show_no_equal_row():
    """Both tables say Total, and all counts are equal."""
    both = {}
    weeks = [("Total", str(day(7 * k)), "9") for k in range(30)]
    for name in cloned("AB"):
        with contextlib.chdir(name):
            put(*weeks, own={"entities": {name: "Total"}})
            both[name] = {row[2] for row in table()}
    assert len(both["A"]) == len(both["B"]) == 30
    assert not both["A"] & both["B"]


def test_two_hospitals_of_several_wards_keep_both_files_in_one_folder():
    made = deployment(entities={name: {} for name in ("a1", "a2", "b1", "b2")})
    for name in "ab":
        Path(name).mkdir()
        with contextlib.chdir(name):
            wards = [f"{name}1", f"{name}2"]
            own = {"entities": wards, "copy_to": "../outbox"}
            put(*[(it, A1[1], "3") for it in wards], made=made, own=own)
    assert [len(table(file)) for file in Path("outbox").iterdir()] == [2, 2]


def test_two_machines_that_released_other_counts_are_told_when_they_see_each_other():
    for name, count in zip(cloned("xy"), "78", strict=True):
        with contextlib.chdir(name):
            put(A1, ("A", A2[1], count))
    Path("d.yaml").write_text(deployment().agreement())
    words = newest("x/noisy"), newest("y/noisy"), "--deployment", "d.yaml"
    assert "holds another row of A for 2021-01-08" in run("recompute", *words)[2]
    shutil.copy(newest("x/noisy"), "y/noisy/other.json")
    with contextlib.chdir("y"):
        message = "two machines have released it. Ask the coordinator which .* move the other file"
        refuse(message, A1, A2)


def test_all_releases_lost_and_a_count_changed_is_a_second_draw_that_others_refuse():
    """The cost is sqrt(2) in mu; the page for officers says so."""
    put(A1)
    shutil.copy(newest(), "sent.json")
    shutil.rmtree(NOISY)
    put(("A", A1[1], "4"))
    code, _, err = run("recompute", "sent.json", newest(), "--deployment", "d.yaml")
    assert (code, "holds another row of A" in err) == (1, True)


# ---- files that are not as they should be --------------------------------------------------------


def cut(file):
    file.write_bytes(file.read_bytes()[:-40])


def emptied(file):
    file.write_bytes(b"")


def changed(file):
    file.write_text(file.read_text().replace('"20"', '"21"'))


def of_another_version(file):
    file.write_text(file.read_text().replace('"dpol_release": 4', '"dpol_release": 5'))


@pytest.mark.parametrize("damage", [cut, emptied, changed, of_another_version])
def test_an_own_file_that_cannot_be_read_refuses_the_run(damage):
    """Skipped, its rows would be drawn anew."""
    put(A1, A2, own=OUTBOX)
    damage(newest())
    refuse("noisy/d-.*json: .*(ask for the release again|put it back from a copy)", A1, A2)
    shutil.copy(newest("outbox"), newest())
    assert put(A1, A2, own=OUTBOX, halted=True).added == []
    damage(newest("outbox"))
    assert put(A1, A2, own=OUTBOX, halted=True).added == []
    assert newest("outbox").read_bytes() == newest().read_bytes(), "the copy is written again"
    damage(newest("outbox"))
    shutil.rmtree(NOISY)
    refuse("outbox/d-", A1, A2, own=OUTBOX)


def test_files_of_others_in_the_folder_of_copies_are_nobodys_memory():
    put(A1, own=OUTBOX)
    make_key(Path("other.key"))
    shutil.copy(newest(), "outbox/other.json")
    forge("outbox/other.json", by="other.key", rows=[["A", A2[1], "9.000000", "20"]])
    Path("outbox/note.txt").write_text("see you")
    Path("outbox/broken.json").write_text('{"dpol_release": 4')
    assert put(A1, A2, own=OUTBOX).added == [("A", A2[1], 1)]


def test_a_lost_key_is_replaced_by_two_commands_that_name_each_other():
    put(A1, made=MADE, today=day(7))
    old, before = Key(Path("dpol.key")).public, table()
    Path("dpol.key").unlink()
    refuse("dpol.key: the key cannot be read .*dpol privatize FILE --new-key", A1)
    code, out, _ = run("privatize", "--new-key")
    public = Key(Path("dpol.key")).public
    assert (code, f"read {public} out" in out, f"former_keys: [{old}]" in out) == (0, True, True)
    assert "nothing was made" in run("privatize", "--new-key")[1]
    refuse(rf"signed by another key than yours.*former_keys: \[{old}\]", A1, made=MADE)
    done = put(A1, A2, made=MADE, own={"former_keys": [old]}, today=day(14))
    assert (done.added, table()[:1]) == ([("A", A2[1], 1)], before)
    assert (find_release(done.file).key, done.file.name[2:10]) == (public, public[:8])


def test_the_secret_is_in_no_other_file():
    put(A1, B1)
    secret = Path("dpol.secret").read_bytes()
    rest = [it for it in Path().rglob("*") if it.is_file() and it.name != "dpol.secret"]
    for text in (secret, secret.hex().encode()):
        assert not any(text in file.read_bytes() for file in rest)


# ---- beginnings, and names -----------------------------------------------------------------------


def test_nothing_up_to_the_date_is_released_for_the_first_time():
    done = put(*ALL, own={"begin_after": A1[1]})
    assert [period for _, period, _ in done.added] == [A2[1], A3[1]]
    assert ("A", A1[1]) not in done.late


def test_an_amendment_cannot_rename_a_place_from_a_released_period_on():
    """Its people would be released twice, once under each name."""
    put(A1, A2)
    ends, joins = {"until": A2[1]}, {"since": A2[1]}
    entities = {"A": ends, "B": {}, "C": {}, "North": joins}
    amends = {"agreement": deployment().sha256(), "since": A2[1]}
    later, own = deployment(entities=entities, amends=amends), {"entities": {"North": "A"}}
    with pytest.raises(ConfigError, match="must be after 2021-01-08, which A has released already"):
        put(A1, A2, made=later, own=own)
    since = {"since": A3[1]}
    entities = entities | {"A": {"until": A3[1]}, "North": since}
    later = deployment(entities=entities, amends=amends | since)
    assert put(*ALL, made=later, own=own).added == [("North", A3[1], 1)]
    assert sent() == [("A", A1[1]), ("A", A2[1]), ("North", A3[1])]


def test_a_release_under_an_agreement_that_is_not_here_is_told():
    put(A1)
    other = deployment(name="e")
    for file in NOISY.glob("agreement-*"):
        file.unlink()
    message = "was released under an agreement .* whose file is not here; copy that file into noisy"
    refuse(message, A1, made=other)
    Path("noisy/old.yaml").write_text(json.dumps(json.loads(deployment().agreement())))
    assert len(put(A1, made=other).added) == 1


def test_a_period_is_not_released_twice_and_an_unchanged_run_changes_no_byte():
    put(A1, B1, own=OUTBOX)
    before = files()
    assert put(A1, B1, own=OUTBOX, halted=True).added == []
    assert files() == before


def test_the_way_in_which_a_table_is_sorted_is_not_released():
    put(A1, A2, B1)
    rows = table()
    shutil.rmtree(NOISY)
    put(B1, A2, A1, own={"columns": COLUMNS})
    assert table() == rows


def test_a_sampler_that_fails_releases_and_shows_nothing(monkeypatch):
    def fails(*given, **options):
        raise RuntimeError("no noise")

    count = str(1753197 / 10**5)
    with monkeypatch.context() as broken:
        broken.setattr(release_module, "keyed_noise", fails)
        with pytest.raises(RuntimeError, match="no noise") as failure:
            put(("A", A1[1], count))
    assert count not in "".join(traceback.format_exception(failure.value))
    assert not NOISY.exists()
    assert len(put(A1).added) == 1
