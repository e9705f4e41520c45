"""`dpol new dataset` reads tables of all kinds as their owners mean them."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dpol.cli import main
from dpol.config.experiment import load_experiment
from dpol.core.errors import DataError
from dpol.core.words import listed
from dpol.data.cleaning import clean_table
from dpol.data.guess import UnclearError, look_at
from dpol.data.settings import Dataset
from dpol.data.stream import GainStream, build_stream
from dpol.data.typed_rows import read_counts
from tables_of_all_kinds import MAKERS, Kind, five


def config_of(kind: Kind) -> str:
    return f"{kind.file.partition('.')[0]}.yaml"


def streams_of(config: str) -> list[GainStream]:
    of = load_experiment(config).config
    panel = clean_table(of.raw_file, of.dataset, of.streams, of.gains.values())[0].table
    return [build_stream(panel, label, 1.0, {}, gain=of.gain) for label in of.streams]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_table_is_read_as_its_owner_means_it(empty_folder: Path, capsys, make) -> None:
    """The expected gains are computed by pandas alone."""
    kind = make(empty_folder)
    assert main(["new", "dataset", kind.file]) == 2
    assert "--count COUNT --capacity CAPACITY" in capsys.readouterr().err
    assert not Path(config_of(kind)).exists()
    assert main(["new", "dataset", kind.file, *kind.options]) == 0
    (whole,) = streams_of(config_of(kind))
    expected = kind.gains.sort_index(axis=1)
    assert list(whole.entities) == list(expected)
    assert [str(day) for day in whole.periods] == [str(day.date()) for day in expected.index]
    np.testing.assert_allclose(whole.gains, expected.to_numpy(float), rtol=1e-12)
    picture = Path("results", Path(config_of(kind)).stem, "data/understood.svg")
    assert picture.stat().st_size > 10_000


def looked(path: Path, text: str, **told: Any) -> dict[str, Any]:
    """Return all keys of the config that a table shows."""
    path.write_text(text, encoding="utf-8")
    seen = look_at(path, FIVE | told)
    keys = "format", "columns", "periods", "cleaning", "gain"
    return {key: it for block in keys for key, it in seen[block].items()}


def asked(path: Path, text: str, **told: Any) -> dict[str, str]:
    """Return the questions about a table, by what is to be told."""
    with pytest.raises(UnclearError) as caught:
        looked(path, text, **told)
    return dict(caught.value.asked)


def rows(header: str, *lines: str, towns: str = "Ulm Bonn Trier") -> str:
    """Return lines of several towns; `{}` in a line is the town."""
    of_towns = [line.format(town) for town in towns.split() for line in lines]
    return "\n".join([header, *of_towns]) + "\n"


DAYS = "2021-01-03", "2021-01-10", "2021-01-17"
OPTIONS = five("town", "d", "sick", "beds")
FIVE = {"entity": "town", "period": "d", "count": "sick", "capacity": "beds", "row": "number"}
DAILY = [f"2021-01-{day},{{}},{day},90" for day in range(10, 21)]
PLAIN = "2021-01-03,{},5,30", "2021-01-10,{},6,30", "2021-01-17,{},4,30"


@pytest.mark.parametrize(
    ("header", "lines", "expected"),
    [
        ("d,town,sick,beds", PLAIN, {"days": 7, "group": None}),
        ("d;town;sick;beds", ("3.1.2021;{};5,5;30", "4.1.2021;{};5,25;30"),
         {"delimiter": ";", "date": "D.M.YYYY", "decimal": ",", "days": 1}),
        ("d,town,sick,beds", ("2021-01-03,{},<10,30", "2021-01-10,{},4,30", "2021-01-17,{},NA,30"),
         {"suppressed_markers": ["<10"], "suppressed_value": 5, "missing_markers": None}),
        ("Report\n\nd|town|sick|beds", ("2021-01-03|{}|5|30", "2021-01-10|{}|6|30"),
         {"skip_rows": 2, "delimiter": "|"}),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_what_a_table_shows(tmp_path: Path, header: str, lines: tuple[str, ...], expected) -> None:
    seen = looked(tmp_path / "t.csv", rows(header, *lines))
    assert seen["entity"] == "town"
    assert {key: seen.get(key) for key in expected} == expected


@pytest.mark.parametrize(
    ("header", "lines", "told", "option", "said"),
    [
        ("d,town,sick,beds", PLAIN, {"count": "sik"}, "count", "no column 'sik'; did yo"),
        ("d,town,sick,beds", PLAIN, {"count": "d"}, "count", "d is said to be two of the five"),
        ("d,town,sick,beds", PLAIN, {"row": "rows"}, "row", "'rows' is none of number, part"),
        ("d,town,sick,beds", PLAIN, {"capacity": "none"}, "at_most", "the largest count that"),
        ("d,town,sick,beds", PLAIN, {"first": "3/1/2021"}, "first", "is no date like 2021-01-31"),
        ("d,town,sick,beds", PLAIN, {"first": "2021-01-04"}, "date",
         "'2021-01-03' is Sun 3 Jan 2021, and not 2021-01-04: give another format"),
        ("d,town,sick,beds", PLAIN, {"date": "D.M.YYYY"}, "date",
         "'2021-01-03' is no date of the format D.M.YYYY"),
        ("d,town,sick,beds", [line.replace("{}", "Ulm") for line in PLAIN], {}, "entity",
         "town names one place only (Ulm); a game needs two"),
        ("d,town,sick,beds", (*DAILY, "Week total,{},5,30"), {}, "drop_where",
         "3 rows of 36 have no date: --drop-where 'd=Week total' leaves them out"),
        ("d,town,sick,beds", ("2021-01-03,{},-,30", "2021-01-10,{},*,30", PLAIN[2]), {},
         "missing", "'-' and '*': missing, or too small to publish? Give --missing TEXT or --sup"),
        ("d,town,sick,beds", ("1/2/2021,{},5,30", "1/9/2021,{},5,30"), {},
         "date", "'1/2/2021' is Mon 1 Feb 2021 (D/M/YYYY) or Sat 2 Jan 2021 (M/D/YYYY)"),
        ("d,town,sick,beds", ("2021-01-03,{},1.230,3000", "2021-01-10,{},1.100,3000"), {},
         "decimal", "is it a decimal sign in '1.230', or between thousands? . or ,"),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_what_may_mean_two_things_is_asked_for(
    tmp_path: Path, header: str, lines: Sequence[str], told: dict[str, str], option: str, said: str
) -> None:
    assert said in asked(tmp_path / "t.csv", rows(header, *lines), **told)[option]


def test_five_things_are_asked_first_and_alone(here: Path, capsys) -> None:
    """The columns are shown, dates are read aloud, and an answer is ready where one is possible."""
    lines = "1/2/2021,{},1.230,2,x", "1/9/2021,{},1.100,2,-"
    Path("a b.csv").write_text(rows("d,town,a,b,c", *lines))
    assert main(["new", "dataset", "a b.csv"]) == 2
    first, *columns, _, _, period, _, _, _, date, command = capsys.readouterr().err.splitlines()
    assert "has these columns" in first
    assert columns == [
        "  d: 1/2/2021, 1/9/2021", "  town: Ulm, Bonn, Trier", "  a: 1.230, 1.100", "  b: 2",
        "  c: x, -",
    ]  # fmt: skip
    assert "'1/2/2021' is Mon 1 Feb 2021 (D/M/YYYY) or Sat 2 Jan 2021 (M/D/YYYY)" in period
    assert date.startswith("  --date: ")
    assert command == (
        "Complete and run: dpol new dataset 'a b.csv' --entity town --period d --count COUNT"
        " --capacity CAPACITY --row number --date DATE"
    )


@pytest.mark.parametrize(("sign", "key"), [(".", {"decimal": "."}), (",", {"thousands": "."})])
def test_an_answer_decides(tmp_path: Path, sign: str, key: dict[str, str]) -> None:
    lines = "1/2/2021,{},1.230,3000,*", "1/9/2021,{},1.100,3000,x", "1/16/2021,{},-,3000,x"
    told = {"decimal": sign, "date": "M/D/YYYY", "missing": ["-"]}
    seen = looked(tmp_path / "t.csv", rows("d,town,sick,beds,x", *lines), **told)
    expected = {
        **key,
        "date": "M/D/YYYY",
        "days": 7,
        "missing_markers": ["", "NA", "NaN", "null", "-"],
    }
    assert {name: seen[name] for name in expected} == expected


def test_the_format_is_seen_at_the_start_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A letter or line at its end is whole."""
    text = rows("d,town,sick,beds", *PLAIN, towns="ÄÄÄÄ ÖÖÖÖ ÜÜÜÜ")
    for length in range(20, 60, 3):
        monkeypatch.setattr("dpol.data.guess.START", length)
        assert "encoding" not in looked(tmp_path / "t.csv", text)
    (tmp_path / "t.csv").write_bytes(text.encode("cp1252"))
    assert look_at(tmp_path / "t.csv", FIVE)["format"]["encoding"] == "cp1252"


CELLS = [
    "", "5", "1,5", "1.230", "-", "<5", "2021-01-03", "2021-01-03 13:00", "2005", "1/2/21",
    "Jan 2021", "Total", "é", '"', "5 kg", "town",
]  # fmt: skip
NAMES = ["d", "town", "sick", "beds", "year", "2021-01", "no such"]


@settings(max_examples=40, deadline=None)
@given(
    cells=st.lists(
        st.tuples(st.integers(0, 8), st.integers(0, 3), st.sampled_from(CELLS)), max_size=6
    ),
    mark=st.sampled_from(",;\t"),
    turned=st.booleans(),
    told=st.dictionaries(
        st.sampled_from(["entity", "period", "count", "capacity"]), st.sampled_from(NAMES),
        max_size=2,
    ),
    more=st.sampled_from([{}, {"row": "part"}, {"row": "event"}]),
)  # fmt: skip
def test_any_table_is_seen_or_asked_about(cells, mark, turned, told, more) -> None:
    lines = [line.split(",") for line in rows("d,town,sick,beds", *PLAIN).splitlines()]
    for place, column, text in cells:
        lines[place][column] = text
    if turned:
        lines = [list(column) for column in zip(*lines, strict=True)]
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(DataError, UnclearError):
        looked(Path(folder) / "t.csv", "\n".join(map(mark.join, lines)), **told, **more)


HOURS = [f"2024-03-{day:02} {hour:02}:00" for day in (1, 2, 3) for hour in range(24)]


def hourly() -> str:
    lines = [f"{time},{{}},{(place * 7) % 31},90" for place, time in enumerate(HOURS)]
    return rows("time,sensor_id,carsIn,beds", *lines)


def test_an_hourly_table_is_never_cut_to_its_last_rows(here: Path, capsys) -> None:
    Path("t.csv").write_text(hourly())
    told = ["--count", "carsIn", "--capacity", "beds", "--entity", "sensor_id", "--period", "time"]
    assert main(["new", "dataset", "t.csv", *told, "--row", "number"]) == 2
    said = capsys.readouterr().err
    assert "--row: 24 rows of one entity and period (Bonn, 2024-03-01, rows " in said
    assert (
        "are not equal: what is one row? Parts to be added (sum), measurements (mean, max" in said
    )
    cells = pd.read_csv("t.csv", parse_dates=["time"]).set_index("time")
    days = cells.groupby("sensor_id")["carsIn"].resample("D")
    for rule in ("mean", "max", "last"):
        assert main(["new", "dataset", "t.csv", *told, "--row", rule]) == 0
        (stream,) = streams_of("t.yaml")
        expected = days.agg(rule).unstack("time")
        np.testing.assert_allclose(stream.gains, expected.to_numpy().T / 90, rtol=1e-12)
        Path("t.yaml").unlink()
    assert main(["new", "dataset", "t.csv", *told, "--row", "part"]) == 2
    assert "--per-person: in how many rows of a day may one person be" in capsys.readouterr().err
    told += ["--row", "part", "--per-person", "3", "--at-most", "24"]
    for cell, moves in ((",3,90", 3), (",<5,90", 9)):  # each of three goes from 5 to 2
        Path("t.csv").write_text(hourly().replace(",3,90", cell))
        assert main(["new", "dataset", "t.csv", *told]) == 0
        made = yaml.safe_load(Path("t.yaml").read_text())
        assert (made["privacy"]["count_sensitivity"], made["gain"]) == (moves, {"at_most": 24})
        Path("t.yaml").unlink()


def test_a_corrected_row_is_no_part_of_a_period(here: Path, capsys) -> None:
    lines = [f"2021-01-{day:02},{{}},5,30" for day in (3, 10, 17, 24, 31)]
    text = rows("d,town,sick,beds", *lines)
    Path("t.csv").write_text(text + text.splitlines()[-1].replace(",5,", ",6,") + "\n")
    assert main(["new", "dataset", "t.csv", *OPTIONS]) == 2
    said = capsys.readouterr().err
    assert "2 rows of one entity and period (Trier, 2021-01-31, rows 16, 17; in all 2" in said
    assert said.endswith("--row ROW\n")


def test_columns_named_by_numbers_are_years_only_without_a_column_of_dates(tmp_path: Path) -> None:
    years = "town,beds,free,2001,2002,2003\nUlm,9,1,1,2,3\nBonn,9,2,3,2,1\n"
    seen = looked(tmp_path / "t.csv", years, period="year", count="sick", capacity="beds,free")
    assert (seen["layout"], seen["date"], seen["months"]) == ("wide-periods", "YYYY", 12)
    assert "drop_where" not in seen  # no column of the sum
    numbers = "day,2001,2002,2003\n2021-01-03,1,2,3\n2021-01-10,3,2,1\n"
    assert (
        looked(tmp_path / "t.csv", numbers, period="day", capacity="none", at_most=9)["layout"]
        == "wide"
    )
    keys = {"source": {"kind": "local", "file": "t.csv"}, "columns": {"period": "day"}}
    wide = Dataset.model_validate({**keys, "format": {"layout": "wide"}})
    assert len(read_counts(tmp_path / "t.csv", wide).cells) == 6


def test_what_a_table_hides_is_said_once_at_the_end(here: Path, capsys) -> None:
    header, *lines = rows("d,town,sick,beds", *PLAIN).splitlines()
    Path("t.csv").write_text("\n".join([header, *lines[:4], header, *lines[4:]]) + "\n")
    assert main(["new", "dataset", "t.csv", *OPTIONS]) == 0
    said = capsys.readouterr()
    warning = "row 6 repeats the header, and is left out"
    assert said.out.splitlines()[-2:] == [
        f"  warning: {warning}",
        "Written: t.yaml. Now: dpol run t.yaml --cores 2",
    ]
    assert warning not in said.err


def test_no_guess_depends_on_how_large_counts_within_the_capacity_are(tmp_path: Path) -> None:
    """The config is public, so it must not reveal the counts."""
    few, many = (
        rows("d,town,sick,beds", *(line.replace(",5,", f",{k},") for line in PLAIN))
        for k in (0, 30)
    )
    assert looked(tmp_path / "t.csv", few) == looked(tmp_path / "t.csv", many)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["no.csv"], 2, "no.csv: no such file; give the path of a table from this folder"),
        (["t.txt"], 2, "t.txt: a table ends in .csv, .csv.gz, .tsv, .parquet, .xlsx; save it as"),
        (["there.csv"], 1, "there.yaml: exists already; delete it, or rename the table"),
        (["t.csv", "--date", "DD"], 2, "--date: must be a format of dates, such as D.M.YYYY"),
        (["t.csv.gz"], 1, "t.csv.gz: cannot be read as a .gz file"),
        (["t.xlsx"], 1, "t.xlsx: cannot be read as a .xlsx file"),
        (["t.csv", "--at-most", "0"], 2, "--at-most: must lie from 0.001 to"),
        (["t.csv", *OPTIONS, "--above", "clip"], 2, "--above = 'clip': must be 'cut' or 'missing'"),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_in_words(here: Path, capsys, words, code, said) -> None:
    for name in ("t.txt", "there.csv", "t.csv", "t.csv.gz", "t.xlsx"):
        (here / name).write_text(rows("d,town,sick,beds", *PLAIN))
    (here / "there.yaml").touch()
    try:
        done = main(["new", "algorithm" if words[0] == "my-own" else "dataset", *words])
    except SystemExit as stop:
        done = stop.code
    assert (done, "Traceback") == (code, "Traceback")
    assert said in capsys.readouterr().err
    assert not (here / "t.yaml").exists()


def test_what_a_row_is_decides_how_several_become_one(tmp_path: Path) -> None:
    """Rows of two ages with equal numbers look like repeats; a row for each event has no count."""
    lines = [f"2021-01-{day},{{}},{age},5,30" for day in ("03", "10") for age in ("young", "old")]
    text = rows("d,town,age,sick,beds", *lines)
    question = asked(tmp_path / "t.csv", text, row="part")["per_person"]
    assert "1 for an arrival" in question
    assert looked(tmp_path / "t.csv", text, row="part", per_person=1)["several_rows"] == "sum"
    events = {"row": "event", "count": "none", "capacity": "none", "at_most": 9, "per_person": 1}
    seen = looked(tmp_path / "t.csv", text, **events)
    expected = {"count_rows": True, "absent": "zero", "equal_rows": "add", "several_rows": "sum"}
    assert {key: seen[key] for key in expected} == expected


def test_a_column_per_period_may_have_other_columns(here: Path) -> None:
    towns = [f"{town},{'NS'[place % 2]},40,1,2,3" for place, town in enumerate("abcdef")]
    text = "\n".join(["town,land,beds,2021-01,2021-02,2021-03", *towns, "Total,,240,6,12,18"])
    Path("t.csv").write_text(text)
    seen = look_at(Path("t.csv"), FIVE | {"period": "period"})
    assert seen["columns"]["entity"] == "town"
    assert seen["cleaning"]["drop_where"] == {"period": ["land"]}
    assert seen["periods"] == {"months": 1}


def test_one_of_several_sheets_is_asked_for(here: Path, capsys) -> None:
    with pd.ExcelWriter("t.xlsx") as book:
        for name in ("2021", "2022"):
            pd.read_csv(io.StringIO(rows("d,town,sick,beds", *PLAIN))).to_excel(
                book, sheet_name=name
            )
    assert main(["new", "dataset", "t.xlsx"]) == 1
    assert "t.xlsx: --sheet must be one of '2021', '2022'; if each" in capsys.readouterr().err
    seen = look_at(Path("t.xlsx"), {**FIVE, "sheet": "2022"})
    assert (seen["format"], seen["columns"]["entity"]) == ({"sheet": "2022"}, "town")


def test_what_excel_leaves_around_a_table_is_no_part_of_it(tmp_path: Path) -> None:
    text = rows("d,town, sick,beds", *PLAIN)
    around = text.replace("\n", ",,,\n") + ",,,,,,\n,,,,,,\n"
    assert looked(tmp_path / "t.csv", around) == looked(tmp_path / "t.csv", text)
    quoted = "".join(f'"{line}"\n'.replace(",", '", "') for line in text.splitlines())
    assert looked(tmp_path / "t.csv", quoted)["count"] == "sick"


def test_units_and_notes_are_left_out_and_said(here: Path, capsys) -> None:
    lines = rows("d,town,sick,beds", *PLAIN).splitlines()
    lines[1:1] = [",,n,places"]
    for notes in (
        ["Source: office 2021"],
        ["Source: office 2021,,,", ",,,"],
        ["", "Note", "Of 2021"],
    ):
        Path("t.csv").write_text("\n".join([*lines, *notes]))
        assert main(["new", "dataset", "t.csv", *OPTIONS]) == 0
        said = capsys.readouterr().out
        left = [2, *(len(lines) + k for k, note in enumerate(notes, start=1) if note.strip(","))]
        assert f"no date or number, left out: row {listed(map(str, left), 5)}" in said
        Path("t.yaml").unlink()
    broken = [*lines, "Source: office", lines[-1]]  # not the end of the table
    Path("t.csv").write_text("\n".join(broken))
    assert main(["new", "dataset", "t.csv", *OPTIONS]) == 1
    said = capsys.readouterr().err
    assert f"row {len(lines) + 1}: has 1 cell, but the header has 4" in said
    assert "say how many such rows there are: --skip-last" in said


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_notes_of_several_cells_below_a_table_are_left_out_by_their_number(
    here: Path, suffix: str
) -> None:
    lines = [line.split(",") for line in rows("d,town,sick,beds", *PLAIN).splitlines()]
    notes = [[], ["2021-01-03", "to 2021-01-17"], ["Source", "office", "of", "2021", "", "x"]]
    if suffix == "csv":
        Path("t.csv").write_text("\n".join(map(",".join, [*lines, *notes])))
    else:
        padded = [[*cells, *[""] * (6 - len(cells))] for cells in [*lines, *notes]]
        pd.DataFrame(padded).to_excel("t.xlsx", header=False, index=False)
    assert main(["new", "dataset", f"t.{suffix}", *OPTIONS, "--skip-last", "2"]) == 0
    (stream,) = streams_of("t.yaml")
    assert stream.gains.shape == (3, 3)


@pytest.mark.parametrize(
    ("cell", "column", "mark"), [("{}%", 2, "%"), ("{} beds", 3, "beds"), ("{}*", 2, "*")]
)
def test_signs_at_numbers_are_offered_to_be_stripped(
    tmp_path: Path, cell: str, column: int, mark: str
) -> None:
    lines = [line.split(",") for line in rows("d,town,sick,beds", *PLAIN).splitlines()]
    for line in lines[1:]:
        line[column] = cell.format(line[column])
    text = "\n".join(map(",".join, lines))
    question = asked(tmp_path / "t.csv", text)["missing"]
    assert question.endswith(f"for each; or --strip '{mark}' to read them as numbers")
    assert looked(tmp_path / "t.csv", text, strip=[mark])["strip"] == [mark]


@pytest.mark.parametrize(
    ("weeks", "said"),
    [("2025,52 2025,53 2026,1", ""), ("2020,53 2021,1 2021,2", "'2020-53' is Mon 28 Dec 2020"),
     ("2021,1 2021,2 2021,3", "Mon 4 Jan 2021 (YYYY-ww) or Sun 3 Jan 2021 (YYYY-ee)")],
)  # fmt: skip
def test_the_system_of_a_week_beside_a_year_is_asked_for(
    tmp_path: Path, weeks: str, said: str
) -> None:
    """Only MMWR weeks are 53 in 2025; the first date of the owner settles the others."""
    text = rows("yr,week,town,sick,beds", *(f"{week},{{}},5,30" for week in weeks.split()))
    told = {"period": "yr,week"}
    if said:
        assert said in asked(tmp_path / "t.csv", text, **told)["date"]
        told["first"] = "2020-12-28" if "53" in weeks else "2021-01-04"
    seen = looked(tmp_path / "t.csv", text, **told)
    system = "iso" if said else "mmwr"
    assert seen["period"] == {"year": "yr", "week": "week", "system": system}


def test_spellings_of_one_place_are_asked_about(here: Path, capsys) -> None:
    text = rows("d,town,sick,beds", *PLAIN)
    Path("t.csv").write_text(text.replace("10,Ulm", "10,ULM"))
    assert main(["new", "dataset", "t.csv", *OPTIONS]) == 1
    assert capsys.readouterr().err.endswith("--identifiers ULM=Ulm\n")
    assert main(["new", "dataset", "t.csv", *OPTIONS, "--identifiers", "Ulm"]) == 2
    assert "'Ulm': give SPELLING=ENTITY" in capsys.readouterr().err
    assert main(["new", "dataset", "t.csv", *OPTIONS, "--identifiers", "ULM: Ulm"]) == 0
    (stream,) = streams_of("t.yaml")
    assert stream.entities == ("Bonn", "Trier", "Ulm")


def test_the_other_column_that_tells_entities_apart_has_their_names(tmp_path: Path) -> None:
    lines = [f"2021-01-{day:02},{name},{code},5,30" for day in (3, 10, 17)
             for name, code in (("Ulm", "07"), ("Bonn", "08"))]  # fmt: skip
    text = "\n".join(["d,town,town_id,sick,beds", *lines])
    seen = looked(tmp_path / "t.csv", text, entity="town_id")
    assert (seen["entity"], seen["name"]) == ("town_id", "town")


@pytest.mark.parametrize(
    ("name", "dates", "expected"),
    [
        ("d", "2021/01/03 2021/01/10 2021/01/17", {"date": "YYYY/M/D", "days": 7}),
        ("d", "2021-W01 2021-W03", {"date": "YYYY-Www", "days": 14}),
        ("d", "2021-03 2021-06", {"date": "YYYY-M", "months": 3}),
        ("d", "Jan_2019 February_2019", {"date": "Mon YYYY", "months": 1}),
        ("d", "2018-Q1 2018-Q2", {"date": "YYYY-Qq", "months": 3}),
        ("year", "2005 2006", {"date": "YYYY", "months": 12}),
        ("d", "2021-01-31 2021-02-28 2021-03-31", {"date": None, "months": 1}),
        ("d", "2021-03-31 2021-06-30 2021-09-30", {"date": None, "months": 3}),
        ("d", "2022M01 2022M02 2022M03", {"date": "YYYY'M'MM", "months": 1}),
        ("d", "2025-W52 2025-W53 2026-W01", {"date": "YYYY-Wee", "days": 7}),
        ("d", "2021W5 2021W6 2021W7", {"date": "YYYY-Www", "days": 7}),
        ("d", "202105 202106 202107", {"date": "YYYYMM", "months": 1}),
        ("d", "3/2020 4/2020 5/2020", {"date": "M/YYYY", "months": 1}),
        ("d", "Jan-23 Feb-23 Mar-23", {"date": "Mon YY", "months": 1}),
        ("d", "2021.01.04 2021.01.11 2021.01.18", {"date": "YYYY.M.D", "days": 7}),
        ("d", "2021-05 2021-06 2021-07", {"date": "YYYY-M", "months": 1}),
        ("KW", "2021-11 2021-12 2021-13", {"date": "YYYY-ww", "days": 7}),
        ("d", "44197 44204.0 44211", {"date": "Excel", "days": 7}),
        ("d", "2021-01-03_to_2021-01-09 2021-01-10_to_2021-01-16",
         {"date": "YYYY-MM-DD*", "days": 7}),
        ("d", "20.12.2021–26.12.2021 27.12.2021–2.1.2022", {"date": "D.M.YYYY*", "days": 7}),
    ],
)  # fmt: skip
def test_dates_that_portals_write(tmp_path: Path, name, dates, expected) -> None:
    parts = [date.replace("_", " ") for date in dates.split()]
    text = rows(f"{name},town,sick,beds", *(f"{date},{{}},5,30" for date in parts))
    seen = looked(tmp_path / "t.csv", text, period=name)
    assert {key: seen.get(key) for key in expected} == expected


def test_ranges_of_days_of_one_month_are_asked_about(tmp_path: Path) -> None:
    weeks = "3–9 Jan 2021", "10–16 Jan 2021", "31 Jan–6 Feb 2021"
    text = rows("d,town,sick,beds", *(f"{week},{{}},5,30" for week in weeks))
    question = asked(tmp_path / "t.csv", text)["date"]
    assert "dpol knows no format of '3–9 Jan 2021'" in question
    assert "* for the rest of a range" in question
    told = {"period": "d", "date": "*D Mon YYYY"}
    assert looked(tmp_path / "t.csv", text, **told)["days"] == 7


def test_months_in_a_column_of_weeks_are_asked_about(tmp_path: Path) -> None:
    lines = [f"2021-{k:02},{{}},5,30" for k in range(1, 11)]
    text = rows("week,town,sick,beds", *lines)
    question = asked(tmp_path / "t.csv", text, period="week")["date"]
    assert question.startswith("'2021-01' is Jan 2021 (YYYY-M) or Mon 4 Jan 2021 (YYYY-ww)")


@pytest.mark.parametrize(
    ("marker", "counts", "options", "moves"),
    [
        ("<5", "5 6 7", [], 3),  # 5 becomes 2
        ("≤4", "5 6 7", [], 3),
        ("-999999", "5 6 7", [], 3),
        ("<5", "5 6.5 7", [], 4),  # 5.9 becomes 2
        ("<5", "5 6 7", ["--per-person", "2"], 4),  # 6 becomes 2
        ("*", "8 9 10", ["--suppressed", "*"], 6),  # 8, the smallest published, becomes 2
        ("", "5 6 7", [], 1),
        ("", "5 6 7", ["--per-person", "20"], 20),
    ],
)
def test_the_config_says_how_far_one_person_moves_a_count_that_may_be_suppressed(
    here: Path, capsys, marker, counts, options, moves
):
    cells = [*counts.split(), marker or "7"]
    lines = [f"2021-01-{3 + 7 * week:02},{{}},{cell},30" for week, cell in enumerate(cells)]
    (here / "t.csv").write_text(rows("d,town,sick,beds", *lines))
    assert main(["new", "dataset", "t.csv", *OPTIONS, *options]) == 0
    text = Path("t.yaml").read_text()
    assert yaml.safe_load(text)["privacy"]["count_sensitivity"] == moves
    assert ("a suppressed count is read as 2" in text) == bool(marker)


def test_a_count_beside_no_capacity_is_asked_about_and_a_count_of_0_is_not(
    here: Path, capsys
) -> None:
    beds = {"Ulm": "30 0 0", "Bonn": "9 -1 9", "Trier": "0 30 30"}
    sick = {"Ulm": "5 5 <5", "Bonn": "4 1 2", "Trier": "0 5 6"}
    lines = [
        f"2021-01-{3 + 7 * week:02},{town},{sick[town].split()[week]},{beds[town].split()[week]}"
        for town in beds
        for week in range(3)
    ]
    text = rows("d,town,sick,beds", *lines)
    new = ["new", "dataset", "t.csv", "--suppressed", "<5", *OPTIONS]
    Path("t.csv").write_text(text)
    assert main(new) == 2
    assert (
        "--capacity-zero: stream t has 3 counts above 0 beside a capacity of 0 or less, of Ulm (2"
        " periods) and Bonn (1 period)" in capsys.readouterr().err
    )
    assert main([*new, "--capacity-zero", "absent"]) == 0
    cleaning = yaml.safe_load(Path("t.yaml").read_text())["dataset"]["cleaning"]
    assert cleaning["capacity_zero"] == "absent"


def test_cells_that_would_become_0_are_asked_about_by_an_option(here: Path, capsys) -> None:
    """One town of three reports in 10 of 40 weeks, and its last number is carried for 4 more."""
    weeks = pd.date_range("2021-01-03", periods=40, freq="7D").strftime("%Y-%m-%d")
    lines = [f"{week},{town},5,30" for week in weeks for town in ("Bonn", "Trier")]
    Path("t.csv").write_text(
        rows("d,town,sick,beds", *lines, *(f"{it},Ulm,5,30" for it in weeks[:10]))
    )
    new = ["new", "dataset", "t.csv", "--absent", "carry", *OPTIONS]
    assert main(new) == 1
    assert "raise --max-zeroed" in capsys.readouterr().err
    assert main([*new, "--max-zeroed", "0.3"]) == 0
