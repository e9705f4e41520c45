"""Repeats in other words: names, dates and noise that a release has to ask about."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dpol_weekly.noise import CountNoise
from releases import A1, A2, B1, TWICE, ask, files, output, put, record, refuse


def versions():
    """Number of releases of each entity and period."""
    return ask(
        "SELECT entity, period, MAX(version) FROM release GROUP BY entity, period"
        " ORDER BY entity, period"
    )


# ---- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "other"), [("Café", "CAFÉ"), ("050002", "50002")])
def test_a_name_that_is_spelt_differently_is_asked_about(name, other):
    """The second spelling comes after a release, within a table, and in another output."""
    week = "2021-01-01"
    put((name, week, "3"))
    before = files()
    for options in ({"append": True}, {"to": "b.csv"}):
        refuse(
            f"'{name}' only in its .* --same-entity .* --new-entity", (other, week, "3"), **options
        )
    assert files() == before
    refuse(
        "line 3: the name differs from the one on line 2 only",
        (name, week, "3"),
        (other, week, "3"),
        to="sub/b.csv",
    )
    # One entity: its period was released. Another one: it was not.
    refuse(TWICE, (other, week, "3"), append=True, same_entity=True)
    put((other, week, "3"), again=True, same_entity=True)
    assert versions() == [(1, week, 2)]
    assert record()["mu"] == pytest.approx(0.5**0.5)
    # From then on nothing is asked.
    put((other, "2021-01-08", "3"), append=True)
    refuse(TWICE, (name, "2021-01-08", "3"), append=True)


def test_names_that_are_declared_different_are_different():
    put(("050002", "2021-01-01", "3"))
    put(("50002", "2021-01-01", "3"), append=True, new_entity=True)
    assert [version for *_, version in versions()] == [1, 1]
    put(("050002", "2021-01-08", "3"), ("50002", "2021-01-08", "3"), append=True)
    assert [row["hospital"] for row in output()] == ["050002", "50002"] * 2
    refuse(
        "line 2: the name is like those of 2 entities",
        ("5 0002", "2021-01-15", "3"),
        append=True,
        same_entity=True,
    )


def test_two_names_of_one_entity_in_one_table_are_one_period_released_twice():
    rows = ("A", "2021-01-01", "3"), ("a", "2021-01-01", "3")
    refuse(r"line 3: another line, under another name, holds .*0\.7072", *rows, same_entity=True)
    put(*rows, same_entity=True, again=True)
    assert versions() == [(1, "2021-01-01", 2)]


# ---- dates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("date", ["2021-01-02", "2020-12-31", "2021-01-07", "2020-12-26"])
def test_a_date_near_one_that_was_released_is_asked_about(date):
    put(A1)
    for options in ({"append": True}, {"to": "b.csv"}, {"again": True}):
        refuse(r"less than 7 days .*\(1 of 1 rows.*--period-days", ("A", date, "3"), **options)
    put(("B", date, "3"), append=True)
    put(("A", date, "3"), append=True, period_days=1)


def test_dates_that_are_near_within_a_table_are_asked_about():
    refuse(
        r"line 3: this date is less than 7 days .*\(1 of 3 rows",
        ("A", "2021-01-01", "3"),
        ("A", "2021-01-03", "3"),
        B1,
    )
    put(A1, A2, B1)
    refuse("less than 14 days", ("A", "2021-01-15", "3"), append=True, period_days=14)
    # Between two that were released: near both.
    refuse(r"\(2 of 1 rows|\(1 of 1 rows", ("A", "2021-01-04", "3"), append=True)


# ---- noise ---------------------------------------------------------------------------------------


def test_another_mu_than_in_the_last_release_of_the_entity_is_asked_about():
    one = CountNoise(Decimal("1.0"))
    put(A1)
    message = r"line 2: the last release of this entity had mu 0\.5 and .* mu 1 and 1;.*--change"
    for to in ("noisy.csv", "b.csv"):
        refuse(message, A2, noise=one, append=True, to=to)
    put(B1, noise=one, append=True)  # another entity
    put(A2, noise=one, append=True, change_noise=True)
    assert record()["mu_levels"] == [{"mu": 0.5, "rows": 1}, {"mu": 1.0, "rows": 2}]
    put(("A", "2021-01-15", "3"), noise=one, append=True)  # now the last one is 1


def test_another_count_sensitivity_is_asked_about_in_another_output():
    three = CountNoise(Decimal("0.5"), Decimal(3))
    put(A1)
    refuse("--change-noise", A2, noise=three, to="b.csv")
    put(A2, noise=three, to="b.csv", change_noise=True)
