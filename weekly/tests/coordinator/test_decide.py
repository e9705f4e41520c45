"""Decisions: what they say, when they are refused, that they stay, and that anybody can check."""

from __future__ import annotations

import datetime
import json
import shlex
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from dpol.cli import main
from dpol.core.errors import ConfigError, DataError
from dpol.experts.choose import choose
from dpol.experts.registry import REGISTRY, make_members
from dpol_weekly.coordinator.collect import set_aside
from dpol_weekly.coordinator.decide import check, decide, read_decision
from dpol_weekly.coordinator.export import export
from dpol_weekly.coordinator.log import LOG_NAME
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
            held = [(name, period, count) for name, period, count, _ in self.held(entity)]
            done = self.put(*[(*it, "200") for it in held], *rows)
            assert len(done.taken) == len(weeks), done

    def held(self, entity):
        """The rows of an entity so far, which its files repeat."""
        exists = (self.folder / LOG_NAME).exists()
        return [row for row in (self.rows() if exists else ()) if row[0] == entity]

    def written(self, number):
        return self.folder / "decisions" / f"{day(number)}.json"


@pytest.fixture
def world(tmp_path):
    return Weeks(tmp_path, names=2)


def page_of(world):
    return (world.folder / "index.html").read_text()


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
        assert len(self.put(*rows).taken) == len(rows)


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
    outlooks = read_decision(world.written(6))["outlooks"]
    ranked = sorted((it for it in outlooks if it["rank"]), key=lambda it: it["rank"])
    assert "".join(it["entity"] for it in ranked) == named
    assert sorted(ranked, key=lambda it: -it["score"]) == ranked
    assert [it["capacity"] for it in outlooks] == [*world.beds.values()]


def test_choices_of_the_coordinator_may_change_on_any_day(world):
    """A decision states what it was made with, and stays."""
    world.report(*range(6))
    first = decide(world.folder)
    world.choose(question={"min_capacity": 201})
    assert decide(world.folder) == first
    world.report(6)
    with pytest.raises(DataError, match="is large enough in all its reports; collect reports, or"):
        decide(world.folder)
    coordinates(world.folder, names=1, titles={"A": "At the lake"})
    second = decide(world.folder)
    assert (second["named"], second["outlooks"][0]["title"]) == (["C"], "At the lake")
    world.report(7)
    coordinates(world.folder, name=1)
    with pytest.raises(ConfigError, match=r"(?s)coordinator.yaml.*name = 1: unknown key.*names"):
        decide(world.folder)
    assert (check(world.folder, date(6)), check(world.folder, date(7))) == (3, 6)


def test_a_decision_says_all(world):
    world.report(*range(6))
    decision = decide(world.folder)
    assert (decision["period"], decision["last_period"]) == (day(6), day(5))
    assert decision["named"] == ["C", "B"]
    first, _, last = decision["outlooks"]
    told = {"entity": "A", "title": "Hospital A", "rank": 3, "named": False, "silent": 0}
    assert first.items() >= told.items()
    assert last.items() >= {"rank": 1, "named": True, "last_report": day(5)}.items()
    assert last["noise"] == pytest.approx(2**0.5 / 0.5, rel=1e-5)
    assert last["noisy_count"] == pytest.approx(120, abs=6)
    assert last["score"] > first["score"]
    assert (decision["rule"], decision["missing"]) == ("random-effects", [])
    assert (decision["reports"], decision["line"]) == (18, 4)
    assert decision["head"] in page_of(world)
    assert json.loads(world.written(6).read_text()).items() <= decision.items()
    assert decide(world.folder) == decision


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
    assert "This period is past" in page_of(world)
    decide(world.folder, today=date(6) + datetime.timedelta(days=6))
    assert f"in the period from {day(6)}" in page_of(world)
    assert "This period is past" not in page_of(world)


# ---- anybody can check a decision ----------------------------------------------------------------


def test_a_decision_is_checked_from_the_signed_releases(world, capsys):
    world.report(0, 1, 2)
    set_aside(world.folder, "A", "a test", date(0))
    decided = decide(world.folder)
    assert decided["reports"] == 8
    world.report(3, seed=1)
    decide(world.folder)
    for number, releases in ((3, 3), (4, 6)):
        assert main(["decide", str(world.folder), "--check", day(number)]) == 0
        told = f"{day(number)}: equal, decided again from {releases} signed releases\n"
        assert capsys.readouterr().out == told


def test_what_was_changed_since_a_decision_is_found(world):
    world.report(0, 1, 2)
    decide(world.folder)
    path, (file, *_) = world.written(3), sorted(world.folder.glob("accepted/*/*"))
    for change, message in (
        ({"named": ["A"]}, "is not what its releases give; this differs: named"),
        ({"head": "0" * 64}, "was made from another list of releases"),
        ({"line": 99}, "has no line 99; it has 4"),
        ({"line": "4"}, "is not there, or no decision of dpol"),
    ):
        whole = path.read_text()
        path.write_text(json.dumps(json.loads(whole) | change))
        with pytest.raises(DataError, match=message):
            check(world.folder, date(3))
        path.write_text(whole)
    whole = file.read_bytes()
    for content in (whole.replace(b"2021", b"2022"), whole + b" "):
        file.write_bytes(content)
        with pytest.raises(DataError, match="is not signed by the key|is not the release of line"):
            check(world.folder, date(3))
    file.unlink()
    with pytest.raises(DataError, match="is not there"):
        check(world.folder, date(3))


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
    assert "never reported" in page_of(world)


def test_a_late_report_counts_from_the_next_decision_on(world):
    world.report(0, 1, 2)
    world.report(3, entities="AC")
    first = decide(world.folder)
    assert first["missing"] == ["B"]
    before = world.written(4).read_bytes()
    world.report(3, entities="B", seed=1)
    assert decide(world.folder) == first
    assert world.written(4).read_bytes() == before
    world.report(4)
    assert decide(world.folder)["reports"] == 15
    assert (check(world.folder, date(4)), check(world.folder, date(5))) == (5, 9)


def test_a_gap_of_weeks_is_bridged(world):
    world.report(0, 1, 2)
    world.report(8, 9, seed=1)
    assert [it["rank"] for it in decide(world.folder)["outlooks"]] == [3, 2, 1]


LOCAL = [
    name
    for name in REGISTRY
    if len(members := make_members(name)) == 1 and members[0].algorithm.model == "local"
]


@pytest.mark.parametrize("rule", [*LOCAL, {"algorithm": "cautious-mean", "window": 3}])
def test_a_rule_decides_as_dpol_choose_does_on_the_table_or_is_refused(world, capsys, rule):
    """A hospital joined, and a report is missing: a rule that cannot play on is refused at once."""
    world.agree("ABC", names=1)
    world.report(*range(2, 12), entities="C")
    world.report(*range(12), entities="A")
    world.report(*range(10), entities="B")
    world.choose(rule=rule)
    member = make_members(rule)[0].algorithm
    if member.needs_rounds or not member.skips_gaps:
        with pytest.raises(ConfigError, match="rule = .*must be one local rule that plays on when"):
            decide(world.folder)
        return
    made = decide(world.folder)
    _, line = export(world.folder, made["line"])
    other = choose(rule, pd.read_csv(world.folder / "reports.csv"), period=day(12), name="test")
    assert (made["named"], made["period"]) == ([other.place], other.period)
    assert made["rule"] == other.rule
    scores = {it["entity"]: it["score"] for it in made["outlooks"]}
    assert scores == pytest.approx(other.ranking)
    assert main(shlex.split(line)[1:]) == 0
    assert f": {other.place}\n" in capsys.readouterr().out


@pytest.mark.parametrize("rule", ["ridge", "fixed-share", "multiplicative-weights", "nonsense"])
def test_what_is_no_one_local_rule_is_refused_when_the_file_is_read(world, rule):
    world.report(0, 1)
    world.choose(rule=rule)
    with pytest.raises(ConfigError, match="(?s)rule = .*(must be one local rule|is not one of)"):
        decide(world.folder)


def test_the_table_says_what_a_row_is_and_when_it_came(world):
    world.report(0, 1)
    export(world.folder)
    frame = pd.read_csv(world.folder / "reports.csv")
    columns = ["place", "period", "count", "deviation", "capacity", "mu", "came"]
    assert [*frame.columns] == columns
    assert frame["came"].str.startswith(str(datetime.datetime.now(datetime.UTC).year)).all()
    assert ({*frame["mu"]}, len(frame)) == ({0.5}, 6)
    with pytest.raises(DataError, match="has no line 9; it has 4"):
        export(world.folder, 9)


def test_what_cannot_be_decided_is_refused(world):
    with pytest.raises(DataError, match="state: holds no agreement; dpol collect --deployment"):
        decide(world.folder)
    world.put(("X", 0, "1"))
    with pytest.raises(DataError, match="only 0 of the hospitals has ever reported"):
        decide(world.folder)
    world.report(0, entities="A")
    with pytest.raises(DataError, match="only 1 of the hospitals has ever reported"):
        decide(world.folder)
