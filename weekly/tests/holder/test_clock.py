"""Periods are released when they are over, by entities that take part, one after the other."""

from __future__ import annotations

import datetime

import pytest

from dpol_weekly.holder.text import describe, warnings_of
from releases import KEYS, output, put
from releases import deployment as made_of

FIRST = datetime.date(2024, 1, 7)


def week(number, days=0):
    return FIRST + datetime.timedelta(days=7 * number + days)


def deployment(**keys):
    north = {"capacity": 60, "since": week(1), "until": week(4)}
    entities = {"north": north, "east": {"capacity": 60}}
    return made_of(**{"periods": {"first": FIRST}, "entities": entities} | keys)


def play(made, *rows, **options):
    return put(*((entity, str(day), "8") for entity, day in rows), made=made, **options)


@pytest.mark.parametrize("days", [1, 7, 14])
def test_a_period_is_released_after_its_last_day(days):
    """The row of the running period, or of one to come, stops no other."""
    made, last = deployment(periods={"first": FIRST, "days": days}), week(0, days - 1)
    rows = ("east", FIRST), ("east", week(0, 50 * days))
    assert play(made, *rows, today=FIRST - datetime.timedelta(days=300)).file is None
    assert play(made, *rows, today=last).added == 0
    assert play(made, *rows, today=last + datetime.timedelta(days=1)).added == 1


def test_without_a_date_the_clock_of_the_machine_counts():
    day = datetime.date.today() - datetime.timedelta(days=5)
    made = deployment(periods={"first": day}, entities=KEYS["entities"])
    assert play(made, ("A", day)).added == 0
    day -= datetime.timedelta(days=2)
    made = made_of(name="e", periods={"first": day})
    assert play(made, ("A", day)).added == 1


def test_rows_outside_the_dates_of_an_entity_are_left_out():
    made = deployment()
    rows = [("north", week(number)) for number in (0, 1, 2, 3, 4, 5)]
    rows += [("east", week(0)), ("", week(0)), ("Total", "x")]
    done = play(made, *rows, today=week(5))  # week 5 has just begun
    assert [row["period"] for row in output()] == [str(week(k)) for k in (0, 1, 2, 3)]
    assert [row["entity"] for row in output()] == ["east", "north", "north", "north"]
    assert done.strangers == 2
    assert "2 rows left out: their places are neither in your file" in warnings_of(done)[1]
    assert "4 rows skipped, released" in describe(play(made, *rows[1:4], today=week(5)), made)[0]
