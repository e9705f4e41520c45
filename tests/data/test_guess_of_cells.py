"""What `dpol new dataset` makes of suppressed, negative and repeated cells, and of seasons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpol.data.guess import look_at


def looked(folder: Path, *lines: str, header: str = "d,town,sick,beds") -> dict[str, Any]:
    """Return the guessed cleaning and periods of a table of three towns; `{}` is the town."""
    of_towns = [line.format(town) for town in ("Ulm", "Bonn", "Trier") for line in lines]
    file = folder / "t.csv"
    file.write_text("\n".join([header, *of_towns]) + "\n")
    seen = look_at(file, {})
    return {**seen.cleaning, **seen.periods}


@pytest.mark.parametrize(("marker", "value"), [("<10", 5), ("<5", 2), ("< 20", 10), ("*", 2)])
def test_a_suppressed_count_is_read_in_the_middle_of_what_it_may_be(
    tmp_path: Path, marker: str, value: int
) -> None:
    """<10 is 1 to 9; a marker that tells no number is read as the default."""
    seen = looked(tmp_path, f"2021-01-03,{{}},{marker},90", "2021-01-10,{},36,90")
    assert (seen["suppressed_markers"], seen["suppressed_value"]) == ([marker], value)


@pytest.mark.parametrize(("count", "rule"), [("-1", "missing"), ("-0.5", "missing"), ("0", None)])
def test_a_negative_count_is_noticed(tmp_path: Path, count: str, rule: str | None) -> None:
    seen = looked(tmp_path, f"2021-01-03,{{}},{count},30", "2021-01-10,{},6,30")
    assert seen.get("negative_counts") == rule


def test_repeated_rows_are_one_row(tmp_path: Path) -> None:
    """Two rows that differ would be asked about."""
    seen = looked(tmp_path, *2 * ("2021-01-03,{},5,30", "2021-01-10,{},6,30"))
    assert "several_rows" not in seen


def test_months_are_no_seasons_although_one_of_them_looks_like_one(tmp_path: Path) -> None:
    """2011-12 may be the season that begins in 2011, but 2011-11 may not."""
    seen = looked(tmp_path, "2011-11,{},5,30", "2011-12,{},6,30", "2012-01,{},4,30")
    assert seen["months"] == 1


@pytest.mark.parametrize("length", [100, 140_000])
def test_a_long_line_or_cell_is_read(tmp_path: Path, length: int) -> None:
    """`csv` reads cells of up to 131,072 characters unless it is told otherwise."""
    for note in ("x" * length, "x|" * (length // 2)):
        lines = (f"2021-01-03,{{}},5,30,{note}", "2021-01-10,{},6,30,y")
        seen = looked(tmp_path, *lines, header="d,town,sick,beds,note")
        assert seen["days"] == 7
