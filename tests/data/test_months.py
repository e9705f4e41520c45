"""Periods of months begin on the first of a month; `test_drawn_tables` cleans some."""

from __future__ import annotations

import pandas as pd

from data.drawn import dataset, of_period, refused
from dpol.data.settings import Periods
from dpol.data.understood import period_of


def test_months_that_overlap_or_begin_later_are_refused() -> None:
    quarters = "2020-11-01", "2021-02-01", "2021-05-01", "2021-08-01"
    of = [line for day in quarters for line in of_period(day, ["a", "b"])]
    of += of_period("2021-04-01", ["a"])
    assert refused(of, dataset(periods={"months": 3})) == (
        "hospitals.csv, row 10: stream S has periods 2021-04-01 and 2021-05-01, less than a period"
        " of 3 months apart (1 row with 2021-04-01, this one first). Give all entities the same"
        " start of a period; or change dataset.periods.months"
    )
    of[-1]["week"] = "2021-05-02"
    message = refused(of, dataset(periods={"months": 3}))
    assert "needs the first day of a month:" in message
    assert "'2021-05-02': 1 cell, first in row 10" in message
    assert 'dt.to_period("M").dt.start_time' in message


def test_a_year_has_twelve_months() -> None:
    years = pd.Series(pd.date_range("2019-01-01", periods=4, freq="YS"))
    assert period_of(years, of=["north"] * 4) == {"months": 12}


def test_the_length_of_a_period_is_that_of_one_entity() -> None:
    weeks = pd.date_range("2024-01-01", periods=4, freq="7D")
    days = pd.Series([*weeks, *(weeks - pd.Timedelta(days=1))])
    assert period_of(days, of=["north"] * 4 + ["south"] * 4) == {"days": 7}


def test_a_period_has_one_length() -> None:
    again = Periods.model_validate(Periods(months=3).model_dump())
    assert (again.length, Periods().length) == ((3, "month"), (7, "day"))
