"""The panel on disk equals the cleaned one; its rows, sums and periods are as their rules say."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.cleaning_plain import SOURCES, number
from data.drawn import (
    PLAIN,
    SUMS,
    Row,
    clean,
    counts,
    dataset,
    line,
    of_period,
    refused,
    row,
    rows,
    sources,
    streams,
    told,
    week,
)
from dpol.core.errors import DataError
from dpol.data.cleaning import provenance_of_stream, report_as_markdown
from dpol.data.settings import Cleaning
from dpol.data.understood import period_of

THREE = pd.Timedelta("3D")
OTHER = {"a": ("1 1 1 1 1", "9 9 9 9 9")}


def test_the_page_tells_where_the_table_came_from_and_no_name_breaks_it() -> None:
    rest = "15 rows read, 0 of them outside the chosen groups and periods."
    digest, out = "0" * 64, {"x": ("1 1 1 1 1", "0 0 0 0 0")}
    whole = clean({**PLAIN, **OTHER, **out}, dataset(capacity_zero="carry")).joined
    assert f"Table `hospitals.csv`, SHA-256 `{digest}`. {rest}" in report_as_markdown(whole)
    fetched = {"retrieved": "2024-05-01", "url": "https://a.example"}
    whole["provenance"] |= {"simulated": True, "fetched": fetched}
    names = {"entity": "A | B\nC", "name": "[`a`](https://evil.example) *b* __c__ <img> &lt;"}
    whole["streams"][0]["dropped"] = [{**names, "reason": "small"}]
    page = report_as_markdown(whole).splitlines()
    when = "retrieved 2024-05-01, from https://a.example"
    assert f"Table `hospitals.csv` (simulated data), SHA-256 `{digest}`, {when}. {rest}" in page
    shown = r"\[\`a\`\](https://evil.example) \*b\* \_\_c\_\_ \<img\> \&lt;"
    assert rf"| A \| B C | {shown} | small |" in page


def test_a_report_without_capacities_has_no_row_of_them() -> None:
    panel = clean({**PLAIN, "a": ("* 2 3 4 5", PLAIN["h"][1])}, dataset({"capacity": None}))
    assert "in 1 of 5 periods, with 100% of the possible gain" in panel.reports[0].checks[0]
    assert panel.reports[0].understood[-1] == "cells: count: reported 90% and suppressed 10%"
    made = json.dumps(panel.joined, allow_nan=False)
    assert "smallest capacity" not in report_as_markdown(json.loads(made))


def test_a_stream_keeps_the_provenance_of_its_table_and_how_its_entities_were_chosen() -> None:
    whole = clean({**PLAIN, **OTHER}).joined
    (stream,) = whole["streams"]
    expected = {**whole["provenance"], "selection": "all", "max_carry": 4}
    assert provenance_of_stream({**whole, "stream": stream}) == expected
    sums = {"sums": {"read_as": 2.0, "days": [5.0, 7.0], "uncovered": None}}
    assert provenance_of_stream({**whole, "stream": {**stream, **sums}}) == {**expected, **sums}


# Hidden averages ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("periods", "most"), [({}, 7), ({"days": 14}, 14), ({"months": 2}, 62)])
def test_a_period_has_no_more_days_than_its_length(periods: dict[str, int], most: int) -> None:
    of = [row("A", f"{days}", "2021-01-01", f"*:70:{days}", "99") for days in (most, most + 1)]
    panel = clean(told(of), dataset(SUMS, periods, suppressed_value=1.5))
    assert panel.table["count"].tolist() == [70 / most, 1.5]


# Several rows of an entity and period ------------------------------------------------------------

ORDER = "suppressed", "sum", "reported"
"""Sources of the rows of a day: the first one found is that of the day."""


def readings(day: int, entity: str, *cells: tuple[str, str]) -> list[Row]:
    """Return a row for each hour of a day, with its count and capacity."""
    return [
        row("A", entity, f"{week(day)} {hour:02}:00", count, beds)
        for hour, (count, beds) in enumerate(cells)
    ]


@pytest.mark.parametrize(
    "change", [{"patients": "3"}, {"patients": "-999999"}, {"beds": "11"}, {"beds": " 10.00"}]
)
@pytest.mark.parametrize("count", ["2", "NA"])
def test_different_rows_are_refused_with_their_places(change: Row, count: str) -> None:
    once = rows({**PLAIN, **OTHER})
    once[1]["patients"] = count
    assert refused([*once, {**once[1], **change}]).startswith(
        "hospitals.csv: 2 rows are of an entity and period with several (h, 2021-01-10: row 3 and"
        " 12). Say what to make of them in dataset.cleaning.several_rows: sum, mean, max or last"
        " (the last in the file); if they have any day of a period"
    )
    panel = clean([*once, {**once[1], **change}, once[1]], dataset(several_rows="last"))
    assert counts(panel).get("merged_rows") == 1
    assert line(panel, "h", "count") == line(clean(once), "h", "count")


def test_rows_with_equal_numbers_in_two_groups_are_not_equal() -> None:
    given_rows = rows({**PLAIN, **OTHER})
    again = [*given_rows, {**given_rows[4], "state": "B"}]
    with pytest.raises(DataError, match="2 rows are of an entity and period with several"):
        clean(again, None, streams(S=["A", "B"]))
    assert counts(clean([*given_rows, given_rows[4]]))["exact_duplicates"] == 1


def test_equal_numbers_at_two_times_of_a_day_are_two_rows() -> None:
    of = readings(0, "a", ("5", "9"), ("5", "9")) + readings(0, "h", ("1", "9"), ("1", "9"))
    said = refused(of)
    assert "a date without a time of day, unless dataset.cleaning.several_rows or" in said
    assert line(clean(of, dataset(several_rows="sum")), "a", "count") == [10]


cells_of_day = st.sampled_from(["0", "3", "4", "8", ".", "*:15:7", "*:*:1", "*:*:7", "*:12:."])
MADE: dict[str, Callable[[list[float]], float]] = {
    "sum": math.fsum,
    "mean": statistics.fmean,
    "max": max,
    "last": lambda counts: counts[-1],
}


@settings(max_examples=20)
@given(
    days=st.lists(st.lists(cells_of_day, min_size=1, max_size=4), min_size=1, max_size=4),
    rule=st.sampled_from([*MADE]),
)
def test_a_day_is_what_python_makes_of_its_rows(days: list[list[str]], rule: str) -> None:
    """A sum with a missing count is missing, other rules leave it out; the latest row is last."""
    of = readings(0, "a", ("1", "9"))
    of += [
        line
        for day, cells in enumerate(days, start=1)
        for line in readings(day, "a", *((cell, "9") for cell in cells))
    ]
    of += [line for day in range(len(days) + 1) for line in readings(day, "h", ("1", "9"))]
    panel = clean(told(of[::-1]), dataset(SUMS, several_rows=rule, max_carry=0))
    expected, kinds = [1.0], "r"
    for cells in days:
        read = [number(cell, 2, 2, sums=True) for cell in cells]
        read = read[-1:] if rule == "last" else read
        known = [count for count, _ in read if count is not None]
        lost = not known or (rule == "sum" and len(known) < len(read))
        expected.append(0.0 if lost else MADE[rule](known))
        of_rows = {SOURCES.get(how, "reported") for _, how in read}
        kinds += "z" if lost else next(it[0] for it in ORDER if it in of_rows)
    assert line(panel, "a", "count") == pytest.approx(expected)
    assert sources(panel, "a", "count_source") == kinds
    found = counts(panel)
    assert found.get("missing_counts", 0) == found.get("zero_counts", 0) == kinds.count("z")
    assert found.get("merged_rows", 0) == sum(len(cells) - 1 for cells in days)


@pytest.mark.parametrize(("rule", "beds"), [("mean", 6), ("max", 8), ("last", 4)])
def test_capacities_of_a_day_have_a_rule_too(rule: str, beds: int) -> None:
    of = readings(0, "a", ("1", "8"), ("1", "0"), ("1", "4")) + readings(0, "h", ("1", "9"))
    rules = dataset(several_rows=rule, capacity_zero="carry")
    assert "have different capacities" in refused(of, dataset(several_rows="sum"))
    assert line(clean(of, rules), "a", "capacity") == [beds]
    unknown = readings(1, "a", ("1", "0"), ("1", "-1"), ("1", "NA"))
    panel = clean([*of, *unknown], rules)
    assert line(panel, "a", "capacity") == [beds, beds]
    assert counts(panel)["missing_capacities"] == 1
    idle = "rz" if rule != "last" else "rc"  # the last row has no capacity, not one of 0
    assert sources(panel, "a", "capacity_source") == idle


@pytest.mark.parametrize("rule", ["sum", "mean", "max"])
def test_rows_equal_in_every_column_are_dropped_or_refused_where_rows_are_parts(rule: str) -> None:
    """A column that is not read otherwise may tell rows apart."""
    once = [line | {"age": age} for age in ("young", "old") for line in rows({**PLAIN, **OTHER})]
    parts = clean(once, dataset(several_rows=rule))
    assert counts(parts) == {"merged_rows": 10}
    said = "hospitals.csv: 1 row equal another in every column (h, 2021-01-03: row 22)"
    assert refused([*once, once[0]], dataset(several_rows=rule)).startswith(said)
    last = clean([*once, once[0]], dataset(several_rows="last"))
    assert counts(last) == {"exact_duplicates": 1, "merged_rows": 10}


# Periods -----------------------------------------------------------------------------------------


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
    ],
)  # fmt: skip
def test_missing_periods_are_reported_and_a_move_from_friday_to_sunday_is_none(
    dates: str, days: int, gaps: str
) -> None:
    of = [it for date in dates.split() for it in of_period(date, "ab")]
    (report,) = clean(of, dataset(periods={"days": days})).reports
    assert report.checks == ([f"periods missing: {gaps}"] if gaps else [])
    assert report.periods == len(dates.split())


@pytest.mark.parametrize(
    ("common", "rare", "length"),
    [
        # Exactly half of a period is too little: it is as near to the same as to the next one.
        ("2021-01-03", "2021-01-04", "2 days"),
        ("2021-01-03", "2021-01-06", "7 days"),
        ("2021-01-10", "2021-01-09", "7 days"),
        ("2021-01-03", "2021-01-10", "14 days"),
        ("2021-05-01", "2021-04-01", "3 months"),
    ],
)
def test_overlapping_periods_name_the_rarer_one(common: str, rare: str, length: str) -> None:
    number, unit = length.split()
    first, second = sorted((common, rare))
    of = "; or, if rows have any day of their period, set dataset.periods.of"
    said = refused(of_period(common, "ab") + of_period(rare, "c"), dataset(periods={unit: number}))
    assert said == (
        f"hospitals.csv, row 4: stream S has periods {first} and {second}, less than a period of"
        f" {length} apart (1 row with {rare}, this one first). Give all entities the same start of"
        f" a period; or change dataset.periods.{unit}{of if unit == 'days' else ''}"
    )


def test_months_that_begin_later_are_refused() -> None:
    message = refused(of_period("2021-05-02", "ab"), dataset(periods={"months": 3}))
    assert "needs the first day of a month:" in message
    assert "'2021-05-02': 2 cells, first in row 2" in message
    assert 'dt.to_period("M").dt.start_time' in message


DATES = {
    "days": pd.date_range("2021-01-01", periods=40),
    "working days": pd.date_range("2021-01-01", periods=40, freq="B"),
    "weeks": pd.date_range("2021-01-03", periods=30, freq="7D"),
    "fortnights": pd.date_range("2021-01-03", periods=20, freq="14D"),
    "months": pd.date_range("2021-01-01", periods=20, freq="MS"),
    "ends of months": pd.date_range("2021-01-31", periods=20, freq="ME"),
    "quarters": pd.date_range("2021-01-01", periods=12, freq="QS"),
    "quarters but one": pd.date_range("2021-01-01", periods=12, freq="QS").delete(7),
    "years": pd.date_range("2011-01-01", periods=8, freq="YS"),
}


def on_dates(dates: pd.DatetimeIndex) -> list[Row]:
    """Return rows of three entities, of which one has no count on the sixth date."""
    of = [it for day in dates for it in of_period(str(day.date()), "abc")]
    of[16]["patients"] = "NA"
    return of


@pytest.mark.parametrize(
    ("kind", "given", "fitting"),
    [
        ("quarters", {}, "months: 3 instead of dataset.periods.days"),
        ("quarters but one", {}, "months: 3 instead of dataset.periods.days"),
        ("quarters", {"days": 7}, "months: 3 instead of dataset.periods.days"),
        ("quarters", {"months": 1}, "months: 3"),
        ("quarters", {"months": 2}, "months: 3"),
        ("quarters", {"months": 12}, "months: 3"),
        ("months", {}, "months: 1 instead of dataset.periods.days"),
        ("months", {"days": 14}, "months: 1 instead of dataset.periods.days"),
        ("months", {"days": 7, "of": "mean"}, "months: 1 instead of dataset.periods.days"),
        ("ends of months", {}, "months: 1 instead of dataset.periods.days"),
        ("fortnights", {}, "days: 14"),
        ("fortnights", {"months": 1}, "days: 14 instead of dataset.periods.months"),
        ("weeks", {"months": 1}, "days: 7 instead of dataset.periods.months"),
        ("weeks", {"days": 1}, "days: 7"),
        ("weeks", {"days": 14}, "days: 7"),
        ("days", {}, "days: 1"),
        ("working days", {}, "days: 1"),
        ("years", {}, "months: 12 instead of dataset.periods.days"),
    ],
)
def test_a_calendar_that_is_not_the_configs_is_refused_with_the_length_to_set(
    kind: str, given: dict[str, Any], fitting: str
) -> None:
    """With it, a missing count repeats the last one; weeks between quarters would make it 0."""
    said = refused(on_dates(DATES[kind]), dataset(periods=given))
    assert f"set dataset.periods.{fitting}" in said
    unit, length = fitting.split()[:2]
    rules = dataset(periods={unit.rstrip(":"): int(length)})
    if kind == "ends of months":
        assert 'dt.to_period("M").dt.start_time' in refused(on_dates(DATES[kind]), rules)
    else:
        assert line(clean(on_dates(DATES[kind]), rules), "b", "count") == [1.0] * len(DATES[kind])


@pytest.mark.parametrize(
    "dates",
    [
        DATES["weeks"][[0, 1, 2, 3, 7, 8, 9, 20, 21]],
        DATES["weeks"][[0, 2, 3, 5, 6, 8, 10, 12]],
        DATES["weeks"][[0, 2, 5, 7, 11, 13, 20]],  # no two weeks in a row, and no calendar either
        DATES["fortnights"][:9].append(DATES["weeks"][17:24]),
        DATES["weeks"][:9].append(DATES["weeks"][9:] + pd.Timedelta("2D")),
    ],
)
def test_a_table_that_lacks_some_weeks_plays(dates: pd.DatetimeIndex) -> None:
    (report,) = clean(on_dates(dates)).reports
    assert report.periods == len(dates)


def test_entities_that_report_on_different_weekdays_are_not_told_of_another_length() -> None:
    of = [it for t in range(9) for it in of_period(week(t), "ab")]
    of += [it for t in range(9) for it in of_period(f"{pd.Timestamp(week(t)) + THREE:%F}", "c")]
    said = refused(of)
    assert "start of a period; or, if rows have any day of their period, set dataset." in said
    assert clean(of, dataset(periods={"of": "last"})).reports[0].periods == 9


@pytest.mark.parametrize(("given", "stops"), [(20, False), (21, True)])
def test_a_run_stops_if_more_than_a_third_of_its_cells_have_no_count(
    given: int, stops: bool
) -> None:
    """Of 60 cells in all, 20 may be carried."""
    lines = [["9"] * 20 for _ in "abc"]
    blank = [*((0, t) for t in range(1, 20, 2)), *((1, t) for t in range(2, 20, 2)), (2, 1), (2, 3)]
    for place, t in blank[:given]:
        lines[place][t] = "NA"
    of = [
        row("A", name, week(t), count, "99")
        for name, line in zip("abc", lines, strict=True)
        for t, count in enumerate(line)
    ]
    rules = {"max_zeroed": Cleaning().max_zeroed}
    if not stops:
        assert counts(clean(of, dataset(**rules)))["carried_counts"] == given
        return
    said = refused(of, dataset(**rules))
    assert said.splitlines()[0] == (
        "hospitals.csv: stream S has 21 cells of 60 without a count, which would repeat an older"
        " one or become 0; allowed by dataset.cleaning.max_zeroed: 20"
    )
    assert (
        "raise dataset.cleaning.max_zeroed to 0.35, and set dataset.cleaning.max_carry: 0" in said
    )
    for carry in (4, 0):
        kept = clean(of, dataset(max_zeroed=0.35, max_carry=carry)).table
        assert kept["count"].sum() == 9 * (60 if carry else 39)


def test_what_to_check_in_a_table_is_said_once_for_streams_with_the_same_rows() -> None:
    of = [
        {**line, "state": line["hospital"][0]}
        for t in (0, 1, 4)
        for line in of_period(week(t), ["A1", "A2", "B1", "B2"])
    ]
    panel = clean(of, None, streams(S=["A"], T=["B"]))
    assert panel.warnings == (f"streams S, T: periods missing: 2 between {week(1)} and {week(4)}",)


def test_the_length_of_a_period_is_that_of_one_entity_and_a_year_has_twelve_months() -> None:
    weeks = pd.date_range("2024-01-01", periods=4, freq="7D")
    days = pd.Series([*weeks, *(weeks - pd.Timedelta(days=1))])
    assert period_of(days, of=["north"] * 4 + ["south"] * 4) == {"days": 7}
    years = pd.Series(pd.date_range("2019-01-01", periods=4, freq="YS"))
    assert period_of(years, of=["north"] * 4) == {"months": 12}
