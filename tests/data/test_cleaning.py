"""Each rule of cleaning holds on a small table done by hand, and cleaning holds for any table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.drawn import (
    PLAIN,
    Drawn,
    clean,
    clean_raw,
    counts,
    dataset,
    line,
    of_period,
    refused,
    rows,
    sources,
    streams,
    table,
    typed,
    week,
)
from dpol.data.cleaning import SELECTIONS, clean_stream, joined


def test_an_entity_that_moves_plays_where_its_rows_are_with_its_latest_group() -> None:
    here = rows({**PLAIN, "k": ("5 5 5 5 5", "9 9 9 9 9"), "a": ("1 2 3 _ _", "9 9 9 9 9")}, "A")
    there = rows({"a": ("_ _ _ 4 5", "8 8 8 8 8"), "c": ("1 1 1 1 1", "9 9 9 9 9")}, "B")
    panel = clean(here + there, dataset(max_carry=1), streams(S=["A"], T=["B"], U=["A", "B"]))
    parts = dict(iter(panel.table[panel.table["entity"] == "a"].groupby("stream")))
    assert parts["S"]["count"].tolist() == [1, 2, 3, 3, 0]
    assert parts["T"]["count"].tolist() == [0, 0, 0, 4, 5]
    assert parts["U"]["count"].tolist() == [1, 2, 3, 4, 5]
    assert [set(part["group"]) for part in parts.values()] == [{"A"}, {"B"}, {"B"}]
    assert [counts(panel, stream).get("moved_entities") for stream in range(3)] == [1, 1, 1]
    assert [counts(panel, stream).get("absent_rows") for stream in range(3)] == [2, 3, None]


@pytest.mark.parametrize("hide", [False, True])
def test_zeros_that_may_hide_counts_are_marked_and_play_as_zeros(hide: bool) -> None:
    rules = dataset(zeros_hide=hide, max_carry=1)
    panel = clean({**PLAIN, "a": ("0 * 0 _ 7", "10 10 10 10 10")}, rules)
    assert line(panel, "a", "count") == [0, 2, 0, 0, 7]
    zero = "zero_or_hidden" if hide else "reported"
    assert line(panel, "a", "count_source") == [zero, "suppressed", zero, "carried", "reported"]
    assert panel.reports[0].changed == 2
    assert ("zero_share" in panel.reports[0].unmeasured) == hide


def test_other_markers_and_another_suppressed_value_can_be_chosen_as_text_or_number() -> None:
    hidden, missing = ["<4", "-1"], ["?", "-2"]
    rules = dataset(suppressed_markers=hidden, missing_markers=missing, suppressed_value=1.5)
    panel = clean({**PLAIN, "a": ("7 <4 -1.0 ? -2.00", "10 -1.00 10 ? -2.0")}, rules)
    assert line(panel, "a", "count") == [7, 1.5, 1.5, 1.5, 1.5]
    assert sources(panel, "a", "count_source") == "rsscc"
    assert sources(panel, "a", "capacity_source") == "rcrcc"
    assert "'NA': 1 cell" in refused({**PLAIN, "a": (". 1 1 1 1", "9 9 9 9 9")}, rules)


def test_negative_capacities_are_missing_and_negative_counts_if_the_rules_say_so() -> None:
    drawn = {**PLAIN, "a": ("1 -2.0 4 -1 -0.5", "-2.0 9 -0.1 9 -2.6")}
    panel = clean(drawn, dataset(negative_counts="missing", capacity_zero="carry"))
    assert line(panel, "a", "count") == [1, 1, 4, 4, 4]
    assert line(panel, "a", "capacity") == [9] * 5
    assert sources(panel, "a", "capacity_source") == "zrzrc"
    found = counts(panel)
    assert (found["negative_counts"], found["negative_capacities"]) == (3, 3)
    said = refused(drawn)
    assert "negative_counts: missing" in said
    assert "column beds" not in said


@pytest.mark.parametrize("max_carry", [0, 1, 4])
def test_a_person_of_two_weeks_is_counted_in_as_many_more_as_counts_are_carried(
    max_carry: int,
) -> None:
    """Privacy records state this cost of carrying forward; it is reached, but not exceeded."""
    nine, rules = " ".join(["9"] * 9), dataset(max_carry=max_carry)
    one, other = (
        clean({"h": (nine, nine), "a": (f"{counts} . . . . . .", nine)}, rules)
        for counts in ("5 6 7", "5 5 6")
    )
    moved = np.subtract(line(one, "a", "count"), line(other, "a", "count"))
    assert np.flatnonzero(moved).tolist() == list(range(1, 3 + max_carry))
    assert moved.max() == 1
    assert one.reports[0].max_carry == max_carry


@pytest.mark.parametrize(
    ("case_factor", "kept"), [(1, {"c"}), (7, {"b", "c"}), (7.5, {"a", "b", "c"})]
)
def test_entities_with_too_few_cases_are_dropped_and_those_with_enough_are_kept(
    case_factor: float, kept: set[str]
) -> None:
    drawn = {"a": ("4 5 5", "9 9 9"), "b": ("5 5 5", "9 9 9"), "c": ("50 50 5", "99 99 99")}
    more = {"d": ("200 0 0", "99 99 99")}
    panel = clean({**drawn, **more}, dataset(min_total_cases=105, case_factor=case_factor))
    assert set(panel.table["entity"]) == kept | {"d"}
    reasons = {drop["entity"]: drop["reason"] for drop in panel.reports[0].dropped}
    assert set(reasons) == set(drawn) - kept
    if "a" in reasons:
        assert reasons["a"] == f"{14 * case_factor:g} cases in all, fewer than 105"
    (drop,) = clean(drawn | more, dataset(min_total_cases=14.00000001)).reports[0].dropped
    assert drop["reason"] == "14 cases in all, fewer than 14.00000001", "it does not round"


def test_cases_of_suppressed_missing_and_repeated_rows() -> None:
    """Suppressed cases count as the suppressed value, missing cases as 0, repeated rows once."""
    drawn = {**PLAIN, "a": ("* * . 0 1", "9 9 9 9 9"), "b": ("9 9 9 9 9", "9 9 9 9 9")}
    assert not clean(drawn, dataset(min_total_cases=5)).reports[0].dropped
    for given_rows in (rows(drawn), 2 * rows(drawn)):
        (drop,) = clean(given_rows, dataset(min_total_cases=5.5)).reports[0].dropped
        assert drop["reason"] == "5 cases in all, fewer than 5.5"


def test_case_columns_are_added_up_in_place_of_the_count() -> None:
    of = rows({"a": ("0 0", "9 9"), "b": ("9 9", "9 9"), "c": ("9 9", "9 9")})
    for row, adult, child in zip(of, "314064", ["-999999", "", "0", "1", "0", "0"], strict=True):
        row |= {"adult": adult, "child": child}
    panel = clean(of, dataset({"cases": ["adult", "child"]}, min_total_cases=6))
    assert [drop["entity"] for drop in panel.reports[0].dropped] == ["b"]
    assert line(panel, "a", "count") == [0, 0], "cases are for filtering only"


def test_a_group_without_a_row_is_told_with_the_groups_and_periods_that_exist() -> None:
    of = rows({"a": ("1 1", "9 9"), "b": ("1 1", "9 9")}) + rows({"c": ("1", "9")}, "Riverside")
    assert refused(of, None, streams(T=["A", "B", "Riversid"])) == (
        "hospitals.csv: stream T has no row within the periods of 2 groups:\n  'B'\n"
        "  'Riversid'; did you mean Riverside?\nChange streams.T.groups or dataset.periods. Groups"
        " in column state: A and Riverside; periods in the table: 2021-01-03 to 2021-01-10"
    )
    assert clean(of, wanted=streams(T=["A", "Riverside"])).reports[0].entities == 3


@pytest.mark.parametrize(
    ("drawn", "least", "kept"),
    [
        ({"a": ("1", "9"), "b": ("5", "9")}, 5, "1 of 2"),
        ({"a": ("1", "9"), "b": ("5", "9"), "c": ("6", "9")}, 7, "0 of 3"),
        ({"a": ("1", "0"), "b": ("5", ".")}, 0, "0 of 2"),
    ],
)
def test_a_stream_of_fewer_than_two_entities_is_refused_with_the_remedies(
    drawn: Drawn, least: float, kept: str
) -> None:
    message = refused(drawn, dataset(min_total_cases=least))
    assert f"stream S keeps {kept} entities, but needs at least 2. Lower" in message
    for key in ("cleaning.min_total_cases", "cleaning.entities", "columns.capacity"):
        assert f"dataset.{key}" in message


def test_a_stream_of_one_entity_is_refused_with_its_own_remedies() -> None:
    assert refused({"a": ("1", "9")}, dataset(min_total_cases=0)).endswith(
        "S keeps 1 of 1 entities, but needs at least 2. Check dataset.columns.entity, or add groups"
        " to streams.S.groups"
    )


@pytest.mark.parametrize(
    ("first", "last", "counts"),
    [
        (None, None, [1, 2, 3, 4, 5]),
        (week(1), week(3), [2, 3, 4]),
        ("2021-01-04", "2021-01-30", [2, 3, 4]),
        (week(4), None, [5]),
        (week(2), week(2), [3]),
        (None, week(0), [1]),
    ],
)
def test_the_first_and_last_period_are_included_and_others_are_left_out(
    first: str | None, last: str | None, counts: list[float]
) -> None:
    drawn = {**PLAIN, "a": PLAIN["h"]}
    panel = clean(drawn, dataset(periods={"first": first, "last": last}))
    assert line(panel, "h", "count") == counts
    assert panel.joined["rows_outside"] == 10 - 2 * len(counts)


def test_nothing_is_carried_and_no_case_counted_from_outside_the_periods() -> None:
    drawn = {"h": ("9 9 9", "9 9 9"), "a": ("7 . 3", "5 . 6"), "b": ("99 1 1", "9 9 9")}
    panel = clean(drawn, dataset(periods={"first": week(1)}, min_total_cases=3))
    assert line(panel, "a", "count") == [0, 3]
    assert line(panel, "a", "capacity") == [6, 6]
    assert [drop["entity"] for drop in panel.reports[0].dropped] == ["b"]


@pytest.mark.parametrize(
    ("dates", "days", "gaps"),
    [
        ("2020-12-18 2020-12-25 2021-01-03 2021-01-10", 7, ""),  # from Fridays to Sundays
        ("2020-12-20 2020-12-25", 7, ""),  # and back
        ("2020-12-18 2021-01-03", 7, "1 between 2020-12-18 and 2021-01-03"),
        ("2021-01-03 2021-01-15", 7, "1 between 2021-01-03 and 2021-01-15"),
        ("2021-01-03 2021-01-17 2021-01-24 2021-02-21", 7,
         "1 between 2021-01-03 and 2021-01-17; 3 between 2021-01-24 and 2021-02-21"),
        ("2021-01-03 2021-01-17", 14, ""),
        ("2021-01-03 2021-01-05", 1, "1 between 2021-01-03 and 2021-01-05"),
        ("2021-01-03 2021-01-07", 7, ""),
        ("2021-01-03 2021-01-11", 14, ""),
        # Exactly half of a period is too little: it is as near to the same as to the next one.
        ("2021-01-03 2021-01-04", 2, None),
        ("2021-01-03 2021-01-06", 7, None),
        ("2021-01-03 2021-01-10", 14, None),
    ],
)  # fmt: skip
def test_missing_periods_are_reported_and_a_move_from_friday_to_sunday_is_none(
    dates: str, days: int, gaps: str | None
) -> None:
    of = [row for date in dates.split() for row in of_period(date, "ab")]
    rules = dataset(periods={"days": days})
    if gaps is None:
        first, second = dates.split()
        assert refused(of, rules).startswith(
            f"hospitals.csv, row 2: stream S has periods {first} and {second}, less than a period"
        )
        return
    (report,) = clean(of, rules).reports
    assert report.checks == ([f"periods missing: {gaps}"] if gaps else [])
    assert report.periods == len(dates.split())


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (1, 0, 2, 3), (3, 2, 1, 0)], ids=str)
def test_an_entity_that_changes_its_name_is_shown_by_the_same_one_in_any_order_of_rows(
    order: tuple[int, ...],
) -> None:
    of = rows({"a": ("1 1", "9 9"), "h": ("1 1", "9 9")})
    for row, name in zip(of, ["old", "new", "h", "h"], strict=True):
        row["title"] = name
    panel = clean([of[i] for i in order], dataset({"name": "title"}))
    assert line(panel, "a", "name") == ["new", "new"]


# Any table ---------------------------------------------------------------------------------------

COUNT_CELLS = st.sampled_from(["0", "1", "2.5", "7", "30", "*", "."])
NOTHING = {"0", "-2.6"}
NO_CAPACITY = NOTHING | {"*", "."}
CAPACITY_CELLS = st.sampled_from(["1", "4.5", "10", "40", *sorted(NO_CAPACITY)])


@st.composite
def drawings(draw: st.DrawFn) -> dict[str, tuple[str, str]]:
    """Draw up to four entities over up to seven weeks; at least two have a capacity."""
    weeks = draw(st.integers(1, 7))
    drawn = {}
    for index in range(draw(st.integers(2, 4))):
        counts = draw(st.lists(COUNT_CELLS | st.just("_"), min_size=weeks, max_size=weeks))
        capacities = draw(st.lists(CAPACITY_CELLS, min_size=weeks, max_size=weeks))
        if index < 2:
            place = draw(st.integers(0, weeks - 1))
            capacities[place] = "10"
            counts[place] = counts[place].replace("_", ".")
            if index == 0:
                counts[place] = counts[place].replace(".", "1")
        drawn[f"h{index}"] = (" ".join(counts), " ".join(capacities))
    return drawn


def by_hand(
    counts: str, capacities: str, present: list[int], max_carry: int
) -> list[tuple[float, str, float, str]]:
    """Clean one entity cell by cell, in plain code."""
    known = [
        k != "_" and c not in NO_CAPACITY
        for k, c in zip(counts.split(), capacities.split(), strict=True)
    ]
    cells = []
    last, when, beds = 0.0, None, None
    first = next(float(c) for c, good in zip(capacities.split(), known, strict=True) if good)
    for t, count in enumerate(counts.split()):
        if count in "._":
            recent = when is not None and t - when <= max_carry
            last, source = (last, "carried") if recent else (0.0, "zero")
        else:
            when = t
            last, source = (2.0, "suppressed") if count == "*" else (float(count), "reported")
        if known[t]:
            beds = float(capacities.split()[t])
        beds_source = "reported" if known[t] else "backfilled" if beds is None else "carried"
        if count not in "._0" and capacities.split()[t] in NOTHING:
            beds_source = "zero"
        if t in present:
            cells.append((last, source, first if beds is None else beds, beds_source))
    return cells


@settings(max_examples=20)
@given(drawn=drawings(), max_carry=st.integers(0, 4), data=st.data())
def test_any_table_is_cleaned_as_by_hand_in_any_order_of_rows(
    drawn: Drawn, max_carry: int, data: st.DataObject
) -> None:
    given_rows = rows(drawn)
    given_rows += given_rows[:2]
    raw = table(data.draw(st.permutations(given_rows)))
    before = raw.cells.copy(deep=True)
    rules = dataset(max_carry=max_carry, capacity_zero="carry")
    panel = clean_raw(raw, rules, streams(S=["A"]))
    pd.testing.assert_frame_equal(raw.cells, before)  # cleaning leaves the raw table alone
    kept = {
        entity: lines
        for entity, lines in drawn.items()
        if any(
            k != "_" and c not in NO_CAPACITY for k, c in zip(*map(str.split, lines), strict=True)
        )
    }
    present = [
        t
        for t, cells in enumerate(zip(*(k.split() for k, _ in kept.values()), strict=True))
        if not {*cells} <= {"_", "."}
    ]
    columns = ["count", "count_source", "capacity", "capacity_source"]
    assert set(panel.table["entity"]) == set(kept)
    for entity, lines in kept.items():
        part = panel.table[panel.table["entity"] == entity]
        assert part["period"].dt.strftime("%Y-%m-%d").tolist() == [week(t) for t in present]
        expected = by_hand(*lines, present, max_carry)
        assert list(part[columns].itertuples(index=False, name=None)) == expected
    cells, (report,) = panel.table, panel.reports
    share = cells["count"] / cells["capacity"]
    assert (cells["density"] == np.minimum(share, 1)).all()
    assert report.cells["clipped_densities"] == (share > 1).sum()
    assert report.largest_density == cells["density"].max()
    assert report.smallest_capacity == cells["capacity"].min()
    assert len(cells) == report.entities * report.periods == len(kept) * len(present)


# Who plays ---------------------------------------------------------------------------------------

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


def test_an_identifier_that_no_stream_holds_is_refused_with_the_nearest() -> None:
    drawn = {"050001": ("1", "9"), "050002": ("1", "9"), "320001": ("1", "9")}
    given = ["050001", "50002", "320001", "St. Mary"]
    assert refused(drawn, dataset(entities=given, min_total_cases=100)) == (
        "hospitals.csv: correct dataset.cleaning.entities, which lists 2 entities without a row:\n"
        "  '50002'; did you mean 050002?\n"
        "  'St. Mary'"
    )


@pytest.mark.parametrize(
    ("otherwise", "said"),
    [
        ({}, []),
        ({"least": [5, 9]}, []),
        ({"entities": {"S": 3}, "least": None}, ["stream S has 2 hospitals; the paper has 3"]),
        ({"periods": 1_000},
         [f"stream {label} has 2 periods; the paper has 1,000" for label in ("S", "T")]),
        ({"least": [5, 14]}, ["the smallest capacity is 5 to 20 by stream and period, 5 to 9 by"
                              " stream; in the paper it is 5 to 14"]),
    ],
)  # fmt: skip
def test_a_table_unlike_the_papers_is_cleaned_with_a_warning(
    otherwise: dict[str, Any], said: list[str]
) -> None:
    """The fewest beds are 5 to 9 by stream, and 5 to 20 by stream and week."""
    here = rows({"a": ("1 1", "5 20"), "h": ("1 1", "30 30")}, "A")
    there = rows({"b": ("1 1", "9 14"), "k": ("1 1", "30 30")}, "B")
    reported = {"entities": {"S": 2, "T": 2}, "periods": 2, "least": [5, 20], **otherwise}
    of, columns = typed(table([*here, *there]), dataset()), dataset().needed_columns
    each = [clean_stream(of, label, [it], dataset()) for label, it in (("S", "A"), ("T", "B"))]
    assert joined([report for _, report in each], columns, reported)["warnings"] == said
