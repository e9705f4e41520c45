"""The lines of pandas on the page are those of the messages, which `test_drawn_tables` runs."""

from __future__ import annotations

import re

import yaml

from pipeline import ROOT

PAGE = (ROOT / "docs/how-to/add-dataset.md").read_text(encoding="utf-8")
WORDS = yaml.safe_load((ROOT / "src/dpol/data/tidy.yaml").read_text(encoding="utf-8"))


def test_each_line_on_the_page_is_one_of_a_message() -> None:
    made = (re.sub(r"\\{\w+\\}", ".+", re.escape(line)) for _, line in WORDS["lines"].values())
    of_a_message = re.compile("|".join(made))
    lines = re.findall(r"^\| [^|]+ \| `(table.*)` \|$", PAGE, re.M)
    assert len(lines) >= 12
    assert [line for line in lines if not of_a_message.fullmatch(line)] == []
