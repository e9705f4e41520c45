"""The lines of pandas on the page are those of the messages, which `test_drawn_tables` runs."""

from __future__ import annotations

import re

import pandas as pd

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


def test_a_date_at_the_start_of_a_text_is_cut_out() -> None:
    days = {
        "2021-01-31T12:30:00Z": "2021-01-31",
        "1/5/2021 14:05": "1/5/2021",
        "Apr 01, 2021 01:08 AM": "Apr 01, 2021",
        "05.01.2021 - 11.01.2021": "05.01.2021",
        "20210105 14:05": "20210105",
    }
    table = pd.DataFrame({"week": [*days]})
    exec(tidy.line("first"), {"table": table})
    assert table["week"].tolist() == [*days.values()]


def test_rows_of_a_group_keep_it() -> None:
    assert 'groupby(["town", "place", "week"])' in tidy.line("events", group="town")
