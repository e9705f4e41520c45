"""Each rule of cleaning holds on a small table done by hand, and cleaning holds for any table."""

from __future__ import annotations

import datetime
import itertools
import random
from collections import Counter
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from data.cleaning_plain import cleaned
from data.drawn import (
    OF_COUNTS,
    PLAIN,
    SUMS,
    Drawn,
    clean,
    counts,
    dataset,
    line,
    refused,
    row,
    rows,
    sources,
    streams,
    table,
    told,
    week,
)
from dpol.data.cleaning import (
    RULES,
    SELECTIONS,
    ZERO_WOULD_BE_BEST,
    report_as_markdown,
)
from dpol.data.question import Gain
from dpol.data.settings import Cleaning

COLUMNS = ["count", "count_source", "capacity", "capacity_source"]
START = datetime.date(2021, 1, 3)


def test_an_entity_that_moves_plays_where_its_rows_are_with_its_latest_group_and_name() -> None:
    here = rows({**PLAIN, "k": ("5 5 5 5 5", "9 9 9 9 9"), "a": ("1 2 3 _ _", "9 9 9 9 9")}, "A")
    there = rows({"a": ("_ _ _ 4 5", "8 8 8 8 8"), "c": ("1 1 1 1 1", "9 9 9 9 9")}, "B")
    for cells in here + there:
        cells["title"] = f"{cells['hospital']} of {cells['state']}"
    rules = dataset({"name": "title"}, max_carry=1)
    panel = clean(here + there, rules, streams(S=["A"], T=["B"], U=["A", "B"]))
    parts = dict(iter(panel.table[panel.table["entity"] == "a"].groupby("stream")))
    assert parts["S"]["count"].tolist() == [1, 2, 3, 3, 0]
    assert parts["T"]["count"].tolist() == [0, 0, 0, 4, 5]
    assert parts["U"]["count"].tolist() == [1, 2, 3, 4, 5]
    assert [set(part["group"]) for part in parts.values()] == [{"A"}, {"B"}, {"B"}]
    assert [set(part["name"]) for part in parts.values()] == [{"a of A"}, {"a of B"}, {"a of B"}]
    assert [counts(panel, stream).get("renamed_entities") for stream in range(3)] == [None, None, 1]
    assert [counts(panel, stream).get("moved_entities") for stream in range(3)] == [1, 1, 1]
    assert [counts(panel, stream).get("absent_rows") for stream in range(3)] == [2, 3, None]


def test_other_markers_and_another_suppressed_value_can_be_chosen_as_text_or_number() -> None:
    hidden, missing = ["<4", "-1"], ["?", "-2"]
    rules = dataset(suppressed_markers=hidden, missing_markers=missing, suppressed_value=1.5)
    panel = clean({**PLAIN, "a": ("7 <4 -1.0 ? -2.00", "10 -1.00 10 ? -2.0")}, rules)
    assert line(panel, "a", "count") == [7, 1.5, 1.5, 1.5, 1.5]
    assert sources(panel, "a", "count_source") == "rsscc"
    assert sources(panel, "a", "capacity_source") == "rcrcc"
    assert "'NA': 1 cell" in refused({**PLAIN, "a": (". 1 1 1 1", "9 9 9 9 9")}, rules)


def test_a_negative_count_is_refused_with_the_rule_and_a_negative_capacity_is_missing() -> None:
    said = refused({**PLAIN, "a": ("1 -2.0 4 -1 5", "9 9 -0.1 9 9")})
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


def test_case_columns_are_added_up_in_place_of_the_count() -> None:
    """A suppressed case counts as 2, a missing or negative one as 0."""
    of = rows({"a": ("0 0", "9 9"), "b": ("9 9", "9 9"), "c": ("9 9", "9 9")})
    for cells, adult, child in zip(of, "314064", ["-999999", "", "-1", "1", "0", "0"], strict=True):
        cells |= {"adult": adult, "child": child}
    rules = dataset({"cases": ["adult", "child"]}, min_total_cases=6, negative_counts="missing")
    panel = clean(of, rules)
    assert [drop["entity"] for drop in panel.reports[0].dropped] == ["b"]
    assert line(panel, "a", "count") == [0, 0], "cases are for filtering only"
    assert counts(panel) == {"suppressed_cases": 1, "missing_cases": 1, "negative_cases": 1}


def test_an_entity_without_a_name_is_shown_by_its_identifier() -> None:
    of = [cells | {"title": ""} for cells in rows({**PLAIN, "a": PLAIN["h"]})]
    assert {*clean(of, dataset({"name": "title"})).table["name"]} == {"a", "h"}


def test_a_group_without_a_row_is_told_with_the_groups_and_periods_that_exist() -> None:
    of = rows({"a": ("1 1", "9 9"), "b": ("1 1", "9 9")}) + rows({"c": ("1", "9")}, "Riverside")
    assert refused(of, None, streams(T=["A", "B", "Riversid"])) == (
        "hospitals.csv: stream T has no row within the periods of 2 groups:\n  'B'\n"
        "  'Riversid'; did you mean Riverside?\nChange streams.T.groups or dataset.periods. Groups"
        " in column state: A and Riverside; periods in the table: 2021-01-03 to 2021-01-10"
    )
    assert clean(of, wanted=streams(T=["A", "Riverside"])).reports[0].entities == 3


def test_a_stream_of_fewer_than_two_entities_is_refused_with_the_remedies() -> None:
    """Five cases are enough."""
    few = refused({"a": ("1", "9"), "b": ("5", "9")}, dataset(min_total_cases=5))
    assert few.endswith(
        "keeps 1 of 2 entities, but needs at least 2 (a: 1 cases in all, fewer than 5). Lower"
        " dataset.cleaning.min_total_cases, list more in dataset.cleaning.entities, change"
        " dataset.cleaning.capacity_zero, add groups to streams.S.groups, or check"
        " dataset.columns.capacity"
    )
    remedy = "Check dataset.columns.entity, or add groups to streams.S.groups"
    assert refused({"a": ("9", "9")}, dataset(min_total_cases=5)).endswith(f"at least 2. {remedy}")


def clipped(number: int) -> Drawn:
    """Draw 200 counts, of which some are 9 people in 8 beds."""
    beds = ["8"] * number + ["9"] * (100 - number)
    return {"a\nb": (" ".join("9" * 100), " ".join(beds)), "c": (" ".join("1" * 100),) * 2}


def late(number: int) -> Drawn:
    """Draw 160 counts, of which some are missing at the start, so that none is carried."""
    nine, missing = " ".join("9" * 40), " ".join("." * number + "5" * (40 - number))
    return {"late": (missing, nine), **{f"h{k}": (nine, nine) for k in range(3)}}


def test_counts_above_the_capacity_are_cut_and_named_or_missing() -> None:
    (report,) = clean(clipped(3)).reports
    cut = "; ".join(f"a b, {week(t)}: 9" for t in range(3))
    assert report.checks == [f"counts above their bound, cut to it (cleaning.above): {cut}"]
    left_out = clean(clipped(3), dataset(above="missing", max_carry=0))
    assert counts(left_out) == {"zero_counts": 3, "above_counts": 3}
    assert clean(clipped(2), dataset(above=None)), "1% of the counts"
    blank = {of: (line, beds.replace("8 8 8", "8 . .")) for of, (line, beds) in clipped(3).items()}
    assert counts(clean(blank, dataset(above="missing", max_carry=0)))["above_counts"] == 3
    few = refused(clipped(3), dataset(above="missing", min_total_cases=900))
    assert "(a b: 873 cases in all, fewer than 900 and c: 100 cases" in few
    many = refused(clipped(3), dataset(above=None))
    assert many.endswith("if the counts hold other signs, check dataset.read.thousands")
    assert many.startswith(
        f"hospitals.csv: 3 of 200 counts of stream S are above their capacity ({cut}). Set"
        " dataset.cleaning.above to missing if they are typing errors, or to cut if they are real."
    )


def test_a_run_stops_if_more_cells_become_0_than_max_zeroed() -> None:
    """Of 160 cells, 8 are a share of 0.05."""
    rules = dataset(max_zeroed=Cleaning().max_zeroed)
    warnings = clean(late(8), rules).warnings
    assert "stream S: missing counts set to 0: 8 of 160 cells" in warnings
    said = refused(late(9), rules).splitlines()
    assert said[0] == (
        "hospitals.csv: stream S has 9 cells of 160 that would become 0, with no count in the"
        " period nor in the 4 before; allowed by dataset.cleaning.max_zeroed: 8"
    )
    assert said[1] == "  late: 9 cells"
    assert said[2].startswith("If two names are one entity, give them one name in the table")
    assert "raise dataset.cleaning.max_zeroed to 0.057" in said[2]
    gone = refused({"a": ("9 . . . . . . .", "9 " * 8), "b": ("9 " * 8, "9 " * 8)}, rules)
    assert "to 0.438, and set dataset.cleaning.max_carry: 0" in gone, "then none is carried"


@pytest.mark.parametrize("negative", [False, True])
def test_a_stream_without_any_count_is_refused(negative: bool) -> None:
    of = {"a": (". -1 _", "9 9 9") if negative else (". . _", "9 9 9"), "b": (". . .", "9 9 9")}
    said = refused(of, dataset(negative_counts="missing"))
    assert said.startswith("hospitals.csv: stream S has no counts: all 5 cells are missing. Check")
    assert clean({**of, "b": (". . *", "9 9 9")}, dataset(negative_counts="missing"))


# Counts without a capacity -----------------------------------------------------------------------

IDLE: Drawn = {
    "a": ("3 3 0 . 5 5", "0 9 0 0 -1 9"),
    "b": ("1 1 1 1 1 *", "9 9 9 9 9 0.0"),
    "h": ("1 1 1 1 1 1", "9 9 9 9 9 9"),
    "k": ("2 2 2 2 2 2", "18 18 18 18 18 18"),
}
"""A count of 0, or none, beside a capacity of 0 is no question."""


def test_counts_above_0_without_a_capacity_stop_the_run_with_a_question() -> None:
    assert refused(IDLE).startswith(
        "hospitals.csv: stream S has 3 counts above 0 beside a capacity of 0 or less, of a (2"
        " periods) and b (1 period). Set dataset.cleaning.capacity_zero to drop, which leaves"
    )
    assert clean(IDLE, dataset(entities=["h", "k"])), "the others do not play"
    told = " (cleaning.capacity_zero: absent): a (2 periods); b (1 period)"
    assert any(told in text for text in clean(IDLE, dataset(capacity_zero="absent")).warnings)


# Any table ---------------------------------------------------------------------------------------

PUBLISHED = ["0", "1", "2.5", "7", "30", "4.3:30:7"]
HIDDEN = ["*", "*:15:7", "*:*:7", "*:*:2", "*:4:2", "*:.:5", "*:12:.", "*:12:0", "*:12:8"]
COUNT_CELLS = [*PUBLISHED, *HIDDEN, ".", ".", ".:9:7", "-1", "_", "_"]
BEDS = ["1", "4.5", "10", "40", "40", "*:21:7"]
NO_BEDS = ["0", "0", "0", "-2.6", "*", ".", "*:*:7", "*:21:.", "*:0:7"]
GAPS = [7, 7, 5, 9, 10, 11, 14, 21]
MISTAKES = (
    {"week": "2023-09-04Tgarbage"},
    {"week": "9999-12-31"},
    {"week": "２０２１-02-05"},
    {"week": ""},
    {"hospital": ""},
    {"patients": "16,8"},
    {"beds": "many"},
)
ELSEWHERE = [
    row("A", "a", "2020-12-27", "n/a", "9"),
    row("A", "b", "2020-12-27", "99", "77"),
    *(row("C", "z", week(0), "1", "9") | mistake for mistake in MISTAKES),
]
"""Rows before the first period, and of a group that does not play."""
RULES_OF_CELLS = {
    "max_carry": [0, 1, 2, 3],
    "suppressed_value": [2, 0, 1.5],
    "suppressed_sum": [1, 2, 3],
    "zeros_hide": [False, True],
    "capacity_zero": ["carry", "absent", "absent", "drop"],
    "min_total_cases": [0, 0, 25, 25.00000001],
    "case_factor": [1, 1.5],
}


def drawing(rng: random.Random, periods: int) -> dict[str, tuple[str, str]]:
    """Draw two entities that play, two that may, and one without any capacity.

    In one period, at most one entity has a count.
    """
    drawn, quiet = {}, rng.randrange(periods)
    for name in "abcde":
        counts = rng.choices(COUNT_CELLS, k=periods)
        beds = BEDS if name in "ab" else NO_BEDS if name == "e" else BEDS + NO_BEDS
        if name in "ab":
            counts[quiet - 1] = "30"
        if name != "c":
            counts[quiet] = "."
        drawn[name] = (" ".join(counts), " ".join(rng.choices(beds, k=periods)))
    return drawn


@pytest.mark.parametrize("number", range(36))
def test_any_table_is_cleaned_as_by_hand_in_any_order_of_rows(number: int) -> None:
    rng = random.Random(f"cleaned {number}")
    cleaning = {key: rng.choice(values) for key, values in RULES_OF_CELLS.items()}
    columns, at_most = rng.choice([{}, OF_COUNTS, SUMS, SUMS]), rng.choice([1.0, 2.5])
    days = [0, *itertools.accumulate(rng.choices(GAPS, k=7))]
    starts = [str(START + datetime.timedelta(days=day)) for day in days]
    texts = {week(t): f"{start}{'T00:00:00.000' * (t % 2)}" for t, start in enumerate(starts)}
    drawn = drawing(rng, len(days))
    of = [cells | {"week": texts[cells["week"]]} for cells in rows(drawn)]
    of = told([*of, *of[:2], *ELSEWHERE])
    rng.shuffle(of)
    raw = table(of)
    before = raw.cells.copy(deep=True)
    rules = dataset(columns, {"first": START}, negative_counts="missing", **cleaning)
    sums = [name.removesuffix("_days") for name in columns]
    plain = cleaned(drawn, days, rules.cleaning, sums=sums)
    panel = clean(raw, rules, gain=Gain(at_most=at_most))
    pd.testing.assert_frame_equal(raw.cells, before)  # cleaning leaves the raw table alone
    cells, (report,) = panel.table, panel.reports
    assert set(cells["entity"]) == set(plain.lines)
    for entity, expected in plain.lines.items():
        part = cells[cells["entity"] == entity]
        dated = part["period"].dt.strftime("%Y-%m-%d").tolist()
        assert dated == [starts[t] for t in plain.places]
        shown = list(part[COLUMNS].itertuples(index=False, name=None))
        assert shown == [cell.shown for cell in expected]
    share = cells["count"] / cells["capacity"]
    assert (cells["density"] == np.minimum(share, at_most)).all()
    every = [cell for line in plain.lines.values() for cell in line]
    touched = Counter(rule for cell in every for rule in cell.touched)
    touched |= {"exact_duplicates": 2, "clipped_densities": int((share > at_most).sum())}
    assert counts(panel) == {rule: touched[rule] for rule in RULES if touched[rule]}
    assert {it["entity"]: it["reason"] for it in report.dropped} == plain.dropped
    assert report.selection == ("counts" if cleaning["min_total_cases"] else "all")
    as_reported = cells[COLUMNS[1::2]].isin(["reported", "zero_or_hidden"]).all(axis=1)
    assert report.changed == (~as_reported | (share > at_most)).sum()
    may_hide = (cells["count_source"] == "zero_or_hidden").any()
    assert ("zero_share" in report.unmeasured) == may_hide
    assert report.largest_density == cells["density"].max()
    assert report.smallest_capacity == cells["capacity"].min()
    assert len(cells) == report.entities * report.periods == len(every)
    assert (panel.joined["rows_read"], panel.joined["rows_outside"]) == (len(of), len(ELSEWHERE))
    assert_the_page_tells(panel, plain.dropped)


def assert_the_page_tells(panel: SimpleNamespace, dropped: Mapping[str, str]) -> None:
    """Assert that the page of a stream says what its report does; rules without a cell at once."""
    page = report_as_markdown(panel.joined).splitlines()
    (report,) = panel.reports
    for text, shown in {
        **{RULES[rule]: cells for rule, cells in counts(panel).items()},
        "entities kept": report.entities,
        "entities dropped": len(dropped),
        "periods": report.periods,
        "cells": len(panel.table),
        "smallest capacity": f"{report.smallest_capacity:g}",
        "largest density": f"{report.largest_density:.3f}",
        "periods in which no measured number is the largest": report.unmeasured["periods"],
        "their share of the possible gain, %": f"{100 * report.unmeasured['share']:.3g}",
    }.items():
        assert f"| {text} | {shown} |" in page
    of_zeros = f"| share of the possible gain with which {ZERO_WOULD_BE_BEST}, % | "
    zeros = f"{of_zeros}{100 * report.unmeasured.get('zero_share', 0):.3g} |"
    told_zeros = [line for line in page if line.startswith(of_zeros)]
    assert told_zeros == [zeros] * bool(report.unmeasured.get("zero_share"))
    idle = "; ".join(text for rule, text in RULES.items() if not report.cells[rule])
    assert f"None of these: {idle}." in page
    assert {f"| {name} | {name} | {reason} |" for name, reason in dropped.items()} <= {*page}
    assert f"Entities that play: {SELECTIONS[report.selection]}." in page
    assert {f"- {text}" for text in report.understood} <= {*page}
    assert page[-1].endswith("(understood.svg)"), "the picture stands beside the page"


# Who plays ---------------------------------------------------------------------------------------

FOUR: Drawn = dict.fromkeys("abcd", ("5 5", "9 9"))


@pytest.mark.parametrize(
    ("entities", "selection", "kept"),
    [("all", "all", "abcd"), (["d", "b"], "given", "bd"), ([" d", "a "], "given", "ad")],
)
def test_who_plays_may_be_said(entities: Any, selection: str, kept: str) -> None:
    (report,) = clean(FOUR, dataset(entities=entities, min_total_cases=100)).reports
    assert report.selection == selection
    assert set("abcd") - {drop["entity"] for drop in report.dropped} == set(kept)


def test_an_identifier_that_no_stream_holds_is_refused_with_the_nearest() -> None:
    drawn = {"050001": ("1", "9"), "050002": ("1", "9"), "320001": ("1", "9")}
    given = ["050001", "50002", "320001", "St. Mary"]
    assert refused(drawn, dataset(entities=given, min_total_cases=100)) == (
        "hospitals.csv: correct dataset.cleaning.entities, which lists 2 entities without a row:\n"
        "  '50002'; did you mean 050002?\n"
        "  'St. Mary'"
    )
