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
from dpol.cli import main
from pipeline import ROOT
from streams_by_hand import assert_same

TABLE = "data/examples/shelters.csv"
SHELTERS: dict[str, Any] = {
    "entity": "shelter",
    "period": "week_of",
    "count": "guests",
    "capacity": "places",
    "cleaning": {"suppressed_markers": ["<5"], "missing_markers": ["-"]},
}
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
    "cleaning": {
        "drop_where": {"site": "total"},
        "above": "cut",
        "min_total_cases": 5,
    },
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sites.csv"
    path.write_text(ROWS)
    return path


def test_arguments_say_what_a_config_says() -> None:
    cleaning = {**SHELTERS["cleaning"], "max_carry": 2, "min_total_cases": 50}
    groups = {"group": "district", "groups": ["Old Town", "Riverside"]}
    told = {**SHELTERS, **groups, "cleaning": cleaning, "label": "town"}
    of_config = dpol.read_table(ROOT / "config/shelters.yaml", label="town")
    own = dpol.read_table(TABLE, **told)
    assert_same(own, replace(of_config, provenance=own.provenance))


def test_the_config_of_a_table_can_be_given(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = "--entity shelter --period week_of --count guests --capacity places --row number"
    words += " --missing -"
    assert main(["new", "dataset", str(ROOT / TABLE), *words.split()]) == 0
    read = dpol.read_table("shelters.yaml")
    assert read.count_sensitivity == 3, "a suppressed 5 is read as 2"
    marks = {"suppressed_markers": ["<5"], "missing_markers": ["", "-"], "entities": "all"}
    told = {**SHELTERS, "name": None, "cleaning": marks, "count_sensitivity": 3}
    assert_same(dpol.read_table(TABLE, **told), read)
    with pytest.raises(dpol.ConfigError, match="no stream twn; did you mean town"):
        dpol.read_table(ROOT / "config/shelters.yaml", label="twn")
    with pytest.raises(dpol.ConfigError, match="dataset.source.kind = 'simulated': must be local"):
        dpol.read_table(ROOT / "config/simulated.yaml")


@pytest.mark.parametrize("text", ["a: 1", "{dataset: {}, streams: {x: }, privacy: {}}"])
def test_a_file_that_is_no_config_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "other.yaml").write_text(text)
    with pytest.raises(dpol.ConfigError, match=r"other.yaml: is not the config of a run, with"):
        dpol.read_table(tmp_path / "other.yaml")


def test_what_the_cleaning_did_is_told(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    stream = dpol.read_table(file, **SITES)
    assert stream.gains.T.tolist() == [[0.3, 0.3, 1.0], [0.25, 0.3, 0.35]]
    lines = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert lines == [
        f"{file}: stream X: {line}"
        for line in (
            "counts above their bound, cut to it (cleaning.above): A, 2024-01-15: 12",
            "rows left out by cleaning.drop_where: 1",
            "rows outside the chosen groups and periods: 1",
            "cells without a count: 1",
            "missing counts carried forward (at most cleaning.max_carry periods): 1",
            "shares above 1, or above gain.at_most, clipped to it: 1",
            "1 entity left out: C (1 cases in all, fewer than 5)",
        )
    ]


def test_a_clean_table_is_read_without_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "clean.parquet"
    weeks = pd.date_range("2024-01-01", periods=3, freq="7D")
    cells = {"site": ["A", "B"] * 3, "week": weeks.repeat(2), "used": range(1, 7), "beds": [10] * 6}
    pd.DataFrame(cells).to_parquet(file)
    read = {key: SITES[key] for key in ("entity", "period", "count", "capacity")}
    stream = dpol.read_table(str(file), **read, cleaning={"entities": "all"}, stay=2)
    assert (stream.label, stream.stay, stream.gains.shape) == ("clean", 2, (3, 2))
    assert caplog.records == []


@pytest.mark.parametrize(
    ("error", "changes", "message"),
    [
        (dpol.DataError, {"count": "use"}, "used, beds. Name the right ones in the arguments"),
        (dpol.DataError, {"groups": ["Z"]}, "Groups within the periods: X, Y"),
        (dpol.DataError, {"cleaning": {"entities": "all"}}, "set cleaning.above"),
        (dpol.DataError, {"groups": None}, "groups or periods. Groups within the periods: X, Y"),
        (dpol.DataError, {"group": None}, "groups or periods. Groups within the periods: all"),
        (dpol.ConfigError, {"groups": "X"}, "groups = 'X': must be a list"),
        (dpol.ConfigError, {"period": None}, "or give the config that dpol new dataset writes"),
        (dpol.ConfigError, {"capacity": None},
         "\n  capacity: is missing: name the column, or set gain to of: count"),
        (dpol.ConfigError, {"cleaning": {"max_cary": 1}}, "unknown key; did you mean max_carry?"),
        (dpol.ConfigError, {"format": {"layout": "wide"}, "groups": None, "gain": {"of": "sum"}},
         "gain.of = 'sum': must be 'share' or 'count'"),
        (dpol.ConfigError, {"format": {"layout": "wide"}},
         "group = 'town': must not be given because format.layout is wide"),
        (ValueError, {"stay": 0}, "stay must be a whole number of at least 1, got 0"),
        (ValueError, {"count_sensitivity": "1"}, "count_sensitivity must be a number in (0, inf)"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_refused_with_a_remedy(
    file: Path, error: type[Exception], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        dpol.read_table(file, **{**SITES, **changes})


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(dpol.ConfigError, match=r"path = .*must end in \.csv, "):
        dpol.read_table(tmp_path / "sites.ods", **SITES)
    with pytest.raises(dpol.DataError, match="no such file"):
        dpol.read_table(tmp_path / "none.csv", **SITES)


def test_without_the_pipeline_it_says_what_to_install(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("dpol.data.tables.raw_table")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pandas", None)
    said = re.escape(
        'pandas is missing; run pip install ".[pipeline]" in a clone, or "dpol[pipeline]"'
    )
    with pytest.raises(ModuleNotFoundError, match=said):
        dpol.read_table(file, **SITES)


def test_a_table_beside_its_config_is_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "there")
    days = [f"2021-01-{day:02},{name},{day % 5},9" for day in (3, 10, 17) for name in "ab"]
    Path("t.csv").write_text("\n".join(["week,place,sick,beds", *days]))
    words = "--entity place --period week --count sick --capacity beds --row number"
    assert main(["new", "dataset", "t.csv", *words.split()]) == 0
    monkeypatch.chdir(tmp_path / "here")
    assert dpol.read_table("../there/t.yaml").n_experts == 2
    (tmp_path / "there/t.csv").unlink()
    with pytest.raises(dpol.DataError, match=r"^t.csv: no such file; put the table there"):
        dpol.read_table("../there/t.yaml")
