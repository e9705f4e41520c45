"""Hidden averages are told by their sums, and counts without a capacity are asked about."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.drawn import (
    BED_SUMS,
    COUNT_SUMS,
    HIDDEN,
    OF_COUNTS,
    SUMS,
    Drawn,
    clean,
    counts,
    dataset,
    line,
    refused,
    row,
    rows,
    told,
    typed,
)
from dpol.data.panel import rows_of_stream
from dpol.data.query import query_for
from dpol.data.stream import (
    MEASURED,
    SUPPRESSED,
    ZERO_OR_HIDDEN,
    build_stream,
    largest_change_of_average,
    unmeasured_best,
)
from dpol.data.table import table_of
from dpol.noise.neighbours import neighbours_of

# Hidden averages ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("periods", "most"), [({}, 7), ({"days": 14}, 14), ({"months": 2}, 62)])
def test_a_period_has_no_more_days_than_its_length(periods: dict[str, int], most: int) -> None:
    of = [row("A", f"{days}", "2021-01-01", f"*:70:{days}", "99") for days in (most, most + 1)]
    panel = clean(told(of), dataset(SUMS, periods, suppressed_value=1.5))
    assert panel.table["count"].tolist() == [70 / most, 1.5]


# Tables that lack the columns --------------------------------------------------------------------

DRAWN: Drawn = {
    "a": ("*:15:7 *:*:7 4:28:7 5:35:7", "*:21:7 9 9 *:*:7"),
    "h": ("8 8 8 8", "9 9 9 9"),
}


@pytest.mark.parametrize(
    ("named", "lost"),
    [
        (SUMS, {"count": COUNT_SUMS, "capacity": BED_SUMS}),
        (SUMS, {"count": COUNT_SUMS[:1], "capacity": BED_SUMS[1:]}),
        (OF_COUNTS, {"count": COUNT_SUMS[1:]}),
    ],
)
def test_a_table_that_lacks_a_column_is_read_as_if_the_config_named_none(
    named: dict[str, Any], lost: dict[str, list[str]]
) -> None:
    gone = [name for names in lost.values() for name in names]
    of = [{key: it[key] for key in it if key not in gone} for it in told(rows(DRAWN))]
    plain, panel = (clean(of, dataset(names, suppressed_value=1.5)) for names in ({}, named))
    assert line(plain, "a", "count") == [1.5, 1.5, 4, 5]
    pd.testing.assert_frame_equal(plain.table, panel.table)
    assert [text for text in panel.warnings if text not in plain.warnings] == [
        f"no column {', '.join(names)}: no sum tells a suppressed value of {what}"
        for what, names in lost.items()
    ]


def test_sums_of_counts_tell_no_capacity() -> None:
    panel = clean(told(rows(DRAWN)), dataset(OF_COUNTS))
    assert line(panel, "a", "count") == [15 / 7, 2 / 7, 4, 5]
    assert counts(panel)["suppressed_capacities"] == 2


def test_columns_of_sums_are_fetched_though_a_table_may_lack_them() -> None:
    needed = ["hospital", "week", "state", "patients", "beds", COUNT_SUMS[0]]
    query = query_for(dataset({**SUMS, "cases": COUNT_SUMS[:1]}), ["A"])
    assert [*query.needed] == needed
    assert [*query.columns] == [*needed, COUNT_SUMS[1], *BED_SUMS]


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


# The best number ---------------------------------------------------------------------------------

SOURCES = [*MEASURED, "suppressed", "carried", "zero"]
cell = st.tuples(st.integers(0, 3), st.sampled_from(SOURCES), st.sampled_from(SOURCES))


@given(
    grid=st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(cell, min_size=n, max_size=n), min_size=1, max_size=6)
    ),
    capacities=st.booleans(),
)
def test_the_best_number_that_nobody_measured_is_found_as_by_hand(
    grid: list[list[tuple[int, str, str]]], capacities: bool
) -> None:
    """Nothing is decided where a measured number is as large, nor where all are equal."""
    periods, decided, possible = 0, Fraction(0), Fraction(0)
    for cells in grid:
        gains = [gain for gain, _, _ in cells]
        more = max(gains) - Fraction(sum(gains), len(gains))
        measured = [
            gain
            for gain, count, capacity in cells
            if count in MEASURED and (capacity in MEASURED or not capacities)
        ]
        possible += more
        if more and max(gains) not in measured:
            periods, decided = periods + 1, decided + more
    flat = [(t, *one) for t, cells in enumerate(grid) for one in cells]
    table = pd.DataFrame(flat, columns=["period", "gain", "count_source", "capacity_source"])
    of = ["count_source", "capacity_source"] if capacities else ["count_source"]
    share = float(decided / possible) if decided else 0
    expected = {"periods": periods, "share": pytest.approx(share, abs=1e-6)}
    assert unmeasured_best(table, "gain", of) == expected


def test_nothing_is_decided_where_all_gains_are_equal_and_their_mean_is_rounded() -> None:
    table = pd.DataFrame({"period": 0, "gain": [0.7] * 3, "count_source": "carried"})
    assert unmeasured_best(table, "gain", ["count_source"]) == {"periods": 0, "share": 0.0}


def test_a_zero_that_may_hide_a_count_is_read_as_a_suppressed_one_is() -> None:
    """Of beds 4 the zero would be 1/2, above the best of the first period and not of the second."""
    rows = [(0, 2.0, 20, "suppressed"), (0, 4.0, 10, "reported"), (0, 0.0, 4, ZERO_OR_HIDDEN)]
    rows += [(1, 0.0, 20, "reported"), (1, 6.0, 10, "reported"), (1, 0.0, 4, ZERO_OR_HIDDEN)]
    table = pd.DataFrame(rows, columns=["period", "count", "capacity", "count_source"])
    table["gain"] = table["count"] / table["capacity"]
    share = round((0.4 - 0.5 / 3) / (0.4 - 0.5 / 3 + 0.6 - 0.2), 6)
    found = unmeasured_best(table, "gain", ["count_source"])
    assert found == {"periods": 0, "share": 0.0, "zero_share": share}
    alone = unmeasured_best(table.iloc[1:], "gain", ["count_source"])
    assert alone["zero_share"] == 0  # nothing says as what to read it


# One person --------------------------------------------------------------------------------------


@pytest.mark.parametrize("read_as", [1, 2, 3])
@pytest.mark.parametrize("days", range(1, 8))
@pytest.mark.parametrize("person", [1, 2])
def test_the_largest_change_of_a_cleaned_average_by_trying_all_neighbours(
    person: int, days: int, read_as: int
) -> None:
    """On each day, a person adds any number up to `person`; the bound is reached."""
    totals = range(4 * days + 2 * person * days + 4)
    averages = pd.Series([HIDDEN if 0 < n < 4 * days else repr(n / days) for n in totals])
    sums = pd.Series([HIDDEN if 0 < n < 4 else str(n) for n in totals])
    cells = {"hospital": "a", "week": pd.date_range("2021-01-03", periods=len(totals), freq="7D"),
             "state": "A", "patients": averages, "beds": "9", "patients_sum": sums,
             "patients_days": str(days)}  # fmt: skip
    rules = dataset(OF_COUNTS, suppressed_sum=read_as)
    of = typed(table_of("t.csv", pd.DataFrame(cells)), rules)
    cleaned = rows_of_stream(of, "S", ["A"], rules)["count"].to_numpy()
    moves = [
        abs(cleaned[n + more] - cleaned[n])
        for more in range(person * days + 1)
        for n in range(len(totals) - more)
    ]
    bound = largest_change_of_average(person, days, read_as=read_as)
    assert max(moves) == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize(
    ("cells", "read_as", "days", "times"),
    [
        ("*:*:7 5:35:7 *:15:5 9:63:7", 2, [5, 7], 1.2),
        # Just below 6 may be published; without the person it is hidden, and read as 2.
        ("*:*:7 *:*:. 5:35:7 9:63:7", 2, [7, 7], 4),
        # A published 4 to 5 without known days is hidden without the person, and read as 0.
        ("*:*:1 *:.:8 4 5.5", 0, [1, 7], 5),
        # So it is if no hidden count lacks its days, but a published one does.
        ("*:*:7 4.5:31:0 4 5.5", 2, [7, 7], 3),
    ],
)
def test_a_stream_knows_the_days_behind_its_hidden_sums(
    cells: str, read_as: float, days: list[int], times: float
) -> None:
    nine = "9 9 9 9"
    whole = "8.5:60:7 8:56:7 8:56:7 8:56:7"
    of = told(rows({"a": (cells, nine), "h": (whole, nine)}))
    panel = clean(of, dataset(SUMS, suppressed_value=read_as))
    made = build_stream(panel.table, "S", 1.0, {"sums": panel.reports[0].sums})
    assert made.provenance[SUPPRESSED] == {"read_as": 2, "days": days, "times": times}
    assert "sums" not in made.provenance
    said = neighbours_of(made).taken_as_public
    assert said.startswith("which sums of days are suppressed (read as 2): the guarantee is for")
    over_a_week = f"({days[0]} days reported at least; 1.14 times over 7)"
    assert said.endswith(f"{times} times as large {over_a_week}")
