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


def refused(table: pd.DataFrame) -> list[str]:
    """The broken rules, one a line."""
    with pytest.raises(DataError) as caught:
        check_panel(table, "panel.parquet")
    head, *lines = str(caught.value).splitlines()
    assert head == "panel.parquet is not a canonical panel:"
    assert all(line.startswith("  ") for line in lines)
    return [line.strip() for line in lines]


def test_a_good_panel_passes_unchanged() -> None:
    pd.testing.assert_frame_equal(check_panel(panel(), "x"), panel(), check_dtype=False)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"density": 1.5}, r"density: 1\.5 breaks in_range\(0, 1\)"),
        ({"density": -0.5}, r"density: -0\.5 breaks in_range\(0, 1\)"),
        ({"density": np.nan}, r"density: nan breaks not_nullable"),
        ({"count": -1.0}, r"count: -1\.0 breaks in_range\(0, inf\)"),
        ({"count": np.inf}, r"count: inf breaks in_range\(0, inf\)"),
        ({"count": np.nan}, r"count: nan breaks not_nullable"),
        ({"capacity": 0.0}, r"capacity: 0\.0 breaks in_range\(0, inf\)"),
        ({"capacity": -2.0}, r"capacity: -2\.0 breaks in_range\(0, inf\)"),
        ({"capacity": np.inf}, r"capacity: inf breaks in_range\(0, inf\)"),
        ({"count_source": "guessed"}, r"count_source: 'guessed' breaks isin\(.*'suppressed'.*\)"),
        ({"capacity_source": "zero"}, r"capacity_source: 'zero' breaks isin\(.*'backfilled'.*\)"),
        ({"entity": ""}, r"entity: '' breaks str_length\(1, None\)"),
        ({"name": None}, r"name: (nan|None) breaks not_nullable"),
        ({"period": None}, r"period: NaT breaks not_nullable"),
    ],
    ids=str,
)
def test_a_value_that_breaks_a_rule_is_refused_and_shown(
    change: dict[str, object], rule: str
) -> None:
    (line,) = refused(panel({"entity": "c", **change}))
    assert re.fullmatch(rule, line)


def test_a_cell_given_twice_is_refused() -> None:
    for change in ({}, {"count": 2.0}):
        assert any("multiple_fields_uniqueness" in line for line in refused(panel(change)))


def test_text_in_a_number_column_is_refused() -> None:
    table = panel().astype({"count": object})
    table.loc[1, "count"] = "many"
    assert any(line.startswith("count: 'many' breaks ") for line in refused(table))


@pytest.mark.parametrize("change", ["missing", "extra"])
def test_a_missing_or_extra_column_is_refused_in_plain_words(change: str) -> None:
    table = panel()
    table = table.drop(columns="name") if change == "missing" else table.assign(beds=3)
    (line,) = refused(table)
    assert ("'name'" if change == "missing" else "'beds'") in line
    assert not line.startswith("None")


def test_columns_in_another_order_are_refused() -> None:
    assert refused(panel()[[*PANEL_COLUMNS[1:], PANEL_COLUMNS[0]]])


def test_every_broken_rule_is_listed_however_often_one_is_broken() -> None:
    many = [{"entity": f"c{i}", "density": 2.0 + i} for i in range(40)]
    last = {"entity": "z", "capacity": 0.0, "count_source": "guessed", "capacity_source": "zero"}
    columns = {line.split(":")[0] for line in refused(panel(*many, last))}
    assert columns == {"density", "capacity", "count_source", "capacity_source"}


def test_a_panel_that_breaks_a_rule_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"panel\.parquet is not a canonical panel"):
        write_panel(panel({"entity": "c", "density": 2.0}), tmp_path / "panel.parquet")
    assert not list(tmp_path.iterdir())


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


def test_another_parquet_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "panel.parquet"
    panel().drop(columns="density").to_parquet(path)
    with pytest.raises(DataError, match=r"panel\.parquet is not a canonical panel:\n.*density"):
        read_panel(path)


class TestProvenance:
    """Where a table came from."""

    @pytest.fixture
    def raw(self, tmp_path: Path) -> Path:
        path = tmp_path / "hhs.csv.gz"
        path.write_bytes(b"content")
        return path

    @staticmethod
    def record(raw: Path, **facts: object) -> dict[str, object]:
        recorded = {"url": "https://data.example", "retrieved": "2024-05-01T00:00:00", **facts}
        write_json(raw.with_name("hhs.csv.gz.provenance.json"), recorded)
        return recorded

    @pytest.mark.parametrize("simulated", [False, True])
    def test_without_a_record_it_is_the_name_and_the_checksum(
        self, raw: Path, simulated: bool
    ) -> None:
        expected = {"file": "hhs.csv.gz", "sha256": sha256(raw), "simulated": simulated}
        assert provenance_of(raw, simulated=simulated) == expected

    def test_the_record_of_the_fetch_is_added(self, raw: Path) -> None:
        recorded = self.record(raw, sha256=sha256(raw))
        assert provenance_of(str(raw), simulated=False)["fetched"] == recorded

    def test_the_record_of_another_table_is_not_believed(self, raw: Path) -> None:
        self.record(raw, sha256=sha256(raw))
        raw.write_bytes(b"replaced by hand")
        found = provenance_of(raw, simulated=False)
        assert "fetched" not in found
        assert found["sha256"] == sha256(raw)

    def test_a_record_without_a_checksum_is_not_believed(self, raw: Path) -> None:
        self.record(raw)
        assert "fetched" not in provenance_of(raw, simulated=False)


def table_of(page: str) -> dict[str, list[str]]:
    """The cells of a Markdown page's tables by the first cell of their row."""
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in page.splitlines() if line[:1] == "|"]
    return {first.strip(): [cell.strip() for cell in cells] for first, *cells in rows}


def test_the_page_tells_every_rule_with_the_cells_of_every_stream() -> None:
    other = report("T", entities=5, periods=3, cells=dict.fromkeys(RULES, 9), dropped=())
    found = table_of(report_as_markdown(cleaned(report(), other), PROVENANCE))
    assert found[""] == ["S", "T"]
    for number, rule in enumerate(RULES):
        assert found[RULES[rule]] == [str(100 + number), "9"]
    assert found["entities kept"] == ["33", "5"]
    assert found["entities dropped"] == ["2", "0"]
    assert found["periods"] == ["67", "3"]
    assert found["cells"] == [str(33 * 67), "15"]
    assert found["smallest capacity"] == ["5.1", "5.1"]
    assert found["largest density"] == ["0.742", "0.742"]


def test_the_page_names_the_rules_that_concerned_nothing() -> None:
    cells = dict.fromkeys(RULES, 0) | {"zero_counts": 3}
    page = report_as_markdown(cleaned(report(cells=cells), report("T", cells=cells)), PROVENANCE)
    assert table_of(page)[RULES["zero_counts"]] == ["3", "3"]
    (none,) = (line for line in page.splitlines() if line.startswith("None of these: "))
    for rule, text in RULES.items():
        assert (text in none) is (rule != "zero_counts")
        assert (text in table_of(page)) is (rule == "zero_counts")
    assert "None of these" not in report_as_markdown(cleaned(), PROVENANCE)


def test_the_page_tells_every_entity_dropped_and_every_missing_period() -> None:
    page = report_as_markdown(cleaned(), PROVENANCE)
    found = table_of(page)
    assert found["320001"] == ["Closed", "never reports a capacity above 0"]
    assert found["320002"] == ["Small", "7 cases in all, fewer than 100"]
    assert "left out: 1 between 2021-01-15 and 2021-01-29." in page
    whole = report_as_markdown(cleaned(report(missing_periods=(), dropped=())), PROVENANCE)
    assert "left out: none." in whole
    assert "No entity dropped." in whole


def test_the_page_tells_the_table_its_checksum_and_its_rows() -> None:
    page = report_as_markdown(cleaned(), PROVENANCE)
    assert f"Table `t.csv`, SHA-256 `{'0' * 64}`." in page
    assert "2300 rows read, 89 of them outside the chosen groups and periods." in page


@pytest.mark.parametrize("simulated", [False, True])
def test_the_page_says_whether_the_data_are_simulated(simulated: bool) -> None:
    page = report_as_markdown(cleaned(), {**PROVENANCE, "simulated": simulated})
    assert ("(simulated data)" in page) is simulated


def test_the_page_says_when_the_table_was_retrieved() -> None:
    fetched = {"retrieved": "2024-05-01T12:00:00+00:00"}
    page = report_as_markdown(cleaned(), {**PROVENANCE, "fetched": fetched})
    assert ", retrieved 2024-05-01T12:00:00+00:00. 2300 rows" in page
    assert "retrieved" not in report_as_markdown(cleaned(), PROVENANCE)


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
    page = report_as_markdown(cleaned(report(dropped=(drop,))), PROVENANCE)
    cells = {"entity": "1", "name": "1", key: shown}
    assert f"| {cells['entity']} | {cells['name']} | small |" in page.splitlines()


def test_the_page_tells_how_the_entities_were_chosen_and_which_periods_are_sparse() -> None:
    for selection, text in SELECTIONS.items():
        page = report_as_markdown(cleaned(report(selection=selection)), PROVENANCE)
        assert f"Entities that play: {text}." in page
    assert "has a row, check their dates: 2024-02-29 (1 of 33 entities)." in page
    assert "almost no" not in report_as_markdown(cleaned(report(sparse_periods=())), PROVENANCE)


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
    again = tuple(
        StreamReport(
            **{
                **fields,
                "dropped": tuple(fields["dropped"]),
                "missing_periods": tuple(fields["missing_periods"]),
                "sparse_periods": tuple(fields["sparse_periods"]),
            }
        )
        for fields in back["streams"]
    )
    assert again == panel_made.reports
