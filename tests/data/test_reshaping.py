"""A table gives the same panel in any layout and kind of file."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.styles import Font

from data.drawn import CHECKED, streams
from dpol.config.experiment import load_experiment
from dpol.core.errors import DataError
from dpol.data.cleaning import clean_table
from dpol.data.panel import CleanPanel, StreamReport, report_as_dict, report_as_markdown
from dpol.data.settings import Dataset
from dpol.data.typed_rows import read_counts
from pipeline import ROOT

ENTITIES = ["Köln", "Ulm", "07", "a b"]
KINDS = ["csv", "csv.gz", "parquet", "xlsx"]
WEEKS = pd.date_range("2021-01-03", periods=5, freq="7D")
counts = st.one_of(st.none(), st.integers(-1, 40), st.integers(0, 40).map(lambda k: k / 8 + 1))
beds = st.one_of(st.none(), st.integers(40, 60))


def grid(cells: st.SearchStrategy[Any]) -> st.SearchStrategy[pd.DataFrame]:
    """Draw a table with a row per week and a column per entity; the first week has no gaps."""
    row = st.tuples(*[cells] * len(ENTITIES))
    return st.lists(row, min_size=len(WEEKS), max_size=len(WEEKS)).map(
        lambda of: pd.DataFrame([[50] * len(ENTITIES), *of[1:]], WEEKS, ENTITIES, dtype=float)
    )


def long(wide: pd.DataFrame, name: str) -> pd.DataFrame:
    cells = wide.rename_axis("week").reset_index()
    return cells.melt("week", var_name="town", value_name=name).sort_values(["week", "town"])


def saved(frame: pd.DataFrame, path: Path) -> str:
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    elif path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_csv(path, index=False)
    return str(path)


def read(file: str, columns: Mapping[str, Any], form: Any = {}, **cleaning: Any) -> CleanPanel:  # noqa: B006
    dataset = Dataset.model_validate(
        {
            "source": {"kind": "local", "file": file},
            "format": form,
            "columns": columns,
            "cleaning": {
                **{"suppressed_markers": ["-1"], "entities": "all", "above": "cut"},
                "checked": CHECKED,
                **cleaning,
            },
        }
    )
    return clean_table(file, dataset, streams(S=["all"]))[0]


NAMES = {"entity": "town", "period": "week", "count": "sick"}


def without_rows(report: StreamReport) -> StreamReport:
    """Return a report without the lines that name rows of the file, which differ by layout."""
    same = {key: report.understood[key] for key in ("fullest", "alike", "scale")}
    return replace(report, understood=same)


@settings(max_examples=4, deadline=None)
@given(sick=grid(counts), beds=grid(beds), of=st.permutations(KINDS), kind=st.sampled_from(KINDS))
def test_layout_and_kind_of_file_change_nothing(
    sick: pd.DataFrame, beds: pd.DataFrame, of: list[str], kind: str
) -> None:
    rows = long(sick, "sick")
    both = rows.merge(long(beds, "beds"))
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        form = {"decimal": "."}  # text such as 1.125 would be asked about
        whole = read(saved(both, here / f"whole.{of[0]}"), {**NAMES, "capacity": "beds"}, form)
        second = {"file": saved(long(beds, "beds"), here / f"beds.{of[1]}"), "period": "week"}
        second |= {"entity": "town", "capacity": "beds"}
        joined = read(saved(rows, here / f"rows.{of[2]}"), {**NAMES, "capacity": second}, form)
        wide = {"file": saved(beds.rename_axis("day").reset_index(), here / f"w.{of[3]}")}
        wide |= {"period": "day", "format": {"layout": "wide"}}
        matrix = saved(sick.rename_axis("week").reset_index(), here / f"matrix.{kind}")
        pivoted = read(matrix, {**NAMES, "capacity": wide}, {**form, "layout": "wide"})
        sheet = sick.T.rename_axis("town").reset_index()
        sheet.columns = [c if isinstance(c, str) else f"{c:%Y-%m-%d}" for c in sheet.columns]
        turned = saved(sheet, here / f"turned.{of[3]}")
        across = read(turned, {**NAMES, "capacity": second}, {**form, "layout": "wide-periods"})
    for panel in (joined, pivoted, across):
        pd.testing.assert_frame_equal(panel.table, whole.table)
        assert [*map(without_rows, panel.reports)] == [*map(without_rows, whole.reports)]


def written(folder: Path, text: str, name: str = "t.csv") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


BEDS = "town,beds\nUlm,10\nBonn,20\nTrier,30\n"
MATRIX = "Report of\nthe towns\nweek,Ulm,Bonn,Trier\n2021-01-03,1,2,3\n\n2021-01-10,4,5,6\n"


def matrix(folder: Path, text: str = MATRIX, **columns: Any) -> CleanPanel:
    second = {"file": written(folder, BEDS, "beds.csv"), "entity": "town", "capacity": "beds"}
    named = {"period": "week", "capacity": second, **columns}
    return read(written(folder, text), named, {"layout": "wide", "skip_rows": 2})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Bonn", "Ulm", "several columns named Ulm; rename all but one"),
        ("Bonn", "", "column 3 has no name; name it, or remove the column"),
        ("5", "x", "cannot be used\n  column Bonn, which needs .*:\n    'x': 1 cell, .* in row 6"),
        ("week", "day", "no column named week; it has day, Ulm, Bonn, Trier"),
        (",6", "", "row 6: has 3 cells, but the header has 4"),
        ("Bonn", "Bon", "column town lacks 1 entity .*\n  'Bon'; did you mean Bonn\\?\nAdd their"),
    ],
    ids=repr,
)  # fmt: skip
def test_a_wide_table_is_refused_with_column_and_row_of_the_file(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    with pytest.raises(DataError, match=said):
        matrix(tmp_path, MATRIX.replace(old, new, 1))


ACROSS = "town,land,beds,2021-W01,2021-W02,Sum\nUlm,S,10,1,2,3\nBonn,N,20,4,x,9\nAll,,30,5,6,12\n"


def across(folder: Path, text: str = ACROSS.replace("x", "5"), **form: Any) -> CleanPanel:
    named = {"entity": "town", "period": "week", "name": "land", "capacity": "beds"}
    drop = {"week": ["Sum"], "town": "All"}
    form = {"layout": "wide-periods", "date": "YYYY-Www", **form}
    return read(written(folder, text), named, form, drop_where=drop)


def test_a_column_per_period_next_to_those_of_the_entity(tmp_path: Path) -> None:
    table = across(tmp_path).table
    assert table["count"].tolist() == [4, 1, 5, 2]
    assert table["capacity"].tolist() == [20, 10] * 2
    assert table["name"].tolist() == ["N", "S"] * 2
    assert [f"{day:%m-%d}" for day in table["period"]] == ["01-04", "01-04", "01-11", "01-11"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", "column 2021-W02, which needs a number .*:\n    'x': 1 cell, first in row 3"),
        ("W02", "X02", "column week, which needs a date like YYYY-Www.*:\n    '2021-X02': .*\n.*\n"
         "In the layout wide-periods every column .* in dataset.cleaning.drop_where: {week: "),
        ("town", "city", "no column named town; it has city, land, beds"),
    ],
    ids=repr,
)  # fmt: skip
def test_a_column_per_period_is_refused_with_column_and_row_of_the_file(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    with pytest.raises(DataError, match=said):
        across(tmp_path, ACROSS.replace(old, new, 1))


def test_the_header_of_a_sheet_may_hold_dates(tmp_path: Path) -> None:
    sheet = pd.DataFrame([[1, 2], [3, 4]], ["a", "b"], WEEKS[:2]).rename_axis("town").reset_index()
    named = {"entity": "town", "period": "week"}
    table = read(
        saved(sheet, tmp_path / "t.xlsx"), named, {"layout": "wide-periods", "date": "D.M.YYYY"}
    ).table
    assert table["count"].tolist() == [1, 3, 2, 4]
    assert table["period"].tolist() == [WEEKS[0]] * 2 + [WEEKS[1]] * 2


@pytest.mark.parametrize("kind", ["parquet", "xlsx"])
def test_numbers_are_written_in_the_signs_of_the_texts(tmp_path: Path, kind: str) -> None:
    frame = pd.DataFrame({"week": WEEKS, "a": 1.125, "b": "1,125"})
    second = {"file": written(tmp_path, "town,beds\na,9\nb,9\n"), "entity": "town"}
    panel = read(
        saved(frame, tmp_path / f"t.{kind}"),
        {"period": "week", "capacity": {**second, "capacity": "beds"}},
        {"layout": "wide", "decimal": ","},
    )
    assert {*panel.table["count"]} == {1.125}


# Sheets ------------------------------------------------------------------------------------------


def workbook(path: Path, **sheets: list[list[Any]]) -> str:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for cells in rows:
            sheet.append(cells)
    book.save(path)
    return str(path)


TOWNS = [[day, town, k, 9] for k, town in enumerate(["Ulm", "Bonn"]) for day in WEEKS[:2]]
TABLE = [["Sick people"], [], ["week", "town", "sick", "beds"], TOWNS[0], [], *TOWNS[1:]]
ALL = {**NAMES, "capacity": "beds"}


def test_a_sheet_is_chosen_by_name_and_titles_are_skipped(tmp_path: Path) -> None:
    file = workbook(tmp_path / "t.xlsx", Notes=[["none"]], Data=TABLE, Empty=[TABLE[2]])
    panel = read(file, ALL, {"sheet": "Data", "skip_rows": 1})
    assert panel.table["count"].tolist() == [1, 0, 1, 0]
    for form, said in (
        ({}, "dataset.format.sheet must be one of 'Notes', 'Data', 'Empty'; if each"),
        ({"sheet": "data"}, "must be one of 'Notes', 'Data', 'Empty'; did you mean Data\\?; if"),
        ({"sheet": "Empty", "skip_rows": 1}, "sheet 'Empty' holds no table; name another sheet"),
        ({"sheet": "Empty"}, "has a header but no rows"),
    ):
        with pytest.raises(DataError, match=said):
            read(file, ALL, form)


def test_row_numbers_of_a_sheet_are_its_own(tmp_path: Path) -> None:
    file = workbook(tmp_path / "t.xlsx", Data=[*TABLE, [WEEKS[0], "Ulm", "many", 9]])
    with pytest.raises(DataError, match="'many': 1 cell, first in row 9"):
        read(file, ALL, {"skip_rows": 2})


def test_a_formula_that_was_never_calculated_is_an_empty_cell(tmp_path: Path) -> None:
    rows = [TABLE[2], *([*cells] for cells in TOWNS)]
    rows[3][2] = "=SUM(1,0)"
    with pytest.raises(DataError, match="has 1 cell of 4 that would become 0"):
        read(workbook(tmp_path / "t.xlsx", Data=rows), ALL)


@pytest.mark.parametrize("text", [" ", "note by Anna"])
def test_cells_far_from_the_table_change_nothing(tmp_path: Path, text: str) -> None:
    file = workbook(tmp_path / "t.xlsx", Data=TABLE)
    expected = read(file, ALL, {"skip_rows": 2}).table
    book = openpyxl.load_workbook(file)
    book.active["G9"] = book.active["XFD20000"] = text
    book.active["A1048576"] = book.active["XFD5"] = " "
    book.active["ZZ99"].font = Font(bold=True)
    book.save(file)
    pd.testing.assert_frame_equal(read(file, ALL, {"skip_rows": 2}).table, expected)


def test_a_sheet_of_too_many_cells_is_refused_with_the_row_beyond(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = workbook(tmp_path / "t.xlsx", Data=TABLE)
    size = sum(map(len, TABLE))
    monkeypatch.setattr("dpol.data.tables.raw_table.MOST_CELLS", size)
    assert len(read(file, ALL, {"skip_rows": 2}).table) == 4
    monkeypatch.setattr("dpol.data.tables.raw_table.MOST_CELLS", size - 1)
    with pytest.raises(DataError, match=f"more than {size - 1} cells up to row {len(TABLE)}; lea"):
        read(file, ALL, {"skip_rows": 2})


@pytest.mark.parametrize(
    ("name", "form"), [("t.csv", {"sheet": "A"}), ("t.parquet", {"skip_rows": 1})]
)
def test_a_key_that_the_file_has_no_use_for_is_refused(
    tmp_path: Path, name: str, form: dict[str, Any]
) -> None:
    file = saved(pd.DataFrame(TOWNS, columns=TABLE[2]), tmp_path / name)
    with pytest.raises(DataError, match=f"dataset.format.{next(iter(form))} does not apply to it"):
        read(file, ALL, form)


# Rows that are left out --------------------------------------------------------------------------

TOTALS = "week,land,town,sick,beds\n" + "".join(
    f"2021-01-{day},{land},{town},{k},9\n"
    for day in ("03", "10")
    for k, (land, town) in enumerate([("N", "Ulm"), ("N", "Bonn"), ("N", "Sum"), ("", "All")])
)


def test_totals_are_left_out_whatever_they_hold_and_counted(tmp_path: Path) -> None:
    drop = {"town": "Sum", "land": [""]}
    text = TOTALS.replace(",2,9", ",many,9")
    panel = read(written(tmp_path, text), ALL, drop_where=drop)
    assert panel.table["count"].tolist() == [1, 0, 1, 0]
    assert (panel.rows_read, panel.rows_dropped, panel.rows_outside) == (8, 4, 0)
    page = report_as_markdown(
        report_as_dict(panel, {"file": "t", "sha256": "0", "simulated": True})
    )
    assert "groups and periods, 4 more left out by dataset.cleaning.drop_where.\n" in page


@pytest.mark.parametrize(
    ("drop", "said"),
    [
        ({"town": "Sun"}, "no row has 'Sun' in column town; did you mean Sum\\? Change"),
        ({"land": "x"}, "no row has 'x' in column land. Change dataset.cleaning.drop_where"),
        ({"Ort": "Sum"}, "no column named Ort; it has week, land, town"),
    ],
)
def test_what_is_to_be_left_out_must_be_there(
    tmp_path: Path, drop: dict[str, Any], said: str
) -> None:
    with pytest.raises(DataError, match=said):
        read(written(tmp_path, TOTALS), ALL, drop_where=drop)


def test_a_wide_table_loses_columns_and_rows(tmp_path: Path) -> None:
    lines = MATRIX.splitlines()[2:]
    totals = [",kind,Sum", ",week,9", "", ",week,9"]
    text = "\n".join(line + more for line, more in zip(lines, totals, strict=True) if line)
    text += "\n2021-01-01,x,y,z,month,9\n"
    second = {"file": written(tmp_path, BEDS, "b.csv"), "entity": "town", "capacity": "beds"}
    panel = read(
        written(tmp_path, text), {**NAMES, "capacity": second}, {"layout": "wide"},
        drop_where={"kind": "month", "town": ["Sum"]},
    )  # fmt: skip
    pd.testing.assert_frame_equal(panel.table, matrix(tmp_path).table)


def test_the_table_of_the_default_config_is_refused_if_it_was_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load_experiment(ROOT / "config/config.yaml").config
    dataset, file = config.dataset.as_local(config.raw_file), config.raw_file
    table = pd.read_parquet(ROOT / file)
    assert len(read_counts(ROOT / file, dataset).cells) == len(table)
    monkeypatch.chdir(tmp_path)
    Path(file).parent.mkdir(parents=True)
    table.loc[7, "inpatient_beds_7_day_avg"] += 1
    for place, remedy in ((file, f"git restore {file}"), ("mine.parquet", "get an intact copy")):
        table.to_parquet(place)
        with pytest.raises(DataError, match=f"has SHA-256 .* it was changed; .*{remedy}") as it:
            read_counts(place, dataset)
        assert str(it.value).startswith(f"{place}: ")
        assert str(it.value).endswith("if the change is meant, remove dataset.source.sha256")
