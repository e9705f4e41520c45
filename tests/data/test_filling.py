"""Counts above the capacity, and periods that a mistyped date has made."""

from __future__ import annotations

import datetime
import logging
import statistics

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from data.drawn import Drawn, Row, clean, counts, dataset, of_period, refused, row, sources, week


def line_of(*cells: object) -> str:
    return " ".join(map(str, cells))


def clipped(number: int, of: int = 200) -> Drawn:
    """Two entities, some of whose cells hold 9 people on 8 beds."""
    half = of // 2
    beds = ["8"] * number + ["9"] * (half - number)
    return {"a": (line_of(*["9"] * half), line_of(*beds)), "b": (line_of(*["1"] * half),) * 2}


def test_a_share_of_clipped_cells_up_to_max_clipped_is_counted() -> None:
    assert counts(clean(clipped(2), dataset(max_clipped=0.01))) == {"clipped_densities": 2}
    assert counts(clean(clipped(50), dataset(max_clipped=0.25))) == {"clipped_densities": 50}
    assert counts(clean(clipped(29, 100), dataset(max_clipped=0.29))) == {"clipped_densities": 29}
    assert counts(clean(clipped(0), dataset(max_clipped=0))) == {}


def test_more_clipped_cells_stop_with_cells_and_likely_causes() -> None:
    lines = refused(clipped(7), dataset(max_clipped=0.01)).splitlines()
    assert lines[0] == (
        "hospitals.csv: stream S has 7 cells of 200 in which the count is above the capacity;"
        " dataset.cleaning.max_clipped = 0.01 allows 2"
    )
    assert lines[1:6] == [f"  a, {week(t)}: 9 of 8" for t in range(5)]
    assert lines[6].startswith("Does dataset.format name the right signs (1.230 may be 1.23 or")


def weeks(n: int, *days: str) -> list[Row]:
    return [row for day in days for row in of_period(day, [f"h{i:02}" for i in range(n)])]


@pytest.mark.parametrize(("n", "day"), [(20, "2024-02-29"), (27, "2024-02-29"), (27, "1999-01-01")])
def test_a_row_that_makes_the_first_or_last_period_alone_is_refused(n: int, day: str) -> None:
    of = weeks(n, week(0), week(1), week(2))
    of[5]["week"] = day
    key = "last" if day > week(2) else "first"
    message = refused(of)
    assert message == (
        f"hospitals.csv, row 7: is the only row of the period {day}, of {n} entities of stream S."
        f" Fix its date, or leave the period out with dataset.periods.{key}"
    )
    panel = clean(of, dataset(periods={key: week(0 if key == "first" else 2)}))
    assert panel.reports[0].sparse_periods == ()
    assert counts(panel)["absent_rows"] == 1


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
    assert [entry in text for text in caplog.messages] == [True] * named


def test_overlapping_periods_name_the_rarer_one() -> None:
    of = weeks(3, week(0), week(1), week(2))
    of[4]["week"] = "2021-01-09"
    assert refused(of) == (
        "hospitals.csv: stream S has periods 2021-01-09 and 2021-01-10, less than a period of 7"
        " days apart; 1 row with 2021-01-09, first in row 6. Give all entities the same start of a"
        " period, or change dataset.periods.days"
    )


@pytest.mark.parametrize(
    ("max_carry", "days", "filled"),
    [(1, (0, 10), "rc"), (1, (0, 11), "rz"), (2, (0, 7, 17), "rcc"), (2, (0, 7, 18), "rcz"),
     (0, (0, 4), "rz")],
)  # fmt: skip
def test_where_periods_are_uneven_a_count_is_carried_for_half_a_period_longer(
    max_carry: int, days: tuple[int, ...], filled: str
) -> None:
    """Weeks, so at most 3 days longer: a move from Fridays to Sundays must not cut a count off."""
    dates = [str(datetime.date(2021, 1, 3) + datetime.timedelta(days=day)) for day in days]
    of = [*of_period(dates[0], ["a"]), *(row for day in dates for row in of_period(day, ["b"]))]
    panel = clean(of, dataset(max_carry=max_carry))
    assert sources(panel, "a", "count_source") == filled


def weekly(entities: str, weeks: int = 12) -> list[Row]:
    """Rows of entities in weeks from Sunday, 3 January 2021 (month and day can be swapped)."""
    return [row("A", it, week(t), "1", "9") for t in range(weeks) for it in entities]


def swapped(of: list[Row], entity: str, day: str) -> list[Row]:
    """Rows of which one, of an entity, has day and month of its date in the other order."""
    year, month, day_of_month = day.split("-")
    other = f"{year}-{day_of_month}-{month}"
    place = (entity, day)
    return [it | {"week": other} if (it["hospital"], it["week"]) == place else it for it in of]


@pytest.mark.parametrize("n", [2, 3, 7, 19])
@pytest.mark.parametrize("day", ["2021-01-10", "2021-03-07"])
def test_a_date_with_day_and_month_swapped_is_asked_about_in_any_stream(n: int, day: str) -> None:
    of = swapped(weekly("abcdefghijklmnopqrstuvwxyz"[:n]), "b", day)
    said = refused(of)
    assert day in said
    assert ", with 1 row, and " in said
    if n > 2:  # of two, either date may be the wrong one
        whole = {it["week"] for it in weekly("a")}
        wrong = next(k for k, it in enumerate(of) if it["week"] not in whole)
        assert said.startswith(f"hospitals.csv, row {wrong + 2}: ")
    kept = clean(of, dataset(periods={"swapped": "keep"}))
    assert kept.reports[0].periods == 13


DATES = ["2021-01-10", "2021-10-01", "2021-02-07", "2021-07-02", "2021-03-21", "2021-05-05"]


@settings(max_examples=60)
@given(st.sets(st.tuples(st.sampled_from(DATES), st.sampled_from("abcdef")), min_size=2))
def test_a_date_is_asked_about_exactly_as_the_manual_says(pairs: set[tuple[str, str]]) -> None:
    of = [row("A", entity, day, "1", "9") for day, entity in sorted(pairs)]
    assume(len({entity for _, entity in pairs}) > 1)
    there = {day: {entity for own, entity in pairs if own == day} for day, _ in pairs}
    usual = statistics.median(map(len, there.values()))
    asked = False
    for day, entities in there.items():
        year, month, number = day.split("-")
        other = there.get(f"{year}-{number}-{month}", set())
        few = 2 * len(entities) <= usual
        asked |= bool(few and other and not entities & other)
    if asked:
        assert "with day and month swapped" in refused(of)
    else:
        clean(of)
