"""The lines of pandas on the page are those of the messages, which `test_drawn_tables` runs."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from dpol.data import tidy
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
        tidy.of_dates("week", tidy.parts_of_dates(["year", "month", "day"]), ["44893"], units=True),
    ]
    messages = "\n".join([
        *(columns, several, *dates),
        *map(tidy.line, ("long", "sheets", "events", "table", "steps", "city", "signs", "names")),
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
