"""Counts above the capacity, and periods made by mistyped dates, are reported or refused."""

from __future__ import annotations

import pytest

from data.drawn import (
    Drawn,
    clean,
    counts,
    dataset,
    of_period,
    refused,
    streams,
    week,
)
from dpol.data.settings import Cleaning


def clipped(number: int) -> Drawn:
    """Draw 200 counts, of which some are 9 people in 8 beds."""
    beds = ["8"] * number + ["9"] * (100 - number)
    return {"a": (" ".join("9" * 100), " ".join(beds)), "b": (" ".join("1" * 100),) * 2}


def late(number: int) -> Drawn:
    """Draw 160 counts, of which some are missing at the start, so that none is carried."""
    nine, missing = " ".join("9" * 40), " ".join("." * number + "5" * (40 - number))
    return {"late": (missing, nine), **{f"h{k}": (nine, nine) for k in range(3)}}


def test_counts_above_the_capacity_are_cut_and_named_or_missing() -> None:
    (report,) = clean(clipped(3)).reports
    cut = "; ".join(f"a, {week(t)}: 9" for t in range(3))
    assert report.checks == [f"counts above their bound, cut to it (cleaning.above): {cut}"]
    left_out = clean(clipped(3), dataset(above="missing", max_carry=0))
    assert counts(left_out) == {"zero_counts": 3, "above_counts": 3}
    assert clean(clipped(2), dataset(above=None)), "1% of the counts"
    assert refused(clipped(3), dataset(above=None)).startswith(
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


def test_overlapping_periods_name_the_rarer_one() -> None:
    of = [row for t in range(3) for row in of_period(week(t), "abc")]
    of[4]["week"] = "2021-01-09"
    assert refused(of) == (
        "hospitals.csv, row 6: stream S has periods 2021-01-09 and 2021-01-10, less than a period"
        " of 7 days apart (1 row with 2021-01-09, this one first). Give all entities the same start"
        " of a period; or change dataset.periods.days; or, if rows have any day of their period,"
        " set dataset.periods.of"
    )


def test_what_to_check_in_a_table_is_said_once_for_streams_with_the_same_rows() -> None:
    of = [
        {**line, "state": line["hospital"][0]}
        for t in (0, 1, 4)
        for line in of_period(week(t), ["A1", "A2", "B1", "B2"])
    ]
    panel = clean(of, None, streams(S=["A"], T=["B"]))
    assert panel.warnings == (f"streams S, T: periods missing: 2 between {week(1)} and {week(4)}",)


@pytest.mark.parametrize("negative", [False, True])
def test_a_stream_without_any_count_is_refused(negative: bool) -> None:
    of = {"a": (". -1 _", "9 9 9") if negative else (". . _", "9 9 9"), "b": (". . .", "9 9 9")}
    said = refused(of, dataset(negative_counts="missing"))
    assert said.startswith("hospitals.csv: stream S has no counts: all 5 cells are missing. Check")
    assert clean({**of, "b": (". . *", "9 9 9")}, dataset(negative_counts="missing"))
