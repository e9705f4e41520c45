"""A holder's table is read as it was written, or refused; a number is never guessed."""

from __future__ import annotations

import datetime
import gzip
import io
import re
import zipfile
from decimal import Decimal

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from openpyxl.styles import Font
from pydantic import ValidationError

from dpol.core.errors import DataError
from dpol_weekly.tables.cells import parse_date, parse_decimal
from dpol_weekly.tables.files import read_table_file
from dpol_weekly.tables.format import DEFAULT, Format

FORMATS = [
    Format(decimal=decimal, thousands=thousands)
    for decimal in (".", ",")
    for thousands in (None, ".", ",", " ", "'")
    if decimal != thousands
]
numbers = st.decimals(0, 10**8, places=4, allow_nan=False) | st.integers(0, 10**8).map(Decimal)
formats = st.sampled_from(FORMATS)


@given(number=numbers, form=formats, other=formats | st.just(Format()))
@example(Decimal("0.125"), Format(decimal="."), Format(decimal=",", thousands="."))
@example(Decimal("1.125"), Format(decimal="."), Format())
@example(Decimal("1230"), Format(decimal=".", thousands=","), Format())
def test_a_number_is_read_with_its_keys_and_with_others_as_itself_or_not_at_all(
    number, form, other
):
    whole, _, rest = f"{number:,f}".partition(".")
    rest = rest.rstrip("0")
    text = whole.replace(",", form.thousands or "") + (form.decimal_sign + rest if rest else "")
    assert Decimal(parse_decimal(text, form)) == number
    value = parse_decimal(text, other)
    if value is None or Decimal(value) == number:
        return
    # The text has three decimals in one format, and thousands in the other.
    assert other.decimal is not None
    (sign,) = {*text} - {*"0123456789"}
    assert sign in {form.thousands, other.thousands} & {*".,"}
    assert sign in {form.decimal_sign, other.decimal_sign}


@pytest.mark.parametrize("text", ["12'34", "1.2345", "0.125", "1..234", "1.234.56", "1.5", "", "."])
def test_signs_in_the_wrong_places_are_no_number(text):
    assert parse_decimal(text, Format(decimal=",", thousands=".")) is None


@pytest.mark.parametrize("shown", ["1.25", "0.125", "1234.567", "-0.5", ".5", "2.0", "1.5e3"])
def test_another_number_of_the_column_shows_that_the_point_is_a_decimal_sign(shown):
    assert parse_decimal("1.230", Format().of_column(["1.230", shown])) == "1.230"


@pytest.mark.parametrize("shown", ["9.870", "1230", "1,25", "1.234.567", "1.", "v1.25", "", "NA"])
def test_other_texts_show_nothing(shown):
    assert parse_decimal("1.230", Format().of_column(["1.230", shown])) is None


@pytest.mark.parametrize(
    ("pattern", "texts", "expected"),
    [
        ("M/D/YYYY", "1/8/2024 12/31/2024 13/01/2024", "2024-01-08 2024-12-31 None"),
        ("D/M/YYYY", "1/8/2024 12/31/2024 30/2/2024", "2024-08-01 None None"),
        ("YYYYMMDD", "20240108 2024108 2024-01-08", "2024-01-08 None None"),
        ("YYYY-Www", "2020-W53 2021-W53 2021-W00 2021-W5", "2020-12-28 None None None"),
        ("D Mon YY", "03-Jan-21 3-january-21 31-Feb-21", "2021-01-03 2021-01-03 None"),
        ("D/M/YY", "1/3/22 31/12/68 1/1/69 1/3/2022", "2022-03-01 2068-12-31 1969-01-01 None"),
        ("YY.M.D", "01.03.22", "2001-03-22"),
    ],
)
def test_dates_that_do_not_exist_or_are_written_otherwise_are_none(pattern, texts, expected):
    form = Format.model_validate({"date": pattern})
    assert [str(parse_date(text, form)) for text in texts.split()] == expected.split()


@pytest.mark.parametrize(
    "keys", [{"decimal": ",", "thousands": ","}, {"decimal": ".", "thousands": "."}]
)
def test_one_sign_for_decimals_and_thousands_is_refused(keys):
    with pytest.raises(ValidationError, match="must not be the decimal sign too"):
        Format.model_validate(keys)


# ---- files ---------------------------------------------------------------------------------------

MANY_ROWS = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(3_000))
PACKED = gzip.compress(MANY_ROWS, mtime=0)
PARQUET = io.BytesIO()
pq.write_table(pa.table({"a": [1], "b": [2]}), PARQUET)


def flipped(content, place):
    return content[:place] + bytes([content[place] ^ 0xFF]) + content[place:][1:]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(("t.csv.gz", PACKED[:kept]) for kept in (1, 5, 12, len(PACKED) // 2, -8, -4, -1)),
        *(("t.csv.gz", flipped(PACKED, place)) for place in (10, len(PACKED) // 2, -5)),
        *(("t.parquet", PARQUET.getvalue()[:-kept]) for kept in (1, 100)),
        *((f"t.{suffix}", MANY_ROWS) for suffix in ("csv.gz", "parquet", "xlsx")),
        ("t.xlsx", b"PK\x03\x04" + bytes(99)),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{len(value)} bytes",
)
def test_a_table_that_is_damaged_or_not_what_its_name_says_is_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=r"is damaged, cut short or not a \.\w+ file; get an in"):
        read_table_file(tmp_path / name, ["a", "b"], DEFAULT)


@given(content=st.binary(max_size=60))
@example(content=b'a,b\n"')
@example(content=b"a,b\n\x00,1\n")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_any_bytes_are_a_table_or_a_data_error(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    try:
        table = read_table_file(tmp_path / name, ["a", "b"], DEFAULT)
    except DataError:
        return
    assert (table.header, len(table.rows) > 0) == (["a", "b"], True)


def test_numbers_and_dates_that_parquet_stores_as_such_need_no_keys(tmp_path):
    day = datetime.datetime(2021, 1, 4)
    pq.write_table(
        pa.table({"n": [1.125, float("nan")], "day": [day] * 2, "whole": [20210104] * 2}),
        tmp_path / "t.parquet",
    )
    form = Format(delimiter=";", decimal=",", thousands=".", date="YYYYMMDD")
    table = read_table_file(tmp_path / "t.parquet", None, form)
    assert [row[0] for row in table.rows] == ["1.125", ""]
    assert parse_decimal("1.125", table.typed["n"]) == "1.125"
    assert parse_date(table.rows[0][1], table.typed["day"]) == day.date()
    assert "whole" not in table.typed


# ---- sheets --------------------------------------------------------------------------------------

TABLE = [["Sick people"], [], ["week", "town", "sick"], ["2021-01-03", "Ulm", 1.125], []]
TABLE += [["2021-01-03", "Bonn", 2]]
BELOW = Format(skip_rows=2)


def workbook(path, rows, **more):
    book = openpyxl.Workbook()
    for cells in rows:
        book.active.append(cells)
    for place, value in more.items():
        book.active[place] = value
    book.save(path)
    return path


def read_sheet(path, form=BELOW):
    return read_table_file(path, ["week", "town", "sick"], form)


def test_a_sheet_is_read_below_its_titles_without_what_is_blank(tmp_path):
    path = workbook(tmp_path / "t.xlsx", TABLE, A90=" ", XFD5=" ")
    book = openpyxl.load_workbook(path)
    book.active["ZZ99"].font = Font(bold=True)
    book.save(path)
    table = read_sheet(path)
    # 1.125 may also mean 1125 in a text, but not in a number of a sheet.
    assert table.rows == [["2021-01-03", "Ulm", "1.1250"], ["2021-01-03", "Bonn", "2"]]
    assert table.lines == [4, 6]
    with pytest.raises(DataError, match=r"its header is in row 3. Set in hospital.yaml: format: {"):
        read_sheet(path, DEFAULT)


@pytest.mark.parametrize("place", ["G9", "XFD1048576"])
def test_a_note_far_from_the_table_is_refused_with_its_cell_but_not_its_text(tmp_path, place):
    path = workbook(tmp_path / "t.xlsx", TABLE, **{place: "note by Anna"})
    with pytest.raises(DataError, match=f"cell {place} holds a text in a row and a col") as caught:
        read_sheet(path)
    assert "Anna" not in str(caught.value)


def calculated(path, value):
    """Save a value with each formula of a workbook, as spreadsheet programs do."""
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name).decode() for name in book.namelist()}
    with zipfile.ZipFile(path, "w") as book:
        for name, part in parts.items():
            book.writestr(name, re.sub("(<c [^>]*)(><f>.*?</f>)<v(?: /|></v)>", value, part))


def test_a_formula_that_was_never_calculated_is_refused_with_its_cell(tmp_path):
    """Such a formula in a column that is not read does no harm."""
    path = workbook(tmp_path / "t.xlsx", [*TABLE, ["2021-01-10", "Ulm", "=1+1"]], E3="x", E4="=2")
    with pytest.raises(DataError, match="cell C7 holds a formula that was never calculated"):
        read_sheet(path)
    calculated(path, r"\1\2<v>7</v>")
    assert read_sheet(path).rows[-1] == ["2021-01-10", "Ulm", "7"]


def test_a_sheet_of_too_many_cells_is_refused_with_the_cell_beyond(tmp_path, monkeypatch):
    path = workbook(tmp_path / "t.xlsx", TABLE)
    monkeypatch.setattr("dpol_weekly.tables.sheets._MOST_CELLS", sum(map(len, TABLE)) - 1)
    with pytest.raises(DataError, match="'Sheet' has more than .* cells up to C6;"):
        read_sheet(path)
