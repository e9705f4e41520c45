"""Changed identifiers, garbled names, and texts that look like a chosen group are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from data.drawn import Row, clean, dataset, line, of_period, refused, row, rows, streams, week
from dpol.core.errors import DataError
from dpol.core.names import folded
from dpol.data.cleaning import clean_panel
from dpol.data.panel import report_as_dict, report_as_markdown
from dpol.data.raw_table import RawTable, read_table
from dpol.data.settings import Dataset

TWO = [
    ("050002", "50002"),
    ("TRUE", "true"),
    ("north", "North"),
    ("17", "17.0"),
    ("Cafe\N{COMBINING ACUTE ACCENT}", "Caf\N{LATIN SMALL LETTER E WITH ACUTE}"),
    ("north", "no\N{SOFT HYPHEN}rth"),
    ("north", "north\N{ZERO WIDTH SPACE}"),
]


def of_two(one: str, two: str) -> list[Row]:
    """Return four weeks of an entity, spelled differently in the last two, and of another."""
    spelled = [row("A", one if t < 2 else two, week(t), str(t), "9") for t in range(4)]
    return spelled + rows({"other": ("1 1 1 1", "9 9 9 9")})


@pytest.mark.parametrize(("one", "two"), TWO)
def test_of_two_spellings_the_config_says_whether_they_are_one_entity(one: str, two: str) -> None:
    said = refused(of_two(one, two))
    assert said.startswith("hospitals.csv: column hospital: 1 entity may have several spellings")
    assert f"  {one!r} (row 2) and {two!r} (row 4)\n" in said
    joined = clean(of_two(one, two), dataset(identifiers={two: one}))
    assert line(joined, one, "count") == [0, 1, 2, 3]
    assert joined.reports[0].cells["identified_rows"] == 2
    for identifiers in ({one: one, two: two}, "exact"):
        apart = clean(of_two(one, two), dataset(identifiers=identifiers))
        assert apart.reports[0].entities == 3


def test_the_lines_to_paste_are_read_and_join_them() -> None:
    said = refused(of_two("050002", "50002"))
    pasted = yaml.safe_load(said[said.index("dataset:") :])
    joined = clean(of_two("050002", "50002"), dataset(**pasted["dataset"]["cleaning"]))
    assert line(joined, "050002", "count") == [0, 1, 2, 3]


@settings(max_examples=30)
@given(
    st.lists(
        st.text("aAbB01. -\N{CYRILLIC SMALL LETTER A}", min_size=1, max_size=3)
        .map(str.strip)
        .filter(bool),
        min_size=2,
        max_size=6,
        unique=True,
    )
)
def test_entities_play_as_they_are_exactly_if_no_two_are_alike(names: list[str]) -> None:
    of = [row("A", name, week(t), "1", "9") for name in names for t in range(2)]
    if len({folded(name) for name in names}) == len(names):
        assert clean(of).reports[0].entities == len(names)
    else:
        assert "may have several spellings" in refused(of)
        assert clean(of, dataset(identifiers="exact")).reports[0].entities == len(names)


def test_identifiers_are_texts_of_both_sides() -> None:
    for wrong, said in (({50002: "050002"}, "50002 must be text"), (["1"], "exact, or a block")):
        with pytest.raises(ValueError, match=said):
            dataset(identifiers=wrong)


def a_table(folder: Path, names: list[str], saved: str, read: str) -> RawTable:
    """Return two weeks of entities, saved in one encoding and read in another."""
    lines = ["state,hospital,week,patients,beds"]
    lines += [f"A,{name},{week(t)},1,9" for name in names for t in range(2)]
    path = folder / "t.csv"
    path.write_bytes("\n".join(lines).encode(saved) + b"\n")
    return read_table(path, None, rules(read).format)


def rules(read: str) -> Dataset:
    raw = dataset().model_dump(mode="json")
    return Dataset.model_validate({**raw, "format": {"encoding": read}})


NAMES = ["Zürich", "Genève", "Straße", "plain"]


@pytest.mark.parametrize("read", ["cp1250", "cp1251", "cp1252", "gb18030", "shift_jis"])
@pytest.mark.parametrize("column", ["entity", "group"])
def test_utf_8_read_in_another_encoding_is_refused_with_the_key(
    tmp_path: Path, read: str, column: str
) -> None:
    raw, groups = a_table(tmp_path, NAMES, "utf-8", read), ["A"]
    if column == "group":
        swapped = raw.cells.rename(columns={"state": "hospital", "hospital": "state"})
        raw, groups = replace(raw, cells=swapped), ["Zürich", "Genève"]
    with pytest.raises(DataError, match=r"garbled[^.]*\. Set the right dataset\.format\.encoding"):
        clean_panel(raw, rules(read), streams(S=groups))


@pytest.mark.parametrize(
    ("names", "encoding"),
    [
        (NAMES, "utf-8"),
        (NAMES, "cp1252"),
        (["Łódź", "Gdańsk", "plain"], "cp1250"),
        (["Москва", "Тверь"], "cp1251"),
        (["CAFÉ\N{NO-BREAK SPACE}PARIS", "plain"], "cp1252"),
        (["北京", "上海"], "gb18030"),
        (["東京", "大阪"], "shift_jis"),
    ],
)
def test_the_right_encoding_is_never_taken_for_a_wrong_one(
    tmp_path: Path, names: list[str], encoding: str
) -> None:
    raw = a_table(tmp_path, names, encoding, encoding)
    panel = clean_panel(raw, rules(encoding), streams(S=["A"]))
    assert set(panel.table["entity"]) == set(names)


@pytest.mark.parametrize("name", ["ZÃ¼rich", "Z\ufffdrich", "Z\x81rich", "Genâ€™s"])
def test_an_identifier_that_was_saved_garbled_is_refused(name: str) -> None:
    said = refused(of_period(week(0), [name, "b"]))
    assert "column hospital, which needs text that is not garbled" in said


def test_a_name_that_is_only_shown_may_be_garbled_in_a_table_of_utf_8() -> None:
    of = [{**line, "called": "CENTER \ufffd BUDA"} for line in of_period(week(0), "ab")]
    panel = clean(of, dataset({"name": "called"}))
    assert set(panel.table["name"]) == {"CENTER \ufffd BUDA"}


# Groups and texts of `drop_where` -----------------------------------------------------------------

SAME_GROUP = ["nm", "N M", "NM\N{ZERO WIDTH SPACE}"]


@pytest.mark.parametrize("other", SAME_GROUP)
def test_a_group_that_looks_like_a_chosen_one_is_asked_about(other: str) -> None:
    of = [
        line | {"state": "NM"} for line in rows({"a": ("1 2 3", "9 9 9"), "b": ("4 5 6", "9 9 9")})
    ]
    of[4]["state"] = other
    chosen = streams(S=["NM"])
    said = refused(of, None, chosen)
    assert said.startswith(
        "hospitals.csv: column state holds texts that look like texts in streams.*.groups:\n"
        f"  {other!r} (1 row, first 6) and 'NM'\n"
    )
    pasted = yaml.safe_load(said[said.index("dataset:") :])["dataset"]["cleaning"]
    for cleaning in (pasted, {"identifiers": "exact"}, {"drop_where": {"state": other}}):
        apart = clean(of, dataset(**cleaning), chosen)
        assert apart.reports[0].cells["absent_rows"] == 1
    joined = clean(of, None, streams(S=["NM", other]))
    assert joined.reports[0].cells["absent_rows"] == 0


def test_a_group_outside_the_periods_may_look_like_any_other() -> None:
    of = of_period(week(0), "ab") + [line | {"state": "a"} for line in of_period(week(1), "ab")]
    assert clean(of, dataset(periods={"last": week(0)})).reports[0].periods == 1


@pytest.mark.parametrize("other", ["TOTAL", "Total.", "To\N{SOFT HYPHEN}tal"])
def test_a_row_that_looks_like_a_dropped_one_is_asked_about(other: str) -> None:
    of = [line for t in range(3) for line in of_period(week(t), ["a", "b", "Total"])]
    of[5]["hospital"] = other
    dropped = {"hospital": "Total"}
    said = refused(of, dataset(drop_where=dropped))
    assert f"\n  {other!r} (1 row, first 7) and 'Total'\n" in said
    pasted = yaml.safe_load(said[said.index("dataset:") :])["dataset"]["cleaning"]
    assert clean(of, dataset(drop_where=dropped, **pasted)).reports[0].entities == 3
    named = clean(of, dataset(drop_where={"hospital": ["Total", other]}))
    assert (named.reports[0].entities, named.rows_dropped) == (2, 3)


def test_a_blank_group_is_said(caplog: pytest.LogCaptureFixture) -> None:
    of = of_period(week(0), "ab") + of_period(week(1), "ab")
    of[2]["state"] = ""
    panel = clean(of)
    assert panel.rows_outside == 1
    said = f"1 row without a group left out: row 4, a, {week(1)}"
    assert panel.warnings == (said,)
    assert f"hospitals.csv: {said}" in caplog.messages
    origin = {"file": "t.csv", "sha256": "", "simulated": False}
    assert f"- {said}" in report_as_markdown(report_as_dict(panel, origin))


def test_control_characters_of_a_name_are_replaced_and_their_rows_counted() -> None:
    """A public table cannot be mended, and a terminal obeys the second name."""
    names = {"a": "a\x00z", "b": "b\x1b[31m3", "c": "c"}
    of = [row for k in range(3) for row in of_period(week(k), "abc")]
    for each in of:
        each["hospital"] = names[each["hospital"]]
    panel = clean(of)
    assert {*panel.table["entity"]} == {*panel.table["name"]} == {"a?z", "b?[31m3", "c"}
    assert panel.warnings == ("control characters in 6 rows read as ?, first in row 2",)
    of[1]["week"] = "soon"
    assert "\x1b" not in refused(of)
