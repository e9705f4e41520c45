"""Tables in their authors' conventions give the right numbers or an error, never wrong numbers."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from data.drawn import PLAIN, clean, dataset, line, refused, row, rows, streams
from dpol.data.cleaning import clean_panel
from dpol.data.tables.parse import parse_cells, parse_date, parse_numbers
from dpol.data.tables.raw_table import read_raw_table
from dpol.data.tables.settings import Cleaning
from dpol.data.tables.table_format import Format

FORMATS = [
    Format(decimal=decimal, thousands=thousands)
    for decimal in (".", ",")
    for thousands in (None, ".", ",", " ", "'")
    if decimal != thousands
]
numbers = st.decimals(0, 10**8, places=4, allow_nan=False) | st.integers(0, 10**8).map(Decimal)
formats = st.sampled_from(FORMATS)


@pytest.mark.parametrize(
    "signs", [{"thousands": ",", "decimal": ","}, {"thousands": ".", "decimal": "."}]
)
def test_one_sign_cannot_be_both(signs: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"thousands \('[.,]'\) must not be the decimal sign too"):
        Format(**signs)


def parse_number(text: str, form: Format) -> float:
    (value,) = parse_numbers(pd.Series([text]), form)
    return float(value)


def written(number: Decimal, form: Format) -> str:
    """Write a number in a format, without trailing zeros."""
    whole, _, rest = f"{number:,f}".partition(".")
    rest = rest.rstrip("0")
    whole = whole.replace(",", form.thousands or "")
    return whole + (form.decimal_sign + rest if rest else "")


@given(number=numbers, form=formats, other=formats | st.just(Format()))
@example(Decimal("0.125"), Format(decimal="."), Format(decimal=",", thousands="."))
@example(Decimal("1.125"), Format(decimal="."), Format())
@example(Decimal("1230"), Format(decimal=".", thousands=","), Format())
def test_a_number_is_read_with_its_keys_and_with_others_as_itself_or_not_at_all(
    number: Decimal, form: Format, other: Format
) -> None:
    text = written(number, form)
    assert parse_number(text, form) == float(number)
    value = parse_number(text, other)
    if math.isnan(value) or value == float(number):
        return
    # The text has three decimals in one format, and thousands in the other.
    assert other.decimal is not None
    (sign,) = {*text} - {*"0123456789"}
    assert sign in {form.thousands, other.thousands} & {*".,"}
    assert sign in {form.decimal_sign, other.decimal_sign}
    first, *more = text.split(sign)
    assert (first != "0", {len(group) for group in more}) == (True, {3})


@pytest.mark.parametrize("text", ["12'34", "1.2345", "0.125", "1..234", "1.234.56", "1.5", "", "."])
def test_signs_in_the_wrong_places_are_refused(text: str) -> None:
    assert math.isnan(parse_number(text, Format(decimal=",", thousands=".")))


def test_the_blanks_and_apostrophes_of_spreadsheets_are_known() -> None:
    french = Format(decimal=",", thousands=" ")
    for text in ("1 234,5", "1\u00a0234,5", "1\u202f234,5"):
        assert parse_number(text, french) == 1234.5
    for text in ("1'234.5", "1\u2019234.5"):
        assert parse_number(text, Format(thousands="'")) == 1234.5
    assert math.isnan(parse_number("1 23", french))


def test_an_ambiguous_cell_is_refused_with_its_row_and_the_key() -> None:
    of = rows({**PLAIN, "a": ("1 2 3 4 5", "9 9 1.230 9 1,230")})
    message = refused(of)
    assert "'1.230': 1 cell, first in row 9" in message
    assert "'1,230': 1 cell, first in row 11" in message
    for sign in ".,":
        assert f"1{sign}230 may mean 1.23 or 1230. Set dataset.format.decimal" in message
        assert f"dataset.format.thousands: '{sign}' to read 1230" in message


@pytest.mark.parametrize("shown", ["1.25", "0.125", "1234.567", "-0.5", ".5", "2.0", "1.5e3"])
def test_another_number_of_the_column_shows_that_the_point_is_a_decimal_sign(shown: str) -> None:
    assert parse_number("1.230", Format().of_column(["1.230", shown])) == 1.23


@pytest.mark.parametrize("shown", ["9.870", "1230", "1,25", "1.234.567", "1.", "v1.25", "", "NA"])
def test_other_texts_show_nothing(shown: str) -> None:
    assert math.isnan(parse_number("1.230", Format().of_column(["1.230", shown])))
    assert Format(thousands=".").of_column(["0.5"]) == Format(thousands=".")


def test_the_whole_column_is_asked_but_no_other_column() -> None:
    of = rows({**PLAIN, "a": ("1.125 2 3 4 5", "1.230 9 9 9 9")})
    elsewhere = [*of, row("B", "x", "2021-01-03", "0.5", "0.25")]
    panel = clean(elsewhere)
    assert (line(panel, "a", "count")[0], line(panel, "a", "capacity")[0]) == (1.125, 1.23)
    message = refused([*of, row("B", "x", "2021-01-03", "0.5", "1.250")])
    assert ("'1.230'" in message, "'1.125'" in message) == (True, False)


def test_markers_are_matched_in_the_signs_of_the_table() -> None:
    rules = Cleaning(suppressed_markers=["-1.000"], missing_markers=["-2"])
    texts = pd.Series(["-1.000,0", "-2,0", "1.000", "-1000"], name="n")
    parsed = parse_cells(texts, rules, Format(decimal=",", thousands="."), counts=True)
    assert parsed.kinds.tolist() == ["suppressed", "missing", "number", "suppressed"]
    assert parsed.values[2] == 1000
    plain = parse_cells(pd.Series(["-1.000"], name="n"), rules, Format(), counts=True)
    assert plain.kinds.tolist() == ["suppressed"]


# Dates -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "texts", "expected"),
    [
        ("M/D/YYYY", "1/8/2024 12/31/2024 13/01/2024", "2024-01-08 2024-12-31 None"),
        ("D/M/YYYY", "1/8/2024 12/31/2024 30/2/2024", "2024-08-01 None None"),
        ("YYYYMMDD", "20240108 2024108 2024-01-08", "2024-01-08 None None"),
        ("YYYY-MM-DD", "2024-01-08 2024-1-8 08.01.2024", "2024-01-08 None None"),
        ("YYYY-Www", "2020-W53 2021-W53 2021-W00 2021-W05 2021-W5",
         "2020-12-28 None None 2021-02-01 2021-02-01"),
        ("YYYY-Qq", "2021-Q4 2021Q1 2021-Q5 2021-4 Q1-2021",
         "2021-10-01 2021-01-01 None None None"),
        ("Qq YYYY", "Q2-2021 q2-2021 2021-Q2", "2021-04-01 2021-04-01 None"),
        ("Mon YYYY", "Jan-2019 SEPT-2019 May-2019 Mai-2019 Jan-19",
         "2019-01-01 2019-09-01 2019-05-01 None None"),
        ("D Mon YY", "03-Jan-21 3-january-21 31-Feb-21", "2021-01-03 2021-01-03 None"),
        ("D/M/YY", "1/3/22 31/12/68 1/1/69 1/3/2022", "2022-03-01 2068-12-31 1969-01-01 None"),
        ("YY.M.D", "01.03.22", "2001-03-22"),
        ("YYYY-Wee", "2025-W53 2026-W53 2021-W1", "2025-12-28 None 2021-01-03"),
        ("'KW'ww/YYYY", "KW5/2021 kw5/2021", "2021-02-01 None"),
        ("D.M.YYYY*", "4.1.2021-10.1.2021 4.1.21", "2021-01-04 None"),
        ("YYYY", "2005 1899 2101 205 20050", "2005-01-01 None None None None"),
        ("YYYY-M", "2021-2 2021-02 2021-13 2021-0 2021-02-01 21-2",
         "2021-02-01 2021-02-01 None None None None"),
    ],
)  # fmt: skip
def test_dates_that_do_not_exist_or_are_written_otherwise_are_none(
    pattern: str, texts: str, expected: str
) -> None:
    form = Format.model_validate({"date": pattern})
    assert [str(parse_date(text, form)) for text in texts.split()] == expected.split()


# Files -------------------------------------------------------------------------------------------

GERMAN = "Ort;Woche;Fälle;Betten\n" + "".join(
    f"{ort};2021-W{week:02};{week},5;1.23{week},25\n" for week in (4, 5) for ort in ("Köln", "Ulm")
)
KEYS: dict[str, Any] = {"delimiter": ";", "decimal": ",", "thousands": ".", "date": "YYYY-Www"}
NAMES = {"entity": "Ort", "period": "Woche", "count": "Fälle", "capacity": "Betten", "group": None}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1250", "cp1252", "utf-16"])
def test_a_german_spreadsheet_is_read_with_its_keys(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "t.csv").write_bytes(GERMAN.replace("\n", "\r\n").encode(encoding))
    form = Format(**KEYS, encoding=encoding.removesuffix("-sig"))
    rules = dataset(NAMES)
    raw = read_raw_table(tmp_path / "t.csv", rules.needed_columns.needed(), form)
    assert raw.cells.index.tolist() == [2, 3, 4, 5]
    panel = clean_panel(raw, rules, streams(S=["all"]))
    assert line(panel, "Köln", "count") == [4.5, 5.5]
    assert line(panel, "Ulm", "capacity") == [1234.25, 1235.25]
    assert str(line(panel, "Ulm", "period")[1])[:10] == "2021-02-01"


def test_numbers_and_dates_of_parquet_need_no_keys(tmp_path: Path) -> None:
    frame = pd.DataFrame({"n": [1.125, 16.5], "day": pd.to_datetime(["2021-01-04"] * 2)})
    frame["whole"] = 20210104
    frame.assign(text=["1,5", "1.125"]).to_parquet(tmp_path / "t.parquet")
    raw = read_raw_table(tmp_path / "t.parquet", None, Format(**KEYS))
    assert raw.cells.index.tolist() == [1, 2]
    assert parse_numbers(raw.cells["n"], raw.formats["n"]).tolist() == [1.125, 16.5]
    assert parse_numbers(raw.cells["text"], raw.formats["text"]).tolist() == [1.5, 1125]
    assert parse_date(raw.cells["day"][1], raw.formats["day"]) == datetime.date(2021, 1, 4)
    for form, expected in ((Format(date="YYYYMMDD"), datetime.date(2021, 1, 4)), (Format(), None)):
        raw = read_raw_table(tmp_path / "t.parquet", None, form)
        assert parse_date(raw.cells["whole"][1], raw.formats["whole"]) == expected


@pytest.mark.parametrize(("name", "encoding"), [("Latin1", "cp1252"), ("UTF-8", "utf-8")])
def test_encodings_have_other_names(name: str, encoding: str) -> None:
    assert Format.model_validate({"encoding": name}).encoding == encoding


@pytest.mark.parametrize("date", ["DD.MM", "YYYY-ww-D", "YYYY/YYYY", "day"])
def test_a_pattern_that_names_no_date_is_refused(date: str) -> None:
    with pytest.raises(ValidationError, match="must be a format of dates, such as"):
        Format(date=date)
