"""The panel on disk equals the cleaned one, and its report tells everything that was done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from data.drawn import PLAIN, clean, dataset
from dpol.core.errors import DataError
from dpol.core.files import sha256, write_json
from dpol.data.cleaning import provenance_of_stream, report_as_markdown
from dpol.data.panel import read_panel, write_panel
from dpol.data.table import provenance_of_table

PROVENANCE = {"file": "t.csv", "sha256": "0" * 64, "simulated": False}


def joined_report(**provenance: Any) -> dict[str, Any]:
    """Return the report of a table of two places that play and one that does not, as JSON."""
    one = {"x": ("1 1 1 1 1", "0 0 0 0 0")}
    panel = clean({**PLAIN, "a": PLAIN["h"], **one}, dataset(capacity_zero="carry"))
    made: dict[str, Any] = json.loads(json.dumps(panel.joined))
    return {**made, "provenance": {**PROVENANCE, **provenance}}


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


def test_the_page_tells_where_the_table_came_from() -> None:
    rest = "15 rows read, 0 of them outside the chosen groups and periods."
    digest = "0" * 64
    plain = report_as_markdown(joined_report())
    assert f"Table `t.csv`, SHA-256 `{digest}`. {rest}" in plain
    fetched = {"retrieved": "2024-05-01", "url": "https://a.example"}
    page = report_as_markdown(joined_report(simulated=True, fetched=fetched))
    when = "retrieved 2024-05-01, from https://a.example"
    assert f"Table `t.csv` (simulated data), SHA-256 `{digest}`, {when}. {rest}" in page


def test_a_report_without_capacities_has_no_row_of_them() -> None:
    panel = clean({**PLAIN, "a": ("* 2 3 4 5", PLAIN["h"][1])}, dataset({"capacity": None}))
    assert "in 1 of 5 periods, with 100% of the possible gain" in panel.reports[0].checks[0]
    made = json.dumps(panel.joined, allow_nan=False)
    assert "smallest capacity" not in report_as_markdown(json.loads(made))


def test_a_name_is_shown_as_it_is_and_cannot_break_the_page() -> None:
    whole = joined_report()
    names = {"entity": "A | B\nC", "name": "[`a`](https://evil.example) *b* __c__ <img> &lt;"}
    whole["streams"][0]["dropped"] = [{**names, "reason": "small"}]
    shown = r"\[\`a\`\](https://evil.example) \*b\* \_\_c\_\_ \<img\> \&lt;"
    assert rf"| A \| B C | {shown} | small |" in report_as_markdown(whole).splitlines()


def test_a_stream_keeps_the_provenance_of_its_table_and_how_its_entities_were_chosen() -> None:
    whole = joined_report()
    (stream,) = whole["streams"]
    expected = {**PROVENANCE, "selection": "all", "max_carry": 4}
    assert provenance_of_stream({**whole, "stream": stream}) == expected
    sums = {"sums": {"read_as": 2.0, "days": [5.0, 7.0], "uncovered": None}}
    assert provenance_of_stream({**whole, "stream": {**stream, **sums}}) == {**expected, **sums}
