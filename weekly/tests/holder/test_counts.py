"""Counts are read from the tables that holders have, each checked; no message shows one."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path

import pytest
import yaml

from dpol.core.errors import ConfigError, DataError
from dpol_weekly.holder.counts import read_counts
from dpol_weekly.holder.init import begin
from dpol_weekly.holder.request import Request
from dpol_weekly.holder.settings import Hospital, read_hospital
from releases import PLAIN, deployment, hospital

AFTER = datetime.date(2021, 2, 1)
NAMES = ["0100-A", "A", "B", "C", *(f"A{i}" for i in range(2))]
NAMES += [f"B{i}" for i in range(98)]
MADE = deployment(entities={name: {} for name in NAMES})
WITH_BEDS = deployment(entities={name: {"capacity": 20} for name in NAMES})
HEADER = "state,hospital,week,covid,beds\n"


@pytest.fixture
def read(tmp_path):
    """Read a table given as text or bytes."""

    def reader(table, made=MADE, **options):
        path = tmp_path / "counts.csv"
        path.write_bytes(table if isinstance(table, bytes) else table.encode())
        request = Request(hospital=hospital(made, path), deployment=made, today=AFTER, **options)
        return [*read_counts(request).counts.values()]

    return reader


def test_a_table_by_hand(read):
    table = HEADER + (
        "NM,0100-A,2021-01-08T00:00:00.000, 3.4 ,12\n"
        "\n"
        'PA,"B",2021-01-08,0,0.5\r\n'
        "NM,0100-A,2021-01-15 00:00,007.,12.0\n"
    )
    expected = [
        ("2", "0100-A", "2021-01-08", "3.4", "12"),
        ("4", "B", "2021-01-08", "0", "0.5"),
        ("5", "0100-A", "2021-01-15", "7", "12"),
    ]

    def told(found):
        return [(it.where.split()[-1], it.entity, it.period, it.count, it.capacity) for it in found]

    assert told(read(table)) == told(read(b"\xef\xbb\xbf" + table.encode())) == expected
    assert [count.capacity for count in read(table, WITH_BEDS)] == ["20"] * 3
    assert "3.4" not in repr(read(table)[0])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        # Suppressed counts are small ones: which rows are there would tell them.
        *((f'A,2021-01-08,"{it}",5', "covid must hold a number .*; do not leave out rows because")
          for it in ("", "-1", "<4", "suppressed", "\x00")),
        *((f"A,2021-01-08,0,{it}", "beds must hold a number above 0")
          for it in ("", "-1", "<4", "0", "0.0", "0.")),
        *((f"A,{it},1,5", "week must hold a date as format.date")
          for it in ("", "2021-02-30", "08/01/2021", "2024-01-07T12:00", "2024-01-07T00:00Z")),
    ],
)  # fmt: skip
def test_what_is_no_count_capacity_or_date_is_refused(read, row, message):
    with pytest.raises(DataError, match=f"line 2: column {message}"):
        read(f"{HEADER}NM,{row}\n")


@pytest.mark.parametrize(
    "table",
    [
        HEADER + "NM,A,{},1,5\n",
        HEADER + "NM,A,2021-01-08,{},5\n",
        HEADER + "NM,A,2021-01-08,1,{}\n",
        HEADER + "NM,A,2021-01-08,1,5,{}\n",
        HEADER + 'NM,A,2021-01-08,1,"{}\n',
        HEADER + '"{}"1,A,2021-01-08,1,5\n',
        HEADER + "NM,A,2021-01-08,97531,5\nNM,A,2021-01-08,97531,5\n",
        HEADER + "NM,A,2021-01-08,97531,0\n",
        "A,2021-01-08,{},5\n",  # no header
    ],
)
def test_no_message_repeats_a_cell(read, table):
    with pytest.raises(DataError) as caught:
        read(table.format("97531x"))
    assert "97531" not in str(caught.value)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", "holds no table"),
        ("\n", "holds no table"),
        ("hospital,week,covid\nA,2021-01-08,1\n", "its first line has no column named beds; name"),
        ("covid,week,hospital,beds,covid\n", "1 column of its first line is there twice"),
        (HEADER + "NM,A,2021-01-08,1\n", "row 2: has 4 cells, but the header has 5"),
        (HEADER + "NM,A,2021-01-08,1,5,6\n", "row 2: has 6 cells, but the header has 5"),
        (
            HEADER + "NM,A,2021-01-08,1,5\nNM,B,2021-01-08,1,5\nNM, A,2021-01-08T00:00,2,5\n",
            "line 4: the same entity and period as .*line 2; keep the line that is right",
        ),
        (HEADER + 'NM,"A,2021-01-08,1,5\n', "row 2: is not CSV: unexpected end of data"),
        (HEADER + 'NM,"A"B,2021-01-08,1,5\n', "row 2: is not CSV"),
        (
            HEADER + "NM,B,2021-01-07,1,5\n",
            "line 2: no period begins on its date in the deployment",
        ),
        (HEADER.encode("utf-16"), "is not UTF-8 text; .*set format.encoding"),
        (HEADER.encode() + b"NM,\xe9,2021-01-08,1,5\n", "is not UTF-8 text"),
        (HEADER + 'NM,A,2021-01-08,"3,4",5\n', "such as 12 or 3.4 .format.decimal and thousands"),
    ],
)
def test_a_table_with_a_fault_is_refused(read, table, message):
    with pytest.raises(DataError, match=message):
        read(table)


@pytest.mark.parametrize("end", ["", "\nNM,A,2021-01-15,3,5"])
def test_a_table_that_is_cut_in_its_last_cell_is_noticed(read, end):
    table = HEADER + "NM,A,2021-01-08,1,51" + end
    with pytest.raises(
        DataError, match="has no line end, so the table may be cut .*end its last line"
    ):
        read(table)
    assert read(table + "\r") == read(table + "\r\n")


# ---- a holder's file -----------------------------------------------------------------------------

SITES = {"north": "Haus Nord", "south": "Haus Süd", "east": "Łódź"}
AGREED = deployment(
    entities={name: {"capacity": 2000} for name in SITES}, periods={"first": "2024-03-04"}
)
OWN = {
    "entities": SITES,
    "columns": {"entity": "Standort", "period": "Woche", "count": "Belegt"},
    "deployment": "d.yaml",
    **PLAIN,
}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"entity": "north"}, "entity = 'north': unknown key"),
        ({"entities": {}}, "entities = {}: "),
        ({"columns": {"period": "Woche"}}, "columns.entity: is missing: several entities"),
        ({"columns": {"entity": "a", "period": "a"}}, "columns: must be different columns"),
        ({"fromat": {}}, "fromat = {}: unknown key; did you mean format?"),
        ({"format": {"date": "DD.MM"}}, "format.date = 'DD.MM': must be"),
        ({"format": {}}, "format.decimal: is missing"),
        ({"format": {"decimal": ".", "thousands": "."}}, "thousands = '.': must not be the decim"),
        (
            {"format": {"decimal": ".", "thousands": "none", "date": "MMWR", "day": "last"}},
            "format.day = 'last': must be first",
        ),
        ({"zero": "nought"}, "zero = 'nought': must be"),
        *(({"covers": it}, "covers = ") for it in (0, -1, True, "some", 1.5, None)),
    ],
)
def test_a_mistake_in_a_holders_file_names_its_key(tmp_path, keys, message):
    (tmp_path / "h.yaml").write_text(json.dumps({**OWN, "table": "a.csv", **keys}))
    with pytest.raises(ConfigError, match=re.escape(message)):
        read_hospital(tmp_path / "h.yaml")


def test_a_column_of_capacities_that_the_deployment_wants_is_asked_for():
    made = deployment(entities={name: {} for name in SITES})
    with pytest.raises(DataError, match="columns.capacity: name the column of capacities, since"):
        Hospital.model_validate({**OWN, "table": "a.csv"}).published(made)


# ---- a first file --------------------------------------------------------------------------------

GERMAN = "Woche;Standort;Belegt\r\n04.03.2024;north;1.012,5\r\n11.03.2024;north;7\r\n"
NAMED = {"entity": "Standort", "period": "Woche", "count": "Belegt"}
TOLD = {"zero": "written", "covers": "all", "decimal": ".", "thousands": "none"}


def start(text, *, named=None, encoding="utf-8", name="a.csv", told=TOLD, **options):
    """The keys of a first file, what is told, and the counts that it reads."""
    Path(name).write_bytes(text.encode(encoding))
    Path("h.yaml").unlink(missing_ok=True)
    named = {**told, **(named or {})}
    said = begin(Path("h.yaml"), Path(name), Path("d.yaml"), AGREED, named=named, **options)
    whole = yaml.safe_load(Path("h.yaml").read_text())
    own = read_hospital(Path("h.yaml"))
    request = Request(hospital=own, deployment=AGREED, today=datetime.date(2024, 3, 20))
    return whole, said, [it.count for it in read_counts(request).counts.values()]


def refused(message, text, **options):
    with pytest.raises(DataError, match=message) as caught:
        start(text, **options)
    assert not Path("h.yaml").exists()
    return str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_first_file_reads_the_table_whose_columns_are_named(folder, encoding):
    text = GERMAN.replace("Woche", "Wöche")
    told = {"zero": "missing", "covers": "3"}
    named = NAMED | {"period": "Wöche"}
    whole, said, counts = start(text, named=named, encoding=encoding, told=told)
    expected = {"delimiter": ";", "decimal": ",", "thousands": ".", "date": "D.M.YYYY"}
    assert whole["format"].items() >= expected.items()
    assert (whole["zero"], whole["covers"]) == ("missing", 3)
    assert counts == ["1012.5", "7"] + ["0"] * 4
    assert said == ["h.yaml: read it, and run dpol privatize h.yaml"]


@pytest.mark.parametrize(
    ("dates", "form"),
    [
        (("2024-W10", "2024-W11"), {"date": "YYYY-Www"}),
        (("2024-03-10", "2024-03-17"), {"date": "YYYY-MM-DD", "day": "last"}),
        (("3/10/2024", "3/17/2024"), {"date": "M/D/YYYY", "day": "last"}),
        (("2024-03-04", "2024-03-11"), {"date": "YYYY-MM-DD"}),
    ],
)
def test_first_and_last_days_are_told_apart_by_the_agreement(folder, dates, form):
    text = "period,count\n" + "".join(f"{date},5\n" for date in dates)
    whole, _, counts = start(text, entity="north")
    assert whole["columns"] == {"period": "period", "count": "count"}
    assert counts == ["5", "5"]
    assert {key: it for key, it in whole["format"].items() if key in ("date", "day")} == form


def test_weeks_of_public_health_are_told_from_iso_weeks_by_the_agreement(folder):
    sundays = deployment(entities={"north": {"capacity": 9}}, periods={"first": "2024-03-03"})
    Path("a.csv").write_text("period,count\n2024-W10,5\n")
    begin(Path("h.yaml"), Path("a.csv"), Path("d.yaml"), sundays, entity="north", named=TOLD)
    assert read_hospital(Path("h.yaml")).format.date == "MMWR"


def test_a_person_is_asked_for_what_the_table_does_not_show(folder):
    asked = {}
    answers = NAMED | TOLD
    start(GERMAN, told={}, ask=lambda key, it: asked.update({key: [*it]}) or answers[key])
    assert asked == {
        **{key: ["Woche", "Standort", "Belegt"] for key in NAMED},
        "zero": ["missing", "blank", "written"],
        "covers": [],
    }


def test_a_script_is_told_all_that_is_missing_and_no_cell(folder):
    told = refused(
        "does not show count; add --column", GERMAN, named={"period": "Woche"}, entity="north"
    )
    assert "Belegt" not in told
    refused("does not show count", GERMAN, entity="north", named={"period": "Woche", "count": "x"})
    text = "period;count\n2024-03-04;13\n"
    told = refused("does not show zero, covers, decimal, thousands;", text, told={}, entity="north")
    assert "(zero: missing or blank or written; covers: all, a number of periods, or" in told
    refused(
        "does not show thousands;",
        text.replace("13", "13,5"),
        entity="north",
        told={"zero": "blank", "covers": "all"},
    )
    refused("--column x: is neither", text, named={"x": "y"}, entity="north")
    for key in ("zero", "decimal", "thousands", "date", "day", "delimiter", "encoding"):
        refused(f"--column {key}: must be one of", text, named={key: "x"}, entity="north")
    refused("1 column of its first line is there twice", "x,37,37\n1,2,3\n", entity="north")
    told = refused("its first line holds numbers", "2024-03-04,37\n2024-03-11,5\n", entity="north")
    assert "37" not in told


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (("7", "12"), {}),
        (("1.230", "1.017"), {}),  # thousands, or a point
        (("13,571", "7"), {}),
        (("1.230", "1.5"), {"decimal": "."}),
        (("1 012.5", "7"), {"decimal": ".", "thousands": " "}),
        (("1012.5", "7"), {"decimal": "."}),
        (("<4", "7,5", ""), {"decimal": ","}),
        (("1.230,5", "7"), {"decimal": ",", "thousands": "."}),
        (("1,230,000.5", "7"), {"decimal": ".", "thousands": ","}),
        (("1,230.5", "1000"), {"decimal": ".", "thousands": ","}),
        (("1.5", "1,5"), {}),
    ],
)
def test_a_sign_is_taken_only_if_the_table_shows_it(folder, cells, shown):
    """Whole numbers behind a semicolon show none: 13.571 has left as 13,571."""
    asked = []
    lines = "".join(f"2024-03-{4 + 7 * k:02}\t{cell}\n" for k, cell in enumerate(cells))
    Path("a.csv").write_text(f"period\tcount\n{lines}")
    told = {"zero": "written", "covers": "all"}
    ask = lambda key, _: asked.append(key) or TOLD[key]  # noqa: E731
    begin(*map(Path, ("h.yaml", "a.csv", "d.yaml")), AGREED, entity="north", named=told, ask=ask)
    assert {*asked} == {"decimal", "thousands"} - shown.keys()
    form = yaml.safe_load(Path("h.yaml").read_text())["format"]
    assert {**TOLD, **shown}.items() >= {key: form[key] for key in ("decimal", "thousands")}.items()


@pytest.mark.parametrize(
    ("date", "fits"),
    [
        ("03/04/2024", "fit D/M/YYYY and M/D/YYYY; write"),
        ("KW 9/2024", "fit no form"),
        ("03.04.24", "fit no form"),
        ("2024-03-06", "are neither the first nor the last days"),
    ],
)
def test_a_date_that_could_mean_two_things_is_not_guessed(folder, date, fits):
    refused(f"its dates {fits}", f"period,count\n{date},5\n", entity="north")


@pytest.mark.parametrize(
    ("covers", "weeks"),
    [("all", 4), (2, 2), (9, 4), ("2021-01-15", 2), (datetime.date(2021, 1, 22), 1)],
)
def test_an_export_reaches_as_far_as_is_declared(tmp_path, covers, weeks):
    """Whatever rows it has; older ones are left out, and what is due and not there is named."""
    path = tmp_path / "counts.csv"
    path.write_text(HEADER + "NM,A,2021-01-01,1,5\nNM,A,2021-01-22,2,5\n")
    made = deployment(entities={"A": {"capacity": 20}})
    for zero in ("missing", "written"):
        own = hospital(made, path, zero=zero, covers=covers)
        table = read_counts(Request(hospital=own, deployment=made, today=AFTER))
        held = {day: it.count for (_, day), it in table.counts.items()}
        days = table.calendar["A"]
        expected = {"2021-01-01": "1", "2021-01-22": "2"}
        zeros = dict.fromkeys(days, "0") if zero == "missing" else {}
        assert held == {day: it for day, it in (zeros | expected).items() if day in days[-weeks:]}
        assert {day for _, day in table.unread} == {*days} - held.keys()


def test_zeros_are_missing_rows_or_blank_cells_as_declared(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text(HEADER + "NM,A,2021-01-01,,5\n")
    made = deployment(entities={"A": {"capacity": 20}})
    reported = deployment(entities={"A": {}})

    def counts(zero, made=made):
        own = hospital(made, path, zero=zero)
        request = Request(hospital=own, deployment=made, today=datetime.date(2021, 1, 8))
        return [it.count for it in read_counts(request).counts.values()]

    assert counts("blank") == ["0"]
    for zero in ("missing", "written"):
        with pytest.raises(DataError, match="line 2: column covid must hold a number from 0"):
            counts(zero)
    path.write_text(HEADER)
    assert (counts("missing"), counts("blank"), counts("written")) == (["0"], [], [])
    with pytest.raises(DataError, match="zero: missing: the deployment d says reported"):
        counts("missing", reported)
