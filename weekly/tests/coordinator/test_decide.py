"""Decisions: what they say, when they are refused, and that they stay as they are."""

from __future__ import annotations

import datetime
import json
import shutil
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from dpol.cli import main
from dpol.core.errors import ConfigError, DataError
from dpol.experts.choose import choose
from dpol.experts.registry import REGISTRY, make_members
from dpol_weekly.coordinator.collect import collect, set_aside
from dpol_weekly.coordinator.decide import decide, read_facts
from dpol_weekly.coordinator.export import export, verify
from dpol_weekly.coordinator.log import LOG_NAME
from dpol_weekly.deployment import read_deployment
from releases import changes_of, tamper
from weekly import Coordinator, coordinates, date, day

SHARES = {"A": 0.2, "B": 0.4, "C": 0.6}


class Weeks(Coordinator):
    """A coordinator's folder into which weeks of reports are put."""

    def report(self, *weeks, entities="ABC", seed=0):
        """Collect a report of each entity."""
        for entity in entities:
            rng = np.random.default_rng([seed, ord(entity)])
            rows = [
                (entity, week, f"{200 * SHARES[entity] + rng.normal():.3f}", "200")
                for week in weeks
            ]
            done = self.put(*rows, output=f"{entity}{weeks}{seed}")
            assert done.taken == len(weeks), done

    def written(self, number):
        return self.folder / "decisions" / f"{day(number)}.json"


@pytest.fixture
def world(tmp_path):
    return Weeks(tmp_path, names=2)


class Sizes(Weeks):
    """Hospitals of other sizes: the smallest has the largest share."""

    beds: ClassVar = {"A": 200, "B": 1000, "C": 4000}

    def report(self, *weeks):
        counts = {"A": 140, "B": 500, "C": 1200}
        rows = [
            (name, week, str(counts[name]), str(self.beds[name]))
            for name in "ABC"
            for week in weeks
        ]
        assert self.put(*rows).taken == len(rows)


@pytest.mark.parametrize(
    ("question", "named", "asked"),
    [
        ({"of": "share"}, "ABC", None),
        ({"min_capacity": 500}, "BC", " of those with a capacity of at least 500"),
        ({"of": "count", "bound": 5000}, "CBA", ""),
        ({"of": "count", "bound": 5000, "min_capacity": 500}, "CB", " of those with a capacity of"),
    ],
)
def test_another_question_is_asked_of_the_same_reports(tmp_path, capsys, question, named, asked):
    world = Sizes(tmp_path, names=1, question=question)
    world.report(*range(6))
    capsys.readouterr()
    assert main(["decide", str(world.folder)]) == 0
    said = capsys.readouterr().out
    assert ("Which entity" in said) == (asked is not None)
    assert (asked or "") in said
    outlooks = read_facts(world.written(6))["outlooks"]
    ranked = sorted((it for it in outlooks if it["rank"]), key=lambda it: it["rank"])
    assert "".join(it["entity"] for it in ranked) == named
    assert sorted(ranked, key=lambda it: -it["score"]) == ranked
    assert [it["capacity"] for it in outlooks] == [*world.beds.values()]


def test_a_period_is_decided_for_one_question(world):
    world.report(*range(6))
    before = decide(world.folder)
    world.choose(question={"of": "count", "bound": 1000})
    with pytest.raises(DataError, match="decided already, with other .*coordination, and stays"):
        decide(world.folder)
    assert read_facts(world.written(6)).items() <= before.items()
    world.choose(question={"min_capacity": 201})
    with pytest.raises(DataError, match="reported capacities large enough; collect reports, lower"):
        decide(world.folder, date(7))


def test_choices_of_the_coordinator_may_change_on_any_day(world):
    """A decision states what it was made with, and is made again with that."""
    world.report(*range(6))
    decide(world.folder)
    world.report(6)
    coordinates(world.folder, names=1, titles={"A": "At the lake"}, cannot_be_chosen=["C"])
    second = decide(world.folder)
    assert (second["named"], second["outlooks"][0]["title"]) == (["B"], "At the lake")
    world.choose(names=2, cannot_be_chosen=[])
    third = decide(world.folder, date(8))
    assert (len(third["named"]), third["coordination"]["names"]) == (2, 2)
    coordinates(world.folder, name=1)
    with pytest.raises(ConfigError, match=r"(?s)coordinator.yaml.*name = 1: unknown key.*names"):
        decide(world.folder)
    coordinates(world.folder, cannot_be_chosen=["X"])
    with pytest.raises(ConfigError, match="'X'"):
        decide(world.folder)


def test_a_decision_says_all(world):
    world.report(*range(6))
    decision = decide(world.folder)
    assert (decision["period"], decision["last_period"]) == (day(6), day(5))
    assert decision["named"] == ["C", "B"]
    first, _, last = decision["outlooks"]
    told = {"entity": "A", "title": "Hospital A", "rank": 3, "named": False}
    assert first.items() >= told.items()
    told = {"rank": 1, "named": True, "last_report": day(5), "silent": 0}
    assert last.items() >= told.items()
    assert last["noise"] == pytest.approx(2**0.5 / 0.5, rel=1e-5)
    assert last["noisy_count"] == pytest.approx(120, abs=6)
    assert last["score"] > first["score"]
    assert decision["rule"] == "random-effects"
    assert decision["missing"] == []
    assert decision["reports"] == 18
    assert decision["log_head"] == verify(world.folder)
    assert decision["log_head"] in (world.folder / "index.html").read_text()
    facts = json.loads(world.written(6).read_text())
    assert facts.items() <= decision.items()
    assert decide(world.folder) == decision
    assert (facts["coordination"]["names"], facts["log_head"]) == (2, decision["log_head"])


def test_the_command_reminds_the_silent_and_says_when_a_week_is_past(world, capsys):
    world.report(*range(4))
    world.report(4, 5, entities="A")
    assert main(["decide", str(world.folder)]) == 0
    told = capsys.readouterr().out
    assert f"This period is past: today, {datetime.date.today()}, is in the period from 20" in told
    for name in "BC":
        assert (
            f"  Hospital {name}: we have no report from you for 2 periods, the last one from"
            f" {day(5)}. Please run dpol privatize hospital.yaml, and send a copy of the newest"
            " .json in released.\n" in told
        )
    assert "Hospital A: we have" not in told
    page = (world.folder / "index.html").read_text()
    assert "This period is past" in page
    decide(world.folder, date(7), today=date(7) + datetime.timedelta(days=6))
    page = (world.folder / "index.html").read_text()
    assert "in the period from 2021-02-21" in page
    assert "This period is past" not in page


def test_a_strange_file_among_decisions_disturbs_nothing(world):
    world.report(0, 1)
    folder = world.folder / "decisions"
    folder.mkdir()
    for name in ("notes.json", "2021-01-17-copy.json", f".{day(1)}-killed.json"):
        (folder / name).write_text('{"named')
    assert decide(world.folder)["period"] == day(2)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    world.report(2, seed=1)
    for text in ("{}", "[]", "{", '{"log_head": 1}'):
        (folder / "2021-02-07.json").write_text(text)
        with pytest.raises(DataError, match="2021-02-07.json: is not a decision of dpol"):
            decide(world.folder)
    (folder / "2021-02-07.json").unlink()
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


# ---- the log is verified whenever it is opened ---------------------------------------------------


@pytest.mark.parametrize("table", ["deployment", "report", "release", "act", "link"])
def test_nothing_is_done_with_a_log_that_was_changed(world, table):
    world.report(0, 1, 2)
    set_aside(world.folder, "A", "a test", date(0))
    decide(world.folder)
    log = world.folder / LOG_NAME
    whole = log.read_bytes()
    for change in changes_of(table, log):
        log.write_bytes(whole)
        tamper(change, path=log)
        with pytest.raises(DataError, match="put its last backup back"):
            verify(world.folder)
    for act in (
        lambda: collect([], world.folder),
        lambda: decide(world.folder),
        lambda: export(world.folder, world.folder / "r.csv"),
        lambda: set_aside(world.folder, "C", "a test"),
    ):
        with pytest.raises(DataError, match="put its last backup back"):
            act()


def test_a_log_that_is_not_the_decisions_is_refused(world, tmp_path):
    """It is an older copy, or was written anew: it fits itself, and not what was decided."""
    world.report(0, 1, 2)
    shutil.copytree(world.folder, tmp_path / "older")
    world.report(3, seed=1)
    decided = decide(world.folder)
    assert verify(world.folder, decided["log_head"]) == decided["log_head"]
    world.report(4, seed=2)
    verify(world.folder, decided["log_head"])
    (world.folder / LOG_NAME).unlink()
    shutil.copy(tmp_path / "older" / LOG_NAME, world.folder)
    verify(world.folder)
    for number in (3, 4):
        with pytest.raises(DataError, match=r"made from another log.*never had the head.*newest"):
            decide(world.folder, date(number))
    with pytest.raises(DataError, match=f"never had the head {decided['log_head']}"):
        verify(world.folder, decided["log_head"])
    world.written(4).parent.rename(world.folder / "old decisions")
    decide(world.folder)


def test_the_command_shows_the_head_and_verifies_one(world, capsys):
    world.report(0, 1)
    head = verify(world.folder)
    assert main(["decide", str(world.folder)]) == 0
    assert f"The head of the log is {head}\n" in capsys.readouterr().out
    assert main(["export", str(world.folder), "--verify", head]) == 0
    assert main(["export", str(world.folder), "--verify", head[:12]]) == 1


# ---- weeks that are not as usual -----------------------------------------------------------------


def test_silence_is_counted(world):
    world.agree({"A": {}, "B": {"until": day(4)}, "C": {}, "D": {"since": day(3)}}, names=2)
    world.report(*range(5), entities="A")
    world.report(0, 1, entities="B")
    world.report(0, 1, 2, entities="C")
    decision = decide(world.folder)
    assert [outlook["silent"] for outlook in decision["outlooks"]] == [0, 0, 2, 2]
    assert decision["missing"] == ["C", "D"]


def test_who_never_reported_is_not_named(world):
    """Its prediction is the level of all, which may be the largest."""
    world.agree("ABCW", names=3)
    world.report(*range(4))
    decision = decide(world.folder)
    assert "W" not in decision["named"]
    assert decision["outlooks"][3]["rank"] is None
    assert "never reported" in (world.folder / "index.html").read_text()


def test_the_page_shows_the_newest_decision_whatever_is_decided_last(world):
    world.report(*range(5))
    decide(world.folder)
    page = (world.folder / "index.html").read_text()
    decide(world.folder, date(4))
    assert (world.folder / "index.html").read_text() == page


def test_a_late_report_counts_from_the_next_decision_on(world):
    world.report(0, 1, 2)
    world.report(3, entities="AC")
    first = decide(world.folder)
    assert first["missing"] == ["B"]
    before = world.written(4).read_bytes()
    world.report(4, entities="A", seed=2)
    assert decide(world.folder, date(4)) == first, "what came later is not read"
    world.report(3, entities="B", seed=1)
    with pytest.raises(
        DataError, match="decided already, with other .*reports.*, and stays; what came since"
    ):
        decide(world.folder, date(4))
    assert world.written(4).read_bytes() == before
    assert decide(world.folder, date(5))["reports"] == 13
    assert decide(world.folder, date(3))["reports"] == 9, "later periods are not read"


def test_who_left_is_not_chosen_and_who_came_is(world):
    entities = {"A": {"since": day(3)}, "B": {}, "C": {"until": day(3)}}
    world.agree(entities=entities)
    world.report(0, 1, 2, entities="BC")
    world.report(3, 4, entities="AB")
    decision = decide(world.folder)
    assert decision["named"] == ["B"]
    assert decision["missing"] == []
    a, _, c = decision["outlooks"]
    assert (a["last_report"], c["last_report"]) == (day(4), day(2))
    assert (c["rank"], c["named"]) == (None, False)
    assert decide(world.folder, date(2))["named"] == ["C"]


def test_a_gap_of_weeks_is_bridged_up_to_eight(world):
    world.report(0, 1, 2)
    world.report(8, 9, seed=1)
    near = decide(world.folder)
    assert near["named"] == ["C", "B"]
    ahead = decide(world.folder, date(17))
    assert ahead["missing"] == ["A", "B", "C"]
    for made in (ahead, near):
        assert [it["rank"] for it in made["outlooks"]] == [3, 2, 1]
    with pytest.raises(
        DataError, match=f"is 9 periods after the last report, .* {day(17)} at most"
    ):
        decide(world.folder, date(18))


LOCAL = [
    name
    for name in REGISTRY
    if len(members := make_members(name)) == 1 and members[0].algorithm.model == "local"
]


@pytest.mark.parametrize("rule", [*LOCAL, {"algorithm": "cautious-mean", "window": 3}])
def test_any_local_rule_decides_as_dpol_choose_does(world, rule):
    """On the exported rows."""
    world.report(*range(12))
    world.choose(rule=rule, names=1, rounds=40)
    made = decide(world.folder)
    export(world.folder, world.folder / "r.csv")
    frame = pd.read_csv(world.folder / "r.csv", dtype=str).rename(
        columns={"entity": "place", "noisy_count": "count"}
    )
    frame["deviation"] = read_deployment(world.deployment).count_noise().standard_deviation
    frame = frame[["place", "period", "count", "capacity", "deviation"]]
    other = choose(rule, frame, name="test", n_rounds=40)
    assert (made["named"], made["period"]) == ([other.place], other.period)
    assert made["rule"] == other.rule
    scores = {it["entity"]: it["score"] for it in made["outlooks"]}
    if other.ranking:
        assert scores == pytest.approx(other.ranking)


def test_a_rule_that_cannot_decide_is_refused_with_its_remedy(world):
    world.report(0, 1, 3)
    for rule, message in (
        ("rw-ftpl", "has no number for 2021-01-17, and rw-ftpl cannot skip it"),
        ("nonsense", "'nonsense' is not one of persistence.*; see rule in coordinator.yaml"),
        ("rw-adabatch", "must know how many periods.*; see rule in coordinator.yaml"),
    ):
        with pytest.raises(DataError, match=message):
            world.decide(rule=rule, names=2)
    world.report(2, seed=1)
    assert len(world.decide(rule="rw-meta", rounds=40)["named"]) == 1, "it does not rank"


def test_what_cannot_be_decided_is_refused(world):
    with pytest.raises(DataError, match="there is no log yet"):
        decide(world.folder)
    world.put(("X", 0, "1"))
    with pytest.raises(DataError, match="nothing was collected yet"):
        decide(world.folder)
    world.report(0, entities="A")
    world.choose(cannot_be_chosen=["A"])
    with pytest.raises(DataError, match="no entity may be chosen for 2021-01-10 that takes part"):
        decide(world.folder)
