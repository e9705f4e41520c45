"""Reports that the log accepts, and reports that it refuses."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from dpol.cli import main
from dpol.core.errors import ConfigError
from dpol_weekly.coordinator.collect import collect
from dpol_weekly.coordinator.decide import decide
from dpol_weekly.coordinator.export import verify
from dpol_weekly.coordinator.log import open_log
from dpol_weekly.coordinator.settings import FILE, TEMPLATE, Coordination
from dpol_weekly.deployment import read_deployment
from weekly import agreed, day, public, report


def known(world, *entities, ledger="L"):
    """The words that name a file of known keys."""
    path = world.base / "known.yaml"
    path.write_text(yaml.safe_dump(dict.fromkeys(entities, public(ledger))))
    return ["--known-keys", str(path)]


A0, A1, B0 = ("A", 0, "3.5"), ("A", 1, "-2.25"), ("B", 0, "7")


def test_new_rows_are_taken_once_as_they_were_released(world):
    assert world.put(A0, B0).taken == 2
    again = world.put(A0, B0, A1)
    assert (again.taken, again.known, again.refused) == (1, 2, [])
    assert [(row["entity"], row["period"], row["noisy_count"]) for row in world.rows()] == [
        ("A", day(0), "3.500000"),
        ("A", day(1), "-2.250000"),
        ("B", day(0), "7.000000"),
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("X", 1, "3"), "row 2: X is not an entity"),
        (("C", "2021-02-09", "3"), "row 2: no period .* '2021-02-09'; they start every 7"),
        (("A", "2020-12-27", "3"), "no period"),
        (("A", 0, "4"), "row 2: A has reported 2021-01-03 already, with other numbers"),
        (("C", 1, "3", "21"), "its capacity is 21, and the deployment says 20"),
        (("D", 0, "3"), "D does not take part in"),
        (("E", 1, "3"), "E does not take part in"),
    ],
)
def test_a_row_that_breaks_a_rule_is_refused_and_the_rest_taken(world, row, message):
    others = {"D": {"since": day(1)}, "E": {"until": day(1)}}
    world.agree({"A": {}, "B": {}, "C": {"capacity": 20}} | others)
    done = world.put(A0, row, B0)
    (line,) = done.refused
    assert re.search(message, line)
    assert done.taken == 2


def test_a_ledger_older_than_what_was_collected_is_refused(world):
    world.put(A0, A1, name="first.json")
    (line,) = world.put(A0, ("A", 2, "9")).refused
    assert f"1 row of A: it lacks what was reported for {day(1)} (first.json, " in line
    assert "ask the holder" in line
    assert world.put(A0).known == 1, "an older copy without news is known"
    assert world.put(A0, ("A", 2, "9"), output="P").taken == 1, "another output is another table"


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
    with open_log(tmp_path / "state") as log:
        assert log.coordination == Coordination(names=2)
    with own.open("a") as stream:
        stream.write("names: 3\n")
    with pytest.raises(ConfigError, match="(?s)line 12: key names is given twice"):
        collect([], tmp_path / "state")


# ---- amendments ----------------------------------------------------------------------------------


ABC = {"A": {}, "B": {}, "C": {}}


def amended(world, entities, since=2, **keys):
    """The agreement of a world, amended from a period on."""
    before = read_deployment(world.deployment).sha256()
    amends = {"agreement": before, "since": day(since)}
    return agreed(world.base / f"amended-{since}", entities, amends=amends, **keys)


def test_log_and_reports_go_on_over_an_amendment(world):
    """B leaves, D joins, A gets other beds; A has not read the new file yet, C has."""
    world.agree({"A": {"capacity": 20}, "B": {}, "C": {}})
    world.put(A0, ("C", 0, "1"), ("C", 1, "1"))
    world.put(B0, ledger="B")
    entities = {"A": {"capacity": 30}, "B": {"until": day(2)}, "C": {}, "D": {"since": day(2)}}
    old, world.deployment = world.deployment, amended(world, entities)
    late = report(world.base / "late.json", old, [A0, A1, ("A", 2, "9")])
    (line,) = world.put(A0, ("A", 1, "-2.25", "30")).refused
    assert "its capacity is 30, and the deployment says 20" in line
    assert world.collect(late)[0].taken == 2, "with the beds that were agreed before"
    rows = A0, A1, ("A", 2, "9"), ("A", 3, "9", "30"), ("A", 4, "9")
    done = world.put(*rows)  # the last one with the old file again
    assert (done.taken, done.known) == (2, 3)
    done = world.put(("C", 0, "1"), ("C", 1, "1"), ("C", 2, "2"), ("D", 2, "1"), ("D", 1, "1"))
    assert done.taken == 2
    assert f"D does not take part in {day(1)}, says the deployment" in done.refused[0]
    (line,) = world.put(B0, ("B", 2, "4"), ledger="B").refused
    assert f"B does not take part in {day(2)}" in line
    after = decide(world.folder)
    assert [outlook["entity"] for outlook in after["outlooks"]] == ["A", "B", "C", "D"]
    assert {outlook["entity"] for outlook in after["outlooks"] if outlook["rank"]} == {
        "A",
        "C",
        "D",
    }


def test_an_amendment_binds_the_entities_that_it_changes(world):
    """What it may change is tested with `privatize`, which has the same rule."""
    world.put(A0, A1)
    changed = ABC | {"A": {"capacity": 20}}
    with pytest.raises(ConfigError, match="mu: must stay as it was"):
        collect([], world.folder, amended(world, "ABC", mu=0.4))
    with open_log(world.folder) as log:
        assert len(log.agreements) == 1
    collect([], world.folder, amended(world, changed))
    with pytest.raises(ConfigError, match="and does not amend it"):
        collect([], world.folder, amended(world, ABC | {"C": {"capacity": 3}}, since=3))


# ---- a row that is refused -----------------------------------------------------------------------


TENFOLD = ("A", 1, "900")


def test_a_refused_row_that_is_corrected_later_in_its_file_is_superseded(world):
    """Files hold all rows so far; both versions were released, and both are paid for."""
    world.agree(second_release={"after": 4})
    (line,) = world.put(A0, TENFOLD).refused
    assert "row 2: its noisy count is out of range" in line
    assert "ask the hospital to correct it, or set its period aside" in line
    done = world.put(A0, TENFOLD, ("A", 2, "9"))
    assert (done.taken, len(done.refused)) == (1, 1)
    done = world.put(A0, TENFOLD, ("A", 2, "9"), ("A", 1, "9"))
    assert (done.taken, done.corrections, done.known, done.refused) == (2, 1, 2, [])
    assert [row["noisy_count"][:3] for row in world.rows(f"period = '{day(1)}'")] == ["900", "9.0"]
    world.put(B0, ledger="B")
    assert decide(world.folder)["reports"] == 4
    # A faulty row after a good one is refused: nothing supersedes it.
    done = world.put(A0, TENFOLD, ("A", 2, "9"), ("A", 1, "9"), ("A", 2, "950"))
    assert (done.taken, len(done.refused)) == (0, 1)


def test_a_refused_row_that_nobody_can_correct_is_set_aside(world, capsys):
    assert len(world.put(A0, TENFOLD, ("A", 1, "9")).refused) == 1, "there is no second release"
    world.folder = world.base / "other"
    world.put(A0, TENFOLD)
    words = ["--entity", "A", "--period", day(1), "--reason", "typed tenfold"]
    assert main(["set-aside", str(world.folder), *words]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"set aside: whatever is refused of A for {day(1)}\nThe head of the log")
    done = world.put(A0, TENFOLD, ("A", 2, "9"))
    assert (done.taken, done.known, done.refused) == (1, 2, [])
    other = world.put(A0, TENFOLD, ("A", 2, "9"), ("A", 3, "901"))
    assert len(other.refused) == 1, "another period is another matter"
    assert verify(world.folder)


# ---- the command ---------------------------------------------------------------------------------


def test_the_command_tells_what_it_refused_and_takes_the_rest(world, capsys):
    good, missing = world.file(A0, ("X", 0, "1")), world.base / "missing.json"
    into = "--into", str(world.folder), *known(world, *"AB")
    deployment = "--deployment", str(world.deployment)
    assert main(["collect", str(missing), str(good), *into, *deployment]) == 1
    told = capsys.readouterr()
    with open_log(world.folder) as log:
        assert told.out == f"{good}: 1 new, 0 known\nThe head of the log is {log.head}\n"
    lines = told.err.splitlines()
    assert "missing.json: is not there" in lines[0]
    assert "row 2: X is not an entity" in lines[1]
    assert lines[2] == "error: refused: 2, see above; collected: 1 new, 0 known"
    assert main(["collect", str(world.file(B0, output="P")), *into]) == 0


def test_files_with_nothing_new_are_counted_and_names_cannot_add_lines(world, capsys):
    """An inbox holds the files of all weeks."""
    inbox = world.base / "inbox"
    for number in range(9):
        world.file(A0, name=f"{number}.json")
    words = ["collect", str(inbox), "--into", str(world.folder), *known(world, "A")]
    assert main([*words, "--deployment", str(world.deployment)]) == 0
    world.file(A0, A1, name="new\nThe head of the log is 0.json")
    assert main(words) == 0
    told = capsys.readouterr().out.splitlines()[-3:]
    assert told[0].endswith("inbox/new?The head of the log is 0.json: 1 new, 1 known")
    assert told[1] == "9 files with nothing new: 9 known"


def test_files_that_are_ignored_are_named(world, capsys):
    """A file on the command line that is no release is wrong."""
    inbox = world.base / "inbox"
    inbox.mkdir()
    (inbox / "mail.zip").write_bytes(b"PK")
    for number in range(22):
        (inbox / f"note-{number:02}.txt").write_text("Dear coordinator\n")
    words = ["--into", str(world.folder), "--deployment", str(world.deployment)]
    words += known(world, "A")
    assert main(["collect", str(inbox), *words]) == 0
    told = capsys.readouterr().out
    assert f"23 other files ignored, not a release: {inbox / 'mail.zip'}, " in told
    assert f"{inbox / 'note-18.txt'} and 3 more" in told
    assert main(["collect", str(inbox), *words, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["ignored"]) == 23
    assert main(["collect", str(inbox / "mail.zip"), str(world.file(A0)), *words]) == 1
    assert "mail.zip: is not a release of dpol" in capsys.readouterr().err
    assert len(world.rows()) == 1


def test_the_log_is_exported_as_it_was_released(world):
    world.put(A0, A1, B0)
    path = world.base / "r.csv"
    assert main(["export", str(world.folder), "--to", str(path)]) == 0
    header, _, second, _ = path.read_text().splitlines()
    assert header.startswith("entity,period,version,noisy_count,capacity,ledger,report")
    assert second.startswith(f"A,{day(1)},1,-2.250000,20,")
    assert main(["export", str(world.folder), "--to", str(world.base / "r.xls")]) == 1


# ---- the key of a first report -------------------------------------------------------------------


def test_a_script_takes_a_first_report_with_a_known_key_only(world, capsys):
    """A stranger's mail comes first in the folder, and is about all hospitals."""
    inbox = world.base / "inbox"
    world.file(A0, B0, ledger="X", name="a.json")
    world.file(A0, ledger="L", name="b.json")
    words = ["collect", str(inbox), "--into", str(world.folder)]
    words += ["--deployment", str(world.deployment)]
    assert main(words) == 1
    told = capsys.readouterr().err
    assert f"it is the first report of A, and nobody has confirmed its key, {public('X')}" in told
    assert "with --known-keys FILE, in which a line says A: KEY" in told
    assert world.rows() == []
    assert main([*words, *known(world, "A")]) == 1
    told = capsys.readouterr().err
    assert f"signed with the key {public('X')}, and the known one is {public('L')}; ask A" in told
    assert [row["entity"] for row in world.rows()] == ["A"]
    # What is in the log needs no list.
    world.file(A0, A1, ledger="L", name="b.json")
    (inbox / "a.json").unlink()
    assert main(words) == 0
    assert len(world.rows()) == 2


def test_a_key_of_the_agreement_needs_no_answer(world, capsys):
    world.agree({"A": {"key": public("L")}, "B": {}})
    words = ["--into", str(world.folder), "--deployment", str(world.deployment)]
    assert main(["collect", str(world.file(A0)), *words]) == 0
    world.file(B0, ledger="L")
    assert main(["collect", str(world.base / "inbox"), *words]) == 1
    assert "the first report of B" in capsys.readouterr().err
