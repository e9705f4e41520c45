"""Counts above the capacity, and periods made by mistyped dates, are reported or refused."""

from __future__ import annotations

import datetime

import pytest

from data.drawn import (
    Drawn,
    Row,
    clean,
    counts,
    dataset,
    of_period,
    refused,
    sources,
    streams,
    week,
)
from dpol.data.question import Gain
from dpol.data.tables.settings import Cleaning


def line_of(*cells: object) -> str:
    return " ".join(map(str, cells))


def clipped(number: int, of: int = 200) -> Drawn:
    """Draw two entities, with 9 people in 8 beds in some cells."""
    half = of // 2
    beds = ["8"] * number + ["9"] * (half - number)
    return {"a": (line_of(*["9"] * half), line_of(*beds)), "b": (line_of(*["1"] * half),) * 2}


@pytest.mark.parametrize(("at_most", "largest"), [(1.0, 1.0), (1.1, 1.1), (1.2, 9 / 8)])
def test_shares_are_clipped_to_the_largest_that_a_question_allows(
    at_most: float, largest: float
) -> None:
    panel = clean(clipped(2), gain=Gain(at_most=at_most))
    assert panel.table["density"].max() == largest
    assert counts(panel) == ({} if largest < at_most else {"clipped_densities": 2})


@pytest.mark.parametrize(("number", "asked"), [(2, False), (3, True)])
def test_more_than_a_hundredth_of_the_counts_above_the_capacity_is_asked_about(
    number: int, asked: bool
) -> None:
    if not asked:
        (report,) = clean(clipped(number), dataset(above=None)).reports
        cut = report.checks["counts above their bound, cut to it (cleaning.above)"]
        assert cut == tuple(f"a, {week(t)}: 9" for t in range(number))
        return
    said = refused(clipped(number), dataset(above=None)).splitlines()
    cells = "; ".join(f"a, {week(t)}: 9" for t in range(number))
    assert said[1].startswith(f"  3 counts of 200 above the capacity ({cells}): are they typing e")
    assert "give a public one that does not come from the counts, as gain.at_most" in said[1]
    assert said[2] == "    set dataset.cleaning.above"
    assert refused(clipped(7), dataset(above=None)).splitlines()[1].count("; ") == 6
    left_out = clean(clipped(number), dataset(above="missing", max_carry=0))
    assert counts(left_out) == {"zero_counts": 3, "above_counts": 3}


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


def test_missing_periods_are_said(caplog: pytest.LogCaptureFixture) -> None:
    of = [line for t in range(22) if t != 3 for line in of_period(week(t), "ab")]
    clean(of)
    said = f"hospitals.csv: stream S: periods missing: 1 between {week(2)} and {week(4)}"
    assert said in caplog.messages


def test_what_to_check_in_a_table_is_said_once_for_streams_with_the_same_rows() -> None:
    days = [week(t) for t in (0, 1, 4)]
    of = [
        line
        for day in days
        for state in "AB"
        for line in of_period(day, (f"{state}1", f"{state}2"))
    ]
    of = [line | {"state": line["hospital"][0]} for line in of]
    panel = clean(of, None, streams(S=["A"], T=["B"]))
    assert panel.warnings == (f"streams S, T: periods missing: 2 between {week(1)} and {week(4)}",)


@pytest.mark.parametrize("negative", [False, True])
def test_a_stream_without_any_count_is_refused(negative: bool) -> None:
    of = {"a": (". -1 _", "9 9 9") if negative else (". . _", "9 9 9"), "b": (". . .", "9 9 9")}
    said = refused(of, dataset(negative_counts="missing"))
    assert said.startswith("hospitals.csv: stream S has no counts: all 5 cells are missing. Check")
    assert clean({**of, "b": (". . *", "9 9 9")}, dataset(negative_counts="missing"))
