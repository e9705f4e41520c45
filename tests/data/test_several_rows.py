"""Several rows of an entity and period are refused or merged by a rule, and none is lost unseen."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.drawn import (
    PLAIN,
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
    week,
)
from dpol.data.cleaning import clean_table
from dpol.data.panel import CleanPanel
from dpol.data.second_look import DoubtError
from dpol.data.settings import Dataset

RULES = ("sum", "mean", "max", "last")
LONG = {"entity": "town", "period": "day", "count": "sick"}
OTHER = {"a": ("1 1 1 1 1", "9 9 9 9 9")}


def merging(rule: str, **more: Any) -> Dataset:
    return dataset(several_rows=rule, **more)


def readings(day: int, entity: str, *cells: tuple[str, str]) -> list[Row]:
    """Return a row for each hour of a day, with its count and capacity."""
    return [
        row("A", entity, f"{week(day)} {hour:02}:00", count, beds)
        for hour, (count, beds) in enumerate(cells)
    ]


@pytest.mark.parametrize("change", [{"patients": "3"}, {"beds": "11"}, {"patients": "-999999"}])
def test_different_rows_are_refused_with_their_places(change: Row) -> None:
    once = rows({**PLAIN, **OTHER})
    said = refused([*once, {**once[1], **change}]).splitlines()
    assert said[1].startswith(
        "  2 rows of one entity and period (h, 2021-01-10, rows 3, 12; in all 2 such rows) are not"
        " equal: what is one row? Parts to be added (sum),"
    )
    assert said[2] == "    set dataset.cleaning.several_rows"
    panel = clean([*once, {**once[1], **change}], dataset(several_rows="last"))
    assert counts(panel).get("merged_rows") == 1


def test_a_suppressed_and_a_missing_count_of_one_week_are_in_conflict() -> None:
    once = [{**row, "cases": "1"} for row in rows({**PLAIN, "a": (". 1 1 1 1", "9 9 9 9 9")})]
    hidden = {**once[5], "patients": "-999999"}
    assert "(a, 2021-01-03, rows 7, 12;" in refused([*once, hidden], dataset({"cases": ["cases"]}))


def test_rows_with_equal_numbers_in_two_groups_are_not_equal() -> None:
    given_rows = rows({**PLAIN, **OTHER})
    again = [*given_rows, {**given_rows[4], "state": "B"}]
    with pytest.raises(DoubtError, match="are not equal: what is one row"):
        clean(again, None, streams(S=["A", "B"]))
    assert counts(clean([*given_rows, given_rows[4]]))["exact_duplicates"] == 1


def test_equal_numbers_at_two_times_of_a_day_are_two_rows() -> None:
    of = readings(0, "a", ("5", "9"), ("5", "9")) + readings(0, "h", ("1", "9"), ("1", "9"))
    said = refused(of)
    assert "2 rows of one entity and period (a, 2021-01-03, rows 2, 3; in all 4 such rows)" in said
    assert line(clean(of, merging("sum")), "a", "count") == [10]


def test_the_last_row_of_a_day_is_the_latest() -> None:
    of = readings(0, "a", ("1", "9"), ("2", "8"), ("3", "7")) + readings(0, "h", ("1", "9"))
    panel = clean(of[::-1], merging("last"))
    assert [line(panel, "a", name) for name in ("count", "capacity")] == [[3], [7]]


counts_of_day = st.lists(st.sampled_from(["0", "3", "4", "8", "*", "."]), min_size=1, max_size=5)


@settings(max_examples=8)
@given(
    days=st.lists(counts_of_day, min_size=1, max_size=4),
    rule=st.sampled_from(["sum", "mean", "max"]),
)
def test_a_day_is_what_python_makes_of_its_rows(days: list[list[str]], rule: str) -> None:
    """A suppressed count is 2; a sum with a missing count is missing, other rules leave it out."""
    texts = {"*": "-999999", ".": "NA"}
    of = readings(0, "a", ("1", "9"))
    of += [
        line
        for day, cells in enumerate(days, start=1)
        for line in readings(day, "a", *((texts.get(cell, cell), "9") for cell in cells))
    ]
    of += [line for day in range(len(days) + 1) for line in readings(day, "h", ("1", "9"))]
    panel = clean(of, merging(rule, max_carry=0))
    made = {"sum": math.fsum, "mean": statistics.fmean, "max": max}[rule]
    expected, missing = [1.0], 0
    for cells in days:
        known = [2.0 if cell == "*" else float(cell) for cell in cells if cell != "."]
        lost = not known or (rule == "sum" and "." in cells)
        missing += lost
        expected.append(0.0 if lost else made(known))
    assert line(panel, "a", "count") == pytest.approx(expected)
    found = counts(panel)
    assert found.get("missing_counts", 0) == found.get("zero_counts", 0) == missing
    assert found.get("merged_rows", 0) == sum(len(cells) - 1 for cells in days)


@pytest.mark.parametrize(("rule", "beds"), [("sum", 6), ("mean", 6), ("max", 8), ("last", 4)])
def test_capacities_of_a_day_have_a_rule_too(rule: str, beds: int) -> None:
    of = readings(0, "a", ("1", "8"), ("1", "0"), ("1", "4")) + readings(0, "h", ("1", "9"))
    shared = {"several_capacities": "mean"} if rule == "sum" else {}
    rules = merging(rule, capacity_zero="carry", **shared)
    assert line(clean(of, rules), "a", "capacity") == [beds]
    unknown = readings(1, "a", ("1", "0"), ("1", "-1"), ("1", "NA"))
    panel = clean([*of, *unknown], rules)
    assert line(panel, "a", "capacity") == [beds, beds]
    assert counts(panel)["missing_capacities"] == 1
    idle = "rz" if rule != "last" else "rc"  # the last row has no capacity, not one of 0
    assert sources(panel, "a", "capacity_source") == idle


def read(path: Path, text: str, equal: str | None = None, **format: str) -> CleanPanel:
    path.write_text(text)
    of = Dataset.model_validate(
        {
            "source": {"kind": "local", "file": path.name},
            "columns": {"period": "day"} if format else LONG,
            "format": format,
            "cleaning": {"entities": "all", "several_rows": "sum", "equal_rows": equal},
        }
    )
    return clean_table(path, of, streams(S=["all"]))[0]


@pytest.mark.parametrize(("equal", "sick", "rules"), [
    ("drop", 10, {"exact_duplicates": 1, "merged_rows": 1}), ("add", 15, {"merged_rows": 2}),
])  # fmt: skip
def test_rows_equal_in_every_column_are_asked_about(
    tmp_path: Path, equal: str, sick: int, rules: dict[str, int]
) -> None:
    """The column of the age group is not read otherwise."""
    once = "2021-01-03,Ulm,young,5\n2021-01-03,Ulm,old,5\n2021-01-03,Bonn,old,1\n"
    text = "day,town,age,sick\n" + once + "2021-01-03,Ulm,old,5\n"
    with pytest.raises(DoubtError, match=r"1 row of 4, with 31% of all counts, equals? another in"):
        read(tmp_path / "t.csv", text)
    panel = read(tmp_path / "t.csv", text, equal)
    assert line(panel, "Ulm", "count") == [sick]
    assert counts(panel) == rules


def test_a_table_that_stands_twice_in_its_file_adds_nothing(tmp_path: Path) -> None:
    once = "2021-01-03,Ulm,5\n2021-01-03,Bonn,1\n2021-01-10,Ulm,4\n2021-01-10,Bonn,4\n"
    panel = read(tmp_path / "t.csv", "day,town,sick\n" + 3 * once)
    assert line(panel, "Ulm", "count") == [5, 4]
    with pytest.raises(DoubtError, match="equal another in every column"):  # another order
        read(tmp_path / "t.csv", "day,town,sick\n" + "".join(sorted(2 * once.splitlines(True))))


def test_lines_of_a_wide_table_are_parts_of_a_day(tmp_path: Path) -> None:
    text = "day,Ulm,Bonn\n2021-01-03 01:00,5,1\n2021-01-03 02:00,5,2\n2021-01-03 02:00,5,2\n"
    panel = read(tmp_path / "t.csv", text, "drop", layout="wide")
    assert [line(panel, town, "count") for town in ("Ulm", "Bonn")] == [[10], [3]]
    assert counts(panel) == {"exact_duplicates": 2, "merged_rows": 2}
