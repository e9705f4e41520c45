"""A folder was restored and its newest copy is lost: the holder goes on from what others have."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest

from dpol.core.errors import DpolError
from dpol_weekly.coordinator.collect import collect
from dpol_weekly.coordinator.decide import decide
from dpol_weekly.coordinator.export import export
from dpol_weekly.deployment import read_deployment
from dpol_weekly.holder.history import verify
from dpol_weekly.holder.release import release
from dpol_weekly.holder.request import Request
from dpol_weekly.holder.settings import Hospital
from dpol_weekly.released import checksum
from dpol_weekly.sampler import SeededNoise
from releases import LEDGER, NOISY, ask, files, newest, output, record, run, table
from weekly import agreed, coordinates, day

EXPORT = Path("export.csv")
MEMORIES = {"none": {}, "designed": {"noise": {"memory": "designed"}}}


class World:
    """Holders A and B, of 20 beds each, and a coordinator."""

    def __init__(self, *, seed=0, **keys):
        entities = {name: {"capacity": 20} for name in "AB"}
        self.file, self.seed = agreed(Path(), entities, **keys), seed

    def release(self, *weeks, holder="A", folder=".", counts="3", ledger=None, **options):
        """Release all weeks that are new of a table with these; `added` of them."""
        made, raw = read_deployment(self.file), Path(folder, "raw.csv")
        Path(folder).mkdir(exist_ok=True)
        rows = "".join(f"{name},{day(it)},{counts},20\n" for it in weeks for name in holder)
        raw.write_text("entity,period,count,capacity\n" + rows)
        correct = frozenset(day(week) for week in options.pop("correct", ()))
        hospital = Hospital(
            deployment=self.file,
            entities=list(holder),
            table=raw,
            columns={"entity": "entity", "capacity": "capacity"},
            output=Path(folder, NOISY),
            ledger=ledger or Path(folder, LEDGER),
        )
        request = Request(
            hospital=hospital,
            deployment=made,
            correct=correct,
            agree=made.sha256(),
            **options,
        )
        self.seed += 1
        return release(request, SeededNoise(np.random.default_rng(self.seed)))

    def collect(self, *folders):
        done = collect(
            [newest(Path(it, NOISY)) for it in folders or ["."]], Path("state"), self.file
        )
        return sum(it.taken for it in done), [line for it in done for line in it.refused]

    def export(self):
        export(Path("state"), EXPORT)
        return EXPORT


def weeks(path=NOISY):
    return [row["period"] for row in output(path)]


def theirs(name="A"):
    """The coordinator's rows."""
    with EXPORT.open(newline="") as stream:
        return {
            (row["period"], row["noisy_count"])
            for row in csv.DictReader(stream)
            if row["entity"] == name
        }


def ours(path=NOISY):
    return {(row["period"], row["noisy_count"]) for row in output(path)}


@pytest.fixture(scope="module")
def templates(tmp_path_factory):
    """A folder for each memory: weeks 0 to 4 are collected, `old` is a copy as after week 2."""
    folder = tmp_path_factory.mktemp("templates")
    for memory, keys in MEMORIES.items():
        (folder / memory).mkdir()
        with chdir(folder / memory):
            world = World(**keys)
            for week in range(5):
                world.release(*range(week + 1))
                world.release(*range(week + 1), holder="B", folder="b")
                assert world.collect(".", "b") == (2, [])
                if week == 2:
                    Path("old").mkdir()
                    shutil.copy(LEDGER, "old")
                    shutil.copytree(NOISY, Path("old", NOISY))
            world.export()
    return folder


@pytest.fixture
def five_weeks(templates):
    """The world of a template, in the current folder."""

    def world(memory):
        shutil.copytree(templates / memory, Path(), dirs_exist_ok=True)
        return World(**MEMORIES[memory], seed=100)

    return world


LOST = {
    "all restored": lambda: restore(LEDGER, NOISY),
    "only the ledger": lambda: (restore(LEDGER), shutil.rmtree(NOISY)),
    "ledger restored, newest table": lambda: restore(LEDGER),
    "all gone": lambda: (LEDGER.unlink(), shutil.rmtree(NOISY)),
    "ledger gone, newest table": LEDGER.unlink,
    "ledger gone, older table": lambda: (LEDGER.unlink(), restore(NOISY)),
}


def restore(*files):
    for file in files:
        if file == NOISY:
            shutil.rmtree(NOISY)
            shutil.copytree(Path("old", NOISY), NOISY)
        else:
            shutil.copy(Path("old", file), file)


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("lost", LOST)
def test_weekly_reports_go_on_after_a_restore(five_weeks, memory, lost):
    """Nothing is drawn twice, the coordinator takes the next week, and decides."""
    world = five_weeks(memory)
    LOST[lost]()
    done = world.release(*range(6), continue_from=world.export())
    assert (done.added, done.skipped) == (1, 5)
    assert weeks() == [day(week) for week in range(6)]
    assert ours() - theirs() == {(row["period"], row["noisy_count"]) for row in output()[5:]}
    assert world.collect() == (1, [])
    assert decide(Path("state")).missing == ("B",)
    assert ask("SELECT COUNT(*) FROM release GROUP BY period") == [(1,)] * 6
    # Further weeks need no option, and their chain is another one than the coordinator's.
    assert world.release(*range(7)).added == 1
    assert world.collect() == (1, [])
    assert record()["mu"] == 0.5
    assert "are as they were written" in verify(LEDGER)
    if memory == "designed":
        assert [part["releases"] for part in record()["chains"]] == [5, 2]
        assert [chain for (chain,) in ask("SELECT u IS NULL FROM chain")] == [1, 0]
        world.export()
        with EXPORT.open(newline="") as stream:
            rows = [row for row in csv.DictReader(stream) if row["entity"] == "A"]
        assert [row["place"] for row in rows] == [*"12345", "1", "2"]
        assert len({row["chain"] for row in rows}) == 2


@pytest.mark.parametrize("memory", MEMORIES)
def test_what_was_drawn_again_leaves_the_output_and_stays_spent(five_weeks, memory):
    """Weeks 3 to 5 were drawn from the restored folder before anybody noticed."""
    world = five_weeks(memory)
    restore(LEDGER, NOISY)
    assert world.release(*range(6)).added == 3
    again = ours()
    (taken, refused) = world.collect()
    assert (taken, bool(refused)) == (0, True)
    done = world.release(*range(7), continue_from=world.export())
    assert theirs() <= ours()
    assert len(again & theirs()) == 3
    # Week 5 was drawn once. With memory it rests on weeks that are not in the output.
    stays = memory == "none"
    assert sorted(weeks()) == [day(week) for week in range(7) if week != 5 or stays]
    assert [it.period for it in done.differ] == ([] if stays else [day(5)])
    assert (done.added, world.collect()) == (1, (1 + stays, []))
    assert decide(Path("state")).missing == ("B",)
    # Two versions of weeks 3 and 4 are known to people who saw both tables.
    assert record()["mu"] == 0.5
    assert record()["mu_over_all_outputs"] == pytest.approx(0.5**0.5)
    times = dict(ask("SELECT period, COUNT(*) FROM release GROUP BY period"))
    # With memory both chains went on from one state: each counts as a whole.
    assert times == {day(week): 2 if week in (3, 4) else 1 for week in range(7)} | (
        {} if stays else {day(week): 2 for week in range(3)}
    )
    told = run("history")[1]
    assert "left the output" in told
    assert world.release(*range(7)).added == 0


@pytest.mark.parametrize("memory", MEMORIES)
def test_a_chain_that_went_on_in_two_ways_leaves_although_no_week_was_drawn_twice(memory):
    """The lost copy passed over week 3, and the restored one did not."""
    world = World(**MEMORIES[memory])
    world.release(0, 1, 2)
    old = LEDGER.read_bytes()
    world.release(0, 1, 2, 4)
    assert world.collect() == (4, [])
    LEDGER.write_bytes(old)
    newest().unlink()
    world.release(0, 1, 2, 3)
    assert world.release(0, 1, 2, 3, 4, 5, continue_from=world.export()).added == 1
    stays = memory == "none"
    assert sorted(weeks()) == [day(week) for week in range(6) if week != 3 or stays]
    assert world.collect() == (1 + stays, [])
    assert record()["mu_over_all_outputs"] == pytest.approx(0.5 if stays else 0.5**0.5)


def test_a_late_week_leaves_that_came_between_two_parts_of_a_chain():
    """It was released before the restore was noticed, and began a chain of its own."""
    world = World(**MEMORIES["designed"], budget_mu=50)
    world.release(0, 2)
    old = LEDGER.read_bytes()
    world.release(0, 2, 3)
    assert world.collect() == (3, [])
    LEDGER.write_bytes(old)
    newest().unlink()
    world.release(0, 1, 2, correct=[1])
    done = world.release(0, 1, 2, 3, 4, continue_from=world.export())
    assert (done.added, [it.period for it in done.differ]) == (1, [day(1)])
    assert world.release(0, 1, 2, 3, 4, correct=[1]).added == 1
    assert world.collect() == (2, [])


def test_a_late_release_of_the_lost_copy_is_continued_with_the_chain_that_it_is_of():
    """The chain that went on in it has others after it by then; so it is taken in again."""
    world = World(**MEMORIES["designed"], budget_mu=50)
    coordinates(Path("state"), corrections=True)
    world.release(0, 1, 2)
    old = LEDGER.read_bytes()
    world.release(0, 1, 2, 3)
    assert world.collect() == (4, [])
    late = world.release(0, 1, 2, 3, 4).file.rename("late.zip")
    LEDGER.write_bytes(old)
    world.release(0, 1, 2, 3, 4, continue_from=world.export())
    assert world.collect() == (1, [])
    (done,) = collect([late], Path("state"), world.file)
    assert (done.taken, done.refused) == (1, ())
    world.release(0, 1, 2, 3, 4, 5, continue_from=world.export())
    assert [part["releases"] for part in record()["chains"]] == [1, 5, 1]
    assert world.collect() == (1, [])
    assert ours() == theirs() | {(row["period"], row["noisy_count"]) for row in output()[-1:]}


def test_to_continue_twice_changes_nothing(five_weeks):
    world = five_weeks("designed")
    restore(LEDGER, NOISY)
    older = record()["ledger"]
    world.release(0, continue_from=world.export())
    # No chain that begins from now on has the name of one that the coordinator knows.
    assert (record()["ledger"]["id"], record()["ledger"]["output"] != older["output"]) == (
        *(older["id"], True),
    )
    before = newest().read_bytes(), ask("SELECT * FROM release")
    world.release(0, continue_from=EXPORT)
    assert (newest().read_bytes(), ask("SELECT * FROM release")) == before


def test_a_folder_is_restored_and_continued_twice(five_weeks):
    """The file of week 7 holds all but what had left the output until then."""
    world = five_weeks("none")
    restore(LEDGER, NOISY)
    world.release(*range(6))
    world.release(*range(7), continue_from=world.export())
    backup = {file: file.read_bytes() for file in (LEDGER, *NOISY.iterdir())}
    world.release(*range(8))
    assert world.collect() == (3, [])
    for file, content in backup.items():
        file.write_bytes(content)
    newest().unlink()
    world.release(*range(8))
    world.release(*range(8), continue_from=world.export())
    assert theirs() == ours()
    assert verify(LEDGER)
    world.release(*range(9))
    assert world.collect() == (1, [])


def test_corrections_that_the_coordinator_has_come_with_it():
    """Week 1 was corrected: a chain of its own between two others."""
    world = World(noise={"memory": "designed"}, budget_mu=50)
    coordinates(Path("state"), corrections=True)
    world.release(0, 1, 2)
    world.release(0, 1, 2, correct=[1])
    world.release(0, 1, 2, 3, 4)
    assert world.collect()[0] == 6
    whole = table(), record()["chains"]
    LEDGER.unlink()
    shutil.rmtree(NOISY)
    world.release(0, 1, 2, 3, 4, continue_from=world.export())
    assert Counter(weeks()) == Counter({day(it): 1 + (it == 1) for it in range(5)})
    assert sorted(table().splitlines()) == sorted(whole[0].splitlines())
    assert [it["releases"] for it in record()["chains"]] == [it["releases"] for it in whole[1]]
    world.release(0, 1, 2, 3, 4, 5)
    assert world.collect() == (1, [])


def test_a_holder_of_several_entities_goes_on_although_its_newest_files_are_there():
    """The coordinator's rows come entity by entity, those of the files week by week."""
    world = World(**MEMORIES["designed"])
    for weeks_so_far in (1, 2, 3):
        world.release(*range(weeks_so_far), holder="AB")
        assert world.collect() == (2, [])
    LEDGER.unlink()
    assert world.release(*range(4), holder="AB", continue_from=world.export()).added == 2
    assert world.collect() == (2, [])
    assert "4 release files are as they were written" in verify(LEDGER)


def test_a_week_that_only_a_file_knows_is_not_drawn_again(five_weeks):
    """The coordinator has not collected it yet."""
    world = five_weeks("none")
    assert world.release(*range(6)).added == 1
    LEDGER.unlink()
    refused(world, "holds rows that the coordinator's table lacks")
    assert world.collect() == (1, [])
    assert world.release(*range(7), continue_from=world.export()).added == 1


def test_rows_of_the_coordinator_count_with_the_agreed_mu_at_least(five_weeks):
    world = five_weeks("none")
    world.file.write_text(world.file.read_text().replace("mu: 0.5", "mu: 1.5", 1))
    LEDGER.unlink()
    world.release(0, continue_from=EXPORT)
    assert record()["mu"] == 1.5
    assert {row["mu"] for row in output()} == {"0.5"}


def test_one_ledger_may_serve_several_outputs():
    """The coordinator knows the ledger again, and both outputs are continued."""
    world = World(**MEMORIES["designed"])
    for week in range(3):
        for name in "AB":
            world.release(*range(week + 1), holder=name, folder=name, ledger="all.sqlite")
        assert world.collect(*"AB") == (2, [])
    Path("all.sqlite").unlink()
    world.export()
    for name in "AB":
        shutil.rmtree(name)
        world.release(
            *range(4), holder=name, folder=name, ledger="all.sqlite", continue_from=EXPORT
        )
    assert world.collect(*"AB") == (2, [])
    assert {record(f"{it}/{NOISY}")["ledger"]["id"] for it in "AB"} == {
        row[0] for row in ask("SELECT ledger FROM report", "state/log.sqlite")
    }


# ---- what is refused -----------------------------------------------------------------------------


def own_files():
    return {name: it for name, it in files().items() if name != "raw.csv"}


def refused(world, message, **options):
    before = own_files()
    with pytest.raises(DpolError, match=message):
        world.release(*range(6), continue_from=EXPORT, **options)
    assert own_files() == before


def edit(name, value, line=2):
    """Change a cell of the export."""
    with EXPORT.open(newline="") as stream:
        header, *rows = csv.reader(stream)
    rows[line - 2][header.index(name)] = value
    with EXPORT.open("w", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])


WRONG = {
    "period": ["2021-01-04", "20210103", "2021-01-03 ", "2021-02-30", ""],
    "version": ["", "-1", "x"],
    "noisy_count": ["1e300", "nan", "", " 3", "3\n", "1_0", "٣", "5"],
    "capacity": ["0", "-20", "inf", "20\n", "21"],
    "noisy_share": ["inf", "0.1", ""],
    "chain": ["=1+1", "x/y/1", "0123456789abcdef/0123456789abcdef/1\n"],
    "place": ["0", "x", "2"],
    "mu": ["0", "101", "-1", "nan", "1"],
    "count_sensitivity": ["2", "0", ""],
    "a": ["1", "0.1", "x"],
    "b": ["1", "0.999", "-2"],
    "unit_weeks": ["0", "2", "53"],
    "scale": ["1", "0", ""],
    "decimals": ["0", "x"],
    "noise_sd": ["1", "nan", ""],
    "ledger": ["", "0123456789abcdeg", "0123456789abcdef\n", "=1+1"],
    "report": ["", "-1", "1.5"],
}


@pytest.mark.parametrize("name", WRONG)
def test_every_cell_of_the_table_is_what_dpol_writes(five_weeks, name):
    world = five_weeks("designed")
    restore(LEDGER, NOISY)
    whole = EXPORT.read_bytes()
    for value in WRONG[name]:
        EXPORT.write_bytes(whole)
        edit(name, value)
        refused(world, "export.csv, line [0-9]+: .*|missing")
    EXPORT.write_bytes(whole)
    assert world.release(*range(6), continue_from=EXPORT).added == 1


def test_a_table_that_is_none_or_of_others_is_refused(five_weeks):
    world = five_weeks("designed")
    restore(LEDGER, NOISY)
    whole = EXPORT.read_text()
    without = "".join(line for line in whole.splitlines(True) if not line.startswith("A,"))
    for text, message in (
        ("", "lacks the column"),
        (whole.replace("noise_sd", "sd"), "lacks the column noise_sd"),
        (without, "has releases of 0 ledgers"),
        (whole[: whole.index("\nB,") - 20], "line [0-9]+: column"),
    ):
        EXPORT.write_text(text)
        refused(world, f"^export.csv.*{message}")
    EXPORT.unlink()
    refused(world, "cannot be read")


def test_a_new_ledger_that_the_coordinator_accepted_goes_on(five_weeks):
    world = five_weeks("none")
    (own,) = ask("SELECT id FROM ledger")
    restore(LEDGER, NOISY)
    edit("ledger", "0" * 16)  # the first row is from an earlier one
    assert world.release(*range(6), continue_from=EXPORT).added == 1
    assert weeks() == [day(week) for week in range(6)]
    assert ask("SELECT id FROM ledger") == [own]


def test_what_another_holder_reported_and_was_set_aside_is_not_taken(five_weeks):
    world = five_weeks("none")
    restore(LEDGER, NOISY)
    with EXPORT.open(newline="") as stream:
        header, first, *rows = csv.reader(stream)
    wrong = dict(zip(header, first, strict=True)) | {
        **{"version": "2", "ledger": "0" * 16, "report": "99", "set_aside": "by another hospital"},
    }
    with EXPORT.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows([header, first, wrong.values(), *rows])
    assert world.release(*range(6), continue_from=EXPORT).added == 1
    assert weeks() == [day(week) for week in range(6)]


def test_a_gap_in_a_chain_is_refused(five_weeks):
    world = five_weeks("designed")
    restore(LEDGER, NOISY)
    lines = EXPORT.read_text().splitlines(keepends=True)
    EXPORT.write_text("".join(it for it in lines if not it.startswith(f"A,{day(3)}")))
    refused(world, "line 5: earlier releases of its chain of noise are missing")


def test_another_file_under_the_name_of_the_output_is_not_overwritten(five_weeks):
    world = five_weeks("none")
    LEDGER.unlink()
    file = newest()
    file.write_text("another file\n")
    with pytest.raises(DpolError, match="move the file away"):
        world.release(*range(6), continue_from=EXPORT)
    assert file.read_text() == "another file\n"
    file.unlink()
    assert world.release(*range(6), continue_from=EXPORT).added == 1


def test_the_command_knows_the_option(five_weeks):
    world = five_weeks("designed")
    restore(LEDGER, NOISY)
    own = {"deployment": str(world.file), "entity": "A", "table": "raw.csv", "output": "noisy"}
    Path("hospital.yaml").write_text(json.dumps(own))
    code, said, err = run("privatize", "--continue-from", EXPORT)
    assert (code, err) == (0, "")
    assert "0 rows released; 5 rows skipped" in said
    assert len(output()) == 5
    assert record()["sha256"] == checksum(table(), record())
    assert record()["guarantee"]["noise"][0]["mu"] == "0.5"
