"""Counts are read from the tables that holders have, each checked; no message shows one."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import re
from decimal import Decimal
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpol.core.errors import ConfigError, DataError
from dpol_weekly.holder.counts import read_counts
from dpol_weekly.holder.init import begin
from dpol_weekly.holder.settings import Hospital, read_hospital
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
        return read_counts(hospital(made, path), made, **options)

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
        ("5", "0100-A", "2021-01-15", "007.", "12"),
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
        ("NM,A,2021-01-08,{},5", "covid must hold a number .*; do not leave out rows because"),
        ("NM,A,2021-01-08,3,{}", "beds must hold a number above 0"),
    ],
)
@pytest.mark.parametrize(
    "cell",
    [
        *("", "-1", "<4", "nan", "1e3", "0x1f", "١", "1_0", ".5", "1.2.3", "1" * 10),
        *("0." + "1" * 41, "4 5", "\x00", "suppressed", "3'4", "7\u00a05"),
    ],
)
def test_what_is_no_count_is_refused(read, row, message, cell):
    with pytest.raises(DataError, match=f"line 2: column {message}"):
        read(HEADER + row.format(f'"{cell}"') + "\n")


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
        HEADER + "NM,A,2021-01-08,97531,1.230\n",
        "A,2021-01-08,{},5\n",  # no header
    ],
)
def test_no_message_repeats_a_cell(read, table):
    with pytest.raises(DataError) as caught:
        read(table.format("97531x"))
    assert "97531" not in str(caught.value)


@pytest.mark.parametrize("zero", ["0", "0.0", "000", "0."])
def test_a_capacity_of_zero_is_refused_and_a_count_of_zero_is_not(read, zero):
    with pytest.raises(DataError, match="line 2: column beds must hold a number above 0"):
        read(HEADER + f"NM,A,2021-01-08,1,{zero}\n")
    assert len(read(HEADER + f"NM,A,2021-01-08,{zero},1\n")) == 1


@pytest.mark.parametrize(
    "date",
    [
        *("", "2021-13-01", "2021-02-30", "08/01/2021", "2021-1-8", "20210108", "2021-W01-1"),
        *("x", "0000-01-01", "٢021-01-08", "２０２１-01-08", "07.01.2024", "2024-W01"),
        # Years that nobody means.
        *("1899-12-31", "2101-01-01", "0001-01-01", "9999-12-31"),
        # What follows is not midnight, or may be another day elsewhere.
        *("2024-01-06T16:00:00-08:00", "2024-01-07T00:00:00+00:00", "2024-01-07T00:00:00Z"),
        *("2024-01-07Tgarbage", "2024-01-07 25:61", "2024-01-07x", "2024-01-07T12:00"),
        *("2024-01-07T", "2024-01-07 00:00:00.", "2024-01-0700:00", "2024-01-07T００:00"),
    ],
)
def test_what_is_no_date_is_refused(read, date):
    with pytest.raises(DataError, match="line 2: column week must hold a date as format.date"):
        read(HEADER + f"NM,A,{date},1,5\n")


@pytest.mark.parametrize("time", ["", "T00:00", " 00:00:00", "T00:00:00.000"])
def test_midnight_is_accepted(read, time):
    (count,) = read(HEADER + f"NM,A,2024-01-05{time},1,5\n")
    assert count.period == "2024-01-05"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", "holds no table"),
        ("\n", "holds no table"),
        (HEADER, "has a header but no rows"),
        (HEADER + "\n\n", "has a header but no rows"),
        ("hospital,week,covid\nA,2021-01-08,1\n", "no column named beds; it has hospital, week"),
        ("covid,week,hospital,beds,covid\n", "several columns named covid"),
        (HEADER + "NM,A,2021-01-08,1\n", "row 2: has 4 cells, but the header has 5"),
        (HEADER + "NM,A,2021-01-08,1,5,6\n", "row 2: has 6 cells, but the header has 5"),
        (
            HEADER + "NM,A,2021-01-08,1,5\nNM,B,2021-01-08,1,5\nNM, A,2021-01-08T00:00,2,5\n",
            "line 4: the same entity and period as .*line 2; keep the line that is right",
        ),
        (HEADER + 'NM,"A,2021-01-08,1,5\n', "row 2: is not CSV: unexpected end of data"),
        (HEADER + 'NM,"A"B,2021-01-08,1,5\n', "row 2: is not CSV"),
        ("site,Woche,covid,beds\nA,x,1,2\n", "no column named hospital, week; it has site, Woche"),
        ("NM,A,x,<4\nx,y,1,2\n", "; its header has no such column, or is missing"),
        (HEADER.encode("utf-16"), 'set in hospital.yaml: format: {encoding: "utf-16"}'),
        (HEADER.encode() + b"NM,\xe9,2021-01-08,1,5\n", "is not UTF-8 text"),
        (HEADER + "NM,D,2021-01-08,1,5\n", "line 2: its entity is neither in the file"),
        (HEADER + 'NM,A,2021-01-08,"3,4",5\n', 'set format: {decimal: ","}'),
        (HEADER + "NM,A,2021-01-08,1.230,5\n", 'column covid must .* or {thousands: ".'),
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


# ---- files as hospitals export them --------------------------------------------------------------

SITES = {"north": "Haus Nord", "south": "Haus Süd", "east": "Łódź"}
AGREED = deployment(
    entities={name: {"capacity": 2000} for name in SITES}, periods={"first": "2024-03-04"}
)
OWN = {
    "entities": SITES,
    "columns": {"entity": "Standort", "period": "Woche", "count": "Belegt"},
    "deployment": "d.yaml",
}
DAYS = [datetime.date(2024, 3, 4) + datetime.timedelta(days=7 * week) for week in range(12)]
COUNTED = [(f"{1200 + 17 * week}", f"{310.5 + week}", f"{7 + week}") for week in range(12)]
TRUE = [
    (name, day, Decimal(n))
    for day, row in zip(DAYS, COUNTED, strict=True)
    for name, n in zip(SITES, row, strict=True)
]


def exported(*, date="%Y-%m-%d", number=str, mark=",", above="", below="", end="\n"):
    """The text of a report: a row for each week and hospital."""
    rows = [(SITES[name], day.strftime(date), number(count)) for name, day, count in TRUE]
    lines = [mark.join(row) for row in [("Standort", "Woche", "Belegt"), *rows]]
    return end.join([*above.splitlines(), *lines, *below.splitlines(), ""])


def german(count):
    whole, _, rest = f"{count:,}".partition(".")
    return whole.replace(",", ".") + (f",{rest}" if rest else "")


def french(count):
    whole, _, rest = f"{count:,}".partition(".")
    return whole.replace(",", "\u202f") + (f",{rest}" if rest else "")


def workbook(rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    held = io.BytesIO()
    book.save(held)
    return held.getvalue()


def packed_parquet():
    names, days, numbers = zip(*TRUE, strict=True)
    table = {"Standort": [SITES[it] for it in names], "Woche": days, "Belegt": map(float, numbers)}
    held = io.BytesIO()
    pq.write_table(pa.table({key: pa.array(it) for key, it in table.items()}), held)
    return held.getvalue()


TYPED = [["Standort", "Woche", "Belegt"], *([SITES[n], day, float(x)] for n, day, x in TRUE)]
WIDE = [["Woche", *SITES.values()]]
WIDE += [[str(day), *(str(x) for _, when, x in TRUE if when == day)] for day in DAYS]
GERMAN = {"delimiter": ";", "decimal": ",", "thousands": ".", "date": "D.M.YYYY"}
EXCEL = {"date": "%d.%m.%Y", "number": german, "mark": ";", "end": "\r\n"}
SUM = "Summe;;4.711,0\r\n"
# The name of a file, its bytes, the keys that read it, and what is said without them.
FILES = {
    "commas": ("a.csv", exported().encode(), {}, None),
    "german": ("a.csv", exported(**EXCEL).encode("utf-8-sig"), GERMAN, '{delimiter: ";", dec'),
    "cp1252": (
        *("a.csv", exported(**EXCEL).replace("Łódź", "Łódź".translate({321: "L", 378: "z"}))
          .encode("cp1252")), GERMAN | {"encoding": "cp1252"}, '{encoding: "cp1252", delimi',
    ),
    "tabs": ("a.txt", exported(mark="\t").encode(), {"delimiter": "\t"}, '{delimiter: "\\t"}'),
    "french": (
        *("a.csv", exported(date="%d/%m/%Y", number=french, mark=";").encode()),
        *(GERMAN | {"thousands": " ", "date": "D/M/YYYY"}, '{delimiter: ";", decimal: ","}'),
    ),
    "ISO weeks": (
        "a.csv", exported(date="%G-W%V").encode(), {"date": "YYYY-Www"}, "{date: YYYY-Www}"
    ),
    "KW": ("a.csv", exported(date="KW %V/%G").encode(), None, "weeks as 2021-W05"),
    "titles": (
        *("a.csv", exported(above="Belegungsbericht 2024\n\n").encode(), {"skip_rows": 2}),
        "its header is in line 3. Set in hospital.yaml: format: {skip_rows: 2}",
    ),
    "sum": (
        *("a.csv", exported(**EXCEL, below=SUM).encode()),
        *(GERMAN | {"drop": True}, '{delimiter: ";", decimal'),
    ),
    "workbook": ("a.xlsx", workbook(TYPED), {}, None),
    "workbook as CSV": ("a.csv", workbook(TYPED), None, "is a workbook, not CSV; save it as a"),
    "parquet": ("a.parquet", packed_parquet(), {}, None),
    "gz": ("a.csv.gz", gzip.compress(exported().encode()), {}, None),
    "wide": (
        "a.csv", "".join(",".join(row) + "\n" for row in WIDE).encode(), {"layout": "wide"},
        "no column named Standort, Belegt; it has Woche, Haus Nord",
    ),
    "US dates": (
        "a.csv", exported(date="%m/%d/%Y").encode(), {"date": "M/D/YYYY"}, "{date: M/D/YYYY}"
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_a_file_as_hospitals_export_it_is_read_or_told_in_one_line(tmp_path, kind):
    name, content, keys, told = FILES[kind]
    (tmp_path / name).write_bytes(content)
    plain = OWN | {"table": tmp_path / name}
    if kind == "cp1252":  # which has no Ł
        plain["entities"] = SITES | {"east": "Lódz"}
    if told is not None:
        with pytest.raises(DataError) as caught:
            read_counts(Hospital.model_validate(plain), AGREED)
        assert told in str(caught.value)
        assert "\n" not in str(caught.value)
        assert not [x for *_, x in TRUE if x > 99 and f"{x:g}" in str(caught.value)]
    if keys is not None:
        drop = {"Standort": "Summe"} if "drop" in keys else {}
        form = {key: it for key, it in keys.items() if key != "drop"}
        plain |= {"format": form, "drop_where": drop}
        read = read_counts(Hospital.model_validate(plain), AGREED)
        found = [
            (count.entity, datetime.date.fromisoformat(count.period), Decimal(count.count))
            for count in read
        ]
        assert found == TRUE


def test_a_number_that_could_mean_two_things_is_not_guessed(tmp_path):
    (tmp_path / "a.csv").write_text("week,covid\n2024-03-04,1.230\n2024-03-11,1.017\n")
    own = {**OWN, "entities": {}, "entity": "north", "table": tmp_path / "a.csv"}
    own["columns"] = {"period": "week", "count": "covid"}
    with pytest.raises(DataError, match=r'{decimal: "\."} or {thousands: "\."}.*, whichever'):
        read_counts(Hospital.model_validate(own), AGREED)
    for keys, counts in (
        ({"decimal": "."}, ["1.230", "1.017"]),
        ({"thousands": "."}, ["1230", "1017"]),
    ):
        read = read_counts(Hospital.model_validate(own | {"format": keys}), AGREED)
        assert [count.count for count in read] == counts


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"entity": "north"}, "give entity, or entities if there are several"),
        ({"entities": {}}, "give entity, or entities if there are several"),
        ({"columns": {"period": "Woche"}}, "columns.entity: is missing: several entities"),
        ({"columns": {"entity": "a", "period": "a"}}, "columns: must be different columns"),
        ({"drop_where": {"Belegt": "<5"}}, "drop_where = 'Belegt': must not be a column of counts"),
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
        Hospital.model_validate({**OWN, "table": "a.csv"}).use(made)


# ---- a first file --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(FILES.keys() - {"KW", "workbook as CSV", "cp1252", "wide"}))
def test_a_first_file_reads_the_table_or_says_what_to_set(folder, kind):
    """The texts of entities are for the holder to say."""
    name, content, _, _ = FILES[kind]
    Path(name).write_bytes(content)
    file = Path("h.yaml")
    told = begin(file, Path(name), Path("d.yaml"), AGREED)
    if "entities" in told:
        assert told.startswith("h.yaml: set entities in it, then run")
        assert "north: TEXT" in file.read_text()
        file.write_text(f"{file.read_text()}entities: {json.dumps(SITES)}\n")
    read = read_counts(read_hospital(file), AGREED)
    assert [(count.entity, Decimal(count.count)) for count in read] == [
        (it, n) for it, _, n in TRUE
    ]


def test_a_first_file_asks_for_capacities_only_where_this_holder_reports_them(folder):
    """No column, whatever its name, adds a line to the file."""
    Path("a.csv").write_text('week,"n\ntable: other",m\n2024-04-14,1,5\n2024-04-21,2,6\n')
    made = deployment(entities={"north": {"capacity": 20}, "south": {}})
    for name, wanted in (("north", "columns.count"), ("south", "columns.count, columns.capacity")):
        told = begin(Path(name), Path("a.csv"), Path("d.yaml"), made, entity=name)
        assert told == f"{name}: set {wanted} in it, then run dpol privatize {name}"
        assert "\ntable: other" not in Path(name).read_text()


@pytest.mark.parametrize(
    ("table", "still"),
    [
        ("Ort;Woche;n;Notiz\nA\ue000;01.01.2024;5;\nB;01.01.2024;6;\n", "north: TEXT, south: TEXT"),
        ("entity;KW;n\nnorth;KW 1/2024;5\n", "columns.period: a column of days (2021-01-31"),
        ("entity;day;count;beds\nnorth;2024-01-01;5;10\n", None),
    ],
)
def test_a_first_file_says_what_is_missing_and_no_more(folder, table, still):
    """An empty column holds no dates, and a column named count is the one that is read."""
    Path("a.csv").write_text(table)
    begin(Path("h.yaml"), Path("a.csv"), Path("d.yaml"), AGREED)
    comments = [
        splitline
        for splitline in Path("h.yaml").read_text().splitlines()
        if "Still to be set" in splitline
    ]
    assert len(comments) == (still is not None)
    assert all(str(still) in comment for comment in comments)
    assert not any("\ue000" in comment for comment in comments)


def test_nothing_that_could_mean_two_things_is_guessed(folder):
    Path("a.csv").write_text("week,n,m\n03/04/2024,1.230,5\n04/04/2024,1.017,6\n")
    told = begin(Path("h.yaml"), Path("a.csv"), Path("d.yaml"), AGREED, entity="north")
    assert told.startswith("h.yaml: set format.date, columns.count, format.decimal or format.th")
    text = Path("h.yaml").read_text()
    assert "# Still to be set: format.date: D/M/YYYY or M/D/YYYY\n" in text
    assert "# Still to be set: columns.count: n or m\n" in text
    assert "1.230" not in text
    assert "1.017" not in text


SHEET = """Belegung Haus Nord 2024
Woche;Betten;Belegt
04.03.2024;100;12
11.03.2024;100;14
"""


@pytest.mark.parametrize(
    ("end", "dropped"),
    [
        ("Summe;200;26\n", 'drop_where: {Woche: "Summe"}'),
        ("Summe;200;26\nMittel;100;13\n", 'drop_where: {Woche: ["Summe", "Mittel"]}'),
        ("", None),
    ],
)
def test_the_commonest_sheet_is_read_with_one_question(folder, end, dropped):
    """A title, dates, one hospital, and sums among the dates; no column of entities."""
    Path("a.csv").write_text(SHEET + end)
    told = begin(Path("h.yaml"), Path("a.csv"), Path("d.yaml"), AGREED, entity="north")
    assert told.startswith("h.yaml: set columns.count in it")
    text = Path("h.yaml").read_text()
    assert 'entity: "north"\n' in text
    assert (dropped in text) if dropped else ("drop_where" not in text)
    Path("h.yaml").write_text(text.replace('"Woche"}', '"Woche", count: "Belegt"}'))
    read = read_counts(read_hospital(Path("h.yaml")), AGREED)
    assert [(count.entity, count.period, count.count) for count in read] == [
        ("north", "2024-03-04", "12"),
        ("north", "2024-03-11", "14"),
    ]


def test_no_row_whose_text_may_be_a_count_or_a_date_is_proposed_to_be_left_out(folder):
    Path("a.csv").write_text(SHEET + "18.3.;100;15\n")
    begin(Path("h.yaml"), Path("a.csv"), Path("d.yaml"), AGREED, entity="north")
    assert "drop_where" not in Path("h.yaml").read_text()


def test_a_workbook_of_two_sheets_is_no_dead_end(folder):
    """The file says what is open; with the sheet named, it is as that of any other table."""
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["nothing", "here"])
    sheet = book.create_sheet("Données")
    for row in (["Semaine", "Lits occupés"], ["04.03.2024", 12], ["11.03.2024", 14]):
        sheet.append(row)
    book.save("a.xlsx")
    first = Path("a.xlsx"), Path("d.yaml"), AGREED
    told = begin(Path("h.yaml"), *first, entity="north")
    assert told.startswith("h.yaml: set format.sheet in it, then run dpol privatize h.yaml; or")
    assert "# Still to be set: format.sheet: Notes or Données\n" in Path("h.yaml").read_text()
    told = begin(Path("i.yaml"), *first, entity="north", sheet="Données")
    assert told == "i.yaml: read it, and run dpol privatize i.yaml"
    assert [count.count for count in read_counts(read_hospital(Path("i.yaml")), AGREED)] == [
        "12",
        "14",
    ]
    with pytest.raises(DataError, match="--sheet X: a.xlsx has the sheets 'Notes', 'Données'"):
        begin(Path("j.yaml"), *first, entity="north", sheet="X")


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("Semaine,n\n1/2024,5\n2/2024,6\n", "in Semaine, write 1/2024 as 2024-W01"),
        ("Woche,n\nKW 9/2024,5\nKW 10/2024,6\n", "in Woche, write KW 9/2024 as 2024-W09"),
        (
            "Jahr,KW,n\n2024,1,500\n2024,2,600\n",
            "write Jahr and KW as one column, such as 2024-W05",
        ),
        ("Tag,n\n01.01.24,5\n08.01.24,6\n", "format.date: D.M.YY or YY.M.D"),
    ],
)
def test_weeks_that_are_not_read_are_answered_with_an_example(folder, table, told):
    Path("a.csv").write_text(table)
    begin(Path("h.yaml"), Path("a.csv"), Path("d.yaml"), AGREED, entity="north")
    assert told in Path("h.yaml").read_text()


def test_the_ends_of_a_period_are_no_entities(folder):
    Path("a.csv").write_text("Du,Au,n\n04.03.2024,10.03.2024,5\n11.03.2024,17.03.2024,6\n")
    begin(Path("h.yaml"), Path("a.csv"), Path("d.yaml"), AGREED, entity="north")
    text = Path("h.yaml").read_text()
    assert "columns.period: Du or Au" in text
    assert 'entity: "north"' in text
    assert "columns.entity" not in text
