"""Each rule of cleaning on a table small enough to do by hand, and laws for any table.

Tables are drawn as a line of cells for each entity, one cell a week: a number, `*` suppressed,
`.` missing (the row is there), `_` no row at all.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.config import Dataset, Stream
from dpol.data.cleaning import (
    RULES,
    CleanPanel,
    StreamReport,
    clean_panel,
)
from dpol.data.fetch import query_for
from dpol.data.panel import PANEL_COLUMNS, check_panel
from dpol.data.table import RawTable
from dpol.errors import DataError

FIELDS = ["state", "hospital", "week", "patients", "beds"]
COLUMNS = {
    "entity": "hospital",
    "period": "week",
    "group": "state",
    "count": "patients",
    "capacity": "beds",
}
Row = dict[str, str]
Drawn = Mapping[str, tuple[str, str]]


def week(number: int) -> str:
    """Sundays from 2021-01-03."""
    return str(datetime.date(2021, 1, 3) + datetime.timedelta(weeks=number))


def rows(drawn: Drawn, state: str = "A") -> list[Row]:
    """The rows of entities drawn as a line of counts and a line of capacities."""
    texts = {"*": "-999999", ".": "NA"}
    return [
        dict(
            zip(
                FIELDS,
                [state, entity, week(t), texts.get(k, k), texts.get(c, c)],
                strict=True,
            )
        )
        for entity, (counts, capacities) in drawn.items()
        for t, (k, c) in enumerate(zip(counts.split(), capacities.split(), strict=True))
        if k != "_"
    ]


def table(of: Iterable[Row]) -> RawTable:
    """As if read from hospitals.csv."""
    return RawTable("hospitals.csv", pd.DataFrame(list(of), dtype=str))


def dataset(columns: Mapping[str, Any] = {}, periods: Any = {}, **cleaning: Any) -> Dataset:  # noqa: B006
    return Dataset.model_validate(
        {
            "source": {"kind": "local", "file": "hospitals.csv"},
            "columns": {**COLUMNS, **columns},
            "periods": periods,
            "cleaning": {"min_total_cases": 0, **cleaning},
        }
    )


def streams(**groups: list[str]) -> dict[str, Stream]:
    return {label: Stream(groups=values) for label, values in groups.items()}


def clean(
    of: Drawn | list[Row],
    rules: Dataset | None = None,
    wanted: Mapping[str, Stream] | None = None,
) -> CleanPanel:
    """The panel of one stream S of state A, or of others, always with the panel's types."""
    raw = table(of if isinstance(of, list) else rows(of))
    panel = clean_panel(raw, rules or dataset(), wanted or streams(S=["A"]))
    checked = check_panel(panel.table, "panel")
    return dataclasses.replace(panel, table=checked)


def line(panel: CleanPanel, entity: str, column: str) -> list[Any]:
    """A column of one entity, week by week."""
    found = panel.table[panel.table["entity"] == entity]
    assert found["period"].is_monotonic_increasing
    return found[column].tolist()


def sources(panel: CleanPanel, entity: str, column: str) -> str:
    """The sources of one entity's cells, their first letters."""
    return "".join(source[0] for source in line(panel, entity, column))


def touched(panel: CleanPanel, stream: int = 0) -> dict[str, int]:
    """The rules that touched a cell, and how many."""
    assert list(panel.reports[stream].cells) == list(RULES)
    return {rule: cells for rule, cells in panel.reports[stream].cells.items() if cells}


def refused(of: Drawn | list[Row], *arguments: Any) -> str:
    with pytest.raises(DataError) as caught:
        clean(of, *arguments)
    return str(caught.value)


PLAIN: Drawn = {"h": ("1 2 3 4 5", "10 10 10 10 10")}
"""An entity that needs no cleaning, beside the one that does."""


def test_a_clean_table_becomes_the_panel_cell_by_cell() -> None:
    panel = clean({"b": ("3 4", "10 20"), "a": ("1 2.5", "4 5")})
    expected = pd.DataFrame(
        [
            ("S", "A", "a", "a", "2021-01-03", 1.0, 4.0, 0.25, "reported", "reported"),
            ("S", "A", "b", "b", "2021-01-03", 3.0, 10.0, 0.3, "reported", "reported"),
            ("S", "A", "a", "a", "2021-01-10", 2.5, 5.0, 0.5, "reported", "reported"),
            ("S", "A", "b", "b", "2021-01-10", 4.0, 20.0, 0.2, "reported", "reported"),
        ],
        columns=list(PANEL_COLUMNS),
    ).astype({"period": "datetime64[ns]"})
    pd.testing.assert_frame_equal(panel.table, expected, check_dtype=False)
    assert (panel.rows_read, panel.rows_outside) == (4, 0)
    assert panel.reports == (
        StreamReport(
            stream="S",
            entities=2,
            periods=2,
            cells=dict.fromkeys(RULES, 0),
            dropped=(),
            missing_periods=(),
            smallest_capacity=4.0,
            largest_density=0.5,
        ),
    )


def test_exact_duplicates_are_dropped_and_counted() -> None:
    drawn = {**PLAIN, "a": ("1 * . 4 5", "9 9 9 9 9")}
    once = rows(drawn)
    repeated = [once[0], once[5], once[6], once[7], once[7]]
    panel = clean(once + repeated)
    pd.testing.assert_frame_equal(panel.table, clean(once).table)
    assert touched(panel) == {"exact_duplicates": 5, "suppressed_counts": 1, "carried_counts": 1}


def test_the_same_row_written_in_another_way_is_an_exact_duplicate() -> None:
    first, *others = rows({**PLAIN, "a": ("* 2 3 4 5", "9 9 9 9 9")})
    hidden = next(row for row in others if row["patients"] == "-999999")
    other_way = [
        {**first, "patients": "1.0", "beds": " 10.00", "week": "2021-01-03T00:00:00.000"},
        {**hidden, "patients": "-999999.0"},
    ]
    assert touched(clean([first, *others, *other_way]))["exact_duplicates"] == 2


@pytest.mark.parametrize("change", [{"patients": "3"}, {"beds": "11"}, {"patients": "-999999"}])
def test_conflicting_duplicates_are_refused_with_both_rows(change: Row) -> None:
    once = rows(PLAIN)
    message = refused([*once, {**once[1], **change}, *rows({"a": ("1 1 1 1 1", "9 9 9 9 9")})])
    assert message == (
        "hospitals.csv, rows 3 and 7: h has different numbers for the period 2021-01-10"
        " (1 such pairs); keep one row of each"
    )


def test_a_suppressed_and_a_missing_count_of_one_week_are_in_conflict() -> None:
    once = [{**row, "cases": "1"} for row in rows({**PLAIN, "a": (". 1 1 1 1", "9 9 9 9 9")})]
    hidden = {**once[5], "patients": "-999999"}
    assert "rows 7 and 12: a has" in refused([*once, hidden], dataset({"cases": ["cases"]}))


@pytest.mark.parametrize("marker", ["-999999", "-999999.0", "-9.99999e5"])
def test_a_suppressed_count_becomes_the_suppressed_value(marker: str) -> None:
    panel = clean({**PLAIN, "a": (f"7 {marker} 0 1 2", "10 10 10 10 10")})
    assert line(panel, "a", "count") == [7, 2, 0, 1, 2]
    assert sources(panel, "a", "count_source") == "rsrrr"
    assert touched(panel) == {"suppressed_counts": 1}


def test_spaces_around_a_marker_or_number_do_not_matter() -> None:
    spaced = [
        {key: f" {value}\t" for key, value in row.items()}
        for row in rows({**PLAIN, "a": ("7 * . 1 2", "10 10 10 10 10")})
    ]
    assert touched(clean(spaced)) == {"suppressed_counts": 1, "carried_counts": 1}


def test_other_markers_and_another_suppressed_value_can_be_chosen() -> None:
    rules = dataset(suppressed_markers=["<4", "-1"], missing_markers=["?"], suppressed_value=1.5)
    panel = clean({**PLAIN, "a": ("7 <4 -1.0 ? 2", "10 10 10 ? 10")}, rules)
    assert line(panel, "a", "count") == [7, 1.5, 1.5, 1.5, 2]
    assert sources(panel, "a", "count_source") == "rsscr"
    assert "column patients holds 'NA'" in refused(
        {**PLAIN, "a": (". 1 1 1 1", "9 9 9 9 9")}, rules
    )


@pytest.mark.parametrize("marker", ["", " ", "NA", "NaN", "null"], ids=repr)
def test_missing_counts_are_carried_and_missing_capacities_too(marker: str) -> None:
    given_rows = rows({**PLAIN, "a": ("7 8 9 1 2", "10 20 30 40 50")})
    given_rows[7] |= {"patients": marker, "beds": marker}
    panel = clean(given_rows)
    assert line(panel, "a", "count") == [7, 8, 8, 1, 2]
    assert line(panel, "a", "capacity") == [10, 20, 20, 40, 50]
    assert touched(panel) == {"carried_counts": 1, "carried_capacities": 1}


@pytest.mark.parametrize("hole", [".", "_"], ids=["empty cell", "no row"])
@pytest.mark.parametrize(
    ("max_carry", "counts", "letters"),
    [
        (0, [5, 0, 0, 0, 0, 0, 6, 0], "rzzzzzrz"),
        (1, [5, 5, 0, 0, 0, 0, 6, 6], "rczzzzrc"),
        (4, [5, 5, 5, 5, 5, 0, 6, 6], "rcccczrc"),
        (5, [5, 5, 5, 5, 5, 5, 6, 6], "rcccccrc"),
    ],
)
def test_a_missing_count_is_carried_exactly_max_carry_weeks_and_is_0_then(
    hole: str, max_carry: int, counts: list[float], letters: str
) -> None:
    full = " ".join(["9"] * 8)
    holes = " ".join(["5", *[hole] * 5, "6", hole])
    panel = clean({"h": (full, full), "a": (holes, full)}, dataset(max_carry=max_carry))
    assert line(panel, "a", "count") == counts
    assert sources(panel, "a", "count_source") == letters
    found = touched(panel)
    assert found.get("carried_counts", 0) == letters.count("c")
    assert found.get("zero_counts", 0) == letters.count("z")
    assert found.get("carried_capacities", 0) == (6 if hole == "_" else 0)


def test_the_default_is_to_carry_four_weeks() -> None:
    nine = " ".join(["9"] * 9)
    panel = clean({"h": (nine, nine), "a": ("5 . . . . . . . .", nine)})
    assert touched(panel) == {"carried_counts": 4, "zero_counts": 4}


def test_a_count_missing_from_the_start_is_0_and_a_suppressed_one_is_carried() -> None:
    panel = clean({**PLAIN, "a": (". . * . 4", "9 9 9 9 9")})
    assert line(panel, "a", "count") == [0, 0, 2, 2, 4]
    assert sources(panel, "a", "count_source") == "zzscr"
    assert touched(panel) == {"zero_counts": 2, "suppressed_counts": 1, "carried_counts": 1}


def test_counts_are_never_carried_from_one_entity_to_another() -> None:
    panel = clean({"a": ("7 7", "9 9"), "b": (". .", "9 9"), "c": ("5 5", "9 9")})
    assert line(panel, "b", "count") == [0, 0]


def test_capacities_are_carried_forward_then_backward() -> None:
    panel = clean({**PLAIN, "a": ("0 0 0 0 0", "0 . 20 * 0"), "b": ("0 0 0 0 0", "5 0 0 7 .")})
    assert line(panel, "a", "capacity") == [20, 20, 20, 20, 20]
    assert sources(panel, "a", "capacity_source") == "bbrcc"
    assert line(panel, "b", "capacity") == [5, 5, 5, 7, 7]
    assert sources(panel, "b", "capacity_source") == "rccrc"
    assert touched(panel) == {"carried_capacities": 5, "backfilled_capacities": 2}
    assert panel.reports[0].smallest_capacity == 5


@pytest.mark.parametrize("capacities", ["0 0 0 0 0", ". . . . .", "* 0 . 0.0 *"])
def test_an_entity_that_never_reports_a_capacity_is_dropped(capacities: str) -> None:
    panel = clean({**PLAIN, "a": ("9 9 9 9 9", capacities), "b": ("1 1 1 1 1", "2 2 2 2 2")})
    assert sorted(set(panel.table["entity"])) == ["b", "h"]
    assert panel.reports[0].entities == 2
    reason = "never reports a capacity above 0"
    assert panel.reports[0].dropped == ({"entity": "a", "name": "a", "reason": reason},)


@pytest.mark.parametrize(
    ("case_factor", "kept"), [(1, {"c"}), (7, {"b", "c"}), (7.5, {"a", "b", "c"})]
)
def test_entities_with_too_few_cases_are_dropped_and_those_with_enough_are_kept(
    case_factor: float, kept: set[str]
) -> None:
    drawn = {"a": ("4 5 5", "9 9 9"), "b": ("5 5 5", "9 9 9"), "c": ("50 50 5", "99 99 99")}
    more = {"d": ("200 0 0", "99 99 99")}
    panel = clean({**drawn, **more}, dataset(min_total_cases=105, case_factor=case_factor))
    assert set(panel.table["entity"]) == kept | {"d"}
    reasons = {drop["entity"]: drop["reason"] for drop in panel.reports[0].dropped}
    assert set(reasons) == set(drawn) - kept
    if "a" in reasons:
        assert reasons["a"] == f"{14 * case_factor:g} cases in all, fewer than 105"


def test_cases_count_suppressed_ones_at_the_suppressed_value_and_missing_ones_as_0() -> None:
    drawn = {**PLAIN, "a": ("* * . 0 1", "9 9 9 9 9"), "b": ("9 9 9 9 9", "9 9 9 9 9")}
    assert not clean(drawn, dataset(min_total_cases=5)).reports[0].dropped
    (drop,) = clean(drawn, dataset(min_total_cases=5.5)).reports[0].dropped
    assert drop["reason"] == "5 cases in all, fewer than 5.5"


def test_case_columns_are_added_up_in_place_of_the_count() -> None:
    given_rows = [
        {**row, "adult": adult, "child": child}
        for row, (adult, child) in zip(
            rows({"a": ("0 0", "9 9"), "b": ("9 9", "9 9"), "c": ("9 9", "9 9")}),
            [("3", "-999999"), ("1", ""), ("4", "0"), ("0", "1"), ("6", "0"), ("", "0")],
            strict=True,
        )
    ]
    rules = dataset({"cases": ["adult", "child"]}, min_total_cases=6)
    panel = clean(given_rows, rules)
    assert [drop["entity"] for drop in panel.reports[0].dropped] == ["b"]
    assert line(panel, "a", "count") == [0, 0], "cases are for filtering only"


def test_repeated_rows_count_their_cases_once() -> None:
    given_rows = rows({**PLAIN, "a": ("1 1 1 1 1", "9 9 9 9 9"), "b": PLAIN["h"]})
    panel = clean(given_rows + given_rows, dataset(min_total_cases=6))
    assert [drop["entity"] for drop in panel.reports[0].dropped] == ["a"]


def test_the_reason_for_dropping_never_contradicts_itself() -> None:
    drawn = {"a": ("99.9999999", "9"), "b": ("200", "9"), "c": ("200", "9")}
    (drop,) = clean(drawn, dataset(min_total_cases=100)).reports[0].dropped
    assert drop["reason"] != "100 cases in all, fewer than 100"


def test_densities_above_1_are_clipped_and_counted() -> None:
    panel = clean({**PLAIN, "a": ("10 11 9 0 25", "10 10 10 10 10")})
    assert line(panel, "a", "density") == [1, 1, 0.9, 0, 1]
    assert line(panel, "a", "count") == [10, 11, 9, 0, 25], "the count itself is kept"
    assert touched(panel) == {"clipped_densities": 2}
    assert panel.reports[0].largest_density == 1


@pytest.mark.parametrize("column", ["patients", "beds", "cases"])
@pytest.mark.parametrize(
    "value", ["many", "-1", "inf", "-inf", "nan", "1,5", "1 2", "0x10", "True"]
)
def test_what_is_no_number_of_at_least_0_is_refused_with_its_place_and_the_remedy(
    column: str, value: str
) -> None:
    given_rows = [{**row, "cases": "1"} for row in rows(PLAIN)]
    given_rows[2][column] = given_rows[4][column] = value
    message = refused(given_rows, dataset({"cases": ["cases"]}))
    assert message == (
        f"hospitals.csv, row 4: column {column} holds {value!r}, not a number of at least 0"
        " (2 such cells). Mend the table, or list the value under"
        " dataset.cleaning.missing_markers or suppressed_markers"
    )


def test_an_empty_cell_that_no_marker_names_is_called_empty() -> None:
    given_rows = rows(PLAIN)
    given_rows[2]["patients"] = ""
    message = refused(given_rows, dataset(missing_markers=["NA"]))
    assert message == (
        "hospitals.csv, row 4: column patients is empty (1 such cells). Mend the table, or list"
        ' "" under dataset.cleaning.missing_markers or suppressed_markers'
    )


@pytest.mark.parametrize(
    "value", ["", "NA", "soon", "2021-02-30", "31/01/2021", "2021-13-01", "now", "today"]
)
def test_what_is_no_date_is_refused_with_its_place_and_the_remedy(value: str) -> None:
    given_rows = rows(PLAIN)
    given_rows[3]["week"] = value
    assert refused(given_rows) == (
        f"hospitals.csv, row 5: column week holds {value!r}, not a date like 2021-01-31"
        " (1 such cells); mend the table or dataset.columns.period"
    )


@pytest.mark.parametrize(
    "value",
    [
        "2021-01-03",
        "2021-01-03T00:00:00.000",
        "2021-01-03 00:00:00.000000000",
        "2021-01-03T08:30:00",
    ],
)
def test_dates_may_carry_a_time_of_day(value: str) -> None:
    given_rows = rows({"a": ("1 2", "9 9"), "b": ("1 2", "9 9")})
    given_rows[0]["week"] = value
    assert clean(given_rows).reports[0].periods == 2


def test_an_empty_entity_is_refused_with_its_place() -> None:
    given_rows = rows(PLAIN)
    given_rows[1]["hospital"] = " "
    message = "hospitals.csv, row 3: column hospital is empty; name the entity"
    assert refused(given_rows) == message


def test_a_stream_without_rows_is_told_with_the_groups_that_exist() -> None:
    of = rows({"a": ("1", "9"), "b": ("1", "9")}) + rows({"c": ("1", "9")}, "D")
    assert refused(of, dataset(), streams(S=["A"], T=["B", "C"])) == (
        "hospitals.csv: no row for stream T (group B, C, periods any to any);"
        " groups within these periods: A, D; the table's periods: 2021-01-03 to 2021-01-03."
        " Change streams.T.groups or dataset.periods"
    )


def test_periods_without_rows_are_told() -> None:
    rules = dataset(periods={"first": "2022-01-01", "last": "2022-12-31"})
    assert refused(PLAIN, rules) == (
        "hospitals.csv: no row for stream S (group A, periods 2022-01-01 to 2022-12-31);"
        " groups within these periods: none; the table's periods: 2021-01-03 to 2021-01-31."
        " Change streams.S.groups or dataset.periods"
    )


@pytest.mark.parametrize(
    ("drawn", "least", "kept", "all_of_them"),
    [
        ({"a": ("1", "9"), "b": ("5", "9")}, 5, 1, 2),
        ({"a": ("1", "9"), "b": ("5", "9"), "c": ("6", "9")}, 7, 0, 3),
        ({"a": ("1", "0"), "b": ("5", ".")}, 0, 0, 2),
    ],
)
def test_a_stream_of_fewer_than_two_entities_is_refused_with_the_remedy(
    drawn: Drawn, least: float, kept: int, all_of_them: int
) -> None:
    assert refused(drawn, dataset(min_total_cases=least)) == (
        f"hospitals.csv: stream S keeps {kept} of {all_of_them} entities after filtering, at least"
        " 2 are needed; lower dataset.cleaning.min_total_cases or check dataset.columns.capacity"
    )


def test_a_table_of_one_entity_is_refused_with_another_remedy() -> None:
    assert refused({"a": ("1", "9")}, dataset(min_total_cases=0)) == (
        "hospitals.csv: stream S keeps 1 of 1 entities after filtering, at least 2 are needed;"
        " add groups to streams.S.groups"
    )


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
    assert panel.rows_outside == 10 - 2 * len(counts)


def test_nothing_is_carried_and_no_case_counted_from_outside_the_periods() -> None:
    drawn = {"h": ("9 9 9", "9 9 9"), "a": ("7 . 3", "5 . 6"), "b": ("99 1 1", "9 9 9")}
    panel = clean(drawn, dataset(periods={"first": week(1)}, min_total_cases=3))
    assert line(panel, "a", "count") == [0, 3]
    assert line(panel, "a", "capacity") == [6, 6]
    assert [drop["entity"] for drop in panel.reports[0].dropped] == ["b"]


def dated(*dates: str) -> list[Row]:
    """Two entities that report on these dates."""
    return [
        dict(zip(FIELDS, ["A", entity, date, "1", "9"], strict=True))
        for entity in "ab"
        for date in dates
    ]


@pytest.mark.parametrize(
    ("dates", "days", "gaps"),
    [
        (["2020-12-18", "2020-12-25", "2021-01-03", "2021-01-10"], 7, ()),
        (["2020-12-20", "2020-12-25"], 7, ()),
        (
            ["2020-12-18", "2021-01-03"],
            7,
            ("1 between 2020-12-18 and 2021-01-03",),
        ),
        (
            ["2021-01-03", "2021-01-15"],
            7,
            ("1 between 2021-01-03 and 2021-01-15",),
        ),
        (
            ["2021-01-03", "2021-01-17", "2021-01-24", "2021-02-21"],
            7,
            ("1 between 2021-01-03 and 2021-01-17", "3 between 2021-01-24 and 2021-02-21"),
        ),
        (["2021-01-03", "2021-01-17"], 14, ()),
        (["2021-01-03", "2021-01-05"], 1, ("1 between 2021-01-03 and 2021-01-05",)),
    ],
    ids=[
        "Friday to Sunday",
        "Sunday to Friday",
        "Friday, gap, Sunday",
        "Sunday, gap, Friday",
        "gaps",
        "14 days",
        "daily",
    ],
)
def test_missing_periods_are_reported_and_a_move_from_friday_to_sunday_is_none(
    dates: list[str], days: int, gaps: tuple[str, ...]
) -> None:
    panel = clean(dated(*dates), dataset(periods={"days": days}))
    assert panel.reports[0].missing_periods == gaps
    assert panel.reports[0].periods == len(dates)


def test_streams_join_groups_and_may_share_them() -> None:
    of = rows({"a": ("1 1", "4 4"), "b": ("2 2", "5 5")}, "A")
    of += rows({"c": ("3 3", "6 6"), "d": ("* .", "7 0")}, "B")
    of += rows({"e": ("5 5", "8 8")}, "C")
    panel = clean(of, dataset(), streams(X=["B", "A"], Y=["A"]))
    entities = {
        label: dict(zip(part["entity"], part["group"], strict=True))
        for label, part in panel.table.groupby("stream")
    }
    assert entities == {"X": {"a": "A", "b": "A", "c": "B", "d": "B"}, "Y": {"a": "A", "b": "A"}}
    assert [report.stream for report in panel.reports] == ["X", "Y"]
    assert [report.entities for report in panel.reports] == [4, 2]
    assert touched(panel, 0) == {
        "suppressed_counts": 1,
        "carried_counts": 1,
        "carried_capacities": 1,
    }
    assert touched(panel, 1) == {}
    assert (panel.rows_read, panel.rows_outside) == (10, 2)


def test_a_period_that_one_stream_lacks_is_no_hole_in_it() -> None:
    of = rows({"a": ("1 _ 1", "4 4 4"), "b": ("2 _ 2", "5 5 5")}, "A")
    of += rows({"c": ("3 3 3", "6 6 6"), "d": ("3 3 3", "6 6 6")}, "B")
    panel = clean(of, dataset(), streams(X=["A"], Y=["B"]))
    assert [report.periods for report in panel.reports] == [2, 3]
    assert panel.reports[0].missing_periods == ("1 between 2021-01-03 and 2021-01-17",)


def test_a_table_without_groups_is_the_group_all() -> None:
    of = [
        {k: v for k, v in row.items() if k != "state"} for row in rows({**PLAIN, "a": PLAIN["h"]})
    ]
    panel = clean(of, dataset({"group": None}), streams(S=["all"]))
    assert set(panel.table["group"]) == {"all"}
    assert panel.reports[0].entities == 2


def test_names_are_shown_where_there_is_a_column_of_them() -> None:
    of = [{**row, "title": f"The {row['hospital']}"} for row in rows({**PLAIN, "a": PLAIN["h"]})]
    panel = clean(of, dataset({"name": "title"}))
    assert set(line(panel, "h", "name")) == {"The h"}
    assert set(line(clean(of), "h", "name")) == {"h"}


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (1, 0, 2, 3), (3, 2, 1, 0)], ids=str)
def test_an_entity_that_changes_its_name_is_shown_by_the_same_one_in_any_order_of_rows(
    order: tuple[int, ...],
) -> None:
    of = rows({"a": ("1 1", "9 9"), "h": ("1 1", "9 9")})
    for row, name in zip(of, ["old", "new", "h", "h"], strict=True):
        row["title"] = name
    panel = clean([of[i] for i in order], dataset({"name": "title"}))
    assert line(panel, "a", "name") == ["new", "new"]


def test_the_columns_of_a_config_are_what_is_read_and_asked_for() -> None:
    rules = dataset({"cases": ["adult", "patients"], "name": "title"}, {"last": "2021-12-31"})
    columns = ["hospital", "week", "state", "title", "patients", "beds", "adult"]
    assert rules.columns.needed() == columns
    query = query_for(rules, ["A", "B"])
    assert query.columns == tuple(columns)
    assert (query.entity, query.period, query.group) == ("hospital", "week", "state")
    assert query.groups == ("A", "B")
    assert (query.first, query.last) == (None, datetime.date(2021, 12, 31))


def test_a_table_without_groups_is_asked_for_as_a_whole() -> None:
    query = query_for(dataset({"group": None}), ["all"])
    assert query.group is None
    assert query.groups == ()


# Any table ---------------------------------------------------------------------------------------

COUNT_CELLS = st.sampled_from(["0", "1", "2.5", "7", "30", "*", "."])
CAPACITY_CELLS = st.sampled_from(["0", "1", "4.5", "10", "40", "*", "."])


@st.composite
def drawings(draw: st.DrawFn) -> dict[str, tuple[str, str]]:
    """Up to four entities over up to seven weeks; at least two have a capacity."""
    weeks = draw(st.integers(1, 7))
    drawn = {}
    for index in range(draw(st.integers(2, 4))):
        counts = draw(st.lists(COUNT_CELLS | st.just("_"), min_size=weeks, max_size=weeks))
        capacities = draw(st.lists(CAPACITY_CELLS, min_size=weeks, max_size=weeks))
        if index < 2:
            place = draw(st.integers(0, weeks - 1))
            capacities[place] = "10"
            counts[place] = counts[place].replace("_", ".")
        drawn[f"h{index}"] = (" ".join(counts), " ".join(capacities))
    return drawn


def by_hand(
    counts: str, capacities: str, present: list[int], max_carry: int
) -> list[tuple[float, str, float, str]]:
    """One entity cleaned cell by cell, in plain words."""
    known = [
        k != "_" and c not in "0*." for k, c in zip(counts.split(), capacities.split(), strict=True)
    ]
    cells = []
    last, when, beds = 0.0, None, None
    first = next(float(c) for c, good in zip(capacities.split(), known, strict=True) if good)
    for t in present:
        count = counts.split()[t]
        if count in "._":
            recent = when is not None and t - when <= max_carry
            last, source = (last, "carried") if recent else (0.0, "zero")
        else:
            when = t
            last, source = (2.0, "suppressed") if count == "*" else (float(count), "reported")
        if known[t]:
            beds = float(capacities.split()[t])
        beds_source = "reported" if known[t] else "backfilled" if beds is None else "carried"
        cells.append((last, source, first if beds is None else beds, beds_source))
    return cells


@given(drawn=drawings(), max_carry=st.integers(0, 4))
def test_any_table_is_cleaned_as_by_hand(drawn: Drawn, max_carry: int) -> None:
    panel = clean(drawn, dataset(max_carry=max_carry))
    kept = {
        entity: lines
        for entity, lines in drawn.items()
        if any(k != "_" and c not in "0*." for k, c in zip(*map(str.split, lines), strict=True))
    }
    present = [
        t
        for t, cells in enumerate(zip(*(k.split() for k, _ in kept.values()), strict=True))
        if set(cells) != {"_"}
    ]
    columns = ["count", "count_source", "capacity", "capacity_source"]
    assert set(panel.table["entity"]) == set(kept)
    for entity, lines in kept.items():
        found = panel.table[panel.table["entity"] == entity]
        assert found["period"].dt.strftime("%Y-%m-%d").tolist() == [week(t) for t in present]
        expected = by_hand(*lines, present, max_carry)
        assert list(found[columns].itertuples(index=False, name=None)) == expected


@given(drawn=drawings(), max_carry=st.integers(0, 4))
def test_a_panel_has_no_holes_and_every_filled_cell_is_counted(
    drawn: Drawn, max_carry: int
) -> None:
    panel = clean(drawn, dataset(max_carry=max_carry))
    found, (report,) = panel.table, panel.reports
    pairs = pd.MultiIndex.from_product([found["period"].unique(), found["entity"].unique()])
    assert list(zip(found["period"], found["entity"], strict=True)) == pairs.tolist()
    assert len(found) == report.entities * report.periods
    assert not found.isna().any(axis=None)
    assert found["density"].between(0, 1).all()
    share = found["count"] / found["capacity"]
    assert (found["density"] == np.minimum(share, 1)).all()
    assert report.cells == {
        "exact_duplicates": 0,
        "suppressed_counts": (found["count_source"] == "suppressed").sum(),
        "carried_counts": (found["count_source"] == "carried").sum(),
        "zero_counts": (found["count_source"] == "zero").sum(),
        "carried_capacities": (found["capacity_source"] == "carried").sum(),
        "backfilled_capacities": (found["capacity_source"] == "backfilled").sum(),
        "clipped_densities": (share > 1).sum(),
    }
    assert report.largest_density == found["density"].max()
    assert report.smallest_capacity == found["capacity"].min()
    assert report.entities + len(report.dropped) == len({row["hospital"] for row in rows(drawn)})


@given(drawn=drawings(), data=st.data())
def test_the_order_of_the_rows_does_not_matter(drawn: Drawn, data: st.DataObject) -> None:
    given_rows = rows(drawn)
    given_rows += given_rows[:2]
    panel = clean(given_rows)
    other = clean(data.draw(st.permutations(given_rows)))
    pd.testing.assert_frame_equal(panel.table, other.table)
    assert panel.reports == other.reports


@given(drawn=drawings())
def test_cleaning_a_clean_table_touches_nothing(drawn: Drawn) -> None:
    first = clean(drawn).table
    again = clean(
        [
            dict(zip(FIELDS, [group, entity, str(period.date()), repr(k), repr(c)], strict=True))
            for group, entity, period, k, c in zip(
                first["group"],
                first["entity"],
                first["period"],
                np.minimum(first["count"], first["capacity"]).tolist(),
                first["capacity"].tolist(),
                strict=True,
            )
        ]
    )
    assert touched(again) == {}
    assert not again.reports[0].dropped
    same = ["stream", "group", "entity", "period", "capacity", "density"]
    pd.testing.assert_frame_equal(again.table[same], first[same])


@given(drawn=drawings())
def test_cleaning_leaves_the_raw_table_alone(drawn: Drawn) -> None:
    raw = table(rows(drawn))
    before = raw.cells.copy(deep=True)
    clean_panel(raw, dataset(), streams(S=["A"]))
    pd.testing.assert_frame_equal(raw.cells, before)
