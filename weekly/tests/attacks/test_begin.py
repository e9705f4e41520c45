"""A ledger that is lost: a new one releases nothing that the old one may have released (S3)."""

from __future__ import annotations

import datetime
import shutil
from pathlib import Path

import pytest

from dpol_weekly.holder.text import describe
from releases import (
    A1,
    A2,
    B1,
    COLUMNS,
    LEDGER,
    NOISY,
    ask,
    deployment,
    output,
    own_file,
    put,
    refuse,
    run,
)

A3, A4 = ("A", "2021-01-15", "2"), ("A", "2021-01-22", "4")
LAST = datetime.date(2021, 1, 8)
ONCE = deployment(budget_mu=1.5)


def released():
    return ask("SELECT name, period FROM release ORDER BY number")


def test_nothing_up_to_the_date_is_ever_released():
    """Whatever file of the holder asks, under whatever agreement."""
    put(A1, A2, B1)
    LEDGER.unlink()
    done = put(A1, A2, B1, A3, begin_after=LAST)
    assert (done.added, done.skipped) == (1, 0)
    assert released() == [A3[:2]]
    assert "Nothing up to 2021-01-08 is released" in describe(done, ONCE)[1]
    other = deployment(name="e")
    assert put(A1, B1, A3, A4, made=other, to=Path("e")).added == 2
    assert ask("SELECT begin_after FROM ledger") == [("2021-01-08",)]


def test_a_period_that_begins_on_the_date_is_not_released_and_one_after_it_is():
    assert put(A1, A2, begin_after=datetime.date.fromisoformat(A1[1])).added == 1
    assert released() == [A2[:2]]


def test_two_files_of_a_holder_begin_one_ledger():
    """The second one never leaves out what the first one has said for both."""
    own = {"entities": ["A"]}, {"entities": ["B"]}
    for one, rows in zip(own, ([A1], [B1]), strict=True):
        put(*rows, own=one, to=Path("x"), split=True)
    LEDGER.unlink()
    shutil.rmtree("x")
    put(A1, A2, own=own[0], to=Path("x"), begin_after=LAST)
    done = put(B1, own=own[1], to=Path("x"))
    assert (done.added, released()) == (0, [])


def command(*more):
    Path("d.yaml").write_text(ONCE.agreement())
    own_file(columns=COLUMNS, entities=["A"])
    Path("counts.csv").write_text("hospital,week,covid,beds\nA,2021-01-01,3,20\n")
    return run("privatize", "--agree", ONCE.sha256(), *more)


@pytest.mark.parametrize("more", [(), ("--quiet",), ("--json",)])
@pytest.mark.parametrize("left", ["nothing", "an empty file"])
def test_no_script_begins_a_ledger_without_a_date(more, left):
    if left == "an empty file":
        LEDGER.touch()
    code, _, err = command(*more)
    assert (code, NOISY.exists()) == (1, False)
    assert "only a person on a terminal begins one without --begin-after DATE" in err
    assert command(*more, "--begin-after", "2020-12-31")[0] == 0
    code, _, err = command(*more, "--begin-after", "2020-12-31")
    assert (code, "is there, and knows what it released; leave --begin-after out" in err) == (1, 1)
    assert command(*more)[0] == 0


def test_the_date_is_not_to_come():
    code, _, err = command("--begin-after", "2999-01-01")
    assert (code, "is to come; give today's date" in err) == (1, True)


def test_longer_periods_that_began_before_the_date_stay_closed():
    """A ledger that is lost may have spent what such a period may cost."""
    long = deployment(name="long", periods={"first": "2021-01-01", "days": 28}, budget_mu=9)
    week = deployment(name="week", budget_mu=9)
    begin = datetime.date(2021, 1, 8)
    late = ("A", "2021-01-29", "3")
    put(("A", "2021-01-01", "3"), late, made=long, to=Path("long"), begin_after=begin)
    refuse("overlaps the period from 2021-01-01 on of the deployment long", A3, made=week)
    assert [row["period"] for row in output("long")] == ["2021-01-29"]
    assert put(("A", "2021-02-05", "3"), made=week).added == 1
