"""Counts above the capacity, and periods made by mistyped dates, are reported or refused."""

from __future__ import annotations

import datetime
import logging
import statistics

import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from data.drawn import (
    Drawn,
    Row,
    clean,
    counts,
    dataset,
    of_period,
    refused,
    row,
    sources,
    streams,
    week,
)
from dpol.core.errors import DataError
from dpol.data.filling import misplaced, refuse_swapped_calendar
from dpol.data.parse import parse_date
from dpol.data.settings import Cleaning, Periods
from dpol.data.table_format import Format


def line_of(*cells: object) -> str:
    return " ".join(map(str, cells))


def clipped(number: int, of: int = 200) -> Drawn:
    """Draw two entities, with 9 people in 8 beds in some cells."""
    half = of // 2
    beds = ["8"] * number + ["9"] * (half - number)
    return {"a": (line_of(*["9"] * half), line_of(*beds)), "b": (line_of(*["1"] * half),) * 2}


def test_a_share_of_clipped_cells_up_to_max_clipped_is_counted() -> None:
    assert counts(clean(clipped(2), dataset(max_clipped=0.01))) == {"clipped_densities": 2}
    assert counts(clean(clipped(50), dataset(max_clipped=0.25))) == {"clipped_densities": 50}
    assert counts(clean(clipped(29, 100), dataset(max_clipped=0.29))) == {"clipped_densities": 29}
    assert counts(clean(clipped(0), dataset(max_clipped=0))) == {}


@pytest.mark.parametrize(("at_most", "largest"), [(1.0, 1.0), (1.1, 1.1), (1.2, 9 / 8)])
def test_shares_are_clipped_to_the_largest_that_a_question_allows(
    at_most: float, largest: float
) -> None:
    """A question with a bound of 1 then sees how many of them it would have to clip."""
    panel = clean(clipped(2), dataset(max_clipped=0.01), at_most=at_most)
    assert panel.table["density"].max() == largest
    assert counts(panel) == ({} if largest < at_most else {"clipped_densities": 2})


def test_more_clipped_cells_stop_with_cells_and_likely_causes() -> None:
    lines = refused(clipped(7), dataset(max_clipped=0.01)).splitlines()
    assert lines[0] == (
        "hospitals.csv: stream S has 7 cells of 200 whose count exceeds the capacity;"
        " dataset.cleaning.max_clipped = 0.01 allows 2"
    )
    assert lines[1:6] == [f"  a, {week(t)}: 9 of 8" for t in range(5)]
    assert "set a public maximum that does not come from the counts, such as gain: {at" in lines[6]
    assert "dataset.format (1.230 may be 1.23 or 1230)" in lines[6]


def ended(weeks: int = 30, at: int = 20) -> Drawn:
    """Return ten entities; two of them end in a week, and two others begin in the next."""
    whole = " ".join(["5"] * weeks)
    before, after = (" ".join(["5"] * n) for n in (at, weeks - at))
    gone, begun = " _" * (weeks - at), "_ " * at
    beds = " ".join(["9"] * weeks)
    named = {
        **{f"site {k}": whole for k in range(8)},
        **{"General Hospital": before + gone, "St. Mary": before + gone},
        **{"St. Mary's Clinic": begun + after, "General Hospital (Univ.)": begun + after},
    }
    return {name: (counts, beds) for name, counts in named.items()}


def test_entities_that_end_where_others_begin_are_named_before_their_cells_become_0() -> None:
    """Both of the first lose 10 weeks less 4 carried ones, both of the others all 20."""
    said = refused(ended(), dataset(max_zeroed=0.05)).splitlines()
    assert said[0] == (
        "hospitals.csv: stream S has 52 cells of 360 that would become 0, with no count in the"
        " period nor in the 4 before (max_carry); dataset.cleaning.max_zeroed = 0.05 allows 18"
    )
    end, start = week(19), week(20)
    assert said[1:3] == [
        f"  General Hospital has no count after {end}, General Hospital (Univ.) none before"
        f" {start}: one entity?",
        f"  St. Mary has no count after {end}, St. Mary's Clinic none before {start}: one entity?",
    ]
    assert said[3].startswith("If two names are one entity, take a column of identifiers as")
    assert counts(clean(ended(), dataset(max_zeroed=0.15)))["zero_counts"] == 52


@pytest.mark.parametrize(("zeros", "stops"), [(8, False), (9, True)])
def test_a_run_stops_if_more_cells_become_0_than_max_zeroed(zeros: int, stops: bool) -> None:
    """Of 160 cells, 8 are a share of 0.05; they are missing at the start, so none is carried."""
    line = " ".join(["."] * zeros + ["5"] * (40 - zeros))
    of: Drawn = {
        "late": (line, " ".join(["9"] * 40)),
        **{f"h{k}": (" ".join(["5"] * 40), " ".join(["9"] * 40)) for k in range(3)},
    }
    rules = dataset(max_zeroed=Cleaning().max_zeroed)
    if stops:
        assert refused(of, rules).splitlines()[1] == "  late: 9 cells"
    else:
        (report,) = clean(of, rules).reports
        assert report.cells["zero_counts"] == zeros
        assert "missing counts set to 0: 8 of 160 cells" in [*report.to_check()]


def weeks(n: int, *days: str) -> list[Row]:
    return [row for day in days for row in of_period(day, [f"h{i:02}" for i in range(n)])]


@pytest.mark.parametrize(("n", "day"), [(20, "2024-02-29"), (27, "2024-02-29"), (27, "1999-01-01")])
def test_a_row_that_makes_the_first_or_last_period_alone_is_refused(n: int, day: str) -> None:
    of = weeks(n, week(0), week(1), week(2))
    of[5]["week"] = day
    key = "last" if day > week(2) else "first"
    message = refused(of)
    assert message == (
        f"hospitals.csv, row 7: is the only row of the period {day} in stream S, which has {n}"
        f" entities. Fix its date, or leave the period out with dataset.periods.{key}"
    )
    panel = clean(of, dataset(periods={key: week(0 if key == "first" else 2)}))
    assert panel.reports[0].sparse_periods == ()
    assert counts(panel)["absent_rows"] == 1


@pytest.mark.parametrize(
    ("day", "months", "refuses"),
    [("1900-01-01", 0, True), ("1950-01-02", 0, True), ("2032-01-05", 0, True),
     ("2019-01-06", 0, False), ("2013-01-01", 12, False), ("1950-01-01", 12, True)],
)  # fmt: skip
@pytest.mark.parametrize("n", [2, 5])
def test_a_single_row_years_from_all_others_is_refused(
    day: str, months: int, refuses: bool, n: int
) -> None:
    """Weeks within two years, and years within ten, may be gaps of a small stream."""
    days = [f"{2021 + k}-01-01" if months else week(k) for k in range(3)]
    of = weeks(n, *days)
    of.append({**of[0], "week": day})
    lasting = {"periods": {"months": months}} if months else {}
    if not refuses:
        assert clean(of, dataset(**lasting)).reports[0].periods == 4
        return
    with pytest.raises(DataError) as caught:
        clean(of, dataset(**lasting))
    key = "first" if day < "2021" else "last"
    assert str(caught.value) == (
        f"hospitals.csv, row {len(of) + 1}: is the only row of the period {day} in stream S, which"
        f" has {n} entities. Fix its date, or leave the period out with dataset.periods.{key}"
    )


@pytest.mark.parametrize(
    ("n", "there", "named"),
    [(5, 1, True), (19, 1, True), (4, 1, False), (5, 2, False), (40, 2, True), (40, 3, False),
     (100, 5, True), (100, 6, False)],
)  # fmt: skip
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_period_in_which_almost_no_entity_has_a_row_is_named(
    n: int, there: int, named: bool, place: int, caplog: pytest.LogCaptureFixture
) -> None:
    of = [row for t in range(3) for row in weeks(there if t == place else n, week(t))]
    with caplog.at_level(logging.WARNING, "dpol"):
        (report,) = clean(of).reports
    entry = f"{week(place)} ({there} of {n} entities)"
    assert report.sparse_periods == ((entry,) if named else ())
    said = [text for text in caplog.messages if "missing counts set to 0" not in text]
    assert [entry in text for text in said] == [True] * named


def test_overlapping_periods_name_the_rarer_one() -> None:
    of = weeks(3, week(0), week(1), week(2))
    of[4]["week"] = "2021-01-09"
    assert refused(of) == (
        "hospitals.csv, row 6: stream S has periods 2021-01-09 and 2021-01-10, less than a period"
        " of 7 days apart (1 row with 2021-01-09, this one first). Give all entities the same start"
        " of a period, or change dataset.periods.days"
    )


@pytest.mark.parametrize(
    ("max_carry", "days", "filled"),
    [(1, (0, 10), "rc"), (1, (0, 11), "rz"), (2, (0, 7, 17), "rcc"), (2, (0, 7, 18), "rcz"),
     (0, (0, 4), "rz")],
)  # fmt: skip
def test_where_periods_are_uneven_a_count_is_carried_for_half_a_period_longer(
    max_carry: int, days: tuple[int, ...], filled: str
) -> None:
    """A week may be at most 3 days longer, so a move from Fridays to Sundays keeps counts."""
    dates = [str(datetime.date(2021, 1, 3) + datetime.timedelta(days=day)) for day in days]
    of = [*of_period(dates[0], ["a"]), *(row for day in dates for row in of_period(day, ["b"]))]
    panel = clean(of, dataset(max_carry=max_carry))
    assert sources(panel, "a", "count_source") == filled


def weekly(entities: str, weeks: int = 12) -> list[Row]:
    """Return weekly rows of entities from Sunday, 3 January 2021 (month and day can swap)."""
    return [row("A", entity, week(t), "1", "9") for t in range(weeks) for entity in entities]


def swapped(of: list[Row], entity: str, day: str) -> list[Row]:
    """Swap day and month in one row, of an entity and a date."""
    year, month, day_of_month = day.split("-")
    other = f"{year}-{day_of_month}-{month}"
    place = (entity, day)
    return [r | {"week": other} if (r["hospital"], r["week"]) == place else r for r in of]


@pytest.mark.parametrize("n", [2, 3, 7, 19])
@pytest.mark.parametrize("day", ["2021-01-10", "2021-03-07"])
def test_a_date_with_day_and_month_swapped_is_asked_about_in_any_stream(n: int, day: str) -> None:
    of = swapped(weekly("abcdefghijklmnopqrstuvwxyz"[:n]), "b", day)
    said = refused(of)
    assert day in said
    assert ", with 1 row, and " in said
    if n > 2:  # with two rows, either date may be wrong
        whole = {line["week"] for line in weekly("a")}
        wrong = next(k for k, line in enumerate(of) if line["week"] not in whole)
        assert said.startswith(f"hospitals.csv, row {wrong + 2}: ")
    kept = clean(of, dataset(periods={"swapped": "keep"}))
    assert kept.reports[0].periods == 13


DATES = ["2021-01-10", "2021-10-01", "2021-02-07", "2021-07-02", "2021-03-21", "2021-05-05"]


@settings(max_examples=30)
@given(st.sets(st.tuples(st.sampled_from(DATES), st.sampled_from("abcdef")), min_size=2))
def test_a_date_is_asked_about_exactly_as_the_manual_says(pairs: set[tuple[str, str]]) -> None:
    of = [row("A", entity, day, "1", "9") for day, entity in sorted(pairs)]
    assume(len({entity for _, entity in pairs}) > 1)
    there = {day: {entity for other, entity in pairs if other == day} for day, _ in pairs}
    usual = statistics.median(map(len, there.values()))
    asked = False
    for day, entities in there.items():
        year, month, number = day.split("-")
        other = there.get(f"{year}-{number}-{month}", set())
        few = 2 * len(entities) <= usual
        asked |= bool(few and other and not entities & other)
    if is_refused([datetime.date.fromisoformat(day) for day in there]):
        assert "with day and month swapped in dates such as" in refused(of)
    elif asked:
        assert "the same date with day and month swapped" in refused(of)
    else:
        clean(of)


STARTS = [datetime.date(2021, 1, 1) + datetime.timedelta(days=day) for day in range(365)]


def swap(day: datetime.date) -> datetime.date:
    """Return a date as a program reads it that expects the month first."""
    return day if day.day > 12 else day.replace(month=day.day, day=day.month)


def is_refused(days: list[datetime.date], length: int = 7) -> bool:
    """Return whether the periods are refused as a swapped calendar."""
    of = pd.DataFrame({"period": pd.to_datetime(days)})
    try:
        refuse_swapped_calendar("t.csv", "S", of, Periods(days=length))
    except DataError:
        return True
    return False


@pytest.mark.parametrize("weeks", [2, 8, 12, 20, 30, 52, 104])
def test_a_table_of_swapped_dates_is_refused_and_a_right_one_never(weeks: int) -> None:
    for start in STARTS if weeks in (2, 104) else STARTS[weeks % 5 :: 5]:
        right = [start + datetime.timedelta(weeks=k) for k in range(weeks)]
        wrong = [swap(day) for day in right]
        assert not is_refused(right)
        assert is_refused(wrong) == (wrong != right)


@given(
    st.sampled_from(STARTS), st.integers(2, 60), st.sampled_from([1, 7, 14]), st.data(),
)  # fmt: skip
def test_a_right_table_with_gaps_is_not_taken_for_a_swapped_one(
    start: datetime.date, periods: int, length: int, data: st.DataObject
) -> None:
    """Up to a third of the periods are missing."""
    lost = data.draw(st.sets(st.integers(1, periods), max_size=periods // 3))
    assert not is_refused(
        [start + datetime.timedelta(days=length * k) for k in range(periods) if k not in lost],
        length,
    )


def test_a_swapped_calendar_is_named_with_the_way_to_keep_it() -> None:
    days = [swap(datetime.date(2021, 1, 3) + datetime.timedelta(weeks=k)) for k in range(12)]
    of = [line for day in days for line in of_period(str(day), "abc")]
    said = refused(of)
    assert "stream S lacks 28 periods, but only 0 with day and month swapped in dates" in said
    kept = clean(of, dataset(periods={"swapped": "keep", "days": 1}))
    assert kept.reports[0].periods == 12


def test_missing_periods_and_entities_with_few_rows_are_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    of = [line for t in range(22) if t != 3 for line in of_period(week(t), "ab")]
    of += [*of_period(week(0), "cd"), *of_period(week(1), "cd"), *of_period(week(2), "d")]
    (report,) = clean(of).reports
    assert report.sparse_entities == ("c (2 of 21 periods)",)
    gap = f"1 between {week(2)} and {week(4)}"
    for what, text in (
        ("periods missing", gap),
        ("entities in few periods, check their spelling", "c (2 of 21 periods)"),
    ):
        assert f"hospitals.csv: stream S: {what}: {text}" in caplog.messages


SUNDAYS = [str(datetime.date(2021, 3, 7) + datetime.timedelta(weeks=k)) for k in range(20)]
WEEKS = [f"2021-W{week:02}" for week in range(12, 32)]
MONTHS = [f"2021-{month:02}-01" for month in range(1, 11)]


@pytest.mark.parametrize(
    ("days", "right", "typed", "length"),
    [
        (SUNDAYS, "2021-07-18", "2020-07-18", {}),  # the last week with last year's number
        (SUNDAYS, "2021-03-07", "2022-03-07", {}),  # the first with the next
        (SUNDAYS, "2021-05-02", "2021-02-05", {}),  # day and month
        (SUNDAYS, "2021-04-11", "2021-11-04", {}),
        (WEEKS, "2021-W31", "2020-W31", {}),
        (MONTHS, "2021-10-01", "2020-10-01", {"months": 1}),
    ],
)
def test_a_whole_period_with_a_mistyped_date_is_named_with_the_right_one(
    days: list[str], right: str, typed: str, length: dict[str, int]
) -> None:
    form = Format(date="YYYY-Www" if days == WEEKS else "YYYY-MM-DD")
    dates = {text: parse_date(text, form) for text in (*days, typed)}

    def said(texts: list[str]) -> tuple[str, ...]:
        of = pd.DataFrame({"period": pd.to_datetime([dates[text] for text in texts])})
        return misplaced(of, Periods(**length), form.date)

    assert said(days) == ()
    (text,) = said([typed if day == right else day for day in days])
    assert text.startswith(f"{dates[typed]}, is it {dates[right]}? Then ")


def test_what_to_check_in_a_table_is_said_once_for_streams_with_the_same_rows() -> None:
    days = ["2020-07-18", *SUNDAYS[:-1]]
    of = [
        line
        for day in days
        for state in "AB"
        for line in of_period(day, (f"{state}1", f"{state}2"))
    ]
    of = [line | {"state": line["hospital"][0]} for line in of]
    panel = clean(of, None, streams(S=["A"], T=["B"]))
    assert panel.warnings == (
        "streams S, T: periods missing: 32 between 2020-07-18 and 2021-03-07",
        "streams S, T: probably mistyped dates: 2020-07-18, is it 2021-07-18? Then 32 fewer periods"
        " are missing",
    )


@given(
    lost=st.sets(st.integers(1, 18), max_size=8),
    closed=st.sets(st.integers(0, 6), max_size=2),
    length=st.sampled_from([1, 7, 14]),
    first=st.sampled_from([datetime.date(2021, 3, 7), datetime.date(2024, 2, 10)]),
)
def test_a_gap_in_the_calendar_is_no_mistyped_date(
    lost: set[int], closed: set[int], length: int, first: datetime.date
) -> None:
    """Periods between the first and the last are missing, some of them every week."""
    number = 800 if length == 1 else 20
    days = [first + datetime.timedelta(days=length * k) for k in range(number) if k not in lost]
    days = [day for day in days if length > 1 or day.weekday() not in closed]
    of = pd.DataFrame({"period": pd.to_datetime(days)})
    assert misplaced(of, Periods(days=length), "YYYY-MM-DD") == ()


@pytest.mark.parametrize("negative", [False, True])
def test_a_stream_without_any_count_is_refused(negative: bool) -> None:
    of = {"a": (". -1 _", "9 9 9") if negative else (". . _", "9 9 9"), "b": (". . .", "9 9 9")}
    said = refused(of, dataset(negative_counts="missing"))
    assert said.startswith("hospitals.csv: stream S has no counts: all 5 cells are missing. Check")
    assert clean({**of, "b": (". . *", "9 9 9")}, dataset(negative_counts="missing"))
