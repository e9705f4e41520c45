"""A table is a stream in one call: the pipeline's, and what the cleaning changed is told."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpol
from dpol.data.settings import Read
from dpol.data.table import read_file
from streams_by_hand import assert_same

ROWS = """
site,week,town,used,beds
A,2024-01-01,X,3,10
A,2024-01-08,X,,10
A,2024-01-15,X,12,10
B,2024-01-01,X,5,20
B,2024-01-08,X,6,20
B,2024-01-15,X,7,20
C,2024-01-01,X,1,20
C,2024-01-08,X,0,20
C,2024-01-15,X,0,20
D,2024-01-08,Y,9,20
total,2024-01-08,X,21,60
""".lstrip()
SITES: dict[str, Any] = {
    "entity": "site",
    "period": "week",
    "count": "used",
    "capacity": "beds",
    "group": "town",
    "groups": ["X"],
    "cleaning": {"drop_where": {"site": "total"}, "min_total_cases": 5},
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sites.csv"
    path.write_text(ROWS)
    return path


def test_no_sign_is_read_into_typed_cells(file: Path) -> None:
    whole = dpol.read_table(file, **SITES, label="S")
    frame = pd.read_csv(file)
    typed = frame.assign(week=pd.to_datetime(frame["week"]))
    signs = {"thousands": ".", "decimal": ","}
    for read in ({}, signs):
        for own_frame in (typed, typed.set_index("site"), typed.set_index("site", drop=False)):
            own = dpol.read_table(own_frame, **SITES, label="S", read=read)
            assert_same(own, replace(whole, provenance=own.provenance))


def test_line_breaks_in_cells_are_no_rows_of_a_large_file(tmp_path: Path) -> None:
    """Arrow reads 16 MB at once."""
    note = '"' + 50 * "two\n" + 'lines"'
    whole = "".join(f"A,{number},{note}\n" for number in range(100_000))
    assert len(whole) > 20e6
    (tmp_path / "large.csv").write_text(f"site,number,note\n{whole}")
    numbers = read_file(tmp_path / "large.csv", columns=["number"]).cells["number"]
    assert numbers.astype(str).tolist() == [*map(str, range(100_000))]


@pytest.mark.filterwarnings("ignore")
def test_frames_that_are_not_tidy_are_refused_with_the_line_that_makes_them_so(file: Path) -> None:
    frame = pd.read_csv(file).query("site != 'total' and town == 'X'").fillna({"used": 3})
    sites = {key: SITES[key] for key in ("entity", "period", "count", "capacity")}
    sites["cleaning"] = {"entities": "all"}
    whole = dpol.read_table(frame, **sites)
    stacked = frame.pivot(index="week", columns="site", values=["used", "beds"])
    series = frame.set_index(["site", "week", "beds"])["used"]
    for table in (frame.to_dict("list"), series, stacked):
        with pytest.raises(dpol.DataError) as caught:
            dpol.read_table(table, **sites)
        names = {"pd": pd, "table": table}
        exec(str(caught.value).splitlines()[-1].strip(), names)
        assert (dpol.read_table(names["table"], **sites).gains == whole.gains).all()
    weeks = frame.assign(week=pd.PeriodIndex(frame["week"], freq="D"), of=[[1]] * len(frame))
    assert (dpol.read_table(weeks, **sites).periods == whole.periods).all()


def test_what_the_cleaning_did_is_told(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    stream = dpol.read_table(file, **SITES)
    assert stream.gains.T.tolist() == [[0.3, 0.3, 1.0], [0.25, 0.3, 0.35]]
    lines = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [line.removeprefix(f"{file}: ") for line in lines] == [
        "stream X: counts above their bound, cut to it (cleaning.above): A, 2024-01-15: 12",
        "stream X: 6 of 11 rows play, of 2 entities: A and B",
        "stream X: do not play: 1 (cases in all, fewer than 5: C)",
        "stream X: cells without a count: 1",
        "stream X: missing counts carried forward (at most cleaning.max_carry periods): 1",
        "stream X: shares above 1, or above gain.at_most, clipped to it: 1",
    ]


def test_a_clean_table_is_read_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    weeks = pd.date_range("2024-01-01", periods=3, freq="7D")
    cells = {"site": ["A", "B"] * 3, "week": weeks.repeat(2), "used": range(1, 7), "beds": [10] * 6}
    read = {key: SITES[key] for key in ("entity", "period", "count", "capacity")}
    stream = dpol.read_table(pd.DataFrame(cells), **read, cleaning={"entities": "all"}, stay=2)
    assert (stream.label, stream.stay, stream.gains.shape) == ("frame", 2, (3, 2))
    assert caplog.records == []


@pytest.mark.parametrize(
    ("error", "changes", "message"),
    [
        (dpol.DataError, {"count": "use"}, "used and beds. Name the right one in count"),
        (dpol.ConfigError, {"groups": [5]}, "= 5: must be text; put it in quotes"),
        (dpol.ConfigError, {"cases": "used"}, "cases = 'used': must be a list"),
        (dpol.DataError, {"groups": ["Z"]}, "Groups in column town: X and Y"),
        (dpol.DataError, {"cleaning": {"drop_where": {"town": ["X", "Y"]}}},
         "each of its 11 rows is left out. Change cleaning.drop_where"),
        (dpol.ConfigError, {"period": None}, "\n  period: is missing and has no default"),
        (dpol.ConfigError, {"capacity": None},
         "\n  capacity: is missing: name the column, or set gain to of: count"),
        (ValueError, {"stay": 0}, "stay must be a whole number of at least 1, got 0"),
        (ValueError, {"count_sensitivity": 0}, "count_sensitivity must be a number in (0, inf)"),
        (dpol.ConfigError, {"read": {"sheet_name": "a"}}, "read.sheet_name = 'a': does not apply"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_refused_with_a_remedy(
    file: Path, error: type[Exception], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        dpol.read_table(file, **{**SITES, **changes})


def test_without_the_pipeline_it_says_what_to_install(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("dpol.data.table")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "dpol.data.cleaning", raising=False)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="pandas is missing; run pip install"):
        dpol.read_table(file, **SITES)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a,b\n1,x\n2,y", [2, 3]),
        ("a,b\r\n1,x\r\n\r\n2,y\r\n\r\n", [2, 3]),
        ("a,b\r1,x\r2,y\r", [2, 3]),
        ('a,b\n1,"x\ny"\n2,"z,z"\n', [2, 3]),
        ('a,b\n1,x"\n2,"y""y"\n', [2, 3]),
        ('\ufeff"a", "b"\n ,\n1,ä\n', [3]),
    ],
)
def test_rows_are_the_same_however_they_are_read(
    text: str, lines: list[int], tmp_path: Path
) -> None:
    """Notes below a table change no row."""
    (tmp_path / "plain.csv").write_text(text, encoding="utf-8", newline="")
    (tmp_path / "noted.csv").write_text(f"{text}\nnote", encoding="utf-8", newline="")
    plain = read_file(tmp_path / "plain.csv").cells
    assert plain.index.tolist() == lines
    noted = read_file(tmp_path / "noted.csv", Read(skipfooter=1)).cells
    assert plain.astype(str).to_dict() == noted.astype(str).to_dict()


def test_a_row_that_cannot_be_decoded_leaves_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    (tmp_path / "noted.csv").write_bytes(b"a,b\n" + b"1,2\n" * 9000 + b"\xa9 2021\n")
    with pytest.raises(dpol.DataError, match="set dataset.read.encoding, such as to cp1252"):
        read_file(tmp_path / "noted.csv")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,x\n\n2\n", ", row 3: has 1 cell, but the header has 2"),
        ("t\na,b\n1,x\n2,y,\n", ", row 4: has 3 cells, but the header has 2"),
        ('a,b\n1,x\n2,"y\n3,z\n', ": has quotation marks that do not end"),
        ('a,b\n1,"x\n2,y\n', ": has quotation marks that do not end"),
        ("a\0b\n1\n", ": cannot be read as a .csv file: ValueError: null characters"),
    ],
)
def test_a_row_that_is_too_short_or_too_long_is_refused(
    text: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(dpol.DataError, match=re.escape(f"t.csv{said}")):
        read_file(tmp_path / "t.csv", Read(skiprows=int(text[0] == "t")))
