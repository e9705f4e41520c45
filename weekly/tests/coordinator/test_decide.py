"""Decisions: what they say, when they are refused, and that they stay as they are."""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
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
from dpol_weekly.coordinator.decide import check, decide
from dpol_weekly.coordinator.decision import read_decision
from dpol_weekly.coordinator.evidence import read_evidence, spent_of
from dpol_weekly.coordinator.export import export, verify
from dpol_weekly.coordinator.log import LOG_NAME, open_log
from dpol_weekly.deployment import read_deployment
from releases import changes_of, tamper
from weekly import Coordinator, agreed, coordinates, date, day

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

    def evidence(self, periods):
        with open_log(self.folder) as log:
            return read_evidence(log, periods)


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
    decision = read_decision(world.written(6))
    ranked = sorted(
        (outlook for outlook in decision.outlooks if outlook.rank), key=lambda it: it.rank
    )
    assert "".join(outlook.entity for outlook in ranked) == named
    assert sorted(ranked, key=lambda it: -it.score) == ranked
    assert [it.capacity for it in decision.outlooks] == [*world.beds.values()]
    assert check(world.folder).gain == decision.gain


def test_a_period_is_decided_for_one_question(world):
    world.report(*range(6))
    before = decide(world.folder)
    world.choose(question={"of": "count", "bound": 1000})
    with pytest.raises(DataError, match=r"with other choices in coordinator.yaml \(question\)"):
        decide(world.folder)
    assert read_decision(world.written(6)) == before
    world.choose(question={"min_capacity": 201})
    with pytest.raises(DataError, match="reported capacities large enough; lower min_capacity"):
        decide(world.folder, date(7))


def test_choices_of_the_coordinator_may_change_on_any_day(world):
    """A decision states what it was made with, and is made again with that."""
    world.report(*range(6))
    decide(world.folder)
    world.report(6)
    coordinates(world.folder, names=1, titles={"A": "At the lake"}, cannot_be_chosen=["C"])
    second = decide(world.folder)
    assert (second.named, second.outlooks[0].title) == (("B",), "At the lake")
    world.choose(names=2, cannot_be_chosen=[])
    third = decide(world.folder, date(8))
    assert (len(third.named), third.coordination.names) == (2, 2)
    for number in (6, 7, 8):
        check(world.folder, date(number))
    coordinates(world.folder, name=1)
    with pytest.raises(ConfigError, match=r"(?s)coordinator.yaml.*name = 1: unknown key.*names"):
        decide(world.folder)
    coordinates(world.folder, cannot_be_chosen=["X"])
    with pytest.raises(ConfigError, match="'X'"):
        decide(world.folder)


def test_a_decision_says_all(world):
    world.report(*range(6))
    decision = decide(world.folder)
    assert (decision.period, decision.last_period) == (day(6), day(5))
    assert decision.named == ("C", "B")
    first, _, last = decision.outlooks
    assert (first.entity, first.title, first.rank, first.named) == ("A", "Hospital A", 3, False)
    assert (last.rank, last.named, last.reports, last.silent) == (1, True, 6, 0)
    assert last.noise == pytest.approx(2**0.5 / 0.5, rel=1e-5)
    assert last.noisy_count == pytest.approx(120, abs=6)
    assert last.score > first.score
    assert decision.rule == "random-effects"
    spent = decision.spent
    assert (spent.mu, spent.longest_stay, spent.corrections) == (0.5, 8, 0)
    assert spent.mu_of_stay == pytest.approx(0.5 * 6**0.5)
    assert (spent.budget_mu, spent.above_budget) == (10, ())
    assert decision.missing == ()
    assert decision.releases == 18
    assert decision.log_head == verify(world.folder)
    assert decision.log_head in (world.folder / "index.html").read_text()
    assert read_decision(world.written(6)).as_json() == decision.as_json()
    facts = json.loads(world.written(6).read_text())
    assert (facts["coordination"]["names"], facts["log_head"]) == (2, decision.log_head)


def test_a_stay_is_any_weeks_and_one_week_is_counted_by_the_same_rule(tmp_path):
    """A person of the longest stay is counted in the worst weeks, not in weeks in a row."""
    made = read_deployment(agreed(tmp_path, mu=0.5, longest_stay=3, corrections=True))
    often = np.ones((7, 3), dtype=int)
    often[0, 0], often[3, 1], often[6] = 2, 3, (2, 2, 1)
    spent = spent_of(made, often, corrections=5)
    # In each week, the two entities with the most releases: 3, 4 and 4, and 2 in the others.
    assert spent.mu_of_stay == pytest.approx(0.5 * math.sqrt((3 + 4 + 4) / 2))
    assert spent.mu == pytest.approx(0.5 * math.sqrt(4 / 2))
    twice = made.model_copy(update={"counted_by": 2})
    assert spent_of(twice, often, corrections=5).mu == pytest.approx(0.5 * math.sqrt(5 / 2))
    often[0, 0] = 200
    spent = spent_of(made, often, corrections=203)
    assert spent.mu == pytest.approx(0.5 * math.sqrt(201 / 2))
    assert spent.mu < spent.mu_of_stay == pytest.approx(0.5 * math.sqrt((201 + 4 + 4) / 2))


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
    assert "This week is past" in page
    decide(world.folder, date(7), today=date(7) + datetime.timedelta(days=6))
    page = (world.folder / "index.html").read_text()
    assert "in the week of 21 February 2021" in page
    assert "This week is past" not in page


@pytest.mark.parametrize("key", ["period", "last_period"])
@pytest.mark.parametrize("text", ["../x", "2021-02-30", ""])
def test_a_decision_for_no_date_is_none(world, capsys, key, text):
    world.report(*range(3))
    decide(world.folder)
    facts = json.loads(world.written(3).read_text())
    world.written(3).write_text(json.dumps(facts | {key: text}))
    for more in ([], ["--check", "--period", day(3)]):
        assert main(["decide", str(world.folder), *more]) == 1
        assert "is not a decision of dpol; put it back" in capsys.readouterr().err


def test_a_strange_file_among_decisions_disturbs_nothing(world):
    world.report(0, 1)
    folder = world.folder / "decisions"
    folder.mkdir()
    for name in ("notes.json", "2021-01-17-copy.json", f".{day(1)}-killed.json"):
        (folder / name).write_text('{"named')
    assert decide(world.folder).period == day(2)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    (folder / "2021-02-07.json").write_text("{}")
    world.report(2, seed=1)
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
        lambda: check(world.folder),
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
    assert verify(world.folder, decided.log_head) == decided.log_head
    world.report(4, seed=2)
    verify(world.folder, decided.log_head)
    (world.folder / LOG_NAME).unlink()
    shutil.copy(tmp_path / "older" / LOG_NAME, world.folder)
    verify(world.folder)
    for act in (lambda: decide(world.folder), lambda: check(world.folder, date(4))):
        with pytest.raises(DataError, match=r"made from another log.*never had the head.*newest"):
            act()
    with pytest.raises(DataError, match=f"never had the head {decided.log_head}"):
        verify(world.folder, decided.log_head)
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
    assert [outlook.silent for outlook in decision.outlooks] == [0, 0, 2, 2]
    assert decision.missing == ("C", "D")


def test_who_never_reported_is_not_named(world):
    """Its prediction is the level of all, which may be the largest."""
    world.agree("ABCW", names=3)
    world.report(*range(4))
    decision = decide(world.folder)
    assert "W" not in decision.named
    assert decision.outlooks[3].rank is None
    assert "never reported" in (world.folder / "index.html").read_text()


def test_the_page_shows_the_newest_decision_whatever_is_decided_last(world):
    world.report(*range(5))
    decide(world.folder)
    page = (world.folder / "index.html").read_text()
    decide(world.folder, date(4))
    renewed = (world.folder / "index.html").read_text()
    drawn = page[: page.index("<footer")].rstrip()
    assert drawn in renewed
    assert f'<a href="decisions/{day(4)}.json">' in renewed


def test_a_late_report_counts_from_the_next_decision_on(world):
    world.report(0, 1, 2)
    world.report(3, entities="AC")
    first = decide(world.folder)
    assert first.missing == ("B",)
    before = world.written(4).read_bytes()
    world.report(4, entities="A", seed=2)
    assert decide(world.folder, date(4)) == first, "what came later is not read"
    world.report(3, entities="B", seed=1)
    with pytest.raises(
        DataError, match="decided already, from other reports, .* and stays; what came since"
    ):
        decide(world.folder, date(4))
    assert world.written(4).read_bytes() == before
    assert check(world.folder, date(4)) == first
    assert decide(world.folder, date(5)).releases == 13
    assert decide(world.folder, date(3)).releases == 9, "later periods are not read"


def test_a_check_notices_every_number(world):
    world.report(*range(5))
    decide(world.folder)
    path = world.written(5)
    facts = json.loads(path.read_text())
    for change in (
        {"named": ["A", "B"]},
        {"releases": 14},
        {"spent": facts["spent"] | {"mu": 0.5 + 2e-9}},
        {"outlooks": [facts["outlooks"][0] | {"score": 0.1}, *facts["outlooks"][1:]]},
        {"rule": "window-mean"},
    ):
        path.write_text(json.dumps(facts | change))
        with pytest.raises(DataError, match="does not hold the decision that the log gives: "):
            check(world.folder)
    good = json.dumps(facts | {"spent": facts["spent"] | {"mu": 0.5 + 1e-10}}, indent=2) + "\n"
    for text in (
        json.dumps(facts | {"missing": ["A"]}, indent=2) + "\n",
        json.dumps(facts | {"note": 1}, indent=2) + "\n",
        good.replace('"named":', '"named": ["A"],\n  "named":', 1),
    ):
        path.write_text(text)
        with pytest.raises(DataError, match="something was added, left out or given twice"):
            check(world.folder)
    path.write_text(good)
    assert main(["decide", str(world.folder), "--check"]) == 0
    path.write_text("{}")
    with pytest.raises(DataError, match="is not a decision of dpol"):
        check(world.folder)


def test_who_left_is_not_chosen_and_who_came_is(world):
    entities = {"A": {"since": day(3)}, "B": {}, "C": {"until": day(3)}}
    world.agree(entities=entities)
    world.report(0, 1, 2, entities="BC")
    world.report(3, 4, entities="AB")
    decision = decide(world.folder)
    assert decision.named == ("B",)
    assert decision.missing == ()
    a, _, c = decision.outlooks
    assert (a.reports, c.reports, c.rank, c.named) == (2, 3, None, False)
    assert decide(world.folder, date(2)).named == ("C",)


def test_a_gap_of_weeks_is_bridged_up_to_eight(world):
    world.report(0, 1, 2)
    world.report(8, 9, seed=1)
    assert decide(world.folder).named == ("C", "B")
    ahead = decide(world.folder, date(17))
    assert ahead.missing == ("A", "B", "C")
    near = read_decision(world.written(10)).outlooks
    assert [it.rank for it in ahead.outlooks] == [it.rank for it in near] == [3, 2, 1]
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
    """On the exported rows; and a decision is made again by the rule that it names."""
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
    assert (made.named, made.period, made.rule) == ((other.place,), other.period, other.rule)
    scores = {it.entity: it.score for it in made.outlooks}
    if other.ranking:
        assert scores == pytest.approx(other.ranking)
    assert check(world.folder) == made


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
    with pytest.raises(DataError, match="rw-meta judges one place only; write names: 1 in coord"):
        world.decide(rule="rw-meta", rounds=40)


def test_a_decision_is_checked_whatever_came_or_was_set_aside_since(world):
    world.report(*range(12), entities="A")
    world.report(*range(3), entities="BC")
    made = decide(world.folder)
    world.report(*range(3, 6), entities="BC", seed=4)
    set_aside(world.folder, "A", "typing error")
    assert check(world.folder, datetime.date.fromisoformat(made.period)) == made
    later = decide(world.folder)
    assert later.period == day(6)
    assert dataclasses.replace(made, log_head="") != dataclasses.replace(later, log_head="")
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
