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
from dpol_weekly.tables import DEFAULT, read_table
from releases import deployment, hospital

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
        request = Request(hospital=hospital(made, path), deployment=made, **options)
        return read_counts(request)

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
        HEADER + "NM,{}\ta,2021-01-08,1,5\n",
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
        (HEADER, "has a header but no rows"),
        (HEADER + "\n\n", "has a header but no rows"),
        ("hospital,week,covid\nA,2021-01-08,1\n", "its first line has no column named beds; name"),
        ("covid,week,hospital,beds,covid\n", "several columns named covid"),
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
        (HEADER + "NM,D,2021-01-08,1,5\n", "line 2: its entity is neither in the file"),
        (HEADER + 'NM,A,2021-01-08,"3,4",5\n', "such as 12 or 3.4 .format.decimal in hospital"),
    ],
)
def test_a_table_with_a_fault_is_refused(read, table, message):
    with pytest.raises(DataError, match=message):
        read(table)


@pytest.mark.parametrize("end", ["", "\nNM,A,2021-01-15,3,5"])
def test_a_table_that_is_cut_in_its_last_cell_is_noticed(read, end):
    table = HEADER + "NM,A,2021-01-08,1,51" + end
    with pytest.raises(DataError, match="has no line end, so the table may be cut short.*--no-fin"):
        read(table)
    assert read(table, no_final_newline=True) == read(table + "\n")
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


def start(text, *, named=None, encoding="utf-8", name="a.csv", **options):
    """The keys of a first file, what is told, and the counts that it reads."""
    if text is not None:
        Path(name).write_bytes(text.encode(encoding))
    Path("h.yaml").unlink(missing_ok=True)
    told = begin(Path("h.yaml"), Path(name), Path("d.yaml"), AGREED, named=named, **options)
    whole = yaml.safe_load(Path("h.yaml").read_text())
    assert whole["format"]["decimal"] in (".", ","), "the sign of decimals is always written"
    request = Request(hospital=read_hospital(Path("h.yaml")), deployment=AGREED)
    return whole, told, [it.count for it in read_counts(request)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_first_file_reads_the_table_whose_columns_are_named(folder, encoding):
    text = GERMAN.replace("Woche", "Wöche")
    whole, told, counts = start(text, named=NAMED | {"period": "Wöche"}, encoding=encoding)
    assert whole["format"].items() >= {"delimiter": ";", "decimal": ",", "date": "D.M.YYYY"}.items()
    assert counts == ["1012.5", "7"]
    assert told == (["h.yaml: read it, and run dpol privatize h.yaml"], [])


def test_columns_of_the_usual_names_need_no_word(folder):
    whole, _, counts = start("period,count\n2024-W10,5\n", entity="north")
    assert whole["columns"] == {"period": "period", "count": "count"}
    assert (whole["format"]["date"], counts) == ("YYYY-Www", ["5"])


def test_a_person_is_asked_for_columns_and_a_script_is_told_their_names(folder):
    asked = []
    start(GERMAN, ask=lambda key, header: asked.append(key) or NAMED[key])
    assert asked == ["entity", "period", "count"]
    message = "is named for columns.count; add --column count=NAME, .* 'Woche', 'Standort', 'Bele"
    with pytest.raises(DataError, match=message):
        start(GERMAN, entity="north", named={"period": "Woche"})
    with pytest.raises(DataError, match="is named for columns.count"):
        start(GERMAN, entity="north", named={"period": "Woche", "count": "x"})


@pytest.mark.parametrize(
    ("date", "fits"),
    [("03/04/2024", "D/M/YYYY and M/D/YYYY"), ("KW 9/2024", "no form"), ("03.04.24", "no form")],
)
def test_a_date_that_could_mean_two_things_is_not_guessed(folder, date, fits):
    with pytest.raises(DataError, match=f"of column period fit {fits}; write them as 2021-01-31"):
        start(f"period,count\n{date},5\n", entity="north")
    assert not Path("h.yaml").exists()


@pytest.mark.parametrize(
    ("cells", "sign", "warned"),
    [
        (("7", "12"), ".", False),
        (("1.230", "1.017"), ".", True),
        (("1.230", "1.5"), ".", False),
        (("1 012.5", "7"), ".", False),
        (("1.230,5", "7"), ",", False),
        (("1,230,000.5", "7"), ".", False),
    ],
)
def test_signs_that_could_mean_two_things_are_warned_about_once(folder, cells, sign, warned):
    """The warning is for standard error, as it depends on the counts."""
    lines = "".join(f"2024-03-{4 + 7 * k:02}\t{cell}\n" for k, cell in enumerate(cells))
    whole, told, _ = start(f"period\tcount\n{lines}", entity="north")
    assert (whole["format"]["decimal"], bool(told[1])) == (sign, warned)
    assert not any(cell in line for line in told[1] for cell in cells)


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx"])
def test_a_missing_table_is_written_as_a_form_to_fill_in(folder, name):
    """A row for each place and period, from the period of today on."""
    with pytest.raises(DataError, match="line 2: column count must hold a number"):
        start(None, name=name, today=datetime.date(2024, 3, 12))
    rows = [cells for _, cells in read_table(Path(name), None, DEFAULT)]
    weeks = [(site, "2024-03-11") for site in SITES] + [("north", "2024-03-18")]
    assert rows[:4] == [{"entity": site, "period": week, "count": ""} for site, week in weeks]
