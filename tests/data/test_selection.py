"""Choice of entities: by the counts of all periods, a public warm-up, a list, or everybody."""

from __future__ import annotations

from typing import Any

import pytest

from data.drawn import Drawn, clean, counts, dataset, line, refused, rows, streams, week
from dpol.data.selection import SELECTIONS, selection_of

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
        ({"min_total_cases": 12, "warm_up_last": week(2)}, "warm-up", "ac"),
        ({"min_total_cases": 0, "warm_up_last": week(2)}, "all", "abcd"),
    ],
)
def test_who_plays(cleaning: dict[str, Any], selection: str, kept: str) -> None:
    rules = dataset(**cleaning)
    (report,) = clean(FOUR, rules).reports
    assert selection_of(rules.cleaning) == report.selection == selection
    assert selection in SELECTIONS
    assert set("abcd") - {drop["entity"] for drop in report.dropped} == set(kept)


@pytest.mark.parametrize("cell", range(20))
def test_no_count_decides_who_plays_where_all_or_a_list_does(cell: int) -> None:
    """Counts do decide with `counts`: a count of 99 lets d play."""
    counts_of = {name: list(found[0].split()) for name, found in FOUR.items()}
    counts_of["abcd"[cell // 5]][cell % 5] = "99" if cell // 5 else "0"
    changed = {name: (" ".join(counts_of[name]), FOUR[name][1]) for name in FOUR}
    for entities in ("all", ["a", "d"]):
        rules = dataset(entities=entities, min_total_cases=100)
        assert clean(changed, rules).reports[0].dropped == clean(FOUR, rules).reports[0].dropped
    rules = dataset(min_total_cases=12, warm_up_last=week(2))
    if cell % 5 > 2:
        assert clean(changed, rules).reports[0].dropped == clean(FOUR, rules).reports[0].dropped
    if cell // 5 == 3:
        rules = dataset(min_total_cases=20)
        assert clean(changed, rules).reports[0].dropped != clean(FOUR, rules).reports[0].dropped


def test_the_warm_up_is_not_played_and_nothing_is_carried_out_of_it() -> None:
    drawn = {**FOUR, "a": ("9 9 9 . 1", "9 9 8 . 7"), "c": ("5 5 * _ 5", "9 9 9 9 9")}
    panel = clean(drawn, dataset(min_total_cases=12, warm_up_last=week(2)))
    assert line(panel, "a", "count") == [0, 1]
    assert line(panel, "a", "capacity") == [7, 7]
    assert line(panel, "c", "count") == [0, 5]
    assert panel.reports[0].periods == 2
    assert counts(panel) == {
        "warm_up_rows": 12,
        "absent_rows": 1,
        "missing_counts": 1,
        "zero_counts": 2,
        "missing_capacities": 1,
        "backfilled_capacities": 2,
    }
    more = {"e": ("9 9 9 _ _", "9 9 9 9 9"), "f": ("9 9 9 9 9", "9 9 9 0 .")}
    panel = clean(drawn | more, dataset(min_total_cases=12, warm_up_last=week(2)))
    reasons = {drop["entity"]: drop["reason"] for drop in panel.reports[0].dropped}
    assert reasons == dict.fromkeys("bd", "0 cases in the warm-up, fewer than 12") | dict.fromkeys(
        "ef", "never reports a capacity above 0"
    )


@pytest.mark.parametrize(
    ("last", "what"),
    [
        ("2021-01-02", "no period belongs to it"),
        (week(4), "no period is left to play"),
        ("2050-01-01", "no period is left to play"),
    ],
)
def test_a_warm_up_outside_the_periods_is_refused(last: str, what: str) -> None:
    assert refused(FOUR, dataset(warm_up_last=last)) == (
        f"hospitals.csv: with dataset.cleaning.warm_up_last = {last} {what}; stream S has periods"
        " from 2021-01-03 to 2021-01-31"
    )


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
    rules = dataset(entities=["a", "b", "e", "g"], min_total_cases=100)
    panel = clean(of, rules, streams(S=["A"], T=["B"]))
    assert [report.entities for report in panel.reports] == [2, 2]
    assert panel.reports[1].dropped == (
        {"entity": "f", "name": "f", "reason": "not listed in dataset.cleaning.entities"},
    )
    assert "stream T keeps 1 of 3 entities after filtering, at least 2 are needed; list more" in (
        refused(of, dataset(entities=["a", "b", "e"], min_total_cases=100),
                streams(S=["A"], T=["B"]))
    )  # fmt: skip


def test_a_listed_entity_that_cannot_play_is_refused() -> None:
    drawn = {**FOUR, "e": ("9", "0")}
    assert refused(drawn, dataset(entities=["a", "b", "e"], min_total_cases=100)) == (
        "hospitals.csv: dataset.cleaning.entities lists e, but stream S has no capacity above 0 for"
        " it; take such entities out of the list, or check dataset.columns.capacity"
    )
