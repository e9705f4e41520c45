"""Decisions: what they say, when they are refused, and that they stay as they are."""

from __future__ import annotations

import csv
import datetime
import errno
import hashlib
import json
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from typing import ClassVar

import numpy as np
import pytest

from dpol.cli import main
from dpol.core.errors import ConfigError, DataError
from dpol.data.question import Gain
from dpol.privacy.chains import chain_norm
from dpol_weekly.coordinator.alternative import alternative
from dpol_weekly.coordinator.choices import choices_before
from dpol_weekly.coordinator.collect import set_aside
from dpol_weekly.coordinator.decide import check, decide
from dpol_weekly.coordinator.decision import read_decision
from dpol_weekly.coordinator.evidence import read_evidence
from dpol_weekly.coordinator.game import Game
from dpol_weekly.coordinator.log import open_log
from dpol_weekly.coordinator.settings import Coordination
from weekly import FIRST, Coordinator, chain_of, coordinates, day

SHARES = {"A": 0.2, "B": 0.4, "C": 0.6}


class Weeks(Coordinator):
    """A coordinator's folder into which weeks of reports are put."""

    def report(self, *weeks, entities="ABC", seed=0, mu="0.5"):
        for entity in entities:
            rng = np.random.default_rng([seed, ord(entity)])
            rows = [
                (entity, it, f"{200 * SHARES[entity] + rng.normal():.3f}", "200") for it in weeks
            ]
            done = self.put(*rows, output=f"{entity}{weeks}{seed}", mu=mu)
            assert done.taken == len(weeks), done

    def written(self, number):
        return self.folder / "decisions" / f"{day(number)}.json"

    def evidence(self, periods):
        with open_log(self.folder) as log:
            return read_evidence(log, periods)


@pytest.fixture
def world(tmp_path):
    return Weeks(tmp_path, names=2)


class Sizes(Weeks):
    """Hospitals of other sizes: the largest share is that of the smallest."""

    beds: ClassVar = {"A": 200, "B": 1000, "C": 4000}

    def report(self, *weeks):
        counts = {"A": 140, "B": 500, "C": 1200}
        rows = [(it, week, str(counts[it]), str(self.beds[it])) for it in "ABC" for week in weeks]
        assert self.put(*rows).taken == len(rows)


@pytest.mark.parametrize(
    ("options", "named", "asked"),
    [
        ([], "ABC", None),
        (["--min-capacity", "500"], "BC", " of those with a capacity of at least 500"),
        (["--by-count", "5000"], "CBA", ""),
        (["--by-count", "5000", "--min-capacity", "500"], "CB", " of those with a capacity of"),
    ],
)
def test_another_question_is_asked_of_the_same_reports(tmp_path, capsys, options, named, asked):
    world = Sizes(tmp_path, names=1)
    world.report(*range(6))
    capsys.readouterr()
    assert main(["decide", str(world.folder), *options]) == 0
    said = capsys.readouterr().out
    assert ("Which entity" in said) == (asked is not None)
    assert (asked or "") in said
    decision = read_decision(world.written(6))
    ranked = sorted((it for it in decision.outlooks if it.rank), key=lambda it: it.rank)
    assert "".join(it.entity for it in ranked) == named
    for it, share in zip(decision.outlooks, (0.7, 0.5, 0.3), strict=True):
        assert (it.share, it.capacity) == (pytest.approx(share, abs=0.03), world.beds[it.entity])
        assert it.low < share < it.high
    assert check(world.folder).gain == decision.gain
    alternative = ["decide", str(world.folder), "--algorithm", "random-effects", *options]
    assert main(alternative) == 0
    assert f"{day(6)}: {named[0]}\n" in capsys.readouterr().out


def test_a_period_is_decided_for_one_question(world):
    world.report(*range(6))
    before = decide(world.folder)
    with pytest.raises(DataError, match=r"decided with other choices \(question\)"):
        decide(world.folder, question={"of": "count", "bound": 1000})
    assert read_decision(world.written(6)) == before
    with pytest.raises(DataError, match="reported capacities large enough; lower min_capacity"):
        decide(world.folder, date(7), question={"min_capacity": 201})


def test_choices_of_the_coordinator_may_change_on_any_day(world):
    """A decision states what it was made with, and is made again with that."""
    world.report(*range(6))
    decide(world.folder)
    world.report(6)
    coordinates(world.folder, names=1, titles={"A": "At the lake"}, cannot_be_chosen=["C"])
    second = decide(world.folder)
    assert (len(second.named), second.outlooks[0].title) == (1, "At the lake")
    assert "C" not in second.named
    third = decide(world.folder, date(8), names=2, cannot_be_chosen=[])
    assert (len(third.named), third.coordination.names) == (2, 2)
    fourth = decide(world.folder, date(9), without=["A"])
    assert fourth.coordination.cannot_be_chosen == ["C", "A"]
    for number in (6, 7, 8, 9):
        check(world.folder, date(number))
    coordinates(world.folder, name=1)
    with pytest.raises(ConfigError, match=r"(?s)coordinator.yaml.*name = 1: unknown key.*names"):
        decide(world.folder)
    coordinates(world.folder, names=3, cannot_be_chosen=["X"], algorithm="l2p")
    with pytest.raises(ConfigError, match=r"(?s)3 problems.*'X'.*below the number.*needs raw"):
        decide(world.folder)


def test_counts_with_one_size_are_decided_as_shares(world):
    """All capacities are the bound: both questions are the same."""
    world.report(*range(6))
    with open_log(world.folder) as log:
        reports = read_evidence(log, 6).reports
        shares, counts = (
            next(choices_before(log.deployment, Coordination(question=it), reports, [6]))
            for it in (Gain(), Gain(of="count", bound=200))
        )
    assert shares.ranked == counts.ranked
    np.testing.assert_allclose(counts.law.share, shares.law.share, rtol=1e-12)


def date(number):
    return datetime.date.fromisoformat(day(number))


def test_a_decision_says_all(world):
    world.report(*range(6))
    decision = decide(world.folder)
    assert (decision.period, decision.last_period) == (day(6), day(5))
    assert decision.named == ("C", "B")
    first, _, last = decision.outlooks
    assert (first.entity, first.title, first.rank, first.named) == ("A", "Hospital A", 3, False)
    assert last.low < 0.6 < last.high
    assert last.low < last.share < last.high
    assert (last.rank, last.named, last.reports, last.silent) == (1, True, 6, 0)
    assert last.noise == pytest.approx(2**0.5 / 0.5 / 200, rel=1e-5)
    assert last.noisy_share == pytest.approx(0.6, abs=0.03)
    assert (last.chance, first.chance) == (pytest.approx(1), pytest.approx(0, abs=1e-6))
    assert (decision.scores.reports, decision.scores.expected) == (15, pytest.approx(1, abs=0.01))
    spent = decision.spent
    assert (spent.mu, spent.unit_weeks, spent.longest_stay, spent.corrections) == (0.5, 1, 8, 0)
    assert spent.mu_of_stay == pytest.approx(0.5 * 6**0.5)
    assert (spent.budget_mu, spent.above_budget) == (10, ())
    assert decision.missing == ()
    assert decision.releases == 18
    assert read_decision(world.written(6)).as_json() == decision.as_json()
    facts = json.loads(world.written(6).read_text())
    assert facts["coordination"]["seed"] == 0
    with world.written(6).with_suffix(".csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["period"], row["entity"], row["rank"]) for row in rows] == [
        (day(6), name, rank) for name, rank in zip("ABC", "321", strict=True)
    ]


@pytest.mark.parametrize("algorithm", ["empirical-bayes", "rw-ftpl", "rw-meta"])
def test_the_same_log_gives_the_same_bytes(world, algorithm):
    world.agree(algorithm=algorithm)
    world.report(*range(5))
    decide(world.folder)
    before = world.written(5).read_bytes()
    table = world.written(5).with_suffix(".csv")
    again = table.read_bytes()
    world.written(5).unlink()
    table.unlink()  # as after a kill between the two files
    command = [sys.executable, "-m", "dpol", "decide", str(world.folder)]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    assert (world.written(5).read_bytes(), table.read_bytes()) == (before, again)
    check(world.folder)


@pytest.mark.parametrize("left", [None, b"period,entity\n2021-01-24,A\n"])
def test_a_table_that_is_not_the_decisions_is_noticed_and_written_again(world, left):
    world.report(*range(3))
    decide(world.folder)
    table = world.written(3).with_suffix(".csv")
    good = table.read_bytes()
    table.unlink() if left is None else table.write_bytes(left)
    with pytest.raises(DataError, match=".csv: is not the table of .*.json; dpol decide writes it"):
        check(world.folder)
    decide(world.folder)
    assert table.read_bytes() == good
    # A later decision puts it right too.
    world.report(3, seed=1)
    table.write_bytes(b"")
    decide(world.folder)
    assert table.read_bytes() == good
    check(world.folder, date(3))


def test_a_disk_that_fails_is_named_with_a_remedy(world, monkeypatch, capsys):
    def fails(path, text):
        raise OSError(errno.ENOSPC, "full")  # as a write raises it: without a file

    world.report(0, 1)
    monkeypatch.setattr("dpol_weekly.coordinator.decide.write_text", fails)
    assert main(["decide", str(world.folder)]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"error: cannot write {world.folder}: ")
    assert "run again" in told


def test_a_table_without_its_decision_gives_way_to_the_next_one(world):
    """The power failed between the two files, and a report came late."""
    world.report(0, 1)
    world.report(2, entities="AB")
    decide(world.folder)
    table, lost = world.written(3).with_suffix(".csv"), world.written(3).read_text()
    old = table.read_text()
    world.written(3).unlink()
    world.report(2, entities="C", seed=1)
    decide(world.folder)
    assert table.read_text() != old
    assert world.written(3).read_text() != lost
    check(world.folder)


def test_a_strange_file_among_decisions_disturbs_nothing(world):
    world.report(0, 1)
    folder = world.folder / "decisions"
    folder.mkdir()
    for name in ("notes.json", "2021-01-17-copy.json", f".{day(1)}-killed.json"):
        (folder / name).write_text('{"named')
    assert decide(world.folder).period == day(2)
    before = {it.name: it.read_bytes() for it in folder.iterdir()}
    (folder / "2021-02-07.json").write_text("{}")
    world.report(2, seed=1)
    with pytest.raises(DataError, match="2021-02-07.json: is not a decision of dpol"):
        decide(world.folder)
    (folder / "2021-02-07.json").unlink()
    assert {it.name: it.read_bytes() for it in folder.iterdir()} == before


def test_a_log_that_is_collected_again_checks_every_decision(world):
    """The last tables, in another order; some rows came late, one was set aside since."""
    world.agree(corrections=True, names=2)
    rows = {it: [(it, week, str(10 * (week + ord(it) % 5))) for week in range(5)] for it in "ABC"}
    rows["B"].append(("B", 1, "9"))  # a correction

    def put(entity, count):
        return world.put(*rows[entity][:count], ledger=entity)

    made = []
    for count in range(1, 6):
        for entity in "AB" if count == 4 else "CBA":
            put(entity, count)
        made.append(decide(world.folder, date(count)))
    assert made[3].missing == ("C",)
    put("B", 6)
    set_aside(world.folder, "A", "no count of A", date(0))
    made.append(decide(world.folder, date(6)))
    assert (made[-1].spent.corrections, len(made[-1].set_aside)) == (1, 1)
    (world.folder / "log.sqlite").unlink()
    for entity, count in (("C", 5), ("A", 5), ("B", 6)):
        put(entity, count)
    for number, decision in enumerate(made[:-1], start=1):
        assert check(world.folder, date(number)) == decision
    with pytest.raises(DataError, match="lacks rows, or acts, that this decision rests on"):
        check(world.folder, date(6))
    set_aside(world.folder, "A", "no count of A", date(0))
    for number, decision in enumerate(made, start=1):
        assert check(world.folder, date(number)) == decision


def received(world, monkeypatch, number):
    """Collect from now on as if it were the first day of a period."""

    class Clock(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls.fromisoformat(f"{day(number)}T12:00:00+00:00")

    monkeypatch.setattr("dpol_weekly.coordinator.log.datetime.datetime", Clock)


def test_the_log_is_read_as_it_was(world, monkeypatch):
    """Reports, corrections and acts that came later are not seen; nor is an amendment."""
    world.agree(corrections=True, names=2)
    received(world, monkeypatch, 4)
    world.report(0, 1, 2, 3)
    first = decide(world.folder)
    world.written(4).unlink()
    received(world, monkeypatch, 5)
    world.report(4, entities="AC")
    world.report(3, entities="A", seed=9)
    set_aside(world.folder, "B", "no count of B", date(2))
    now = alternative(world.folder, "persistence")
    assert decide(world.folder, as_of=date(4)) == first
    assert alternative(world.folder, "persistence", as_of=date(4)).choices == now.choices[:-1]
    assert check(world.folder, date(4)) == first, "what it read is in the log now too"
    second = decide(world.folder, as_of=date(5))
    assert (second.period, second.missing, second.spent.corrections) == (day(5), ("B",), 1)
    assert len(second.set_aside) == 1
    with pytest.raises(DataError, match=f"was begun after {day(3)}; give a later day"):
        decide(world.folder, as_of=date(3))
    with pytest.raises(DataError, match="is decided already, and stays"):
        decide(world.folder, date(5), as_of=date(4))


def test_silence_is_counted_and_may_fail_the_command(world, capsys):
    world.agree({"A": {}, "B": {"until": day(4)}, "C": {}, "D": {"since": day(3)}}, names=2)
    world.report(*range(5), entities="A")
    world.report(0, 1, entities="B")
    world.report(0, 1, 2, entities="C")
    assert main(["decide", str(world.folder), "--fail-on-missing", "3"]) == 0
    decision = read_decision(world.written(5))
    assert [it.silent for it in decision.outlooks] == [0, 0, 2, 2]
    assert decision.missing == ("C", "D")
    page = (world.folder / "index.html").read_bytes()
    (world.folder / "index.html").unlink()
    capsys.readouterr()
    assert main(["decide", str(world.folder), "--fail-on-missing", "2"]) == 1
    assert "silent for 2 periods or more: C (2), D (2); ask" in capsys.readouterr().err
    assert (world.folder / "index.html").read_bytes() == page


def test_the_page_shows_the_newest_decision_whatever_is_decided_last(world):
    world.report(*range(5))
    decide(world.folder)
    page = (world.folder / "index.html").read_text()
    decide(world.folder, date(4))
    renewed = (world.folder / "index.html").read_text()
    drawn = page[page.index("All hospitals") : page.index("<footer")]
    assert drawn.rstrip() in renewed
    assert f'<a href="decisions/{day(4)}.json">' in renewed


def test_a_late_report_counts_from_the_next_decision_on(world):
    world.report(0, 1, 2)
    world.report(3, entities="AC")
    first = decide(world.folder)
    assert first.missing == ("B",)
    before = world.written(4).read_bytes()
    world.report(3, entities="B", seed=1)
    with pytest.raises(DataError, match=f"is decided already, and stays: .* B for {day(3)}"):
        decide(world.folder, date(4))
    assert world.written(4).read_bytes() == before
    assert check(world.folder, date(4)) == first
    assert decide(world.folder, date(5)).releases == 12
    assert decide(world.folder, date(3)).releases == 9, "later periods are not read"


def test_a_correction_is_read_and_counted(world):
    world.agree(corrections=True)
    world.report(0, 1, 2)
    world.report(2, entities="A", seed=9)
    decision = decide(world.folder)
    assert decision.spent.corrections == 1
    assert decision.spent.mu == pytest.approx(0.5 * 2**0.5)
    assert [it.reports for it in decision.outlooks] == [3, 3, 3]
    rng = np.random.default_rng([9, ord("A")])
    assert decision.outlooks[0].noisy_share == pytest.approx(0.2 + rng.normal() / 200, abs=1e-5)


def test_a_check_notices_every_number_and_a_log_that_lost_rows(world):
    world.report(*range(5))
    decide(world.folder)
    path = world.written(5)
    good = path.read_text()
    facts = json.loads(good)
    for change in (
        {"named": ["A", "B"]},
        {"releases": 14},
        {"spent": facts["spent"] | {"mu": 0.5 + 2e-9}},
        {"outlooks": [facts["outlooks"][0] | {"low": 0.1}, *facts["outlooks"][1:]]},
    ):
        path.write_text(json.dumps(facts | change))
        with pytest.raises(DataError, match="does not hold the decision that the log gives now"):
            check(world.folder)
    path.write_text(json.dumps(facts | {"spent": facts["spent"] | {"mu": 0.5 + 1e-10}}))
    assert main(["decide", str(world.folder), "--check"]) == 0
    path.write_text(good)
    base = sqlite3.connect(world.folder / "log.sqlite")
    base.execute("DROP TRIGGER release_same")
    base.execute("UPDATE release SET noisy_share = '0.5' WHERE number = 1")
    base.commit()
    base.close()
    with pytest.raises(DataError, match="the log is not what this was made from"):
        check(world.folder)
    with pytest.raises(DataError, match="the log has other rows than then"):
        decide(world.folder)
    path.write_text("{}")
    with pytest.raises(DataError, match="is not a decision of dpol"):
        check(world.folder)


COLUMNS = (
    "entity, period, version, noisy_count, capacity, noisy_share, chain, place, mu,"
    " count_sensitivity, a, b, unit_weeks, scale, decimals, set_aside"
)


def hash_of_what_was_read(folder, before):
    """The hash that the manual for coordinators defines, in plain Python."""
    with closing(sqlite3.connect(folder / "log.sqlite")) as base:
        (whole,) = base.execute("SELECT sha256 FROM deployment").fetchone()
        rows = base.execute(
            f"SELECT {COLUMNS} FROM released WHERE period < ?", (before,)
        ).fetchall()
    rows.sort(key=lambda row: row[:3])
    names, chains = sorted("ABC"), {}
    columns = [[] for _ in rows[0]]
    for entity, period, version, count, capacity, share, chain, place, *terms, aside in rows:
        weeks = (datetime.date.fromisoformat(period) - FIRST).days // 7
        numbers = names.index(entity), weeks, version, count, capacity, share
        chain = chains.setdefault(chain, len(chains))
        for column, number in zip(
            columns, [*numbers, chain, place, *terms, aside is not None], strict=True
        ):
            column.append(struct.pack("<d", float(number)))
    return hashlib.sha256(b"".join([whole.encode(), *map(b"".join, columns)])).hexdigest()


def test_the_hash_is_the_documented_one_of_every_column(world):
    world.report(*range(4))
    world.report(4, mu="0.4")
    decision = decide(world.folder)
    found = {hash_of_what_was_read(world.folder, decision.period)}
    assert decision.log_sha256 in found
    assert decide(world.folder, FIRST + datetime.timedelta(days=28)).log_sha256 not in found
    set_aside(world.folder, "A", "typing error", FIRST)
    later = hash_of_what_was_read(world.folder, decision.period)
    assert world.evidence(5).sha256 == later
    found.add(later)
    base = sqlite3.connect(world.folder / "log.sqlite")
    base.executescript("DROP TRIGGER release_same; DROP TRIGGER noise_same")
    changes = {"version": 7, "noisy_count": "1", "capacity": "9", "noisy_share": "1", "place": 2}
    for column, value in {**changes, "chain": 2, "noise": 2, "mu": "0.3"}.items():
        table = "noise" if column == "mu" else "release"
        base.execute(f"UPDATE {table} SET {column} = ? WHERE number = 2", (value,))
        base.commit()
        found.add(world.evidence(5).sha256)
    base.close()
    assert len(found) == 10


def test_who_left_is_not_chosen_and_who_came_is(world):
    entities = {"A": {"since": day(3)}, "B": {}, "C": {"until": day(3)}}
    for algorithm in ("empirical-bayes", "rw-meta"):
        world.folder = world.folder.with_name(algorithm)
        world.agree(entities=entities, algorithm=algorithm)
        world.report(0, 1, 2, entities="BC")
        world.report(3, 4, entities="AB")
        decision = decide(world.folder)
        assert decision.named == ("B",)
        assert decision.missing == ()
        a, _, c = decision.outlooks
        assert (a.reports, c.reports, c.rank, c.named) == (2, 3, None, False)
        assert decide(world.folder, date(2)).named == ("C",)


def test_a_gap_of_weeks_is_bridged(world):
    world.report(0, 1, 2)
    world.report(8, 9, seed=1)
    assert decide(world.folder).named == ("C", "B")
    ahead = decide(world.folder, date(14))
    assert ahead.missing == ("A", "B", "C")
    near = decide(world.folder, date(10)).outlooks[2]
    assert ahead.outlooks[2].high - ahead.outlooks[2].low > near.high - near.low


def test_a_decision_reaches_eight_periods_ahead_and_not_nine(world):
    world.report(0, 1, 2)
    assert decide(world.folder, date(10)).period == day(10)
    with pytest.raises(
        DataError, match=f"is 9 periods after the last report, .* {day(10)} at most"
    ):
        decide(world.folder, date(11))


def test_a_capacity_that_changes_leaves_the_first_one(world):
    """An entity that has not reported yet gets the median of the first ones."""
    for entity, beds in (("A", "100 200 300"), ("B", "40 50")):
        rows = [(entity, it, "10", own) for it, own in enumerate(beds.split())]
        world.put(*rows, ledger=entity)
    assert world.evidence(3).reports.first_capacity().tolist() == [100, 40, 70]


def test_a_game_begins_again_when_first_capacities_are_known(world):
    """Whatever was decided before, a decision is that of a game that knew all from the start."""
    world.agree(algorithm="random-effects")
    rng = np.random.default_rng(2)
    for entity, beds, first in (("A", 100, 0), ("B", 90, 0), ("C", 900, 3)):
        rows = [
            (entity, it, f"{beds * rng.uniform(0.1, 0.5):.2f}", str(beds)) for it in range(first, 6)
        ]
        world.put(*rows, ledger=entity)
    with open_log(world.folder) as log:
        reports, deployment = read_evidence(log, 6).reports, log.deployment
    chosen = Coordination(algorithm="random-effects")
    *_, last = choices_before(deployment, chosen, reports, range(2, 7))
    (alone,) = choices_before(deployment, chosen, reports, [6])
    np.testing.assert_array_equal(last.law.share, alone.law.share)
    np.testing.assert_array_equal(last.law.deviation, alone.law.deviation)


def test_a_decision_is_checked_whatever_was_set_aside_since(world):
    world.report(*range(12), entities="A")
    world.report(*range(3), entities="BC")
    made = decide(world.folder)
    set_aside(world.folder, "A", "typing error")
    assert check(world.folder, datetime.date.fromisoformat(made.period)) == made
    decide(world.folder)
    assert f"week of {made.period[8:].lstrip('0')} " in (world.folder / "index.html").read_text()


def test_what_cannot_be_decided_is_refused(world):
    with pytest.raises(DataError, match="there is no log yet"):
        decide(world.folder)
    world.put(("X", 0, "1"))
    with pytest.raises(DataError, match="nothing was collected yet"):
        decide(world.folder)
    world.report(0, entities="A")
    with pytest.raises(DataError, match="two entities must have reported before a decision, not 1"):
        decide(world.folder)
    with pytest.raises(DataError, match="nothing was reported before 2021-01-03"):
        decide(world.folder, date(0))
    with pytest.raises(DataError, match="no period starts at 2021-01-04: every 7 days"):
        decide(world.folder, datetime.date(2021, 1, 4))
    assert main(["decide", str(world.folder)]) == 1
    with pytest.raises(SystemExit):
        main(["decide", str(world.folder), "--period", "next"])
    for entities, keys, message in (
        ("A", {}, "at least 2 entities are needed, got 1"),
        ("ABC", {"algorithm": "rw-meta", "names": 2}, "does not rank, and 2 are to be named"),
    ):
        world.folder = world.base / entities
        world.agree(entities, **keys)
        world.report(0, 1, entities=entities)
        with pytest.raises(DataError, match=message):
            decide(world.folder)


def test_a_chain_that_was_corrected_is_read_with_all_its_noise(world, monkeypatch):
    """The chain of the corrected week is new; back in the old one, what is left is unknown."""
    world.agree(corrections=True, noise={"memory": "designed"})
    rows = [("A", week, str(40 + it), "200") for it, week in enumerate((0, 1, 2, 1, 3))]
    chains = [
        chain_of("A", a="0", releases=3),
        chain_of("A", a="0", first_row=4, first_period=1),
    ]
    done = world.put(*rows, chains=chains)
    assert (done.taken, done.corrections) == (5, 1)
    chains = {(it["period"], it["version"]): it["chain"][-2:] for it in world.rows()}
    assert [chains[day(it), 1] for it in range(4)] == ["/1", "/1", "/1", "/4"]
    assert chains[day(1), 2] == "/4"
    world.put(*(("B", it, "20", "200") for it in range(4)), output="B")
    reports = world.evidence(4).reports
    assert [it[:, 0].tolist() for it in reports.new_chains()] == [
        [True, True, True, True],
        [False, False, True, True],
    ]
    noise, fresh = reports.cells["noise"][:, 0], reports.cells["fresh"][:, 0]
    np.testing.assert_allclose(noise / fresh, [1, 1, *[(1 + 0.6**2) ** 0.5] * 2])
    learned = []

    def learn(game, number, *arguments, fresh_scale, **options):
        learned.append(fresh_scale[0])
        return known(game, number, *arguments, fresh_scale=fresh_scale, **options)

    known = Game.learn
    monkeypatch.setattr(Game, "learn", learn)
    decision = decide(world.folder)
    # Where a chain is returned to, all of its noise is taken as fresh.
    assert learned == [*fresh[:2], *noise[2:]]
    assert decision.named == ("A",)
    assert decision.spent.mu == pytest.approx(0.5 * 2**0.5)
    # Five rows with memory, which makes a stay's mu grow, and four without.
    growth = float(chain_norm(0.0, 0.6, 8) / chain_norm(0.0, 0.6, 1))
    squared = 0.5**2 / 2 * (5 * growth**2 / 8 + 4)
    assert decision.spent.mu_of_stay == pytest.approx(squared**0.5)
    assert growth > 8**0.5
