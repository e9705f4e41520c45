"""Reports that the log takes in, and those that it refuses."""

from __future__ import annotations

import datetime
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from dpol.cli import main
from dpol.core.errors import ConfigError, DataError
from dpol_weekly.coordinator.checks import CHECKS
from dpol_weekly.coordinator.collect import collect, set_aside
from dpol_weekly.coordinator.decide import check, decide
from dpol_weekly.coordinator.export import verify
from dpol_weekly.coordinator.log import LOG_NAME, open_log
from dpol_weekly.coordinator.settings import FILE, Coordination
from dpol_weekly.deployment import read_deployment
from dpol_weekly.noise import CountNoise
from dpol_weekly.released import pack
from releases import run
from weekly import MU, agreed, chain_of, day, identity, record_of, recorded, report

A0, A1, B0 = ("A", 0, "3.5"), ("A", 1, "-2.25"), ("B", 0, "7")
ROOT = Path(__file__).parents[2]


def test_new_rows_are_taken_once_as_they_were_released(world):
    assert world.put(A0, B0).taken == 2
    again = world.put(A0, B0, A1)
    assert (again.taken, again.known, again.refused) == (1, 2, ())
    assert [(it["entity"], it["period"], it["noisy_count"]) for it in world.rows()] == [
        ("A", day(0), "3.500000"),
        ("A", day(1), "-2.250000"),
        ("B", day(0), "7.000000"),
    ]
    row = world.rows()[0]
    assert (row["noisy_share"], row["mu"], row["count_sensitivity"]) == ("0.175", "0.5", "1")
    assert (row["chain"], row["scale"] / 10 ** row["decimals"]) == ("", 2.828429)


@pytest.mark.parametrize("change", ["UPDATE {} SET rowid = 9", "DELETE FROM {}"])
@pytest.mark.parametrize("table", ["deployment", "report", "noise", "release", "act"])
def test_rows_of_the_log_cannot_be_changed(world, table, change):
    world.put(A0)
    set_aside(world.folder, "A", "a test")
    base = sqlite3.connect(world.folder / "log.sqlite")
    with pytest.raises(sqlite3.IntegrityError, match="only ever added"):
        base.execute(change.format(table))
    base.close()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("X", 1, "3"), "line 3: X is not an entity"),
        (("A", "2021-01-04", "3"), "line 3: no period .* '2021-01-04'; they start every 7"),
        (("A", "2020-12-27", "3"), "no period"),
        (("A", 0, "4"), "line 3: A has reported 2021-01-03 already, with other numbers"),
        (("C", 1, "3", "21"), "its capacity is 21, and the deployment says 20"),
        (("C", 1, "3", "19"), "its capacity is 19, and the deployment says 20"),
    ],
)
def test_a_row_that_breaks_a_rule_is_refused_and_the_rest_taken(world, row, message):
    world.agree({"A": {}, "B": {}, "C": {"capacity": 20}})
    done = world.put(A0, row, B0)
    (line,) = done.refused
    assert re.search(message, line)
    assert done.taken == 2


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"mu": 0.4}, "mu is 0.5, larger than agreed \\(0.4\\)"),
        ({"count_sensitivity": 2.0}, "the count sensitivity is 1, and 2 was agreed"),
        ({"unit_weeks": 3}, "stays of 1 periods, and 3 were agreed"),
        ({"entities": {"A": {"since": "2021-01-10"}, "B": {}}}, "A does not take part in"),
        ({"entities": {"A": {"until": "2021-01-03"}, "B": {}}}, "A does not take part in"),
    ],
)
def test_what_was_not_agreed_is_refused(world, keys, message):
    world.agree(**keys)
    done = world.put(A0)
    assert done.taken == 0
    assert re.search(message, done.refused[0])


def test_a_table_of_other_columns_is_refused(world):
    path = world.file(A0)
    path.write_text(path.read_text().replace("noisy_share", "share"))
    record = json.loads(record_of(path).read_text())
    del record["sha256"]
    (done,) = world.collect(recorded(path, record))
    assert "is not a release of dpol. It may hold raw counts" in done.refused[0]


def test_a_correction_supersedes_where_it_is_allowed_and_counts(world):
    world.agree(corrections=True)
    world.put(A0, A1)
    done = world.put(A0, A1, ("A", 0, "4"))
    assert (done.taken, done.known, done.corrections) == (1, 2, 1)
    # A copy of the older report brings nothing back.
    done = world.put(A0, A1)
    assert (done.taken, done.known) == (0, 2)
    versions = [(it["version"], it["noisy_count"]) for it in world.rows(f"period = '{day(0)}'")]
    assert versions == [(1, "3.500000"), (2, "4.000000")]


def test_a_ledger_older_than_what_was_collected_is_refused(world):
    world.put(A0, A1, name="first.csv")
    (line,) = world.put(A0, ("A", 2, "9")).refused
    assert f"1 row of A: the table lacks what was reported for {day(1)} (first.csv, " in line
    assert "ask the holder" in line
    assert "--continue-from" in line
    assert world.put(A0).known == 1, "an older copy without news is known"
    assert world.put(A0, ("A", 2, "9"), output="P").taken == 1, "another output is another table"


def test_rows_know_their_chain(world):
    world.agree(noise={"memory": "designed"})
    later = chain_of("A", first_row=4, releases=1, first_period=2)
    done = world.put(A0, B0, A1, ("A", 2, "5"), chains=[chain_of("A"), later])
    assert not done.refused
    *of_a, of_b = world.rows()
    origin = f"{identity('L')}/{identity('O')}"
    chains = [(it["chain"], it["place"]) for it in of_a]
    assert chains == [(f"{origin}/1", 1), (f"{origin}/1", 2), (f"{origin}/4", 1)]
    assert (of_b["chain"], of_b["a"], of_b["b"]) == ("", "0", "0")
    assert {(it["a"], it["b"], it["scale"]) for it in of_a} == {("0.2", "0.6", later["scale"])}


@pytest.mark.parametrize(("weeks", "taken"), [(2, 0), (3, 1), (4, 1)])
def test_noise_protects_stays_as_long_as_agreed(world, weeks, taken):
    """Noise of fewer people than agreed, too, is taken, and none with a memory that was not."""
    assert world.put(("B", 0, "1"), mu="0.25").taken == 1
    refused = world.put(A0, A1, chains=[chain_of("A")]).refused
    assert "independent noise was agreed" in refused[0]
    world.folder = world.base / "longer"
    world.agree(unit_weeks=3)
    done = world.put(A0, chains=[chain_of("A", a="0", b="0", releases=1, weeks=weeks)])
    assert done.taken == taken
    assert taken or f"protects stays of {weeks} periods, and 3 were agreed" in done.refused[0]


def test_a_folder_keeps_its_deployment(world):
    world.put(A0)
    other = agreed(world.base / "other", mu=0.6)
    with pytest.raises(ConfigError, match="is another agreement than test .*amends: "):
        collect([], world.folder, other)
    world.deployment.write_text("# a comment changes nothing\n" + world.deployment.read_text())
    collect([], world.folder, world.deployment)
    collect([], world.folder)


def test_a_new_folder_gets_a_file_of_the_coordinators_choices(tmp_path):
    collect([], tmp_path / "state", agreed(tmp_path))
    text = (tmp_path / "state" / FILE).read_text()
    assert Coordination.model_validate(yaml.safe_load(text)) == Coordination()
    assert list(yaml.safe_load(text)) == list(Coordination.model_fields)


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
    before = decide(world.folder)
    entities = {"A": {"capacity": 30}, "B": {"until": day(2)}, "C": {}, "D": {"since": day(2)}}
    old, world.deployment = world.deployment, amended(world, entities)
    late = report(world.base / "late.csv", old, [A0, A1, ("A", 2, "9")])
    (line,) = world.put(A0, ("A", 1, "-2.25", "30")).refused
    assert line.endswith("its capacity is 30, and the deployment says 20")
    assert world.collect(late)[0].taken == 2, "with the beds that were agreed before"
    rows = A0, A1, ("A", 2, "9"), ("A", 3, "9", "30"), ("A", 4, "9")
    done = world.put(*rows)  # the last one with the old file again
    assert (done.taken, done.known) == (2, 3)
    done = world.put(("C", 0, "1"), ("C", 1, "1"), ("C", 2, "2"), ("D", 2, "1"), ("D", 1, "1"))
    assert (done.taken, done.refused[0].split(": ", 1)[1]) == (
        2,
        f"D does not take part in {day(1)}, says the deployment",
    )
    (line,) = world.put(B0, ("B", 2, "4"), ledger="B").refused
    assert f"B does not take part in {day(2)}" in line
    after = decide(world.folder)
    assert [it.entity for it in after.outlooks] == ["A", "B", "C", "D"]
    assert {it.entity for it in after.outlooks if it.rank} == {"A", "C", "D"}
    assert check(world.folder, datetime.date.fromisoformat(before.period)) == before
    assert check(world.folder) == after


@pytest.mark.parametrize(
    ("entities", "since", "keys", "message"),
    [
        ("ABC", 2, {"mu": 0.4}, "mu: must stay as it was"),
        ("ABC", 2, {"budget_mu": 11}, "budget_mu: must stay as it was"),
        ("ABC", 2, {"longest_stay": 7}, "longest_stay: must stay as it was"),
        ("AB", 2, {}, "entities.C: must stay in the file; write until"),
        ("ABCD", 2, {}, "entities.D.since: must be 2021-01-17 or later"),
        (
            ABC | {"A": {"until": day(1)}},
            2,
            {},
            "entities.A.until.*2021-01-17 or later",
        ),
        (ABC | {"A": {"since": day(1)}}, 2, {}, "entities.A.since: must stay left out"),
        ("ABC", 0, {}, "amends.since.*start of a period after the first"),
    ],
)
def test_an_amendment_changes_entities_from_a_period_on_and_nothing_else(
    world, entities, since, keys, message
):
    world.put(A0)
    with pytest.raises(ConfigError, match=message):
        collect([], world.folder, amended(world, entities, since, **keys))
    collect([], world.folder, amended(world, {name: {"capacity": 9} for name in "ABC"}))


def test_an_amendment_that_was_removed_is_noticed(world):
    world.put(A0)
    collect([], world.folder, amended(world, {name: {"capacity": 9} for name in "ABC"}))
    head = verify(world.folder)
    with closing(sqlite3.connect(world.folder / LOG_NAME, isolation_level=None)) as base:
        for table, message in (("deployment", "removed or added"), ("link", "never at the head")):
            base.execute(f"DROP TRIGGER {table}_kept")
            base.execute(f"DELETE FROM {table} WHERE number = 2")
            with pytest.raises(DataError, match=message):
                verify(world.folder, head)


def test_an_amendment_names_the_agreement_that_it_amends(world):
    world.put(A0)
    first = amended(world, "ABC")
    wrong = first.read_text().replace(read_deployment(world.deployment).sha256(), "a" * 64)
    other = world.base / "wrong.yaml"
    other.write_text(wrong)
    with pytest.raises(ConfigError, match="and does not amend it"):
        collect([], world.folder, other)
    collect([], world.folder, first)
    with pytest.raises(ConfigError, match="and does not amend it"):
        collect([], world.folder, amended(world, ABC | {"C": {"capacity": 3}}, since=3))
    world.deployment = first
    with pytest.raises(ConfigError, match="must be after the last amendment"):
        collect([], world.folder, amended(world, ABC | {"C": {"capacity": 3}}))


def test_nothing_begins_without_a_good_deployment(world):
    with pytest.raises(DataError, match="name the deployment's file with --deployment"):
        collect([], world.folder)
    with pytest.raises(DataError, match="there is no log yet"), open_log(world.base / "none"):
        pass
    world.agree(mu=-1)
    with pytest.raises(ConfigError, match="mu = -1"):
        world.collect()
    # The folder is not spoilt for the file that is repaired.
    world.agree()
    assert world.put(A0).taken == 1


def test_a_file_that_is_no_log_is_refused(world):
    world.put(A0)
    log = world.folder / "log.sqlite"
    log.unlink()
    os.mkfifo(log)
    with pytest.raises(DataError, match="is not a log of dpol"):
        collect([], world.folder)


def test_the_command_tells_what_it_refused_and_takes_the_rest(world, capsys):
    good, missing = world.file(A0, ("X", 0, "1")), world.base / "missing.csv"
    into = "--into", str(world.folder)
    deployment = "--deployment", str(world.deployment)
    assert main(["collect", str(missing), str(good), *into, *deployment]) == 1
    told = capsys.readouterr()
    assert told.out == f"{good}: 1 new, 0 known\n"
    lines = told.err.splitlines()
    assert "missing.csv: is not there" in lines[0]
    assert "line 3: X is not an entity" in lines[1]
    assert lines[2] == "error: refused: 2, see above; collected: 1 new, 0 known"
    assert main(["collect", str(world.file(B0, output="P")), *into]) == 0


def test_the_log_is_exported_as_it_was_released_or_as_numbers(world):
    import pandas as pd

    world.put(A0, A1, B0)
    for name in ("r.csv", "r.parquet"):
        assert main(["export", str(world.folder), "--to", str(world.base / name)]) == 0
    header, _, second, _ = (world.base / "r.csv").read_text().splitlines()
    assert second.startswith(f"A,{day(1)},1,-2.250000,20,-0.1125,,1,0.5,1,")
    table = pd.read_parquet(world.base / "r.parquet")
    assert table.columns.tolist() == header.split(",")
    assert table.noisy_count.tolist() == [3.5, -2.25, 7.0]
    assert table.noise_sd.tolist() == [CountNoise(MU).standard_deviation / 20] * 3
    assert main(["export", str(world.folder), "--to", str(world.base / "r.xls")]) == 1


def test_two_runs_wait_for_each_other(world):
    """One waits while the log is held, and both reports are there in the end."""
    world.put(A0)
    files = world.file(B0, output="b"), world.file(("C", 0, "1"), output="c")
    holder = sqlite3.connect(world.folder / "log.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    command = [sys.executable, "-m", "dpol", "collect", "--into", str(world.folder)]
    runs = [subprocess.Popen([*command, str(file)]) for file in files]
    time.sleep(1.5)
    assert [run.poll() for run in runs] == [None, None], "a run did not wait"
    holder.execute("ROLLBACK")
    holder.close()
    assert [run.wait(60) for run in runs] == [0, 0]
    assert [row["entity"] for row in world.rows()] == ["A", "B", "C"]


LIGHT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "pyarrow", "matplotlib", "snakemake"):
            raise ImportError(f"{name} is not installed")
sys.meta_path.insert(0, Missing())
from dpol.cli import main
file, deployment, state = sys.argv[1:]
for words in (
    ("collect", file, "--into", state, "--deployment", deployment),
    ("decide", state),
    ("decide", state, "--check"),
    *(("decide", state, "--algorithm", it) for it in ("rw-meta", "rw-ftpl", "random-effects")),
    ("set-aside", state, "--entity", "A", "--reason", "a test"),
    ("export", state, "--to", "r.csv"),
):
    assert main(list(words)) == 0, words
assert main(["export", state, "--to", "r.parquet"]) == 1
"""


def test_a_coordinator_needs_none_of_the_pipelines_libraries(world):
    file = world.file(A0, B0)
    given = str(file), str(world.deployment), str(world.folder)
    command = [sys.executable, "-c", LIGHT, *given]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, cwd=world.base)
    assert ran.returncode == 0, ran.stderr
    assert 'pip install "dpol[pipeline]"' in ran.stderr


def test_the_manual_lists_every_check():
    manual = (ROOT / "docs/reference/releases.md").read_text(encoding="utf-8")
    rows = [f"| {check.__doc__.splitlines()[0].removesuffix('.')} |" for check in CHECKS]
    table = manual.partition("| a row is taken if |\n|---|\n")[2]
    assert table.splitlines()[: len(rows) + 1] == [*rows, ""]


# ---- a folder in which reports arrive ------------------------------------------------------------


def zipped(path, *files):
    path.write_bytes(pack({f"mail/{it.name}": it.read_bytes() for it in files}))


def test_releases_are_found_by_what_they_hold(world, tmp_path):
    """Renamed, packed again, with line ends of Windows; other files are ignored."""
    inbox = tmp_path / "mailbox" / "week 3"
    inbox.mkdir(parents=True)
    a, b, c = (world.file((name, 0, "3"), ledger=name) for name in "ABC")
    zipped(inbox / "attachment", a, record_of(a))
    (inbox / "noisy (1).csv").write_bytes(b.read_bytes().replace(b"\n", b"\r\n"))
    record_of(b).rename(inbox / "record (1).txt")
    c.rename(inbox / "c")
    record_of(c).rename(inbox.parent / "zz")
    (inbox / "letter.txt").write_text("Dear coordinator\n")
    (inbox / "data.json").write_text("{}")
    (inbox / "raw.csv").write_text("entity,period,count\nA,2021-01-03,3\n")
    zipped(inbox / "photos.zip", inbox / "letter.txt")
    *done, rest = world.collect(inbox.parent)
    assert [it.refused for it in done] == [()] * 3
    assert sorted(row["entity"] for row in world.rows()) == [*"ABC"]
    assert (rest.file, rest.ignored) == (inbox.parent, 4)
    assert sum(it.known for it in world.collect(inbox.parent)) == 3


def test_what_is_damaged_in_a_folder_is_refused_and_the_rest_taken(world, tmp_path):
    inbox = tmp_path / "mailbox"
    inbox.mkdir()
    a, b, c = (world.file((name, 0, "3"), ledger=name) for name in "ABC")
    zipped(inbox / "a.zip", a, record_of(a))
    zipped(inbox / "b.zip", b, record_of(b))
    (inbox / "b.zip").write_bytes((inbox / "b.zip").read_bytes()[:-30])
    c.write_text(c.read_text().replace(",3.", ",4."))
    zipped(inbox / "c.zip", c, record_of(c))
    a.rename(inbox / "alone.csv")
    done = {it.file.name: it for it in world.collect(inbox)}
    assert done["a.zip"].taken == 1
    for name, told in (("b.zip", "is damaged or cut"), ("c.zip", "no record fits this table")):
        assert told in done[name].refused[0]
    assert done["alone.csv"].known == 1, "its record is in a.zip"


def test_a_release_is_checked_before_it_is_sent(world, tmp_path, monkeypatch):
    good, less = world.file(A0), world.file(A0, ("B", 0, "3", "21"), ledger="B")
    world.agree({"A": {}, "B": {"capacity": 20}})
    agreed = "--deployment", world.deployment
    code, out, err = run("collect", "--check", world.file(A0), *agreed)
    assert (code, out.endswith(": 1 row, all as agreed\n"), err) == (0, True, "")
    code, _, err = run("collect", "--check", good, less, *agreed)
    assert (code, err.count("or of an amendment that is not known here")) == (1, 2)
    less = world.file(A0, ("B", 0, "3", "21"), ledger="B")
    assert "its capacity is 21" in run("collect", "--check", less, *agreed)[2]
    assert not (world.folder / LOG_NAME).exists()
    assert "name the agreed file with --deployment" in run("collect", "--check", good)[2]
