"""The panel on disk equals the cleaned one, and its report tells everything that was done."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from data.drawn import PLAIN, clean, dataset
from dpol.core.errors import DataError
from dpol.core.files import sha256, write_json
from dpol.data.cleaning import (
    RULES,
    SELECTIONS,
    joined,
    provenance_of_stream,
    report_as_markdown,
)
from dpol.data.panel import read_panel, write_panel
from dpol.data.table import provenance_of_table

PROVENANCE = {"file": "t.csv", "sha256": "0" * 64, "simulated": False}


def report(stream: str = "S", **changes: Any) -> dict[str, Any]:
    """Return a stream's report of 33 places, in which two more do not play."""
    made = dict(clean({**PLAIN, "a": PLAIN["h"]}).joined["streams"][0])
    facts = {
        "stream": stream,
        "entities": 33,
        "cells": {rule: 100 + number for number, rule in enumerate(RULES)},
        "dropped": (
            {"entity": "320001", "name": "Closed", "reason": "never reports a capacity above 0"},
            {"entity": "320002", "name": "Small", "reason": "7 cases in all, fewer than 100"},
        ),
        "sums": {"read_as": 2.0, "days": [5.0, 7.0], "uncovered": None},
        "unmeasured": {"periods": 13, "share": 0.0893},
        "checks": ["periods missing: 1 between 2021-01-15 and 2021-01-29"],
        "understood": ["33 of 35 rows play"],
    }
    return made | facts | {"selection": "counts"} | changes


def told(*reports: dict[str, Any], **provenance: Any) -> dict[str, Any]:
    """Return the joined report of streams, as it is read back from a file."""
    facts = {"provenance": {**PROVENANCE, **provenance}, "read": 2_300, "dropped": 0, "changed": []}
    each = [{**facts, "stream": it} for it in reports or (report(),)]
    made: dict[str, Any] = json.loads(json.dumps(joined(each, dataset().needed_columns)))
    return made


def page_of(*reports: dict[str, Any], **provenance: Any) -> str:
    return report_as_markdown(told(*reports, **provenance))


def test_a_panel_is_read_back_exactly_and_one_that_is_damaged_is_refused(tmp_path: Path) -> None:
    path, table = tmp_path / "panel.parquet", clean({**PLAIN, "é|": PLAIN["h"]}).table
    write_panel(table, path)
    pd.testing.assert_frame_equal(read_panel(path), table, check_exact=True)
    with pytest.raises(DataError, match=r"panel\.parquet: lacks column name; delete it and run"):
        write_panel(table.drop(columns="name"), path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"panel\.parquet cannot be read .*; delete it and run"):
        read_panel(path)


def test_the_provenance_has_the_record_of_the_fetch_if_it_is_of_this_table(tmp_path: Path) -> None:
    raw = tmp_path / "hhs.csv.gz"
    raw.write_bytes(b"content")
    facts = {"file": "hhs.csv.gz", "sha256": sha256(raw), "simulated": True}
    assert provenance_of_table(str(raw), simulated=True) == facts
    recorded = {"url": "https://data.example", "retrieved": "2024-05-01T00:00:00"}
    for record in (recorded, {**recorded, "sha256": "0" * 64}):
        write_json(raw.with_name("hhs.csv.gz.provenance.json"), record)
        assert provenance_of_table(raw, simulated=True) == facts, "the table was replaced by hand"
    write_json(raw.with_name("hhs.csv.gz.provenance.json"), recorded | {"sha256": sha256(raw)})
    fetched = provenance_of_table(raw, simulated=True)["fetched"]
    assert fetched == recorded | {"sha256": sha256(raw)}


def table_of(page: str) -> dict[str, list[str]]:
    """Return the cells of a Markdown page's tables, by the first cell of each row."""
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in page.splitlines() if line[:1] == "|"]
    return {first.strip(): [cell.strip() for cell in cells] for first, *cells in rows}


def test_the_page_tells_every_rule_with_the_cells_of_every_stream() -> None:
    cells = dict.fromkeys(RULES, 9)
    none = {"dropped": (), "checks": ()}
    measured = {"periods": 0, "share": 0.0}
    other = report("T", entities=5, periods=3, cells=cells, unmeasured=measured, **none)
    page = page_of(report(), other)
    rows = table_of(page)
    assert rows[""] == ["S", "T"]
    for number, rule in enumerate(RULES):
        assert rows[RULES[rule]] == [str(100 + number), "9"]
    assert rows["entities kept"] == ["33", "5"]
    assert rows["entities dropped"] == ["2", "0"]
    assert rows["periods"] == ["5", "3"]
    assert rows["cells"] == ["165", "15"]
    assert rows["smallest capacity"] == ["10", "10"]
    assert rows["largest density"] == ["0.500", "0.500"]
    assert rows["periods in which no measured number is the largest"] == ["13", "0"]
    assert rows["their share of the possible gain, %"] == ["8.93", "0"]
    assert rows["320001"] == ["Closed", "never reports a capacity above 0"]
    assert rows["320002"] == ["Small", "7 cases in all, fewer than 100"]
    assert f"Entities that play: {SELECTIONS['counts']}." in page
    assert "- stream S: periods missing: 1 between 2021-01-15 and 2021-01-29" in page.splitlines()
    assert "- 33 of 35 rows play" in page.splitlines()
    assert page.endswith("(understood.svg)\n"), "the picture stands beside the page"
    cells = dict.fromkeys(RULES, 0) | {"zero_counts": 3}
    idle = page_of(report(cells=cells)).partition("None of these: ")[2].partition("\n")[0]
    assert {rule for rule, text in RULES.items() if text not in idle} == {"zero_counts"}


def test_the_page_tells_where_the_table_came_from() -> None:
    rest = "2,300 rows read, 2,290 of them outside the chosen groups and periods."
    digest = "0" * 64
    assert f"Table `t.csv`, SHA-256 `{digest}`. {rest}" in page_of()
    page = page_of(simulated=True, fetched={"retrieved": "2024-05-01", "url": "https://a.example"})
    when = "retrieved 2024-05-01, from https://a.example"
    assert f"Table `t.csv` (simulated data), SHA-256 `{digest}`, {when}. {rest}" in page


def test_a_report_without_capacities_has_no_row_of_them() -> None:
    panel = clean({**PLAIN, "a": ("* 2 3 4 5", PLAIN["h"][1])}, dataset({"capacity": None}))
    assert "in 1 of 5 periods, with 100% of the possible gain" in panel.reports[0].checks[0]
    made = json.dumps(panel.joined, allow_nan=False)
    assert "smallest capacity" not in report_as_markdown(json.loads(made))


def test_a_name_is_shown_as_it_is_and_cannot_break_the_page() -> None:
    names = {"entity": "A | B\nC", "name": "[`a`](https://evil.example) *b* __c__ <img> &lt;"}
    page = page_of(report(dropped=({**names, "reason": "small"},)))
    shown = r"\[\`a\`\](https://evil.example) \*b\* \_\_c\_\_ \<img\> \&lt;"
    assert rf"| A \| B C | {shown} | small |" in page.splitlines()


def test_a_stream_keeps_the_provenance_of_its_table_and_how_its_entities_were_chosen() -> None:
    other = report("T", selection="given", max_carry=0, sums=None)
    whole = told(report(), other)
    made = {it["stream"]: {**whole, "stream": it} for it in whole["streams"]}
    sums = {"sums": {"read_as": 2.0, "days": [5.0, 7.0], "uncovered": None}}
    expected = {**PROVENANCE, "selection": "counts", "max_carry": 4, **sums}
    assert provenance_of_stream(made["S"]) == expected
    assert provenance_of_stream(made["T"]) == {**PROVENANCE, "selection": "given", "max_carry": 0}
