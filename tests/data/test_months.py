"""Periods of months are cleaned like weeks."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from data.drawn import Cleaned, Drawn, Row, clean, dataset, of_period, refused, rows, week
from dpol.data.settings import Periods

cells = st.sampled_from(["1", "5", "*", ".", "_"])


def month(number: int, months: int = 1) -> str:
    """Return the first day of a period of some months, counted from 2020-11."""
    year, month = divmod(10 + number * months, 12)
    return f"{2020 + year}-{month + 1:02}-01"


def at(of: list[Row], months: int) -> list[Row]:
    """Move rows from weeks to the months of the same number."""
    months_of = {week(t): month(t, months) for t in range(20)}
    return [line | {"week": months_of[line["week"]]} for line in of]


def without_dates(panel: Cleaned) -> tuple[pd.DataFrame, list[Any]]:
    places = panel.table["period"].rank(method="dense")
    report = panel.reports[0]
    lost = [re.findall("([0-9]+) between", text) for text in report.checks if "missing:" in text]
    return panel.table.assign(period=places), [report.cells, report.dropped, lost]


@settings(max_examples=4)
@given(
    lines=st.lists(st.lists(cells, min_size=8, max_size=8), min_size=1, max_size=3),
    max_carry=st.integers(0, 3), months=st.sampled_from([1, 3, 12]),
    absent=st.sets(st.integers(1, 6)),
)  # fmt: skip
def test_a_table_of_months_is_cleaned_as_one_of_weeks(
    lines: list[list[str]], max_carry: int, months: int, absent: set[int]
) -> None:
    """Gaps in the calendar and carried counts are counted in periods of any length."""
    beds = " ".join(["9"] * 8)
    drawn: Drawn = {f"e{k}": (" ".join(line), beds) for k, line in enumerate(lines)}
    drawn = {**drawn, "h": (" ".join("1" * 8), beds), "i": (" ".join("2" * 8), beds)}
    of = [line for line in rows(drawn) if line["week"] not in {week(t) for t in absent}]
    weekly = clean(of, dataset(max_carry=max_carry))
    monthly = clean(at(of, months), dataset(max_carry=max_carry, periods={"months": months}))
    (table_of_weeks, told), (table_of_months, same) = map(without_dates, (weekly, monthly))
    pd.testing.assert_frame_equal(table_of_weeks, table_of_months)
    assert told == same
    assert monthly.table["period"].dt.strftime("%Y-%m-%d").isin(map(month, range(96))).all()


def test_months_that_overlap_or_begin_later_are_refused() -> None:
    of = [line for t in range(4) for line in of_period(month(t, 3), ["a", "b"])]
    of += of_period("2021-04-01", ["a"])
    assert refused(of, dataset(periods={"months": 3})) == (
        "hospitals.csv, row 10: stream S has periods 2021-04-01 and 2021-05-01, less than a period"
        " of 3 months apart (1 row with 2021-04-01, this one first). Give all entities the same"
        " start of a period; or change dataset.periods.months"
    )
    of[-1]["week"] = "2021-05-02"
    message = refused(of, dataset(periods={"months": 3}))
    assert "needs the first day of a month, since" in message
    assert "'2021-05-02': 1 cell, first in row 10" in message
    assert 'dt.to_period("M").dt.start_time' in message


def test_last_days_of_months_are_refused_with_the_line_that_makes_first_days() -> None:
    of = of_period("2021-01-31", "ab") + of_period("2021-02-28", "ab")
    said = refused(of, dataset(periods={"months": 1}))
    assert "'2021-01-31': 2 cells, first in row 2" in said
    assert 'dt.to_period("M").dt.start_time' in said


def test_a_period_has_one_length() -> None:
    again = Periods.model_validate(Periods(months=3).model_dump())
    assert (again.length, Periods().length) == ((3, "month"), (7, "day"))
