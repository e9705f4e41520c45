"""Reports that a coordinator accepts, and reports that are refused."""

from __future__ import annotations

import re

import pytest
import yaml

from dpol.cli import main
from dpol.core.errors import ConfigError, DataError
from dpol_weekly.coordinator.collect import collect, set_aside
from dpol_weekly.coordinator.decide import decide
from dpol_weekly.coordinator.log import LOG_NAME, Log
from dpol_weekly.coordinator.settings import FILE, TEMPLATE, Coordination, read_coordination
from dpol_weekly.deployment import read_deployment
from weekly import agreed, date, day, public, report


def known(world, *entities, key="L"):
    """The words that name a file of known keys."""
    path = world.base / "known.yaml"
    path.write_text(yaml.safe_dump(dict.fromkeys(entities, public(key))))
    return ["--known-keys", str(path)]


A0, A1, B0 = ("A", 0, "3.5"), ("A", 1, "-2.25"), ("B", 0, "7")


def test_new_rows_are_taken_once_as_they_were_released(world):
    assert len(world.put(A0, B0).taken) == 2
    again = world.put(A0, B0, A1)
    assert (len(again.taken), again.known, again.refused) == (1, 2, [])
    assert sorted(row[:3] for row in world.rows()) == [
        ("A", day(0), "3.500000"),
        ("A", day(1), "-2.250000"),
        ("B", day(0), "7.000000"),
    ]
    lines = [(it["kind"], len(it.get("taken", ()))) for it in world.lines()]
    assert lines == [("agreement", 0), ("release", 2), ("release", 1)]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("X", 1, "3"), "X does not take part in"),
        (("C", "2021-02-09", "3"), "no period .* '2021-02-09'; they start every 7"),
        (("A", "2020-12-27", "3"), "no period"),
        (("A", 0, "4"), "A for 2021-01-03: the agreement allows no further release"),
        (("C", 1, "3", "21"), "its capacity is 21, and the deployment says 20"),
        (("D", 0, "3"), "D does not take part in"),
        (("E", 1, "3"), "E does not take part in"),
    ],
)
def test_a_row_that_breaks_a_rule_is_refused_and_the_rest_taken(world, row, message):
    others = {"D": {"since": day(1)}, "E": {"until": day(1)}}
    world.agree({"A": {}, "B": {}, "C": {"capacity": 20}} | others)
    done = world.put(A0, row, B0)
    (line,) = {*done.refused}
    assert re.search(message, line)
    assert len(done.taken) == 2
    again = world.put(A0, row, B0)
    assert (again.taken, again.refused) == ([], []), "it is told once"


def test_an_older_file_that_comes_again_changes_nothing(world):
    world.put(A0, A1)
    assert world.put(A0).known == 1
    assert "was reported already, with other numbers" in world.put(("A", 0, "4")).refused[0]


def test_a_folder_keeps_its_deployment(world):
    world.put(A0)
    other = agreed(world.base / "other", mu=0.6)
    with pytest.raises(ConfigError, match="is another agreement than test .*amends: "):
        collect([], world.folder, other)
    world.deployment.write_text("# a comment changes nothing\n" + world.deployment.read_text())
    collect([], world.folder, world.deployment)
    collect([], world.folder)


def test_a_key_is_changed_by_a_line_put_anywhere_in_the_coordinators_file(tmp_path):
    """All keys of the template are comments that hold the defaults."""
    collect([], tmp_path / "state", agreed(tmp_path))
    own = tmp_path / "state" / FILE
    assert own.read_text() == TEMPLATE.read_text()
    keys = yaml.safe_load(re.sub("(?m)^# (?=[a-z_]+: )", "", own.read_text()))
    assert Coordination.model_validate(keys) == Coordination()
    assert list(keys) == list(Coordination.model_fields)
    with own.open("a") as stream:
        stream.write("names: 2\n")
    assert read_coordination(tmp_path / "state") == Coordination(names=2)
    with own.open("a") as stream:
        stream.write("names: 3\n")
    with pytest.raises(ConfigError, match="(?s)line 10: key names is given twice"):
        read_coordination(tmp_path / "state")


# ---- amendments ----------------------------------------------------------------------------------


ABC = {"A": {}, "B": {}, "C": {}}


def amended(world, entities, since=2, **keys):
    """The agreement of a world, amended from a period on."""
    before = read_deployment(world.deployment).sha256()
    amends = {"agreement": before, "since": day(since)}
    return agreed(world.base / f"amended-{since}", entities, amends=amends, **keys)


def test_reports_go_on_over_an_amendment(world):
    """B leaves, D joins, A gets other beds; A has not read the new file yet, C has."""
    world.agree({"A": {"capacity": 20}, "B": {}, "C": {}})
    world.put(A0, ("C", 0, "1"), ("C", 1, "1"))
    world.put(B0, key="B")
    entities = {"A": {"capacity": 30}, "B": {"until": day(2)}, "C": {}, "D": {"since": day(2)}}
    old, world.deployment = world.deployment, amended(world, entities)
    late = report(world.base / "late.json", old, [A0, A1, ("A", 2, "9")])
    (line,) = world.put(A0, ("A", 1, "-2.25", "30")).refused
    assert "its capacity is 30, and the deployment says 20" in line
    assert len(world.collect(late)[0].taken) == 2, "with the beds that were agreed before"
    rows = A0, A1, ("A", 2, "9"), ("A", 3, "9", "30"), ("A", 4, "9")
    done = world.put(*rows)  # the last one with the old file again
    assert (len(done.taken), done.known) == (2, 3)
    done = world.put(("C", 0, "1"), ("C", 1, "1"), ("C", 2, "2"), ("D", 2, "1"), ("D", 1, "1"))
    assert len(done.taken) == 2
    assert f"D does not take part in {day(1)}, says the deployment" in done.refused[0]
    (line,) = world.put(B0, ("B", 2, "4"), key="B").refused
    assert f"B does not take part in {day(2)}" in line
    assert world.put(B0, ("B", 2, "4"), key="B").refused == [], "a closed hospital is told once"
    after = decide(world.folder)
    assert [outlook["entity"] for outlook in after["outlooks"]] == ["A", "B", "C", "D"]
    ranked = {outlook["entity"] for outlook in after["outlooks"] if outlook["rank"]}
    assert ranked == {"A", "C", "D"}


def test_an_amendment_binds_the_entities_that_it_changes(world):
    """What it may change is tested with `privatize`, which has the same rule."""
    world.put(A0, A1)
    changed = ABC | {"A": {"capacity": 20}}
    with pytest.raises(ConfigError, match="mu: must stay as it was"):
        collect([], world.folder, amended(world, "ABC", mu=0.4))
    assert len(Log(world.folder).agreements) == 1
    with pytest.raises(ConfigError, match=f"must be after {day(1)}, which A has released already"):
        collect([], world.folder, amended(world, changed, since=1))
    collect([], world.folder, amended(world, changed))
    with pytest.raises(ConfigError, match="and does not amend it"):
        collect([], world.folder, amended(world, ABC | {"C": {"capacity": 3}}, since=3))


# ---- a row that is refused -----------------------------------------------------------------------


TENFOLD = ("A", 1, "900")


def test_a_refused_row_that_is_corrected_by_its_second_release_is_superseded(world):
    """Files hold all rows so far; both versions were released, and both are paid for."""
    world.agree(second_release={"after": 4})
    (line,) = world.put(A0, TENFOLD).refused
    assert "its noisy count is out of range" in line
    assert "ask the hospital to correct it, or set its period aside" in line
    done = world.put(A0, TENFOLD, ("A", 2, "9"), ("A", 1, "9"))
    assert (len(done.taken), done.known, done.refused) == (2, 2, [])
    # A faulty row after a good one is refused: nothing supersedes it.
    done = world.put(A0, TENFOLD, ("A", 2, "9"), ("A", 1, "9"), ("A", 2, "950"))
    assert (done.taken, len(done.refused)) == ([], 1)


@pytest.mark.parametrize(("keys", "times"), [({}, 1), ({"second_release": {"after": 4}}, 2)])
def test_as_many_versions_are_taken_as_the_agreement_says(world, keys, times):
    world.agree(**keys)
    versions = [("A", 0, str(count)) for count in range(9)]
    done = world.put(*versions)
    assert (len(done.taken), len(done.refused), done.again) == (times, 9 - times, times - 1)
    again = world.put(*versions, ("A", 1, "1"))
    assert (len(again.taken), again.known) == (1, 9)


def test_a_second_release_is_taken_on_its_day_and_not_before(world):
    """Otherwise a hospital could rewrite all its history in one week."""
    world.agree(second_release={"after": 4})
    rows = A0, A1, ("A", 0, "4"), ("A", 1, "5")
    done = world.put(*rows, today=date(5))
    assert (len(done.taken), done.again) == (3, 1)
    assert f"its second release is due on {day(6)}; collect again then" in done.refused[0]
    assert len(world.put(*rows, today=date(6)).taken) == 1


def test_what_is_set_aside_makes_room_for_another_row_and_counts_no_more(world):
    world.put(A0, A1, B0)
    assert world.put(A0, ("A", 1, "4")).taken == []
    assert set_aside(world.folder, "A", "typed tenfold", date(1)) == [("A", day(1))]
    assert decide(world.folder)["reports"] == 2
    done = world.put(A0, A1, ("A", 1, "4"))
    assert (len(done.taken), done.known, done.refused) == (1, 2, [])
    with pytest.raises(DataError, match="nothing of C counts"):
        set_aside(world.folder, "C", "wrong")


# ---- the command ---------------------------------------------------------------------------------


def test_the_command_tells_what_it_refused_and_takes_the_rest(world, capsys):
    good, missing = world.file(A0, ("X", 0, "1")), world.base / "missing.json"
    into = "--into", str(world.folder), *known(world, *"AB")
    deployment = "--deployment", str(world.deployment)
    assert main(["collect", str(missing), str(good), *into, *deployment]) == 1
    told = capsys.readouterr()
    assert told.out == f"{good}: 1 new, 0 known\n"
    lines = told.err.splitlines()
    assert "missing.json: is not there" in lines[0]
    assert "X for 2021-01-03: X does not take part in 2021-01-03" in lines[1]
    assert lines[2] == "error: refused: 2, see above; all other rows are collected"
    assert main(["collect", str(world.file(B0)), *into]) == 0


def test_files_with_nothing_new_are_counted_and_names_cannot_add_lines(world, capsys):
    """An inbox holds the files of all weeks."""
    inbox = world.base / "inbox"
    for number in range(9):
        world.file(A0, name=f"{number}.json")
    words = ["collect", str(inbox), "--into", str(world.folder), *known(world, "A")]
    assert main([*words, "--deployment", str(world.deployment)]) == 0
    world.file(A0, A1, name="new\n9 new.json")
    assert main(words) == 0
    told = capsys.readouterr().out.splitlines()[-2:]
    assert told[0].endswith("inbox/new?9 new.json: 1 new, 1 known")
    assert told[1] == "9 files with nothing new: 9 known"


def test_files_that_are_ignored_are_named(world, capsys):
    """A file on the command line that is no release is wrong."""
    inbox = world.file(A0).parent
    for number in range(23):
        (inbox / f"note-{number:02}.txt").write_text("Dear coordinator\n")
    words = ["--into", str(world.folder), "--deployment", str(world.deployment)]
    words += known(world, "A")
    assert main(["collect", str(inbox), *words]) == 0
    told = capsys.readouterr().out
    assert f"23 other files ignored, not a release: {inbox / 'note-00.txt'}, " in told
    assert f"{inbox / 'note-19.txt'} and 3 more" in told
    assert main(["collect", str(inbox / "note-00.txt"), *words]) == 1
    assert "note-00.txt: is not a release of dpol" in capsys.readouterr().err
    assert len(world.rows()) == 1


# ---- keys ----------------------------------------------------------------------------------------


def test_a_first_report_is_taken_with_a_known_key_only(world, capsys):
    """A stranger's mail comes first in the folder, and is about all hospitals."""
    inbox = world.base / "inbox"
    world.file(A0, B0, key="X", name="a.json")
    world.file(A0, name="b.json")
    words = ["collect", str(inbox), "--into", str(world.folder)]
    words += ["--deployment", str(world.deployment)]
    assert main(words) == 1
    told = capsys.readouterr().err
    assert f"signed with the key {public('X')}, and no key is known of A. Have it read" in told
    assert "with --known-keys FILE, in which a line says A: KEY" in told
    assert world.rows() == []
    assert main([*words, *known(world, "A")]) == 1
    told = capsys.readouterr().err
    assert f"signed with the key {public('X')}, and {public('L')} is known of A" in told
    assert [row[0] for row in world.rows()] == ["A"]
    # What was accepted needs no list.
    world.file(A0, A1, name="b.json")
    (inbox / "a.json").unlink()
    assert main(words) == 0
    assert len(world.rows()) == 2


def test_a_key_binds_until_another_one_is_read_out(world):
    world.put(A0)
    (line,) = world.put(A0, A1, key="W").refused
    assert "Have it read its key out" in line
    assert len(world.put(A0, A1, key="W", keys={"A": public("W")}).taken) == 1
    assert "is known of A" in world.put(A0, A1, ("A", 2, "3")).refused[0], "the old key is gone"
    set_aside(world.folder, "A", "another ward")
    told = world.put(A0, ("A", 0, "4"), keys={})
    assert "no key is known of A" in told.refused[0]


def test_an_amendment_that_a_hospital_has_taken_is_asked_for(world):
    world.put(A0)
    world.deployment, old = amended(world, ABC | {"D": {"since": day(2)}}), world.deployment
    file = world.file(A0, A1)
    world.deployment = old
    assert "If that one amends the last one, name its file" in world.collect(file)[0].refused[0]
    world.deployment = world.base / "amended-2" / "agreed.yaml"
    assert len(world.collect(file)[0].taken) == 1


# ---- the list ------------------------------------------------------------------------------------


def test_a_line_that_was_changed_removed_or_moved_is_noticed(world):
    world.put(A0)
    world.put(A0, A1)
    set_aside(world.folder, "A", "a test", date(0))
    path = world.folder / LOG_NAME
    whole = path.read_bytes().splitlines(keepends=True)
    for lines in (
        whole[1:],
        [*whole[:1], *whole[2:]],
        [whole[0], whole[2], whole[1], whole[3]],
        [whole[0], whole[1].replace(b"3.5", b"4.5"), *whole[2:]],
        [*whole[:2], b"{\n", *whole[2:]],
    ):
        path.write_bytes(b"".join(lines))
        for act in (lambda: collect([], world.folder), lambda: decide(world.folder)):
            with pytest.raises(DataError, match="was changed, removed or put elsewhere"):
                act()
    path.write_bytes(b"".join(whole)[:-9])
    world.put(A0, A1, ("A", 2, "1"))
    assert path.read_bytes().startswith(b"".join(whole[:3])), "half a line is cut off"
