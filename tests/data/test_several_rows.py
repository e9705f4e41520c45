"""Several rows of an entity and period are refused or merged by a rule, and none is lost unseen."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

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
    refused,
    row,
    rows,
    sources,
    streams,
    told,
    week,
)
from dpol.core.errors import DataError

ORDER = "suppressed", "sum", "reported"
"""Sources of the rows of a day: the first one found is that of the day."""
OTHER = {"a": ("1 1 1 1 1", "9 9 9 9 9")}


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
        " 12). Say what to make of them in dataset.cleaning.several_rows: sum, mean, max or last;"
    )
    panel = clean([*once, {**once[1], **change}], dataset(several_rows="last"))
    assert counts(panel).get("merged_rows") == 1


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
    assert "1 row equal another in every column (h, 2021-01-03: row 22)" in (
        refused([*once, once[0]], dataset(several_rows=rule))
    )
    last = clean([*once, once[0]], dataset(several_rows="last"))
    assert counts(last) == {"exact_duplicates": 1, "merged_rows": 10}
