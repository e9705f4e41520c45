"""Cells that are neither numbers, dates nor names are in one message, with the remedies."""

from __future__ import annotations

import pytest

from data.drawn import (
    PLAIN,
    Row,
    clean,
    counts,
    dataset,
    of_period,
    refused,
    row,
    rows,
    streams,
    table,
    week,
)
from dpol.core.errors import DataError
from dpol.data.tables.bad_cells import BadCells, refuse_cells

COUNT_WANTED = "a number from 0 to 999,999,999"
BEDS_WANTED = "0 or a number from 0.000001 to 999,999,999"


def with_cells(*cells: tuple[int, str, str]) -> list[Row]:
    """Return rows of two entities over five weeks, with other cells at (row, column)."""
    of = rows({**PLAIN, "a": ("1 2 3 4 5", "9 9 9 9 9")})
    for place, column, text in cells:
        of[place][column] = text
    return of


def test_everything_that_is_wrong_is_in_one_message() -> None:
    of = with_cells(
        (1, "beds", "n/a"),
        (3, "beds", "n/a"),
        (2, "patients", "-1"),
        (4, "patients", "<4"),
        (5, "patients", "16,8"),
        (7, "hospital", " "),
        (8, "week", "2021-13-01"),
    )
    assert refused(of).startswith(f"""\
hospitals.csv: 7 cells cannot be used
  column week, which needs a date like 2021-01-31, from 1900 to 2100:
    '2021-13-01': 1 cell, first in row 10
  column hospital, which needs the name of an entity:
    nothing: 1 cell, first in row 9
  column patients, which needs {COUNT_WANTED}:
    '-1': 1 cell, first in row 4
    '<4': 1 cell, first in row 6
    '16,8': 1 cell, first in row 7
  column beds, which needs {BEDS_WANTED}:
    'n/a': 2 cells, first in row 3
""")
    for remedy in ("format.date", "columns.period", "format, numbers not", "cleaning, texts"):
        assert f"dataset.{remedy}" in refused(of)


NO_NUMBERS = [
    *("1 234", "nan", "True", "0x", "16,8", "12%", "1.2.3", "inf", "1e400", "1e-400", "1e12", "３"),
]


@pytest.mark.parametrize("column", ["patients", "beds", "cases"])
def test_what_is_no_number_is_refused_in_every_column_of_numbers(column: str) -> None:
    of = [{**row, "cases": "1"} for row in of_period(week(0), "abcdefghijkl")]
    for cells, text in zip(of, NO_NUMBERS, strict=True):
        cells[column] = text
    said = refused(of, dataset({"cases": ["cases"]}))
    for place, text in enumerate(NO_NUMBERS, start=2):
        assert f"{text!r}: 1 cell, first in row {place}" in said


def test_a_capacity_so_small_that_its_noise_would_drown_all_is_refused() -> None:
    assert BEDS_WANTED in refused(with_cells((2, "beds", "1e-320")))
    clean(with_cells((2, "beds", "0.01")))


def test_of_many_values_at_most_20_are_shown() -> None:
    of = rows({f"h{i}": (f"x{chr(97 + i)}", "9") for i in range(25)})
    message = refused(of)
    assert message.count("1 cell, first in row") == 20
    assert "    and 5 other values" in message.splitlines()


def test_of_many_columns_20_are_named() -> None:
    cells = table([{f"c{i}": "1" for i in range(30)}]).cells
    with pytest.raises(DataError, match=r"30 cells cannot .*\n[\s\S]*\n  and 10 other columns$"):
        refuse_cells("hospitals.csv", [BadCells(cells[name], "a number") for name in cells])


# Dates -------------------------------------------------------------------------------------------


NO_DATES = [
    *("", "NA", "soon", "2021-02-30", "31/01/2021", "2021-13-01", "now", "today"),
    *("2023-09-04Tgarbage", "2023-09-04 25:61", "2023-09-04 24:00", "2023-09-04T", "2023-09-04 08",
      "2023-09-04T08:30:61", "2023-09-04T08:30:00+99:00"),
    *("２０２１-02-05", "2021-01-0３", "٢٠٢١-02-05"),
    *("0000-01-01", "0001-01-01", "1500-01-01", "1899-12-31", "2101-01-01", "2262-04-12"),
    *("9999-12-31", "12021-01-03", "2021-1-3"),
]  # fmt: skip


@pytest.mark.parametrize("values", [NO_DATES[:13], NO_DATES[13:]])
def test_what_is_no_date_from_1900_to_2100_is_refused_and_never_dropped(values: list[str]) -> None:
    said = refused([*of_period(week(0), "ab"), *(row("A", "c", day, "1", "9") for day in values)])
    for place, value in enumerate(values, start=4):
        held = repr(value) if value else "nothing"
        assert f"\n    {held}: 1 cell, first in row {place}\n" in said


def test_dates_may_carry_a_time_of_day() -> None:
    of = with_cells()
    times = ["", "T00:00:00.000", " 00:00:00.000000000", "T08:30:00", " 23:59", "T00:00:00Z"]
    for cells, time in zip(of, [*times, "T08:30:00.5+02:00"], strict=False):
        cells["week"] += time
    assert clean(of).reports[0].periods == 5


# Rows that are not looked at ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "text"),
    [("week", "soon"), ("week", "9999-12-31"), ("hospital", ""), ("patients", "-1"), ("beds", "?")],
)
def test_other_groups_are_not_checked(column: str, text: str) -> None:
    of = [*with_cells(), *rows({"z": ("1", "9")}, "B")]
    of[-1][column] = text
    panel = clean(of)
    assert (panel.rows_read, panel.rows_outside) == (11, 1)
    assert counts(panel) == {}
    assert "1 cell, first in row 12" in refused(of, None, streams(S=["A"], T=["B"]))


@pytest.mark.parametrize(("column", "text"), [("hospital", ""), ("patients", "-1"), ("beds", "?")])
def test_other_periods_are_checked_for_dates_only(column: str, text: str) -> None:
    rules = dataset(periods={"first": week(1)})
    assert clean(with_cells((0, column, text)), rules).rows_outside == 2
    assert "first in row 2" in refused(with_cells((0, "week", "soon")), rules)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("2021-01", "2021-02"), "YYYY-M or YYYY-ww, and dataset.periods: {months: 1}. Or let"),
        (("3.1.2021", "10.1.2021"), "D.M.YYYY. Or let dpol look"),
        (("1/3/2021", "1/10/2021"), "D/M/YYYY or M/D/YYYY. Or let dpol look"),
    ],
)  # fmt: skip
def test_dates_of_another_format_are_recognised(texts: tuple[str, ...], said: str) -> None:
    text = refused([row("A", entity, day, "1", "9") for entity in "ab" for day in texts])
    assert f"To read them, set dataset.format.date: {said}" in text
    assert len(text.splitlines()) <= 5
