"""Counts are read from the tables that holders have, each checked; no message shows one."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path

import pytest
import yaml

from dpol.core.errors import ConfigError, DataError, DpolError
from dpol_weekly.holder.counts import read_counts
from dpol_weekly.holder.init import QUESTIONS, begin
from dpol_weekly.holder.settings import Hospital, read_hospital
from releases import PLAIN, deployment, own_of

AFTER = datetime.date(2021, 2, 1)
NAMES = ["0100-A", "A", "B", "C", *(f"A{i}" for i in range(2))]
NAMES += [f"B{i}" for i in range(98)]
MADE = deployment(entities={name: {} for name in NAMES})
WITH_BEDS = deployment(entities={name: {"capacity": 20} for name in NAMES})
HEADER = "state,hospital,week,covid,beds\n"


@pytest.fixture
def read(folder, tmp_path):
    """Read a table given as text or bytes."""

    def reader(table, made=MADE, **options):
        path = tmp_path / "counts.csv"
        path.write_bytes(table if isinstance(table, bytes) else table.encode())
        own = own_of(made, table=path, **options)
        return read_counts(own, made, today=AFTER).counts

    return reader


def test_a_table_by_hand(read):
    table = HEADER + (
        "NM,0100-A,2021-01-08T00:00:00.000, 3.4 ,12\n"
        'PA,"B",2021-01-08,0,0.5\r\n'
        "NM,0100-A,2021-01-15 00:00,007.,12.0\n"
        "\n"
        "NM,A,2021-01-08,9,9\n"
    )
    expected = [
        ("2", "0100-A", "2021-01-08", "3.4", "12"),
        ("3", "B", "2021-01-08", "0", "0.5"),
        ("4", "0100-A", "2021-01-15", "7", "12"),
    ]

    def told(found):
        return [(it.where.split()[-1], *at, it.count, it.capacity) for at, it in found.items()]

    assert told(read(table)) == told(read(b"\xef\xbb\xbf" + table.encode())) == expected
    assert [count.capacity for count in read(table, WITH_BEDS).values()] == ["20"] * 3
    assert "3.4" not in repr(read(table))


def test_lines_of_others_refuse_nothing_and_are_counted(folder):
    """Whether they are there may depend on one patient."""
    Path("counts.csv").write_bytes(
        HEADER.encode()
        + b"NM,A,2021-01-08,1,5\nNM,Ward 3, West,2021-01-08,9\nNM,A,,1,5\nNM,A,9999-01-01,1,5\n"
        b'NM,\xe9,x\n"Total\nNM,C,2021-01-08,x\n\nNM,A,2021-01-15,1,5\nNM,A,2021-01-22,1,5\n'
    )
    made = deployment(entities={"A": {}, "C": {}})
    table = read_counts(own_of(made, entities=["A"]), made, today=AFTER)
    assert [*table.counts] == [("A", "2021-01-08")]
    assert table.warnings == [
        "3 lines left out, of places that are neither in your file nor in the agreement",
        "2 lines left out, without a date that format.date (YYYY-MM-DD) reads",
        "2 lines left out, below a blank line",
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        # Suppressed counts are small ones: which rows are there would tell them.
        *((f'A,2021-01-08,"{it}",5', "covid must hold a number .*; do not leave out rows because")
          for it in ("", "-1", "<4", "suppressed", "\x00")),
        *((f"A,2021-01-08,0,{it}", "beds must hold a number above 0")
          for it in ("", "-1", "<4", "0", "0.0", "0.")),
    ],
)  # fmt: skip
def test_what_is_no_count_or_capacity_is_refused(read, row, message):
    with pytest.raises(DataError, match=f"line 2: column {message}"):
        read(f"{HEADER}NM,{row}\n")


@pytest.mark.parametrize(
    "table",
    [
        HEADER + "NM,A,2021-01-08,{},5\n",
        HEADER + "NM,A,2021-01-08,1,{}\n",
        HEADER + "NM,A,2021-01-08,1,5,{}\n",
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
        ("\n", "its line 1 must name hospital, week, covid, beds once; get an intact copy"),
        ("hospital,week,covid\nA,2021-01-08,1\n", "its line 1 must name beds once"),
        ("covid,week,hospital,beds,covid\n", "its line 1 must name covid once"),
        (HEADER + "NM,A,2021-01-08,1\n", "line 2: has 4 cells, but the header has 5"),
        (
            HEADER + "NM,A,2021-01-08,1,5\nNM,B,2021-01-08,1,5\nNM, A,2021-01-08T00:00,2,5\n",
            "line 4: the same entity and period as .*line 2; keep the line that is right",
        ),
        (HEADER + "NM,B,2021-01-07,1,5\n", "line 2: no period begins on its date; they begin"),
    ],
)
def test_a_table_with_a_fault_is_refused(read, table, message):
    with pytest.raises(DataError, match=message):
        read(table)


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
        ({"covers": "tomorrow", "reaches": "all"}, "covers = 'tomorrow': must be"),
        *(({"reaches": it}, "reaches = ") for it in (0, True, "some", 1.5)),
        ({"covers": 0}, "reaches = "),
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
FORM = {"decimal": ",", "thousands": ".", "delimiter": ";", "date": "D.M.YYYY"}
TOLD = {"zero": "written", "covers": "today", "reaches": "all", "decimal": "."}
TOLD |= {"thousands": "none"}


def start(text, *, bytes_of="utf-8", ask=None, entity=None, column=None, **told):
    """The keys of a first file, and the counts that it reads."""
    Path("a.csv").write_bytes(text.encode(bytes_of))
    paths = [Path("h.yaml"), Path("a.csv"), Path("d.yaml")]
    told |= {"entity": column} if column else {}
    paths[-1].write_text(AGREED.agreement())
    begin(*paths, named=told, entity=entity, ask=ask)
    own = read_hospital(Path("h.yaml"))
    table = read_counts(own, AGREED, today=datetime.date(2024, 3, 20))
    counts = [it.count for it in table.counts.values()]
    return yaml.safe_load(Path("h.yaml").read_text()), counts


def refused(message, text, **told):
    with pytest.raises(DpolError, match=message) as caught:
        start(text, **told)
    assert not [*Path().glob("h.yaml"), *Path().glob("dpol.*")]
    return str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_a_first_file_reads_the_table_as_it_is_said_to_be_written(folder, encoding):
    text = GERMAN.replace("Woche", "Wöche")
    text += "".join(f"11.03.2024;{name};1\r\n" for name in ("south", "east"))
    told = {**FORM, "period": "Wöche", "count": "Belegt", "zero": "missing", "reaches": "3"}
    told |= {"covers": "yesterday"}
    whole, counts = start(text, bytes_of=encoding, column="Standort", **told, encoding=encoding)
    assert whole["format"] == FORM | {"encoding": encoding}
    assert (whole["zero"], whole["columns"]["period"]) == ("missing", "Wöche")
    assert counts == ["1012.5", "7", "1", "1", "0", "0"]


def test_a_person_is_asked_all_in_one_order_and_what_is_left_out_is_usual(folder):
    asked, answers = [], iter(["Standort", "Woche", "Belegt", "", *TOLD.values()])
    with pytest.raises(DpolError, match="the delimiter or the encoding under format"):
        start(GERMAN, ask=lambda question: asked.append(question) or next(answers, ""))
    assert asked == [*QUESTIONS.values()]
    said = {QUESTIONS[key]: it for key, it in {**NAMED, **TOLD, **FORM}.items()}
    text = GERMAN + "".join(f"11.03.2024;{name};1\r\n" for name in ("south", "east"))
    whole, counts = start(text, ask=lambda question: said.get(question, ""))
    assert (whole["columns"], whole["format"], counts[:2]) == (NAMED, FORM, ["1012.5", "7"])


def test_a_script_is_told_all_that_is_missing_and_no_cell(folder):
    text = "period,count\n2024-03-04,37\n"
    told = refused("(?s)3 problems.*as --column KEY=ANSWER", text, entity="north")
    for key in ("zero", "format.decimal", "format.thousands"):
        assert f"\n  {key}: is missing and has no default" in told
    for key in ("reaches", "decimal", "thousands", "date", "day", "delimiter", "encoding"):
        refused(f"{key} = 'x': must be", text, entity="north", **TOLD | {key: "x"})
    refused("columns.x = 'y': unknown key", text, entity="north", x="y", **TOLD)
    told = refused("must name period, count once", "2024-03-04,37\n", entity="north", **TOLD)
    assert "37" not in told


@pytest.mark.parametrize(
    ("reaches", "weeks"),
    [("all", 4), (2, 2), (9, 4)],
)
def test_an_export_reaches_as_far_as_is_declared(folder, tmp_path, reaches, weeks):
    """Whatever rows it has; older ones are left out, and what is due and not there is named."""
    path = tmp_path / "counts.csv"
    path.write_text(HEADER + "NM,A,2021-01-01,1,5\nNM,A,2021-01-22,2,5\n")
    made = deployment(entities={"A": {"capacity": 20}})
    for zero in ("missing", "written"):
        own = own_of(made, table=path, zero=zero, covers="today", reaches=reaches)
        table = read_counts(own, made, today=AFTER)
        held = {day: it.count for (_, day), it in table.counts.items()}
        days = table.calendar["A"]
        expected = {"2021-01-01": "1", "2021-01-22": "2"}
        zeros = dict.fromkeys(days, "0") if zero == "missing" else {}
        assert held == {day: it for day, it in (zeros | expected).items() if day in days[-weeks:]}
        assert {day for _, day in table.unread} == {*days} - held.keys()


def test_zeros_are_missing_rows_blank_cells_or_a_text_as_declared(folder):
    path = Path("counts.csv")
    path.write_text(HEADER + "NM,A,2021-01-01,,5\n")
    made = deployment(entities={"A": {"capacity": 20}})
    reported = deployment(entities={"A": {}})

    def counts(zero, made=made):
        own = own_of(made, zero=zero, covers="yesterday")
        found = read_counts(own, made, today=datetime.date(2021, 1, 8))
        return [it.count for it in found.counts.values()]

    assert counts("blank") == ["0"]
    for zero in ("missing", "written", "NULL"):
        with pytest.raises(DataError, match="line 2: column covid must hold a number from 0"):
            counts(zero)
    path.write_text(HEADER)
    assert (counts("missing"), counts("blank"), counts("written")) == (["0"], [], [])
    path.write_text("")
    assert counts("missing") == ["0"]
    with pytest.raises(DataError, match="its line 1 must name hospital"):
        counts("blank")
    with pytest.raises(DataError, match="zero: missing: the deployment d says reported"):
        counts("missing", reported)
