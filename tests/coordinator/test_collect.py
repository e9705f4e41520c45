"""Reports that the log takes in, and those that it refuses."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from decimal import Decimal

import pytest

from dpol.cli import main
from dpol.core.errors import ConfigError, DataError
from dpol_weekly.coordinator.aside import set_aside
from dpol_weekly.coordinator.collect import collect
from dpol_weekly.coordinator.log import open_log
from dpol_weekly.memory import Memory, terms_of
from dpol_weekly.noise import CountNoise
from dpol_weekly.released import record_of
from weekly import MU, agreed, collected, day, identity, recorded, report

A0, A1, B0 = ("A", 0, "3.5"), ("A", 1, "-2.25"), ("B", 0, "7")


@pytest.fixture
def world(tmp_path):
    """A way to collect a report by hand into one folder."""

    class World:
        folder, deployment = tmp_path / "state", agreed(tmp_path)
        count = 0

        def put(self, *rows, name=None, **options):
            self.count += 1
            path = tmp_path / "inbox" / (name or f"{self.count}.csv")
            return collected(self.folder, path, self.deployment, rows, **options)

        def rows(self):
            with open_log(self.folder) as log:
                return [it.row for it in log.releases()]

    return World()


def test_new_rows_are_taken_once_as_they_were_released(world):
    assert world.put(A0, B0).taken == 2
    again = world.put(A0, B0, A1)
    assert (again.taken, again.known, again.refused) == (1, 2, ())
    assert [(it.entity, it.period, it.noisy_count) for it in world.rows()] == [
        ("A", day(0), "3.500000"),
        ("A", day(1), "-2.250000"),
        ("B", day(0), "7.000000"),
    ]
    row = world.rows()[0]
    assert (row.noisy_share, row.mu, row.count_sensitivity, row.chain) == ("0.175", "0.5", "1", "")
    assert row.noise == row.fresh == CountNoise(MU).standard_deviation / 20


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
        (("A", "20210110", "3"), "no period"),
        (("A", 0, "4"), "line 3: A has reported 2021-01-03 already, with other numbers"),
        (("C", 1, "3", "21"), "its capacity is 21, and the deployment says 20"),
        (("C", 1, "3", "19"), "its capacity is 19, and the deployment says 20"),
    ],
)
def test_a_row_that_breaks_a_rule_is_refused_and_the_rest_taken(tmp_path, row, message):
    deployment = agreed(tmp_path, {"A": {}, "B": {}, "C": {"capacity": 20}})
    done = collected(tmp_path / "s", tmp_path / "1.csv", deployment, [A0, row, B0])
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
def test_what_was_not_agreed_is_refused(tmp_path, keys, message):
    deployment = agreed(tmp_path, **keys)
    done = collected(tmp_path / "s", tmp_path / "1.csv", deployment, [A0])
    assert done.taken == 0
    assert re.search(message, done.refused[0])


def test_less_mu_than_agreed_is_taken(tmp_path):
    done = collected(tmp_path / "s", tmp_path / "1.csv", agreed(tmp_path), [A0], mu="0.25")
    assert done.taken == 1


def test_a_table_without_its_record_is_not_read(world, tmp_path):
    world.put(A0)
    raw = tmp_path / "raw.csv"
    raw.write_text("entity,period,noisy_count\n")
    (done,) = collect([raw], world.folder)
    assert "raw.csv.guarantee.json is not next to it. The table may hold raw counts" in str(
        done.refused
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"deployment": None}, "does not say which deployment"),
        ({"deployment": {"name": "other", "sha256": "0"}}, "of another deployment \\(other\\)"),
        ({"sha256": "0"}, "does not fit 1.csv.guarantee.json"),
        ({"ledger": {}}, "is not a record of dpol"),
        ({"chains": [{}]}, "the chains of its noise are damaged"),
    ],
)
def test_a_record_that_does_not_fit_is_refused(world, change, message):
    (line,) = world.put(A0, record=change).refused
    assert re.search(message, line)


def test_a_table_of_other_columns_is_refused(world, tmp_path):
    path = report(tmp_path / "1.csv", world.deployment, [A0])
    path.write_text(path.read_text().replace("noisy_share", "share"))
    record = json.loads(record_of(path).read_text())
    del record["sha256"]
    recorded(path, record)
    (done,) = collect([path], world.folder, world.deployment)
    assert "its columns are not those of this deployment" in done.refused[0]


def test_a_correction_supersedes_where_it_is_allowed_and_counts(tmp_path):
    deployment = agreed(tmp_path, corrections=True)
    folder, path = tmp_path / "state", tmp_path / "1.csv"
    collected(folder, path, deployment, [A0, A1])
    done = collected(folder, path, deployment, [A0, A1, ("A", 0, "4")])
    assert (done.taken, done.known, done.corrections) == (1, 2, 1)
    # A copy of the older report brings nothing back.
    done = collected(folder, path, deployment, [A0, A1])
    assert (done.taken, done.known) == (0, 2)
    with open_log(folder) as log:
        found = [it.row for it in log.releases("period = ?", day(0))]
    versions = [(row.version, row.noisy_count) for row in found]
    assert versions == [(1, "3.500000"), (2, "4.000000")]


def test_a_ledger_older_than_what_was_collected_is_refused(world):
    world.put(A0, A1, name="first.csv")
    (line,) = world.put(A0, ("A", 2, "9")).refused
    assert f"1 row of A: the table lacks what was reported for {day(1)} (first.csv, " in line
    assert "ask the holder" in line
    assert "--continue-from" in line
    assert world.put(A0).known == 1, "an older copy without news is known"
    assert world.put(A0, ("A", 2, "9"), output="P").taken == 1, "another output is another table"


def memory(tmp_path, b="0.6", **keys):
    """A deployment of noise with memory, and the chain of a report."""
    numbers = (Decimal("0.2"), Decimal(b))
    terms = terms_of(CountNoise(MU), numbers, Memory(numbers))
    part = {**terms._asdict(), "a": 0.2, "b": float(b), "mu": 0.5}
    part |= {"entity": "A", "first_row": 1, "first_period": day(0), "releases": 2}
    return agreed(tmp_path, **keys), part, terms


def test_rows_know_their_chain(tmp_path):
    deployment, part, terms = memory(tmp_path, noise={"memory": "designed"})
    later = part | {"first_row": 4, "releases": 1, "first_period": day(2)}
    rows = [A0, B0, A1, ("A", 2, "5")]
    folder = tmp_path / "state"
    done = collected(folder, tmp_path / "1.csv", deployment, rows, chains=[part, later])
    assert not done.refused
    with open_log(folder) as log:
        found = {(it.row.entity, it.row.period): it.row for it in log.releases()}
    first, second, third = (found["A", day(number)] for number in range(3))
    origin = f"{identity('L')}/{identity('O')}"
    names = [f"{origin}/1", f"{origin}/1", f"{origin}/4"]
    assert [first.chain, second.chain, third.chain] == names
    assert (first.place, second.place, third.place) == (1, 2, 1)
    assert (found["B", day(0)].chain, found["B", day(0)].a, found["B", day(0)].b) == ("", "0", "0")
    assert first.fresh == pytest.approx(terms.scale / 10**terms.decimals / 20)
    assert first.noise == first.fresh
    assert second.noise == pytest.approx(first.fresh * (1 + 0.4**2) ** 0.5)


def test_noise_with_memory_that_does_not_fit_is_refused(tmp_path):
    for keys, scale, message in (
        ({"noise": {"memory": "designed"}}, -1, "does not fit mu and memory"),
        ({}, 0, "independent noise was agreed"),
    ):
        deployment, part, terms = memory(tmp_path, **keys)
        changed = {"chains": [part | {"scale": terms.scale + scale}]}
        known = {"chains": [part], "record": changed}
        done = collected(tmp_path / message, tmp_path / "1.csv", deployment, [A0, A1], **known)
        assert done.taken == 0
        assert all(message in line for line in done.refused)


@pytest.mark.parametrize(("weeks", "taken"), [(2, 0), (3, 1), (4, 1)])
def test_noise_protects_stays_as_long_as_agreed(tmp_path, weeks, taken):
    same = Decimal(0), Decimal(0)
    terms = terms_of(CountNoise(MU), same, Memory(same, weeks))
    part = {**terms._asdict(), "a": 0.0, "b": 0.0, "mu": 0.5}
    part |= {"entity": "A", "first_row": 1, "first_period": day(0), "releases": 1}
    deployment = agreed(tmp_path, unit_weeks=3)
    done = collected(tmp_path / "s", tmp_path / "1.csv", deployment, [A0], chains=[part])
    assert done.taken == taken
    assert taken or f"protects stays of {weeks} periods, and 3 were agreed" in done.refused[0]


def test_a_folder_keeps_its_deployment(world, tmp_path):
    world.put(A0)
    other = agreed(tmp_path / "other", mu=0.6)
    with pytest.raises(DataError, match="is another agreement than .*state/deployment.yaml"):
        collect([], world.folder, other)
    copy = world.folder / "deployment.yaml"
    assert copy.read_bytes() == world.deployment.read_bytes()
    text = copy.read_text()
    copy.write_text(text + "# a comment changes nothing\n")
    collect([], world.folder, world.deployment)
    assert "mu: 0.5\n" in text
    copy.write_text(text.replace("mu: 0.5\n", "mu: 0.4\n"))
    with pytest.raises(DataError, match="was changed after the first report"):
        collect([], world.folder)


def test_nothing_begins_without_a_good_deployment(tmp_path):
    with pytest.raises(DataError, match="name the deployment's file with --deployment"):
        collect([], tmp_path / "state")
    with pytest.raises(DataError, match="there is no log yet"), open_log(tmp_path / "none"):
        pass
    unfit = agreed(tmp_path, algorithm="rw-adabatch")
    with pytest.raises(ConfigError, match="rw-adabatch must know beforehand how many rounds"):
        collect([], tmp_path / "s", unfit)
    # The folder is not spoilt for the file that is repaired.
    assert collected(tmp_path / "s", tmp_path / "1.csv", agreed(tmp_path), [A0]).taken == 1


def test_who_leaves_has_come_before(tmp_path):
    entities = {"A": {"since": day(3), "until": day(3)}, "B": {}}
    with pytest.raises(ConfigError, match=f"entities.A.until.* must be after since .{day(3)}"):
        collect([], tmp_path / "s", agreed(tmp_path, entities))


def test_a_file_that_is_no_log_is_refused(world):
    world.put(A0)
    log = world.folder / "log.sqlite"
    log.write_text("no database, and long enough to be looked at" * 99)
    with pytest.raises(DataError, match="is not a log of dpol"):
        collect([], world.folder)
    log.unlink()
    os.mkfifo(log)
    with pytest.raises(DataError, match="is not a log of dpol"):
        collect([], world.folder)


def test_the_command_tells_what_it_refused_and_takes_the_rest(world, tmp_path, capsys):
    good = report(tmp_path / "good.csv", world.deployment, [A0, ("X", 0, "1")])
    missing = tmp_path / "missing.csv"
    arguments = ["collect", str(missing), str(good), "--into", str(world.folder)]
    assert main([*arguments, "--deployment", str(world.deployment)]) == 1
    told = capsys.readouterr()
    assert told.out == f"{good}: 1 new, 0 known\n"
    lines = told.err.splitlines()
    assert "missing.csv: is not there" in lines[0]
    assert "line 3: X is not an entity" in lines[1]
    assert lines[2] == "error: refused: 2, see above; collected: 1 new, 0 known"
    assert main(["collect", str(missing), "--into", str(world.folder)]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "error: refused: 1, see above; collected: 0 new, 0 known"
    (good2,) = [report(tmp_path / "b.csv", world.deployment, [B0], output="P")]
    assert main(["collect", str(good2), "--into", str(world.folder)]) == 0


def test_the_log_is_exported_as_it_was_released_or_as_numbers(world, tmp_path):
    import pandas as pd

    world.put(A0, A1, B0)
    for name in ("r.csv", "r.parquet"):
        assert main(["export", str(world.folder), "--to", str(tmp_path / name)]) == 0
    assert f"A,{day(1)},1,-2.250000,20,-0.1125,,1,0.5,1," in (tmp_path / "r.csv").read_text()
    table = pd.read_parquet(tmp_path / "r.parquet")
    assert table.noisy_count.tolist() == [3.5, -2.25, 7.0]
    assert table.noise_sd.iloc[0] == CountNoise(MU).standard_deviation / 20
    assert main(["export", str(world.folder), "--to", str(tmp_path / "r.xls")]) == 1


RUN = [sys.executable, "-m", "dpol", "collect"]


def test_two_runs_wait_for_each_other(world, tmp_path):
    """One waits while the log is held, and both reports are there in the end."""
    world.put(A0)
    files = [
        report(tmp_path / f"{name}.csv", world.deployment, [row], output=name)
        for name, row in (("b", B0), ("c", ("C", 0, "1")))
    ]
    holder = sqlite3.connect(world.folder / "log.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    runs = [subprocess.Popen([*RUN, str(file), "--into", str(world.folder)]) for file in files]
    time.sleep(1.5)
    assert [run.poll() for run in runs] == [None, None], "a run did not wait"
    holder.execute("ROLLBACK")
    holder.close()
    assert [run.wait(60) for run in runs] == [0, 0]
    assert [row.entity for row in world.rows()] == ["A", "B", "C"]
