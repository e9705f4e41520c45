"""Periods are those of the calendar that the config names; mistyped dates are refused."""

from __future__ import annotations

import pandas as pd
import pytest

from data.drawn import PLAIN, clean, dataset, line, of_period, refused, streams, week
from dpol.data.understood import period_of


@pytest.mark.parametrize(
    ("first", "last", "counts"),
    [
        (None, None, [1, 2, 3, 4, 5]),
        (week(1), week(3), [2, 3, 4]),
        ("2021-01-04", "2021-01-30", [2, 3, 4]),
        (week(4), None, [5]),
        (week(2), week(2), [3]),
        (None, week(0), [1]),
    ],
)
def test_the_first_and_last_period_are_included_and_others_are_left_out(
    first: str | None, last: str | None, counts: list[float]
) -> None:
    drawn = {**PLAIN, "a": PLAIN["h"]}
    panel = clean(drawn, dataset(periods={"first": first, "last": last}))
    assert line(panel, "h", "count") == counts
    assert panel.joined["rows_outside"] == 10 - 2 * len(counts)


@pytest.mark.parametrize(
    ("dates", "days", "gaps"),
    [
        ("2020-12-18 2020-12-25 2021-01-03 2021-01-10", 7, ""),  # from Fridays to Sundays
        ("2020-12-20 2020-12-25", 7, ""),  # and back
        ("2020-12-18 2021-01-03", 7, "1 between 2020-12-18 and 2021-01-03"),
        ("2021-01-03 2021-01-15", 7, "1 between 2021-01-03 and 2021-01-15"),
        ("2021-01-03 2021-01-17 2021-01-24 2021-02-21", 7,
         "1 between 2021-01-03 and 2021-01-17; 3 between 2021-01-24 and 2021-02-21"),
        ("2021-01-03 2021-01-17", 14, ""),
        ("2021-01-03 2021-01-05", 1, "1 between 2021-01-03 and 2021-01-05"),
        ("2021-01-03 2021-01-07", 7, ""),
        ("2021-01-03 2021-01-11", 14, ""),
    ],
)  # fmt: skip
def test_missing_periods_are_reported_and_a_move_from_friday_to_sunday_is_none(
    dates: str, days: int, gaps: str
) -> None:
    of = [it for date in dates.split() for it in of_period(date, "ab")]
    (report,) = clean(of, dataset(periods={"days": days})).reports
    assert report.checks == ([f"periods missing: {gaps}"] if gaps else [])
    assert report.periods == len(dates.split())


@pytest.mark.parametrize(
    ("common", "rare", "length"),
    [
        # Exactly half of a period is too little: it is as near to the same as to the next one.
        ("2021-01-03", "2021-01-04", "2 days"),
        ("2021-01-03", "2021-01-06", "7 days"),
        ("2021-01-10", "2021-01-09", "7 days"),
        ("2021-01-03", "2021-01-10", "14 days"),
        ("2021-05-01", "2021-04-01", "3 months"),
    ],
)
def test_overlapping_periods_name_the_rarer_one(common: str, rare: str, length: str) -> None:
    number, unit = length.split()
    first, second = sorted((common, rare))
    of = "; or, if rows have any day of their period, set dataset.periods.of"
    said = refused(of_period(common, "ab") + of_period(rare, "c"), dataset(periods={unit: number}))
    assert said == (
        f"hospitals.csv, row 4: stream S has periods {first} and {second}, less than a period of"
        f" {length} apart (1 row with {rare}, this one first). Give all entities the same start of"
        f" a period; or change dataset.periods.{unit}{of if unit == 'days' else ''}"
    )


def test_months_that_begin_later_are_refused() -> None:
    message = refused(of_period("2021-05-02", "ab"), dataset(periods={"months": 3}))
    assert "needs the first day of a month:" in message
    assert "'2021-05-02': 2 cells, first in row 2" in message
    assert 'dt.to_period("M").dt.start_time' in message


def test_what_to_check_in_a_table_is_said_once_for_streams_with_the_same_rows() -> None:
    of = [
        {**line, "state": line["hospital"][0]}
        for t in (0, 1, 4)
        for line in of_period(week(t), ["A1", "A2", "B1", "B2"])
    ]
    panel = clean(of, None, streams(S=["A"], T=["B"]))
    assert panel.warnings == (f"streams S, T: periods missing: 2 between {week(1)} and {week(4)}",)


def test_a_year_has_twelve_months() -> None:
    years = pd.Series(pd.date_range("2019-01-01", periods=4, freq="YS"))
    assert period_of(years, of=["north"] * 4) == {"months": 12}


def test_the_length_of_a_period_is_that_of_one_entity() -> None:
    weeks = pd.date_range("2024-01-01", periods=4, freq="7D")
    days = pd.Series([*weeks, *(weeks - pd.Timedelta(days=1))])
    assert period_of(days, of=["north"] * 4 + ["south"] * 4) == {"days": 7}
