"""Periods are released when they are over, by entities that take part, one after the other."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pytest

from dpol.core.errors import DataError
from dpol.privacy.noise import SeededNoise
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.release import release
from dpol_weekly.holder.request import Choices, CountColumns, Request
from dpol_weekly.holder.text import describe
from releases import HALF, LEDGER, ask, output

FIRST = datetime.date(2024, 1, 7)
COLUMNS = CountColumns("entity", "period", "count")


def week(number, days=0):
    return FIRST + datetime.timedelta(days=7 * number + days)


def deployment(**keys):
    entities = {
        "north": {"capacity": 60, "since": week(1), "until": week(4)},
        "east": {"capacity": 60},
    }
    usual = {"name": "d", "periods": {"first": FIRST}, "entities": entities, "mu": 0.5}
    return Deployment.model_validate({**usual, "budget_mu": 9, "disjoint": True, **keys})


def play(made, *rows, today, to="noisy.csv", **choices):
    """Release rows (entity, date) on a day, for a deployment or for none."""
    lines = ["entity,period,count", *(f"{entity},{day},8" for entity, day in rows)]
    Path("counts.csv").write_text("\n".join(lines) + "\n")
    request = Request(
        table=Path("counts.csv"),
        output=Path(to),
        columns=made.count_columns() if made else COLUMNS,
        noise=HALF,
        choices=Choices(**choices),
        agreed=made.agreed() if made else None,
        agree=made.sha256() if made else None,
        today=today,
    )
    return release(request, SeededNoise(np.random.default_rng(1)))


def released():
    return ask("SELECT * FROM release") if LEDGER.exists() else []


def refuse(message, *args, **options):
    before = released()
    with pytest.raises(DataError, match=message):
        play(*args, **options)
    assert released() == before


@pytest.mark.parametrize("days", [1, 7, 14])
def test_a_period_is_released_after_its_last_day(days):
    made, last = deployment(periods={"first": FIRST, "days": days}), week(0, days - 1)
    message = rf"line 2: its period is not over, the last day of it is {last} \(today is {last}\)"
    refuse(message, made, ("east", FIRST), today=last)
    refuse("is not over", made, ("east", FIRST), today=FIRST - datetime.timedelta(days=300))
    assert play(made, ("east", FIRST), today=last + datetime.timedelta(days=1)).added == 1


def test_a_mistyped_date_in_the_future_does_not_silence_a_hospital():
    """July in place of January, on the grid; and a wrong year."""
    made, today = deployment(), week(2)
    for wrong in ("2024-07-07", "2042-01-12"):
        refuse(
            "line 3: its period is not over", made, ("east", week(0)), ("east", wrong), today=today
        )
    assert play(made, ("east", week(0)), ("east", week(1)), today=today).added == 2


def test_a_date_in_the_future_is_refused_by_hand_too():
    refuse("line 2: its date lies in the future", None, ("x", week(0, 1)), today=FIRST)
    assert play(None, ("x", FIRST), today=FIRST).added == 1


def test_without_a_date_the_clock_of_the_machine_counts():
    day = datetime.date.today() + datetime.timedelta(days=2)
    refuse(f"in the future .today is {datetime.date.today()}", None, ("x", day), today=None)


def test_a_long_gap_is_asked_about():
    made, today = deployment(), week(90)
    assert play(made, ("east", week(20)), today=today).added == 1  # no question: the first one
    assert play(made, ("east", week(28)), today=today).added == 1
    message = (
        rf"line 2: its entity released no period after that from {week(28)}, 9 periods earlier"
    )
    refuse(message, made, ("east", week(37)), today=today)
    assert play(made, ("east", week(36)), ("east", week(37)), today=today).added == 2
    refuse(
        "line 3: .* 13 periods earlier", made, ("east", week(40)), ("east", week(53)), today=today
    )
    refuse("and a later one was", made, ("east", week(21)), today=today)
    assert play(made, ("east", week(53)), today=today, gap=True).added == 1
    # By hand, no length of a period is known.
    play(None, ("x", week(0)), ("x", week(50)), today=today, to="hand.csv")


def test_a_gap_before_an_earlier_period_is_no_question():
    made = deployment(corrections=True)
    play(made, ("east", week(20)), today=week(90))
    assert play(made, ("east", week(2)), ("east", week(21)), today=week(90)).added == 2


def test_rows_outside_the_dates_of_an_entity_are_left_out_and_counted():
    made = deployment()
    rows = [("north", week(number)) for number in (0, 1, 2, 3, 4, 5)]
    done = play(made, *rows, ("east", week(0)), today=week(5))  # week 5 has just begun
    assert [row["period"] for row in output()] == [str(week(it)) for it in (0, 1, 2, 3)]
    assert [row["entity"] for row in output()] == ["east", "north", "north", "north"]
    text = describe(done, 1e-6)[0]
    assert "3 rows skipped, outside the dates in which their entities take part" in text
    (text, *_) = describe(play(made, *rows[1:5], today=week(5)), 1e-6)
    assert "3 rows skipped, released before; 1 row skipped, outside the dates in which" in text
    refuse("no row lies within the dates", made, rows[0], rows[5], today=week(5))
    assert ask("SELECT COUNT(*) FROM release") == [(4,)]


def test_a_deployments_length_of_period_counts_for_near_dates():
    """A date released by hand, of a period of unknown length, 7 days before a fortnight."""
    made = deployment(periods={"first": FIRST, "days": 14})
    options = {"today": week(90), "change_noise": True}
    play(None, ("east", week(1)), to="hand.csv", **options)
    refuse("less than 14 days from another", made, ("east", week(2)), **options)
    play(made, ("east", week(2)), period_days=6, **options)
    # By hand 7 days are taken where nothing is said.
    play(None, ("x", week(0)), to="hand.csv", append=True, **options)
    refuse("less than 7 days", None, ("x", week(0, 6)), to="hand.csv", append=True, **options)
    play(None, ("x", week(1)), to="hand.csv", append=True, **options)


def test_periods_of_other_stated_lengths_are_other_periods():
    play(None, ("x", week(0)), today=week(90), period_days=7)
    play(None, ("x", week(0, 1)), to="days.csv", today=week(90), period_days=1)
    refuse("less than 7 days", None, ("x", week(0, 2)), to="b.csv", today=week(90), period_days=7)
