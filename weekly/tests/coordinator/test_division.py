"""Units of help: by hand, from a log, and on the page."""

from __future__ import annotations

import csv
import json
import math
import re

import numpy as np
import pytest

from coordinator.test_page import decision, outlook, shown
from dpol.cli import main
from dpol.core.errors import ConfigError, DataError
from dpol.core.intervals import NORMAL_90
from dpol_weekly.coordinator.decide import check, decide
from dpol_weekly.coordinator.decision import Division, read_decision
from dpol_weekly.coordinator.division import divide
from dpol_weekly.coordinator.evidence import read_evidence
from dpol_weekly.coordinator.game import play
from dpol_weekly.coordinator.log import open_log
from dpol_weekly.coordinator.page import guarantee
from dpol_weekly.coordinator.settings import Coordination
from weekly import Coordinator, coordinates, date, day

# Means, standard deviations and beds of three hospitals.
KNOWN = (10, 1, 100), (4, 2, 40), (1, 3, 20)


def known(number, **facts):
    """The outlook of a hospital with a known law of the people who come."""
    mean, deviation, beds = KNOWN[number]
    share, width = mean / beds, NORMAL_90 * deviation / beds
    law = {"share": share, "low": share - width, "high": share + width, "capacity": float(beds)}
    return outlook(number, **law | facts)


def helped(units, *outlooks, taking_part=("e0", "e1", "e2"), **choices):
    """Units, units without the guarantee, chances and sums of a division."""
    made, sums = divide(
        outlooks or [known(number) for number in range(3)],
        Coordination(units=units, **choices),
        taking_part,
    )
    given = [one.units for one in made]
    return (
        given,
        [one.units_without_guarantee for one in made],
        [one.short_chance for one in made],
        sums,
    )


def above(u):
    """Phi(u)."""
    return math.erfc(-u / math.sqrt(2)) / 2


def unmet(units, own=(0, 0, 0)):
    """Expected people without help, by the closed form of a normal law."""
    total = 0.0
    for (mean, deviation, _), held, staff in zip(KNOWN, units, own, strict=True):
        u = (mean - held - staff) / deviation
        density = math.exp(-(u**2) / 2) / math.sqrt(2 * math.pi)
        total += deviation * (density + u * above(u))
    return total


@pytest.mark.parametrize(
    ("units", "guaranteed", "given", "free"),
    [
        (10, 0.75, [8, 2, 0], [9, 1, 0]),
        (20, 0.75, [11, 6, 3], [11, 6, 3]),
        # D'Hondt's quotients of 10, 4 and 1 are 10, 5, 4, 10/3, 2.5, 2, 2.
        (7, 1, [5, 2, 0], [7, 0, 0]),
        (0, 0.75, [0, 0, 0], [0, 0, 0]),
    ],
)
def test_a_division_by_hand(units, guaranteed, given, free):
    found, found_free, chances, sums = helped(units, guaranteed=guaranteed)
    assert (found, found_free) == (given, free)
    laws = zip(KNOWN, given, strict=True)
    assert chances == pytest.approx([above((m - held) / s) for (m, s, _), held in laws])
    assert sums.need == pytest.approx(unmet([0, 0, 0]))
    assert sums.unmet == pytest.approx(unmet(given))
    assert sums.unmet_without_guarantee == pytest.approx(unmet(free))


def test_own_staff_serves_a_share_of_the_beds():
    """With 5, 2 and 1 people served, needs are 5, 2 and 0 with the same deviations."""
    found, free, chances, sums = helped(7, own_staff=0.05, guaranteed=1)
    assert (found, sum(free)) == ([5, 2, 0], 7)
    assert chances == pytest.approx([0.5, 0.5, 0.5])
    assert sums.need == pytest.approx(unmet([0, 0, 0], own=(5, 2, 1)))
    assert sums.unmet == pytest.approx(unmet([5, 2, 0], own=(5, 2, 1)))
    best = min(unmet((a, b, 7 - a - b), own=(5, 2, 1)) for a in range(8) for b in range(8 - a))
    assert sums.unmet_without_guarantee == pytest.approx(best)
    assert unmet([7, 0, 0], own=(5, 2, 1)) > 1.2 * best, "the best one without own staff"


def test_who_has_no_capacity_or_takes_no_part_gets_nothing_and_others_all():
    new = known(2, capacity=None, reports=0, rank=None, chance=None)
    unnamed = known(1, rank=None, chance=None)
    given, free, chances, sums = helped(8, known(0), unnamed, new)
    assert (given[2], free[2], chances[2], sum(given)) == (0, 0, None, 8)
    assert given[1] > 0, "help goes to who may not be named, too"
    assert sums.need == pytest.approx(unmet([0, 0, 1e3]))
    given, _, chances, _ = helped(8, taking_part={"e1"})
    assert (given, [chance is None for chance in chances]) == ([0, 8, 0], [True, False, True])


class Weeks(Coordinator):
    """A folder of four hospitals; the last one never reports."""

    beds = 30, 120, 200, 80
    shares = 0.3, 0.2, 0.1, 0.2

    def __init__(self, folder, **keys):
        super().__init__(folder, "ABCW", **keys)

    def report(self, *weeks, entities="ABC"):
        for place, entity in enumerate(entities):
            beds, share = self.beds[place], self.shares[place]
            rng = np.random.default_rng(place)
            rows = [
                (entity, week, f"{beds * share + rng.normal(0, 2.8):.3f}", str(beds))
                for week in weeks
            ]
            assert self.put(*rows, ledger=entity, output=f"{entity}{weeks}").taken == len(rows)

    def decision(self, number):
        return self.folder / "decisions" / f"{day(number)}.json"

    def page(self):
        """The words of the page."""
        text = (self.folder / "index.html").read_text()
        return re.sub(
            r"\s+", " ", re.sub(r"<style>.*?</style>|<[^>]+>", " ", text, flags=re.DOTALL)
        )


@pytest.fixture
def world(tmp_path):
    world = Weeks(tmp_path)
    world.report(*range(8))
    return world


COUNTS = {"of": "count", "bound": 500, "min_capacity": 50}


@pytest.mark.parametrize("question", [{"of": "share"}, COUNTS])
def test_units_are_divided_stated_and_checked(world, capsys, question):
    world.choose(units=40, own_staff=0.05, question=question)
    assert main(["decide", str(world.folder)]) == 0
    told = capsys.readouterr().out
    made = read_decision(world.decision(8))
    given = {one.entity: one.units for one in made.outlooks}
    assert (sum(given.values()), given["W"]) == (40, 0)
    assert given["A"] > 0, "a small hospital gets help, whichever may be named"
    most = sorted("ABC", key=lambda name: -given[name])
    assert f"\nunits of help: {', '.join(f'{name} {given[name]}' for name in most)}\n" in told
    facts = json.loads(world.decision(8).read_text())
    stated = {key: facts["coordination"][key] for key in ("units", "guaranteed", "own_staff")}
    assert stated == {"units": 40, "guaranteed": 0.75, "own_staff": 0.05}
    assert [one["units"] for one in facts["outlooks"]] == [*given.values()]
    with world.decision(8).with_suffix(".csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["units"]) for row in rows] == [*given.values()]
    # One law: the interval of the table gives the chance of the table.
    for row in rows[:3]:
        share, high, beds = (float(row[key]) for key in ("share", "high", "capacity"))
        u = (share * beds - 0.05 * beds - int(row["units"])) / ((high - share) * beds / NORMAL_90)
        assert float(row["short_chance"]) == pytest.approx(above(u), abs=1e-9)
    assert rows[3]["short_chance"] == ""
    assert check(world.folder) == made
    facts["outlooks"][0]["units"] += 1
    world.decision(8).write_text(json.dumps(facts))
    with pytest.raises(DataError, match=r"outlooks\.0\.units: "):
        check(world.folder)


def test_the_law_is_the_games(world):
    """The deviation of the people who come includes the change of the level."""
    made = world.decide(units=25)
    with open_log(world.folder) as log:
        reports = read_evidence(log, 8).reports
    *_, last = play(reports)
    law = last.law
    for place, one in enumerate(made.outlooks[:3]):
        u = (law.share[place] - one.units / one.capacity) / law.deviation[place]
        assert one.short_chance == pytest.approx(above(u))
    assert (law.deviation > 1.001 * law.apart).all(), "another law that it could have been"


def test_nothing_is_added_without_units(world):
    decide(world.folder)
    path = world.decision(8)
    facts, table = json.loads(path.read_text()), path.with_suffix(".csv").read_text()
    assert "division" not in facts
    assert "units" not in facts["outlooks"][0].keys() | facts["coordination"].keys()
    assert table.splitlines()[0].endswith(",reports,silent,doubt")
    assert "unit" not in world.page()
    with pytest.raises(DataError, match=r"with other choices in coordinator.yaml \(units\)"):
        world.decide(units=3)
    assert world.decide(date(9), units=3).division


def test_units_from_the_file_and_out_of_range(world):
    coordinates(world.folder, units=5, guaranteed=0.5)
    assert decide(world.folder).coordination.units == 5
    for wrong in ({"units": -1}, {"units": 2.5}, {"guaranteed": 1.1}, {"own_staff": -0.1}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            world.decide(date(9), **{"units": 5, "guaranteed": 0.5, "own_staff": 0} | wrong)


def test_units_stop_at_the_beds_and_the_rest_is_left():
    """Beds are 100, 40 and 20; the second would get more than its beds."""
    assert helped(5_000)[3].left == 5_000 - 160
    assert helped(5_000)[0] == [100, 40, 20]
    small = known(0, capacity=3.0, share=10 / 3, low=9 / 3, high=10 / 3 + NORMAL_90 / 3)
    given, free, _, sums = helped(12, small, known(1), known(2))
    assert (given[0], free[0], sum(given), sum(free), sums.left) == (3, 3, 12, 12, 0)
    # It would get 11, which is more than its beds and less than twice as many.
    small = known(0, capacity=8.0, share=10 / 8, low=9 / 8, high=10 / 8 + NORMAL_90 / 8)
    given, free, _, sums = helped(20, small, known(1), known(2))
    assert (given[0], free[0], sum(given), sum(free), sums.left) == (8, 8, 20, 20, 0)


def test_the_page_says_what_is_left(world):
    made = world.decide(units=5_000)
    assert [one.units for one in made.outlooks] == [30, 120, 200, 0]
    assert "4,650 units are left: a hospital gets no more units than it has beds." in world.page()
    world.decide(date(9), units=40)
    assert "left" not in world.page()


def test_no_unit_and_more_than_are_needed(world):
    made = world.decide(units=0)
    assert [one.units for one in made.outlooks] == [0, 0, 0, 0]
    assert made.division.unmet == made.division.need > 0
    page = world.page()
    assert "Divide 0 units of help Nobody gets a unit." in page
    assert "fewer than half as many units as people" in page
    made = world.decide(date(9), units=round(made.division.need))
    page = world.page()
    assert "half of" not in page
    assert 0 < made.division.unmet < made.division.need / 2
    made = world.decide(date(10), units=3 * made.coordination.units)
    assert sum(one.units for one in made.outlooks) == made.coordination.units
    assert made.division.unmet < 0.1 * made.division.need
    assert "more than half of the units are expected to stay unused." in world.page()


def test_who_is_silent_for_weeks_gets_units_by_a_wider_interval(world):
    first = world.decide(units=60)
    world.report(*range(8, 12), entities="AB")
    made = world.decide(units=60)
    near, far = (each.outlooks[2] for each in (first, made))
    assert (far.silent, far.units > 0) == (4, True)
    assert far.high - far.low > near.high - near.low
    page = world.page()
    assert "Call Hospital W (never reported), Hospital C (no report for 4 weeks" in page
    told = "No units for hospitals that have not reported yet or take no part this week"
    assert f"{told}: Hospital W." in page


def test_the_page_says_who_gets_what_and_why(world):
    made = world.decide(units=40, own_staff=0.05)
    page, division = world.page(), made.division
    given = ", ".join(f"{one.title} {one.units}" for one in made.helped)
    assert f"Divide 40 units of help {given}." in page
    assert (
        f"{division.need:.1f} people are expected to need help, and {division.unmet:.1f} of them"
        " to go without it." in page
    )
    assert "and its own staff for 5% of its beds, can serve." in page
    assert "75% of the units are guaranteed" in page
    assert guarantee(made.outlooks, division) in page
    world.decide(date(9), units=40, guaranteed=0)
    page = world.page()
    assert "Nothing is guaranteed" in page
    assert "The guarantee" not in page


def divided_as(*units, beds=(100, 40, 20), price=0.0, **choices):
    """A decision with units (given, without the guarantee) of three hospitals."""
    there = [
        outlook(number, units=mine, units_without_guarantee=free, short_chance=0.5, capacity=size)
        for number, ((mine, free), size) in enumerate(zip(units, beds, strict=True))
    ]
    division = Division(need=9.0, unmet=2.0 + price, unmet_without_guarantee=2.0)
    return decision(*there, division=division, coordination=Coordination(units=10, **choices))


@pytest.mark.parametrize(
    ("units", "beds", "price", "told"),
    [
        (
            [(6, 9), (2, 1), (2, 0)],
            (100, 40, 20),
            0.84,
            "The guarantee moves 3 units: it gives 4, not 1, to hospitals with fewer than 50 beds."
            " With it, 0.8 more people are expected to go without help.",
        ),
        ([(6, 5), (2, 3), (2, 2)], (100, 40, 20), 0.01, "moves 1 unit: it gives 4, not 5, to"),
        ([(6, 6), (2, 3), (2, 1)], (100, 40, 20), 0.1, "it gives 4, as without it, to hospitals"),
        ([(6, 9), (2, 1), (2, 0)], (400, 90, 60), 0.1, "with fewer than 90 beds."),
        ([(6, 9), (2, 1), (2, 0)], (90, 90, 60), 0.1, "with fewer than 75 beds."),
        ([(6, 9), (2, 1), (2, 0)], (90, 90, 90), 0.1, "The guarantee moves 3 units. With it, 0.1"),
        ([(6, 6), (2, 2), (2, 2)], (100, 40, 20), 0.0, "The guarantee moves no unit."),
    ],
)
def test_a_sentence_says_what_the_guarantee_moves(units, beds, price, told):
    made = divided_as(*units, beds=beds, price=price)
    assert told in guarantee(made.outlooks, made.division)
    rows = shown(*made.outlooks, division=made.division, coordination=made.coordination)
    assert told in rows
    assert f"{units[0][0]} units of help" in rows
    assert ("(9 without the guarantee)" in rows) == (units[0][1] == 9)
