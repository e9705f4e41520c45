"""Changed identifiers, and texts that look like a chosen group, are refused."""

from __future__ import annotations

import pytest
import yaml

from data.drawn import Row, clean, dataset, line, of_period, refused, row, rows, streams, week
from dpol.data.panel import report_as_dict, report_as_markdown


def of_two(one: str, two: str) -> list[Row]:
    """Return four weeks of an entity, spelled differently in the last two, and of another."""
    spelled = [row("A", one if t < 2 else two, week(t), str(t), "9") for t in range(4)]
    return spelled + rows({"other": ("1 1 1 1", "9 9 9 9")})


@pytest.mark.parametrize(("one", "two"), [("17", "17.0"), ("north", "no\N{SOFT HYPHEN}rth")])
def test_of_two_spellings_the_config_says_whether_they_are_one_entity(one: str, two: str) -> None:
    said = refused(of_two(one, two))
    assert said.startswith("hospitals.csv: column hospital holds texts that may be several spe")
    assert f"  {one!r} (row 2) and {two!r} (row 4)\n" in said
    joined = clean(of_two(one, two), dataset(identifiers={two: one}))
    assert line(joined, one, "count") == [0, 1, 2, 3]
    assert joined.reports[0].cells["identified_rows"] == 2
    apart = clean(of_two(one, two), dataset(identifiers={one: one, two: two}))
    assert apart.reports[0].entities == 3


def test_the_lines_to_paste_are_read_and_join_them() -> None:
    said = refused(of_two("050002", "50002"))
    pasted = yaml.safe_load(said[said.index("dataset:") :])
    joined = clean(of_two("050002", "50002"), dataset(**pasted["dataset"]["cleaning"]))
    assert line(joined, "050002", "count") == [0, 1, 2, 3]


# Groups and texts of `drop_where` -----------------------------------------------------------------


def test_a_group_that_looks_like_a_chosen_one_is_asked_about() -> None:
    of = [
        line | {"state": "NM"} for line in rows({"a": ("1 2 3", "9 9 9"), "b": ("4 5 6", "9 9 9")})
    ]
    other = of[4]["state"] = "NM\N{ZERO WIDTH SPACE}"
    chosen = streams(S=["NM"])
    said = refused(of, None, chosen)
    assert said.startswith("hospitals.csv: column state holds texts that may be several spellings")
    assert f"\n  'NM' (row 2) and {other!r} (row 6)\n" in said
    assert "name the other spelling in streams.*.groups too" in said
    pasted = yaml.safe_load(said[said.index("dataset:") :])["dataset"]["cleaning"]
    for cleaning in (pasted, {"drop_where": {"state": other}}):
        apart = clean(of, dataset(**cleaning), chosen)
        assert apart.reports[0].cells["absent_rows"] == 1
    joined = clean(of, None, streams(S=["NM", other]))
    assert joined.reports[0].cells["absent_rows"] == 0


def test_a_group_outside_the_periods_may_look_like_any_other() -> None:
    of = of_period(week(0), "ab") + [line | {"state": "a"} for line in of_period(week(1), "ab")]
    assert clean(of, dataset(periods={"last": week(0)})).reports[0].periods == 1


def test_a_row_that_looks_like_a_dropped_one_is_asked_about() -> None:
    of = [line for t in range(3) for line in of_period(week(t), ["a", "b", "Total"])]
    other = of[5]["hospital"] = "TOTAL"
    dropped = {"hospital": "Total"}
    said = refused(of, dataset(drop_where=dropped))
    assert f"\n  'Total' (row 4) and {other!r} (row 7)\n" in said
    pasted = yaml.safe_load(said[said.index("dataset:") :])["dataset"]["cleaning"]
    assert clean(of, dataset(drop_where=dropped, **pasted)).reports[0].entities == 3
    named = clean(of, dataset(drop_where={"hospital": ["Total", other]}))
    assert (named.reports[0].entities, named.rows_dropped) == (2, 3)


def test_a_blank_group_is_said(caplog: pytest.LogCaptureFixture) -> None:
    of = of_period(week(0), "ab") + of_period(week(1), "ab")
    of[2]["state"] = ""
    panel = clean(of)
    assert panel.rows_outside == 1
    said = "1 row without a group left out, first in row 4"
    assert panel.warnings == (said,)
    assert f"hospitals.csv: {said}" in caplog.messages
    origin = {"file": "t.csv", "sha256": "", "simulated": False}
    assert f"- {said}" in report_as_markdown(report_as_dict(panel, origin))


def test_control_characters_of_a_name_are_replaced_and_said() -> None:
    """A public table cannot be mended, and a terminal obeys the second name."""
    names = {"a": "a\x00z", "b": "b\x1b[31m3", "c": "c\x9b1"}
    of = [row for k in range(3) for row in of_period(week(k), "abc")]
    for each in of:
        each["hospital"] = names[each["hospital"]]
    panel = clean(of)
    assert {*panel.table["entity"]} == {*panel.table["name"]} == {"a?z", "b?[31m3", "c?1"}
    assert panel.warnings == ("control characters in column hospital read as ?",)
    of[1]["week"] = "soon"
    assert "\x1b" not in refused(of)
