"""Periods are released when they are over, by whoever takes part, and again by the calendar."""

from __future__ import annotations

import datetime
import math

import pytest

from dpol.core.errors import ConfigError
from dpol_weekly.deployment import checked_deployment
from releases import KEYS, day, put, sent, table
from releases import deployment as made_of

FIRST = datetime.date(2024, 1, 7)
MADE = made_of(second_release={"after": 2})


def week(number, days=0):
    return FIRST + datetime.timedelta(days=7 * number + days)


def deployment(**keys):
    north = {"capacity": 60, "since": week(1), "until": week(4)}
    entities = {"north": north, "east": {"capacity": 60}}
    return made_of(**{"periods": {"first": FIRST}, "entities": entities} | keys)


def play(made, *rows, **options):
    return put(*((entity, str(on), "8") for entity, on in rows), made=made, **options)


@pytest.mark.parametrize("days", [1, 7, 14])
def test_a_period_is_released_after_its_last_day(days):
    """The row of the running period, or of one to come, stops no other."""
    made, last = deployment(periods={"first": FIRST, "days": days}), week(0, days - 1)
    rows = ("east", FIRST), ("east", week(0, 50 * days))
    assert play(made, *rows, today=FIRST - datetime.timedelta(days=300)).file is None
    assert play(made, *rows, today=last).added == []
    assert len(play(made, *rows, today=last + datetime.timedelta(days=1)).added) == 1


def test_without_a_date_the_clock_of_the_machine_counts():
    today = datetime.date.today() - datetime.timedelta(days=5)
    made = deployment(periods={"first": today}, entities=KEYS["entities"])
    assert play(made, ("A", today)).added == []
    today -= datetime.timedelta(days=2)
    made = made_of(name="e", periods={"first": today})
    assert len(play(made, ("A", today)).added) == 1


def test_rows_outside_the_dates_of_an_entity_are_left_out():
    made = deployment()
    rows = [("north", week(number)) for number in (0, 1, 2, 3, 4, 5)]
    rows += [("east", week(0)), ("", week(0)), ("Total", "x")]
    done = play(made, *rows, today=week(5))  # week 5 has just begun
    assert [row[1] for row in table()] == [str(week(k)) for k in (0, 1, 2, 3)]
    assert [row[0] for row in table()] == ["east", "north", "north", "north"]
    assert done.warnings[0].startswith("2 lines left out, of places that are neither in your file")


# ---- second releases -----------------------------------------------------------------------------


def again(*weeks, today, made=MADE, of="A", **options):
    """Release weeks of some entities on a day, counted from the first one."""
    rows = [(name, str(day(7 * number)), "3") for number in weeks for name in of]
    return put(*rows, made=made, today=day(today), **options)


def starts(*weeks):
    return [("A", str(day(7 * it))) for it in weeks]


def test_a_period_is_due_again_when_the_later_one_has_ended():
    """Week 0 ends after day 6, and week 2 after day 20."""
    again(0, today=7)
    assert again(0, 1, today=20).again == 0
    done = again(0, 1, today=21)
    assert (len(done.added), done.again) == (1, 1)
    assert sent() == starts(0, 1, 0)
    assert again(0, 1, today=22, halted=True).added == [], "there is no third one"


def test_a_second_release_waits_for_a_table_that_has_the_row():
    again(0, today=7)
    assert again(3, today=30).again == 0
    assert again(0, 3, today=31).again == 1
    assert ("A", str(day(7))) in again(0, 3, today=31).late
    late = again(0, 3, today=31, own={"unknown": [day(7), day(14)]}).late
    assert [it for it in late if it[0] == "A"] == []


def test_a_week_that_was_never_counted_is_not_released():
    own = {"unknown": [day(7)], "zero": "missing", "covers": "today"}
    made = made_of(second_release={"after": 2}, entities={"A": {"capacity": 20}})
    again(0, 2, today=21, made=made, own=own)
    assert sent() == starts(0, 2)


def test_the_budget_pays_for_two_releases():
    keys = {"budget_mu": 1.99}
    with pytest.raises(ConfigError, match="must be at least 2: .* twice, as second_release"):
        checked_deployment({**KEYS, **keys, "second_release": {"after": 4}}, "x")
    twice = {**KEYS, **keys, "counted_by": 2}
    with pytest.raises(ConfigError, match="must be at least 2: .* each released once"):
        checked_deployment(twice, "x")
    assert checked_deployment(twice | {"budget_mu": 2}, "x").person_mu == pytest.approx(0.5**0.5)


def test_the_year_is_stated_with_second_releases():
    assert round(MADE.year_mu, 2) == 5.1
    assert made_of(budget_mu=100).year_mu == pytest.approx(0.5 * math.sqrt(52))
    assert made_of(periods={"first": "2021-01-01", "days": 366}).periods_in_a_year == 1
