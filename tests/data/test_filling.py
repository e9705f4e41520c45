"""Counts above the capacity, and periods that a mistyped date has made."""

from __future__ import annotations

import datetime
import logging

import pytest

from data.drawn import Drawn, Row, clean, counts, dataset, of_period, refused, sources, week


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


def test_more_clipped_cells_stop_with_rows_and_likely_causes() -> None:
    message = refused(clipped(7), dataset(max_clipped=0.01))
    assert message == (
        "hospitals.csv: stream S has 7 cells of 200 in which the count (patients) is above the"
        " capacity (beds); dataset.cleaning.max_clipped = 0.01 allows 2\n"
        + "".join(
            f"  row {t + 2}: state 'A', hospital 'a', week '{week(t)}', patients '9', beds '8'\n"
            for t in range(5)
        )
        + "Does dataset.format name the right signs (1.230 may be 1.23 or 1230)? Are"
        " dataset.columns.count and capacity the right columns? If such counts are real, or are"
        " dataset.cleaning.suppressed_value, raise max_clipped; their shares become 1."
    )


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


def test_a_lone_row_between_other_periods_is_named_and_plays() -> None:
    of = weeks(27, week(0), week(1), week(4))
    of[5]["week"] = week(2)
    panel = clean(of)
    assert panel.reports[0].sparse_periods == (f"{week(2)} (1 of 27 entities)",)
    # Row 5 was its row of the first week.
    assert sources(panel, "h05", "count_source") == "zrrr"


def test_overlapping_periods_name_the_rarer_one() -> None:
    of = weeks(3, week(0), week(1), week(2))
    of[4]["week"] = "2021-01-09"
    assert refused(of) == (
        "hospitals.csv: stream S has periods 2021-01-09 and 2021-01-10, less than a period of 7"
        " days apart; 1 row with 2021-01-09, first in row 6. Give all entities the same start of a"
        " period, move weeks to one with dataset.periods.align, or change dataset.periods.days"
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
