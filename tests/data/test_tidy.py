"""The lines of pandas on the page are those of the messages, which `test_drawn_tables` runs."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

import pandas as pd
import pytest

from dpol.data import tidy
from dpol.data.settings import Periods
from pipeline import ROOT

PAGE = (ROOT / "docs/how-to/add-dataset.md").read_text(encoding="utf-8")


def test_each_line_on_the_page_is_one_of_a_message() -> None:
    lines = re.findall(r"^\| [^|]+ \| `(table.*)` \|$", PAGE.replace("\\|", "|"), re.M)
    header = ["place", "week", "measure", "value"]
    columns = tidy.of_columns(header, ["count"], tidy.NAMES)
    several = tidy.of_columns([], [], tidy.NAMES)
    parts = tidy.parts_of_dates(["year", "month", "week", "quarter"])
    dates = [
        tidy.of_dates("week", parts, ["2024-01-01 to 2024-01-07"]),
        tidy.of_dates("week", {}, ["2018/19"]),
        tidy.of_dates("week", tidy.parts_of_dates(["year", "month", "day"]), ["44893"], units=True),
    ]
    messages = "\n".join([
        *(columns, several, *dates),
        *map(tidy.line, ("long", "sheets", "events", "table", "mixed", "steps")),
        *map(tidy.line, ("city", "signs", "names")),
    ])  # fmt: skip
    assert len(lines) >= 12
    assert [line for line in lines if line not in messages] == []


DATES = {
    "2021-01-31T12:30:00Z": "2021-01-31",
    "1/5/2021 14:05": "1/5/2021",
    "Apr 01, 2021 01:08 AM": "Apr 01, 2021",
    "05.01.2021 - 11.01.2021": "05.01.2021",
    "20210105 14:05": "20210105",
}
STAY = "56001)", "9%", "5-", "4 or fewer", "18 Tsd.", "2\u4e07", "37 pct", "(5)", "7k", "*"
SIGNS = {"*5 (p)": "5", "7 [1]": "7", "9\u00a0beds": "9", "3\u00b9": "3"}
TO_DATE = {1: "1.0", 3: "2.0", float("nan"): "nan", 9: "6.0"}
HALVES = {"2021-S1": "2021-01-01 00:00:00", "H2 2021": "2021-07-01 00:00:00"}


@pytest.mark.parametrize(
    ("line", "column", "cells"),
    [
        ("first", "week", DATES),
        ("signs", "count", SIGNS | dict(zip(STAY, STAY, strict=True))),
        ("steps", "count", TO_DATE),
        ("half", "week", HALVES),
        ("rate", "count", {"9,5 %": "9.5", "3%": "3.0"}),
    ],
)
def test_a_line_changes_what_it_should_and_nothing_else(line, column, cells) -> None:
    table = pd.DataFrame({"place": "a", "week": "2021-01-01", column: [*cells]})
    exec(tidy.line(line), {"table": table, "pd": pd})
    assert [*map(str, table[column])] == [*cells.values()]


def test_rows_of_a_group_keep_it() -> None:
    assert 'groupby(["town", "place", "week"], ' in tidy.line("events", group="town")


# Dates -------------------------------------------------------------------------------------------

MONDAYS = [datetime.date(2003, 12, 29) + datetime.timedelta(weeks=k) for k in range(1150)]
"""Mondays of 22 years."""


def mmwr_of(sunday: datetime.date) -> tuple[int, int]:
    """Return the year and week of the CDC: the year is that of the week's Wednesday."""
    year = (sunday + datetime.timedelta(days=3)).year
    first = datetime.date(year, 1, 4)
    first -= datetime.timedelta(days=first.isoweekday() % 7)
    return year, (sunday - first).days // 7 + 1


def lines_of(message: str) -> list[str]:
    return [line.strip() for line in message.splitlines() if line.startswith("  table")]


def made(line: str, table: pd.DataFrame) -> list[datetime.date]:
    """Return the dates that a line makes in the column `week`."""
    names = {"table": table.copy(), "pd": pd}
    exec(line, names)
    return [day.date() for day in names["table"]["week"]]


@pytest.mark.parametrize(
    "names", [("YEAR", "WEEK"), ("jaar", "week"), ("year", "vecka"), ("ANNEE", "SEMAINE")]
)
@pytest.mark.parametrize("write", [int, float, str, "KW {}".format])
@pytest.mark.filterwarnings("ignore:Could not infer format")
def test_years_and_weeks_under_any_name_become_mondays_or_sundays(names, write) -> None:
    """Also the 53rd weeks: ISO has one in other years than the CDC."""
    year, week = names
    sundays = [monday - datetime.timedelta(days=1) for monday in MONDAYS]
    of_iso, of_cdc = [day.isocalendar()[:2] for day in MONDAYS], [mmwr_of(day) for day in sundays]
    assert {y for y, w in of_iso if w == 53} == {2004, 2009, 2015, 2020}
    assert {y for y, w in of_cdc if w == 53} == {2003, 2008, 2014, 2020, 2025}
    parts = tidy.parts_of_dates(names)
    texts = [str(write(k)) for k in (1, 9, 52)]
    iso, cdc = lines_of(tidy.of_dates(week, parts, texts))
    for line, weeks, days in ((iso, of_iso, MONDAYS), (cdc, of_cdc, sundays)):
        table = pd.DataFrame(weeks, columns=["year", week])
        table[week] = table[week].map(write)
        if "year" in parts:
            table = table.rename(columns={"year": year})
        assert made(line.replace(f'table["{week}"] =', 'table["week"] ='), table) == days


QUARTERS = pd.date_range("2001-01-01", periods=60, freq="QS")
YEARS = [f"{year}/{(year + 1) % 100:02}" for year in range(1995, 2025)]
APRILS = [datetime.date(year, 4, 1) for year in range(1995, 2025)]


@pytest.mark.parametrize(
    ("texts", "days"),
    [
        (["2018/19 Q1", "2018/19 Q4", "2019/20 Q1"], ["2018-04-01", "2019-01-01", "2019-04-01"]),
        (["Q2 2018-19", "Q3 2018-19"], ["2018-07-01", "2018-10-01"]),
        (["2018\u201319 Q1", "1999\u201300 Quarter 4"], ["2018-04-01", "2000-01-01"]),
        (YEARS, APRILS),
        (["2018/2019", "2019/2020"], ["2018-04-01", "2019-04-01"]),
        ([f"{day:%Y}Q{day.quarter}" for day in QUARTERS], QUARTERS.date),
        ([f"Q{day.quarter} {day:%Y}" for day in QUARTERS], QUARTERS.date),
        ([f"{day:%Y}-T{day.quarter}" for day in QUARTERS], QUARTERS.date),
        ([f"{day:%Y}-H{1 + day.quarter // 3}" for day in QUARTERS[::2]], QUARTERS[::2].date),
        ([str((day - datetime.date(1899, 12, 30)).days) for day in MONDAYS], MONDAYS),
        ([str(int(day.timestamp())) for day in QUARTERS[4:]], QUARTERS[4:].date),
        ([str(int(day.timestamp() * 1000)) for day in QUARTERS[4:]], QUARTERS[4:].date),
        ([f"{day} to {day}" for day in MONDAYS], MONDAYS),
    ],
)
def test_the_first_line_for_texts_that_are_no_dates_makes_the_right_ones(
    texts: Sequence[str], days: Sequence[datetime.date | str]
) -> None:
    line, *others = lines_of(tidy.of_dates("week", {}, texts))
    if others:  # that a year begins a text is true as well, and its format is the owner's to say
        assert texts[0][:4].isdigit()
    table = pd.DataFrame({"week": texts})
    exec(line, {"table": table, "pd": pd})
    assert [*map(str, pd.to_datetime(table["week"]).dt.date)] == [*map(str, days)]


@pytest.mark.parametrize("text", ["2018/19 H1", "FY2019 Q1", "2018-19", "2021-05"])
def test_no_line_reads_a_fiscal_year_as_one_from_january(text: str) -> None:
    assert lines_of(tidy.of_dates("week", {}, [text])) == []


@pytest.mark.parametrize("line", ["weeks", "mmwr", "quarters"])
def test_a_season_beside_a_week_or_quarter_is_no_year(line: str) -> None:
    table = pd.DataFrame({"year": ["2018/19"], "week": [5], "quarter": ["Q1"]})
    with pytest.raises(ValueError, match="2018/19"):
        made(tidy.line(line, quarter="quarter"), table)


def test_years_months_days_and_quarters_in_columns_become_their_first_days() -> None:
    table = pd.DataFrame({"year": QUARTERS.year, "month": QUARTERS.month, "day": QUARTERS.day})
    table["quarter"] = [f"Q{quarter}" for quarter in QUARTERS.quarter]
    parts = {name: name for name in ("year", "month", "day", "quarter")}
    for line in ("days", "months", "quarters"):
        assert made(tidy.line(line, **parts), table) == [*QUARTERS.date]


@pytest.mark.parametrize(
    ("known", "other"), [("ISO8601", "%d/%m/%Y"), ("%d.%m.%Y", "%m/%d/%Y"), ("%b %d, %Y", "%Y%m%d")]
)
def test_dates_whose_format_changes_midway_keep_their_months(known: str, other: str) -> None:
    forms = ["%Y-%m-%d" if known == "ISO8601" else known, other]
    texts = [day.strftime(forms[k >= 500]) for k, day in enumerate(MONDAYS)]
    line = tidy.line("mixed", form=known).replace("%d/%m/%Y", other)
    assert made(line, pd.DataFrame({"week": texts})) == MONDAYS


@pytest.mark.parametrize(("form", "day"), [("%Y-%U", 6), ("%Y-%W", 0)])
def test_weeks_that_need_a_weekday_get_their_first_day(form: str, day: int) -> None:
    days = [monday + datetime.timedelta(days=day) for monday in MONDAYS]
    with pytest.raises(ValueError, match="make dates: ") as caught:
        Periods(format=form)
    (line,) = re.findall("make dates: (.*) \\[", str(caught.value))
    assert made(line, pd.DataFrame({"week": [it.strftime(form) for it in days]})) == days


def test_events_without_a_date_keep_their_number_beside_an_empty_one() -> None:
    table = pd.DataFrame({"place": [*"aabbb"], "week": ["1", None, "2", "1", None]})
    for dates in (table["week"], pd.to_datetime(table["week"], format="%d")):
        names = {"table": table.assign(week=dates), "pd": pd}
        exec(tidy.line("events"), names)
        of = names["table"].sort_values(["place", "week"])
        assert of["count"].tolist() == [1, 0, 1, 1, 1, 1]
        assert of["week"].isna().tolist() == [False, False, True] * 2


@pytest.mark.parametrize("text", ["Januar 2021", "enero 2021", "1 mars 2021"])
def test_names_of_months_that_are_not_english_are_the_owners_to_write(text: str) -> None:
    assert "%B and %b are English names" in tidy.of_dates("week", {}, [text])


@pytest.mark.parametrize("period", ["week", "admitted"])
def test_stays_are_the_owners_to_count_and_no_columns_of_dates(period: str) -> None:
    header = ["ward", "patient", "sex", "admitted", "discharged"]
    names = {**tidy.NAMES, "place": "ward", "week": period, "capacity": ""}
    message = tidy.of_columns(header, [it for it in (period, "count") if it not in header], names)
    assert "If each row is a stay (admitted, discharged)" in message
    assert "melt([" not in message


@pytest.mark.parametrize(
    "dates", [["2023-01-02", "2023-01-09"], ["January", "May"], ["Jan", "Feb"]]
)
def test_a_column_for_each_date_is_made_rows_and_others_stay(dates: list[str]) -> None:
    names = {**tidy.NAMES, "capacity": ""}
    message = tidy.of_columns(["place", "beds", "Year", *dates], ["week", "count"], names)
    assert 'table.melt(["place", "beds", "Year"], var_name="week"' in message
    assert "is a stay" not in message
