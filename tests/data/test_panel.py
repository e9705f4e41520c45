"""The panel on disk keeps its promises, and its report tells everything that was done."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpol.core.errors import DataError
from dpol.core.files import sha256, write_json
from dpol.data.cleaning import RULES, CleanPanel, StreamReport
from dpol.data.panel import (
    PANEL_COLUMNS,
    check_panel,
    provenance_of,
    provenance_of_stream,
    read_panel,
    report_as_dict,
    report_as_markdown,
    write_panel,
)
from dpol.data.selection import SELECTIONS

ROW: dict[str, Any] = {
    "stream": "S",
    "group": "A",
    "entity": "a",
    "name": "St. Mary",
    "period": "2021-01-03",
    "count": 1.0,
    "capacity": 4.0,
    "density": 0.25,
    "count_source": "reported",
    "capacity_source": "reported",
}
PROVENANCE = {"file": "t.csv", "sha256": "0" * 64, "simulated": False}


def panel(*changes: dict[str, object]) -> pd.DataFrame:
    """Two entities in one period, and a row more for each change."""
    rows = [ROW, {**ROW, "entity": "b"}, *({**ROW, **change} for change in changes)]
    return pd.DataFrame(rows).astype({"period": "datetime64[ns]"})


def report(stream: str = "S", **changes: Any) -> StreamReport:
    facts = StreamReport(
        stream=stream,
        entities=33,
        periods=67,
        cells={rule: 100 + number for number, rule in enumerate(RULES)},
        dropped=(
            {"entity": "320001", "name": "Closed", "reason": "never reports a capacity above 0"},
            {"entity": "320002", "name": "Small", "reason": "7 cases in all, fewer than 100"},
        ),
        selection="counts",
        sparse_periods=("2024-02-29 (1 of 33 entities)",),
        missing_periods=("1 between 2021-01-15 and 2021-01-29",),
        smallest_capacity=5.1,
        largest_density=0.74166,
    )
    return dataclasses.replace(facts, **changes)


def cleaned(*reports: StreamReport) -> CleanPanel:
    return CleanPanel(panel(), rows_read=2_300, rows_outside=89, reports=reports or (report(),))


def page_of(*reports: StreamReport, **provenance: Any) -> str:
    return report_as_markdown(report_as_dict(cleaned(*reports), {**PROVENANCE, **provenance}))


def refused(table: pd.DataFrame) -> list[str]:
    """The broken rules, one a line."""
    with pytest.raises(DataError) as caught:
        check_panel(table, "panel.parquet")
    head, *lines, remedy = str(caught.value).splitlines()
    assert (head, remedy) == ("panel.parquet is not a canonical panel:", "Delete it and run again.")
    return [line.strip() for line in lines]


def test_a_good_panel_passes_unchanged() -> None:
    pd.testing.assert_frame_equal(check_panel(panel(), "x"), panel(), check_dtype=False)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"density": 1.5}, r"1\.5 is not a number in \[0, 1\]"),
        ({"density": -0.5}, r"-0\.5 is not a number in \[0, 1\]"),
        ({"density": np.nan}, r"nan is not a number in \[0, 1\]"),
        ({"count": -1.0}, r"-1\.0 is not a number of at least 0"),
        ({"count": np.inf}, r"inf is not a number of at least 0"),
        ({"count": np.nan}, r"nan is not a number of at least 0"),
        ({"count": "many"}, r"'many' is not a number of at least 0"),
        ({"capacity": 0.0}, r"0\.0 is not a number above 0"),
        ({"capacity": -2.0}, r"-2\.0 is not a number above 0"),
        ({"capacity": np.inf}, r"inf is not a number above 0"),
        ({"count_source": "guessed"}, r"'guessed' is not reported or suppressed or .*"),
        ({"capacity_source": "zero"}, r"'zero' is not reported or carried or backfilled"),
        ({"entity": ""}, r"'' is not the name of an entity"),
        ({"name": None}, r"(nan|None) is not text"),
        ({"period": None}, r"NaT is not a date"),
        ({"entity": "b"}, r"'b' is not there once in its stream and period"),
    ],
    ids=str,
)
def test_a_value_that_breaks_a_rule_is_refused_and_shown(
    change: dict[str, object], rule: str
) -> None:
    (line,) = refused(panel({"entity": "c", **change}))
    (column,) = change
    assert re.fullmatch(rf"column {column}, row 3: {rule} \(1 such cell\)", line)


@pytest.mark.parametrize(
    "table",
    [panel().drop(columns="name"), panel().assign(beds=3), panel()[[*PANEL_COLUMNS[::-1]]]],
    ids=["missing", "extra", "another order"],
)
def test_other_columns_are_refused_before_writing_and_after_reading(
    table: pd.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / "panel.parquet"
    with pytest.raises(DataError, match=r"is not a canonical panel: its columns are .*, not .*;"):
        write_panel(table, path)
    assert not list(tmp_path.iterdir())
    table.to_parquet(path)
    with pytest.raises(DataError, match=r"is not a canonical panel: its columns are .*, not .*;"):
        read_panel(path)


def test_every_broken_rule_is_listed_however_often_one_is_broken() -> None:
    many = [{"entity": f"c{i}", "density": 2.0 + i} for i in range(40)]
    last = {"entity": "z", "capacity": 0.0, "count_source": "guessed", "capacity_source": "zero"}
    density, *others = refused(panel(*many, last))
    assert density.startswith("column capacity, row 43: 0.0")
    assert others[0].endswith("(40 such cells)")
    assert len(others) == 3


NUMBERS = st.floats(0, 1e12)


@given(
    cells=st.lists(
        st.tuples(NUMBERS, NUMBERS.filter(bool), st.floats(0, 1)), min_size=1, max_size=6
    ),
    name=st.text(st.characters(codec="utf-8"), max_size=10),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read_back_exactly(
    tmp_path: Path, cells: list[tuple[float, float, float]], name: str
) -> None:
    table = panel(
        *(
            {"entity": f"c{i}", "name": name, "count": k, "capacity": c, "density": d}
            for i, (k, c, d) in enumerate(cells)
        )
    )
    write_panel(table, tmp_path / "panel.parquet")
    back = read_panel(tmp_path / "panel.parquet")
    pd.testing.assert_frame_equal(back, table, check_dtype=False, check_exact=True)
    assert back["period"].dtype == "datetime64[ns]"


def test_a_panel_that_is_not_there_or_no_parquet_or_cut_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "panel.parquet"
    write_panel(panel(), path)
    whole = path.read_bytes()
    for content in (None, b"", b"text", whole[: len(whole) // 2], whole[:-1]):
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(DataError, match=r"panel\.parquet cannot be read .*; delete it and run"):
            read_panel(path)


def test_the_provenance_has_the_record_of_the_fetch_if_it_is_of_this_table(tmp_path: Path) -> None:
    raw = tmp_path / "hhs.csv.gz"
    raw.write_bytes(b"content")
    facts = {"file": "hhs.csv.gz", "sha256": sha256(raw), "simulated": True}
    assert provenance_of(str(raw), simulated=True) == facts
    recorded = {"url": "https://data.example", "retrieved": "2024-05-01T00:00:00"}
    for record in (recorded, {**recorded, "sha256": "0" * 64}):
        write_json(raw.with_name("hhs.csv.gz.provenance.json"), record)
        assert provenance_of(raw, simulated=True) == facts, "the table was replaced by hand"
    write_json(raw.with_name("hhs.csv.gz.provenance.json"), recorded | {"sha256": sha256(raw)})
    fetched = provenance_of(raw, simulated=True)["fetched"]
    assert fetched == recorded | {"sha256": sha256(raw)}


def table_of(page: str) -> dict[str, list[str]]:
    """The cells of a Markdown page's tables by the first cell of their row."""
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in page.splitlines() if line[:1] == "|"]
    return {first.strip(): [cell.strip() for cell in cells] for first, *cells in rows}


def test_the_page_tells_every_rule_with_the_cells_of_every_stream() -> None:
    cells = dict.fromkeys(RULES, 9)
    other = report("T", entities=5, periods=3, cells=cells, dropped=(), missing_periods=())
    page = page_of(report(), other)
    found = table_of(page)
    assert found[""] == ["S", "T"]
    for number, rule in enumerate(RULES):
        assert found[RULES[rule]] == [str(100 + number), "9"]
    assert found["entities kept"] == ["33", "5"]
    assert found["entities dropped"] == ["2", "0"]
    assert found["periods"] == ["67", "3"]
    assert found["cells"] == [str(33 * 67), "15"]
    assert found["smallest capacity"] == ["5.1", "5.1"]
    assert found["largest density"] == ["0.742", "0.742"]
    assert found["320001"] == ["Closed", "never reports a capacity above 0"]
    assert found["320002"] == ["Small", "7 cases in all, fewer than 100"]
    assert "No entity dropped." in page
    for gaps in ("1 between 2021-01-15 and 2021-01-29", "none"):
        assert f"left out: {gaps}." in page
    assert "None of these" not in page


def test_the_page_names_the_rules_that_concerned_nothing() -> None:
    cells = dict.fromkeys(RULES, 0) | {"zero_counts": 3}
    page = page_of(report(cells=cells), report("T", cells=cells))
    assert table_of(page)[RULES["zero_counts"]] == ["3", "3"]
    (none,) = (line for line in page.splitlines() if line.startswith("None of these: "))
    for rule, text in RULES.items():
        assert (text in none) is (rule != "zero_counts")
        assert (text in table_of(page)) is (rule == "zero_counts")


@pytest.mark.parametrize(
    ("facts", "said", "when"),
    [
        ({}, "", ""),
        ({"simulated": True}, " (simulated data)", ""),
        ({"fetched": {"retrieved": "2024-05-01T12:00+00:00"}}, "",
         ", retrieved 2024-05-01T12:00+00:00"),
    ],
)  # fmt: skip
def test_the_page_tells_where_the_table_came_from(
    facts: dict[str, Any], said: str, when: str
) -> None:
    rest = "2300 rows read, 89 of them outside the chosen groups and periods."
    assert f"Table `t.csv`{said}, SHA-256 `{'0' * 64}`{when}. {rest}" in page_of(**facts)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("A | B", r"A \| B"),
        ("A\nB", "A B"),
        ("A\\|B", r"A\\\|B"),
        ("<img src=x onerror=alert(1)>", r"\<img src=x onerror=alert(1)\>"),
        ("[free](https://evil.example)", r"\[free\](https://evil.example)"),
        ("`a` *b* __c__ &lt;", r"\`a\` \*b\* \_\_c\_\_ \&lt;"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("key", ["entity", "name"])
def test_a_name_is_shown_as_it_is_and_cannot_break_the_page(
    key: str, name: str, shown: str
) -> None:
    drop = {"entity": "1", "name": "1", "reason": "small", key: name}
    page = page_of(report(dropped=(drop,)))
    cells = {"entity": "1", "name": "1", key: shown}
    assert f"| {cells['entity']} | {cells['name']} | small |" in page.splitlines()


def test_the_page_tells_how_the_entities_were_chosen_and_which_periods_are_sparse() -> None:
    for selection, text in SELECTIONS.items():
        page = page_of(report(selection=selection))
        assert f"Entities that play: {text}." in page
    assert "has a row, check their dates: 2024-02-29 (1 of 33 entities)." in page
    assert "almost no" not in page_of(report(sparse_periods=()))


def test_a_stream_keeps_the_provenance_of_its_table_and_how_its_entities_were_chosen() -> None:
    made = report_as_dict(cleaned(report(), report("T", selection="given")), PROVENANCE)
    assert provenance_of_stream(made, "S") == {**PROVENANCE, "selection": "counts"}
    assert provenance_of_stream(made, "T") == {**PROVENANCE, "selection": "given"}
    with pytest.raises(DataError, match="report has no stream U; clean the table again"):
        provenance_of_stream(made, "U")


def test_the_report_survives_json(tmp_path: Path) -> None:
    panel_made = cleaned(report(), report("T", dropped=()))
    write_json(tmp_path / "r.json", report_as_dict(panel_made, PROVENANCE))
    back = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert back["provenance"] == PROVENANCE
    assert (back["rows_read"], back["rows_outside"]) == (2_300, 89)
    assert (back["rules"], back["selections"]) == (RULES, SELECTIONS)
    as_tuples = dict.fromkeys(("dropped", "missing_periods", "sparse_periods"), tuple)
    again = [
        StreamReport(**{key: as_tuples.get(key, lambda it: it)(it) for key, it in fields.items()})
        for fields in back["streams"]
    ]
    assert tuple(again) == panel_made.reports
