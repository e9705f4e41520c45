"""Choice of entities: by the counts of all periods, a list, or everybody."""

from __future__ import annotations

from typing import Any

import pytest

from data.drawn import Drawn, clean, dataset, refused, rows, streams
from dpol.data.panel import SELECTIONS

FOUR: Drawn = {
    "a": ("9 9 9 0 0", "9 9 9 9 9"),
    "b": ("0 0 0 99 99", "99 99 99 99 99"),
    "c": ("5 5 5 5 5", "9 9 9 9 9"),
    "d": ("0 0 0 0 1", "9 9 9 9 9"),
}


@pytest.mark.parametrize(
    ("cleaning", "selection", "kept"),
    [
        ({"min_total_cases": 20}, "counts", "abc"),
        ({"min_total_cases": 0}, "all", "abcd"),
        ({"entities": "all", "min_total_cases": 100}, "all", "abcd"),
        ({"entities": ["d", "b"], "min_total_cases": 100}, "given", "bd"),
        ({"entities": [" d", "a "], "min_total_cases": 100}, "given", "ad"),
    ],
)
def test_who_plays(cleaning: dict[str, Any], selection: str, kept: str) -> None:
    (report,) = clean(FOUR, dataset(**cleaning)).reports
    assert report.selection == selection
    assert selection in SELECTIONS
    assert set("abcd") - {drop["entity"] for drop in report.dropped} == set(kept)


@pytest.mark.parametrize("cell", range(0, 20, 3))
def test_no_count_decides_who_plays_where_all_or_a_list_does(cell: int) -> None:
    """Counts do decide with `counts`: a count of 99 lets d play."""
    counts_of = {name: list(cells[0].split()) for name, cells in FOUR.items()}
    counts_of["abcd"[cell // 5]][cell % 5] = "99" if cell // 5 else "0"
    changed = {name: (" ".join(counts_of[name]), FOUR[name][1]) for name in FOUR}
    for entities in ("all", ["a", "d"]):
        rules = dataset(entities=entities, min_total_cases=100)
        assert clean(changed, rules).reports[0].dropped == clean(FOUR, rules).reports[0].dropped
    if cell // 5 == 3:
        rules = dataset(min_total_cases=20)
        assert clean(changed, rules).reports[0].dropped != clean(FOUR, rules).reports[0].dropped


def test_an_identifier_that_no_stream_holds_is_refused_with_the_nearest() -> None:
    drawn = {"050001": ("1", "9"), "050002": ("1", "9"), "320001": ("1", "9")}
    given = ["050001", "50002", "320001", "St. Mary"]
    assert refused(drawn, dataset(entities=given, min_total_cases=100)) == (
        "hospitals.csv: dataset.cleaning.entities lists 2 without a row in the chosen groups and"
        " periods:\n"
        "  '50002'; nearest: 050002, 050001, 320001\n"
        "  'St. Mary'; such as: 050001, 050002, 320001"
    )


def test_a_list_may_name_entities_of_several_streams() -> None:
    of = rows(FOUR) + rows({"e": ("1", "9"), "f": ("1", "9"), "g": ("1", "9")}, "B")
    both = streams(S=["A"], T=["B"])
    panel = clean(of, dataset(entities=["a", "b", "e", "g"], min_total_cases=100), both)
    assert [report.entities for report in panel.reports] == [2, 2]
    assert panel.reports[1].dropped == (
        {"entity": "f", "name": "f", "reason": "not listed in dataset.cleaning.entities"},
    )
    assert "stream T keeps 1 of 3 entities after filtering, at least 2 are needed; list more" in (
        refused(of, dataset(entities=["a", "b", "e"], min_total_cases=100), both)
    )


def test_a_listed_entity_that_cannot_play_is_refused() -> None:
    drawn = {**FOUR, "e": ("9", "0")}
    assert refused(drawn, dataset(entities=["a", "b", "e"], min_total_cases=100)) == (
        "hospitals.csv: dataset.cleaning.entities lists e, but stream S has no capacity above 0 for"
        " it; take such entities out of the list, or check dataset.columns.capacity"
    )
