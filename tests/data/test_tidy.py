"""The lines of pandas on the page are those of the messages, which `test_drawn_tables` runs."""

from __future__ import annotations

import re

from dpol.data import tidy
from pipeline import ROOT

PAGE = (ROOT / "docs/how-to/add-dataset.md").read_text(encoding="utf-8")


def test_each_line_on_the_page_is_one_of_a_message() -> None:
    lines = re.findall(r"^\| [^|]+ \| `(table.*)` \|$", PAGE, re.M)
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
