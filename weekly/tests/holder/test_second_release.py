"""Every period is released a second time by the calendar, changed or not."""

from __future__ import annotations

import contextlib
import datetime
import math
import shutil
from pathlib import Path

import pytest

from dpol.core.errors import ConfigError
from dpol_weekly.deployment import checked_deployment
from dpol_weekly.holder.text import describe
from faults import in_child
from releases import KEYS, LEDGER, deployment, newest, output, put

MADE = deployment(second_release={"after": 2})
FIRST = datetime.date(2021, 1, 1)


def week(number):
    return (FIRST + datetime.timedelta(days=7 * number)).isoformat()


def play(*weeks, day, made=MADE, of="A", **options):
    """Release weeks of some entities on a day, counted from the first one."""
    rows = [(name, week(number), "3") for number in weeks for name in of]
    return put(*rows, made=made, today=FIRST + datetime.timedelta(days=day), **options)


def sent():
    return [(row["entity"], row["period"]) for row in output()]


def test_a_period_is_due_again_when_the_later_one_has_ended():
    """Week 0 ends after day 6, and week 2 after day 20."""
    play(0, day=7)
    assert play(0, 1, day=20).again == 0
    done = play(0, 1, day=21)
    assert (done.added, done.again, done.skipped) == (1, 1, 1)
    assert sent() == [("A", week(0)), ("A", week(1)), ("A", week(0))]
    assert "1 of them a second time" in describe(done, MADE)[0]
    assert play(0, 1, day=22, halted=True).added == 0, "there is no third one"


def test_a_second_release_waits_for_a_table_that_has_the_row():
    play(0, day=7)
    assert play(3, day=30).again == 0
    assert play(0, 3, day=31).again == 1


def test_late_closed_and_restored_places_follow_the_same_calendar():
    play(0, 1, day=14)
    closed = {name: {} for name in "BC"} | {"A": {"until": week(2)}}
    amends = {"agreement": MADE.sha256(), "since": week(2)}
    later = deployment(entities=closed, amends=amends, second_release={"after": 2})
    assert play(0, 1, 2, day=28, made=later).periods == [week(0), week(1)]
    LEDGER.unlink()
    done = play(0, 1, 2, day=60, begin_after=FIRST + datetime.timedelta(days=7))
    assert done.periods == [week(2)]
    assert play(0, 1, 2, day=60).again == 1
    play(4, day=60)
    assert play(3, 4, day=60).periods == [week(3), week(4)]
    assert play(3, 4, day=61).periods == [week(3)]


def test_a_second_release_that_was_killed_is_released_once():
    """Killed wherever it changes a file, and run again."""
    play(0, 1, day=14)
    for k in range(1, 16):
        folder = Path(f"{k}")
        shutil.copytree(".", folder, ignore=shutil.ignore_patterns("[0-9]*"))
        with contextlib.chdir(folder):
            in_child(lambda: play(0, 1, day=21) and None, "kill", k)
            play(0, 1, day=21)
            assert [row["period"] for row in output()] == [week(0), week(1), week(0)]


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
    assert deployment(budget_mu=100).year_mu == pytest.approx(0.5 * math.sqrt(52))
    assert deployment(periods={"first": "2021-01-01", "days": 366}).periods_in_a_year == 1


# ---- copies --------------------------------------------------------------------------------------


def test_a_copy_that_is_lost_or_changed_is_written_again_and_a_bad_folder_is_told():
    put(("A", week(0), "3"), own={"copy_to": "outbox"})
    (copy,) = Path("outbox").iterdir()
    copy.write_text("x")
    assert put(("A", week(0), "3"), own={"copy_to": "outbox"}, halted=True).added == 0
    assert copy.read_bytes() == newest().read_bytes()
    Path("file").write_text("")
    with pytest.raises(Exception, match="cannot write file/.*the rows are released"):
        put(("A", week(1), "3"), own={"copy_to": "file"})
    assert len(sent()) == 2
