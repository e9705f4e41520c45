"""Periods are released when they are over, by entities that take part, one after the other."""

from __future__ import annotations

import datetime

import pytest

from dpol_weekly.holder.text import describe
from releases import KEYS, LEDGER, ask, output, put
from releases import deployment as made_of
from releases import refuse as refused

FIRST = datetime.date(2024, 1, 7)


def week(number, days=0):
    return FIRST + datetime.timedelta(days=7 * number + days)


def deployment(**keys):
    north = {"capacity": 60, "since": week(1), "until": week(4)}
    entities = {"north": north, "east": {"capacity": 60}}
    return made_of(**{"periods": {"first": FIRST}, "entities": entities} | keys)


def play(made, *rows, **options):
    return put(*((entity, str(day), "8") for entity, day in rows), made=made, **options)


def refuse(message, made, *rows, **options):
    before = ask("SELECT * FROM release") if LEDGER.exists() else []
    refused(message, *((entity, str(day), "8") for entity, day in rows), made=made, **options)
    assert before == (ask("SELECT * FROM release") if LEDGER.exists() else [])


@pytest.mark.parametrize("days", [1, 7, 14])
def test_a_period_is_released_after_its_last_day(days):
    made, last = deployment(periods={"first": FIRST, "days": days}), week(0, days - 1)
    message = rf"line 2: its period is not over, the last day of it is {last} \(today is {last}\)"
    refuse(message, made, ("east", FIRST), today=last)
    refuse("is not over", made, ("east", FIRST), today=FIRST - datetime.timedelta(days=300))
    assert play(made, ("east", FIRST), today=last + datetime.timedelta(days=1)).added == 1


def test_without_a_date_the_clock_of_the_machine_counts():
    day = datetime.date.today() - datetime.timedelta(days=5)
    made = deployment(periods={"first": day}, entities=KEYS["entities"])
    refuse(f"not over.*today is {datetime.date.today()}", made, ("A", day))


def test_rows_outside_the_dates_of_an_entity_are_left_out_and_counted():
    made = deployment()
    rows = [("north", week(number)) for number in (0, 1, 2, 3, 4, 5)]
    done = play(made, *rows, ("east", week(0)), today=week(5))  # week 5 has just begun
    assert [row["period"] for row in output()] == [str(week(k)) for k in (0, 1, 2, 3)]
    assert [row["entity"] for row in output()] == ["east", "north", "north", "north"]
    text = describe(done, made)[0]
    assert "3 rows skipped, outside the dates in which their entities take part" in text
    (text, *_) = describe(play(made, *rows[1:5], today=week(5)), made)
    assert "3 rows skipped, released before; 1 row skipped, outside the dates in which" in text
