"""A table of gains is read as it is, or refused with the cell that is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpol.core.errors import DataError
from dpol.data.library import read_gains
from dpol.data.settings import Dataset, GainsSource
from dpol.data.stream import GainStream

CSV = "day,low,high\n2024-01-01,0.1,0.9\n2024-01-02,0.25,1\n2024-01-05,0,7e-1\n"
GAINS = [[0.1, 0.9], [0.25, 1.0], [0.0, 0.7]]
DAYS = ["2024-01-01", "2024-01-02", "2024-01-05"]


def read(folder: Path, text: str = CSV, name: str = "gains.csv", **keys: Any) -> GainStream:
    (folder / name).write_text(text)
    return read_gains(source(folder, name, **keys), "clicks", {})


def source(folder: Path, name: str, **keys: Any) -> GainsSource:
    facts = {"kind": "gains", "file": str(folder / name), "sensitivity": 0.5, "period": "day"}
    return GainsSource.model_validate(facts | keys)


def refused(folder: Path, text: str = CSV, **keys: Any) -> str:
    with pytest.raises(DataError) as caught:
        read(folder, text, **keys)
    assert str(caught.value).startswith(str(folder / "gains.csv"))
    return str(caught.value).removeprefix(str(folder / "gains.csv"))


def test_a_csv_table_is_read_with_its_experts_dates_and_sensitivity(tmp_path: Path) -> None:
    made = read(tmp_path)
    assert made.gains.tolist() == GAINS
    assert made.entities == ("low", "high")
    assert made.sensitivity.tolist() == [0.5] * 3
    assert (made.label, made.gain_range, made.provenance) == ("clicks", 1.0, {"undated": False})
    assert made.periods.astype(str).tolist() == DAYS
    assert Dataset(source=source(tmp_path, "gains.csv")).private, "nobody said that it is made up"


def test_every_double_of_a_parquet_table_in_a_wider_range_is_read_exactly(tmp_path: Path) -> None:
    gains = 2.5 * np.random.default_rng(1).random((200, 3)) ** 9
    pd.DataFrame(gains, columns=list("abc")).to_parquet(tmp_path / "g.parquet", index=False)
    wide = source(tmp_path, "g.parquet", period=None, gain_range=2.5)
    made = read_gains(wide, "clicks", {"file": "g.parquet"})
    assert (made.gains.tobytes(), made.gain_range) == (gains.tobytes(), 2.5)
    assert made.periods.astype(str).tolist()[:2] == ["2000-01-01", "2000-01-02"]
    assert made.provenance == {"file": "g.parquet", "undated": True}
    pd.DataFrame(GAINS, columns=["low", ""]).to_excel(tmp_path / "g.xlsx", index=False)
    with pytest.raises(DataError, match=r"xlsx: column 2 has no name; name it, or remove"):
        read_gains(source(tmp_path, "g.xlsx", period=None), "clicks", {})


@pytest.mark.parametrize("cell", ["much", "", "NaN", "inf", "-0.01", "1.01", "true"])
def test_a_bad_cell_is_told_with_row_and_column(tmp_path: Path, cell: str) -> None:
    message = refused(tmp_path, f"low,high\n0,0.5\n{cell},0\n", period=None)
    held = repr(cell) if cell else "nothing"
    assert message.startswith(": 1 cell cannot be used\n  column low, which needs a number")
    assert f"\n    {held}: 1 cell, first in row 3\n" in message


def test_all_bad_cells_are_in_one_message(tmp_path: Path) -> None:
    text = "day,low,high\nsoon,9,0.9\n2024-01-02,9,x\n2024-01-05,8,1\n"
    message = refused(tmp_path, text)
    assert message.startswith(": 5 cells cannot be used\n  column day, which needs a date")
    for told in ("'9': 2 cells, first in row 2", "'8': 1 cell", "'x': 1 cell"):
        assert f"\n    {told}" in message
    for key in ("source.period", "source.gain_range"):
        assert f"dataset.{key}" in message


@pytest.mark.parametrize(
    ("text", "keys", "message"),
    [
        ("", {}, ": holds no table"),
        ("day,a,b\n", {}, ": has a header but no rows"),
        ("day,a,b\n2024-01-01,0,1\n", {}, ": has 1 round and 2 columns of gains; give at least 2"),
        ("day,a,a\n2024-01-01,0,1\n", {}, ": several columns named a; rename all but one"),
        ("day,a,\n2024-01-01,0,1\n", {}, ": column 3 has no name; name it, or remove"),
        (CSV, {"period": "s"}, ": no column named s; known: day, low, high. Change dataset.source"),
        (CSV.replace("01-02", "01-01"), {}, ": stream clicks: periods out of order: round 2 "),
    ],
)
def test_a_table_that_is_no_game_is_told_with_what_to_do(
    tmp_path: Path, text: str, keys: dict[str, Any], message: str
) -> None:
    assert refused(tmp_path, text, **keys).startswith(message)
